// A summary that never misleads: it takes an element only if afterwards `where` is right for it and
// for all others that it has taken. Exact, and constant work on average.
//
//   guarded_summary<multi_filter_summary> guarded(plan);
//   guarded_change change;
//   if (!guarded.admit(hash, level, slot, change)) ...    // to the overflow; nothing has changed
//   guarded.where(hash);                                  // its level, from now on
//
// Every element that could be misdirected watches one of its cells that is still low enough. When
// an insertion raises a watched cell, its watchers look for another such cell; if one finds none,
// the insertion is taken back. Cells that are lowered mislead no element. A summary that knows by
// itself whether it would mislead is asked only that.
//
// The lists of watchers and the hashes of the elements lie beside the table, in slow memory:
// plan.guard_bytes(). No admission looks at more than `most_watchers` watchers: one that would is
// refused like one that misleads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "oneprobe/detail/one_probe/watch_lists.hpp"
#include "oneprobe/detail/one_probe/watched_cells.hpp"
#include "oneprobe/key_hash.hpp"
#include "oneprobe/one_probe/plan.hpp"
#include "oneprobe/one_probe/summary.hpp"

namespace oneprobe::inline v0_1 {

/// What an admission has changed, until it is certain that the element stays.
struct guarded_change {
  cell_changes cells;  // of the summary, with what they held before
};

template <level_summary Summary>
class guarded_summary {
  static constexpr bool is_watched = watched_summary<Summary>;
  static_assert(is_watched || erasable_summary<Summary>,
                "an element whose constructor throws is taken back from the summary: its cells are "
                "restored (watched_summary), or it is erased (erasable_summary)");

 public:
  /// Watchers that one admission looks at. The paper's designs have less than one on average.
  static constexpr std::uint32_t most_watchers = 4096;

  /// Guards this summary. REQUIRES: it is empty.
  guarded_summary(Summary summary, const summary_plan& plan)
      : summary_(std::move(summary)),
        lists_(is_watched ? plan.slots() : 0, is_watched ? plan.elements : 1),
        hashes_(static_cast<std::size_t>(plan.slots())),
        levels_(plan.levels) {
    std::uint64_t end = 0;
    for (std::uint32_t i = 0; i < levels_; ++i)
      ends_[i] = end += plan.level_buckets[i] * plan.bucket_capacity;
  }

  /// Takes the element that is about to be at this slot of this level. False: it would mislead, or
  /// the summary is full; nothing has changed then.
  bool admit(key_hash hash, std::uint32_t level, std::uint32_t slot, guarded_change& change) {
    if constexpr (is_watched) {
      change.cells.clear();
      if (summary_.insert(hash, level, change.cells) != summary_outcome::kept) return false;
      if (!move_watchers(change.cells)) {
        summary_.restore(change.cells);
        return false;
      }
      watch(hash, level, slot);
    } else {
      if (summary_.insert(hash, level) != summary_outcome::kept) return false;
    }
    hashes_[slot] = hash;
    return true;
  }
  /// Takes back the last admission. REQUIRES: it was the last change.
  void retract(std::uint32_t level, std::uint32_t slot, guarded_change& change) {
    if constexpr (is_watched) {
      lists_.unwatch(slot);
      summary_.restore(change.cells);
    } else {
      summary_.erase(hashes_[slot], level);
    }
  }
  /// The element of this slot leaves.
  void erase(std::uint32_t level, std::uint32_t slot) requires erasable_summary<Summary> {
    if constexpr (is_watched) lists_.unwatch(slot);
    summary_.erase(hashes_[slot], level);
  }
  /// Its slot is given up, though the summary cannot forget it.
  void forget(std::uint32_t slot) noexcept {
    if constexpr (is_watched) lists_.unwatch(slot);
  }

  /// The level that holds the key with this hash, if one may.
  std::optional<std::uint32_t> where(key_hash hash) const { return summary_.where(hash); }
  /// The hash of the element at this slot. REQUIRES: it was admitted there.
  key_hash hash_of(std::uint32_t slot) const noexcept { return hashes_[slot]; }
  /// A number beside a slot at which this summary knows no element, until it admits one there.
  void note(std::uint32_t slot, std::size_t number) noexcept { hashes_[slot] = {number}; }
  /// The number that note() left beside this slot.
  std::size_t note_at(std::uint32_t slot) const noexcept {
    return static_cast<std::size_t>(hashes_[slot].value);
  }
  /// The level that a slot belongs to.
  std::uint32_t level_of(std::uint32_t slot) const noexcept {
    std::uint32_t level = 0;
    while (slot >= ends_[level]) ++level;
    return level;
  }

  /// What it guards, to be read.
  const Summary& summary() const noexcept { return summary_; }
  /// Watchers that all admissions have looked at.
  std::uint64_t watchers_seen() const noexcept { return watchers_seen_; }
  /// Of the lists and hashes, which are slow memory.
  std::size_t guard_bytes() const noexcept {
    return (is_watched ? lists_.memory_bytes() : 0) + hashes_.size() * sizeof(key_hash);
  }

  /// Forgets all elements.
  void clear() { clear_pieces(0, pieces()); }
  /// Clearing in pieces of about the same work: a line of cells and a few entries of the lists.
  std::uint64_t pieces() const noexcept {
    const std::uint64_t lines = (summary_.memory_bytes() + line_bytes - 1) / line_bytes;
    const std::uint64_t groups = (lists_.entries() + entries_in_piece - 1) / entries_in_piece;
    return lines > groups ? lines : groups;
  }
  /// Clears so many pieces, from a first one on. REQUIRES: no lookup before all pieces are clear.
  void clear_pieces(std::uint64_t first, std::uint64_t count) {
    if constexpr (requires { summary_.clear_bytes(first, count); })
      summary_.clear_bytes(first * line_bytes, count * line_bytes);
    else if (first == 0)
      summary_.clear();
    if constexpr (is_watched)
      for (std::uint64_t i = first * entries_in_piece; i < (first + count) * entries_in_piece; ++i)
        lists_.clear_entry(i);
  }

 private:
  static constexpr std::uint64_t line_bytes = 64;
  static constexpr std::uint64_t entries_in_piece = 4;

  void watch(key_hash hash, std::uint32_t level, std::uint32_t slot) {
    const watch_choice choice = summary_.watch(hash, level);
    if (choice.what == watch_choice::need::cell) lists_.watch(slot, choice.cell);
  }
  /// Elements that watch a cell that was raised look for another. One that has found a cell keeps
  /// it, also if another finds none: it was low enough before, too.
  bool move_watchers(const cell_changes& changed) {
    std::uint32_t looked_at = 0;
    for (const cell_changes::change& change : changed.all()) {
      const bool all_safe = lists_.for_each(change.cell, [&](std::uint32_t slot) {
        if (++looked_at > most_watchers) return false;
        ++watchers_seen_;
        const std::uint32_t level = level_of(slot);
        if (summary_.keeps_safe(change.cell, level)) return true;
        const watch_choice choice = summary_.watch(hashes_[slot], level);
        if (choice.what != watch_choice::need::cell) return false;
        lists_.unwatch(slot);
        lists_.watch(slot, choice.cell);
        return true;
      });
      if (!all_safe) return false;
    }
    return true;
  }

  Summary summary_;
  watch_lists lists_;
  std::vector<key_hash> hashes_;
  std::array<std::uint64_t, summary_plan::most_levels> ends_{};
  std::uint32_t levels_;
  std::uint64_t watchers_seen_ = 0;
};

}  // namespace oneprobe::inline v0_1
