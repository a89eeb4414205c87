// What the filter summaries have in common: an element's cells, a record of what an insertion has
// changed, and cells that can be watched.
//
// A stored element is misdirected when *all* of its cells say a higher level than its own. As long
// as one of them does not, it is found. So the owner of the elements has each of them *watch* one
// such cell, and looks at an element again only when its cell is raised
// (one_probe/guarded_summary.hpp).
#pragma once

#include <array>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/key_hash.hpp"
#include "oneprobe/one_probe/plan.hpp"
#include "oneprobe/one_probe/summary.hpp"

namespace oneprobe::inline v0_1 {

/// Cells that an insertion has changed, with what they held before.
class cell_changes {
 public:
  static constexpr std::size_t most =
      std::size_t{summary_plan::most_levels} * summary_plan::most_hashes;

  struct change {
    std::uint64_t cell;
    std::uint64_t before;
  };

  // The entries are not zeroed: one insertion makes a few dozen of them.
  cell_changes() noexcept {}  // NOLINT(modernize-use-equals-default)

  void add(std::uint64_t cell, std::uint64_t before) noexcept {
    assert(count_ < most);
    changes_[count_++] = {cell, before};
  }
  /// The same, only if it is a change. Whether it is one cannot be predicted, so there is no
  /// branch.
  void add(std::uint64_t cell, std::uint64_t before, std::uint64_t after) noexcept {
    assert(count_ < most);
    changes_[count_] = {cell, before};
    count_ += after != before ? 1u : 0u;
  }
  /// In the order in which they were made; a cell may be there twice.
  std::span<const change> all() const noexcept { return {changes_.data(), count_}; }
  void clear() noexcept { count_ = 0; }

 private:
  std::array<change, most> changes_;
  std::size_t count_ = 0;
};

/// The cell that an element may watch.
struct watch_choice {
  /// What keeps an element from being misdirected.
  enum class need : std::uint8_t {
    nothing,   // it is at the last level: nothing can misdirect it
    cell,      // as long as this cell is not raised, it is found
    too_late,  // all its cells say a higher level: it would be misdirected
  };
  need what = need::nothing;  // whether there is such a cell, or none is needed
  std::uint64_t cell = 0;
};

/// A summary of cells that insertions raise.
template <class Summary>
concept watched_summary = level_summary<Summary> &&
    requires(Summary& summary, const Summary& asked, key_hash hash, std::uint32_t level,
             std::uint64_t cell, cell_changes& changed) {
  /// insert with a record; whatever is not kept is restored already, and the record empty.
  { summary.insert(hash, level, changed) } -> std::same_as<summary_outcome>;
  /// Takes back the last insertion. REQUIRES: nothing was changed since.
  summary.restore(changed);
  { asked.watch(hash, level) } -> std::same_as<watch_choice>;
  /// Whether an element of this level that watches this cell is safe by it.
  { asked.keeps_safe(cell, level) } -> std::same_as<bool>;
};

namespace detail {

/// The bits for an element's cells. Two 64-bit numbers that follow from the hash step through a
/// mixing function, so that two elements share a whole sequence only if their hashes are equal:
/// with one number and a fixed step, elements whose starts are a few steps apart would share nearly
/// all, and that happens more often than the failures that are planned for.
class cell_sequence {
 public:
  explicit constexpr cell_sequence(key_hash hash) noexcept
      : start_(hash_stream(hash, cell_start_stream)),
        step_(hash_stream(hash, cell_step_stream) | 1) {}

  constexpr std::uint64_t bits(std::uint32_t filter, std::uint32_t number) const noexcept {
    return mix_bits(start_ + (std::uint64_t{filter} * summary_plan::most_hashes + number) * step_);
  }

 private:
  std::uint64_t start_;
  std::uint64_t step_;
};

/// Whether cells are only ever raised, or count and are lowered again.
enum class cell_use : std::uint8_t { marking, counting };

/// Refuses a plan that is for another summary.
inline const summary_plan& checked_plan(const summary_plan& plan, summary_kind kind, cell_use use) {
  check_plan(plan);
  if (plan.kind != kind)
    refuse_parameter("kind must be " + std::string(name_of(kind)) + "; found " +
                     std::string(name_of(plan.kind)));
  const bool counting = plan.deletion == summary_deletion::counting;
  if (counting != (use == cell_use::counting))
    refuse_parameter(std::string("deletion must ") + (counting ? "not be" : "be") +
                     " counting in this summary; found " + std::string(name_of(plan.deletion)));
  return plan;
}

}  // namespace detail
}  // namespace oneprobe::inline v0_1
