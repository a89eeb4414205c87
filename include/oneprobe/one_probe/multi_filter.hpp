// A Bloom filter for each level threshold (SSH, Section VIII-B): less memory than one filter for
// all, at the price of more hashes.
//
//   memory:  | B_0: all elements | B_1: those beyond level 0 | B_2: beyond 1 | ...
//            one array of bits, without a gap
//
//   insert   sets the element's bits in B_0 ... B_level
//   where    the last filter in a row from B_0 that has all bits of the key; none: in no level
//
//   multi_filter_summary summary(plan);                   // plan/summary.hpp, or by hand
//   if (summary.insert(hash, level) != summary_outcome::kept) ...
//   if (const auto level = summary.where(hash)) ...
//
// counting_multi_filter_summary has counters for bits, and erases. A counter never overflows: an
// insertion that would make it do so is answered with `full`.
//
// An element that was kept may be misdirected by later ones; guarded_summary.hpp keeps that from
// happening. Memory: exactly plan.filter_bytes(). Nothing throws but the constructor. For one
// thread at a time; const functions may run together.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/detail/one_probe/packed_cells.hpp"
#include "oneprobe/detail/one_probe/watched_cells.hpp"
#include "oneprobe/one_probe/plan.hpp"
#include "oneprobe/one_probe/summary.hpp"

namespace oneprobe::inline v0_1 {

/// multi_filter_summary and its counting variant. A level_summary; the counting one is an
/// erasable_summary.
template <detail::cell_use Use>
class basic_multi_filter_summary {
  static constexpr bool counts = Use == detail::cell_use::counting;

 public:
  /// An empty summary. Refuses a plan that is for another one.
  explicit basic_multi_filter_summary(const summary_plan& plan)
      : bits_(detail::checked_plan(plan, summary_kind::multi_filter, Use).filter_bytes() * 8),
        levels_(plan.levels) {
    std::uint64_t first_bit = 0, first_cell = 0;
    for (std::uint32_t i = 0; i < levels_; ++i) {
      const std::uint32_t width = counts ? plan.counter_bits[i] : 1;
      filters_[i] = {.first_bit = first_bit,
                     .first_cell = first_cell,
                     .cells = plan.filter_cells[i],
                     .hashes = plan.filter_hashes[i],
                     .width = width,
                     .once = counts && i >= plan.counted_once_from};
      first_cell += plan.filter_cells[i];
      first_bit += plan.filter_cells[i] * width;
    }
  }

  summary_outcome insert(key_hash hash, std::uint32_t level) noexcept {
    cell_changes changed;
    return insert(hash, level, changed);
  }
  /// The same with a record of what it changed. REQUIRES: the record is empty.
  summary_outcome insert(key_hash hash, std::uint32_t level, cell_changes& changed) noexcept;
  /// Takes back the last insertion, of which this is the record. REQUIRES: nothing was changed
  /// since.
  void restore(cell_changes& changed) noexcept {
    for (std::size_t i = changed.all().size(); i > 0; --i) {
      const cell_changes::change& last = changed.all()[i - 1];
      const filter& its = filter_of(last.cell);
      set(its, last.cell - its.first_cell, last.before);
    }
    changed.clear();
  }
  /// Forgets an element. REQUIRES: insert(hash, level) kept it, and it was not erased since.
  void erase(key_hash hash, std::uint32_t level) noexcept requires(counts) {
    const detail::cell_sequence sequence(hash);
    for (std::uint32_t i = 0; i <= level; ++i) {
      const filter& its = filters_[i];
      for_each_counted(its, i, sequence, [&](std::uint64_t cell) {
        assert(get(its, cell) != 0);
        set(its, cell, get(its, cell) - 1);
        return true;
      });
    }
  }
  /// Forgets all elements.
  void clear() noexcept { bits_.clear(); }
  /// A part of it, for callers that clear in pieces.
  void clear_bytes(std::uint64_t first, std::uint64_t count) noexcept {
    bits_.clear_bytes(first, count);
  }

  std::optional<std::uint32_t> where(key_hash hash) const noexcept {
    const detail::cell_sequence sequence(hash);
    std::uint32_t passed = 0;
    while (passed < levels_ && !zero_cell(passed, sequence)) ++passed;
    if (passed == 0) return std::nullopt;
    return passed - 1;
  }

  /// A cell by which an element of this level can be kept from being misdirected.
  watch_choice watch(key_hash hash, std::uint32_t level) const noexcept {
    if (level + 1 == levels_) return {};
    const std::optional<std::uint64_t> zero = zero_cell(level + 1, detail::cell_sequence(hash));
    if (!zero) return {watch_choice::need::too_late, 0};
    return {watch_choice::need::cell, filters_[level + 1].first_cell + *zero};
  }
  /// Whether an element that watches this cell is safe by it.
  bool keeps_safe(std::uint64_t cell, std::uint32_t) const noexcept {
    const filter& its = filter_of(cell);
    return get(its, cell - its.first_cell) == 0;
  }

  std::size_t memory_bytes() const noexcept { return bits_.memory_bytes(); }
  /// The largest counter of each filter now.
  std::array<std::uint64_t, summary_plan::most_levels> largest_counters() const noexcept
      requires(counts) {
    std::array<std::uint64_t, summary_plan::most_levels> largest{};
    for (std::uint32_t i = 0; i < levels_; ++i)
      for (std::uint64_t cell = 0; cell < filters_[i].cells; ++cell)
        largest[i] = std::max(largest[i], get(filters_[i], cell));
    return largest;
  }

 private:
  struct filter {
    std::uint64_t first_bit;
    std::uint64_t first_cell;  // cells are numbered through all filters
    std::uint64_t cells;
    std::uint32_t hashes;
    std::uint32_t width;
    bool once;  // an element counts once for a cell that several of its hashes meet
  };

  std::uint64_t get(const filter& its, std::uint64_t cell) const noexcept {
    return bits_.read(its.first_bit + cell * its.width, its.width);
  }
  void set(const filter& its, std::uint64_t cell, std::uint64_t value) noexcept {
    bits_.write(its.first_bit + cell * its.width, its.width, value);
  }
  static std::uint64_t cell_of(const filter& its, std::uint32_t number,
                               const detail::cell_sequence& sequence, std::uint32_t j) noexcept {
    return reduce(sequence.bits(number, j), its.cells);
  }
  const filter& filter_of(std::uint64_t cell) const noexcept {
    std::uint32_t i = levels_ - 1;
    while (filters_[i].first_cell > cell) --i;
    return filters_[i];
  }
  /// A cell of the element that this filter has at zero.
  std::optional<std::uint64_t> zero_cell(std::uint32_t number,
                                         const detail::cell_sequence& sequence) const noexcept {
    const filter& its = filters_[number];
    for (std::uint32_t j = 0; j < its.hashes; ++j) {
      const std::uint64_t cell = cell_of(its, number, sequence, j);
      if (get(its, cell) == 0) return cell;
    }
    return std::nullopt;
  }
  /// Calls `visit` with each cell that an element counts in, until it says false. Says whether it
  /// never did.
  template <class Visit>
  static bool for_each_counted(const filter& its, std::uint32_t number,
                               const detail::cell_sequence& sequence, Visit visit) noexcept {
    std::array<std::uint64_t, summary_plan::most_hashes> seen;
    for (std::uint32_t j = 0; j < its.hashes; ++j) {
      seen[j] = cell_of(its, number, sequence, j);
      if (its.once && std::find(seen.begin(), seen.begin() + j, seen[j]) != seen.begin() + j)
        continue;
      if (!visit(seen[j])) return false;
    }
    return true;
  }

  bit_fields bits_;
  std::uint32_t levels_;
  std::array<filter, summary_plan::most_levels> filters_{};
};

template <detail::cell_use Use>
summary_outcome basic_multi_filter_summary<Use>::insert(key_hash hash, std::uint32_t level,
                                                        cell_changes& changed) noexcept {
  assert(level < levels_ && changed.all().empty());
  const detail::cell_sequence sequence(hash);
  summary_outcome outcome = watch(hash, level).what == watch_choice::need::too_late
                                ? summary_outcome::misleading
                                : summary_outcome::kept;
  for (std::uint32_t i = 0; i <= level && outcome == summary_outcome::kept; ++i) {
    const filter& its = filters_[i];
    const bool counted = for_each_counted(its, i, sequence, [&](std::uint64_t cell) {
      const std::uint64_t before = get(its, cell);
      const bool largest = before + 1 == std::uint64_t{1} << its.width;
      if (largest) return !counts;
      changed.add(its.first_cell + cell, before);
      set(its, cell, before + 1);
      return true;
    });
    if (!counted) outcome = summary_outcome::full;
  }
  if (outcome != summary_outcome::kept) restore(changed);
  return outcome;
}

/// A Bloom filter for each level threshold.
using multi_filter_summary = basic_multi_filter_summary<detail::cell_use::marking>;
/// The same with counters for bits, which erases.
using counting_multi_filter_summary = basic_multi_filter_summary<detail::cell_use::counting>;

static_assert(watched_summary<multi_filter_summary>);
static_assert(watched_summary<counting_multi_filter_summary> &&
              erasable_summary<counting_multi_filter_summary>);

}  // namespace oneprobe::inline v0_1
