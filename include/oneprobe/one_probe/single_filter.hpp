// One array of cells that says which level holds a key (SSH, Section VIII-A).
//
//   cells:   | 0 1 0 3 1 | 1 0 2 0 1 | ...      k parts, one cell of each for an element
//
//   insert   raises the element's k cells to its level (counted from 1; 0: no element)
//   where    the least of its cells: 0 says that the key is in no level
//
//   single_filter_summary summary(plan);                  // plan/summary.hpp, or by hand
//   if (summary.insert(hash, level) != summary_outcome::kept) ...
//   if (const auto level = summary.where(hash)) ...
//
// counting_single_filter_summary has a counter for each level in every cell, and erases. A counter
// never overflows: an insertion that would make it do so is answered with `full`.
//
// An element that was kept may be misdirected by later ones; guarded_summary.hpp keeps that from
// happening. Memory: exactly plan.filter_bytes(). Nothing throws but the constructor. For one
// thread at a time; const functions may run together.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
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
namespace detail {

/// Cells that hold the largest level that raised them.
class largest_levels {
 public:
  static constexpr cell_use use = cell_use::marking;

  explicit largest_levels(const summary_plan& plan)
      : cells_({plan.levels + 1}, plan.filter_cells[0]) {}

  /// The largest level, from 1; 0 for none.
  std::uint32_t top(std::uint64_t cell) const noexcept { return cells_.get(cell); }
  std::uint64_t raw(std::uint64_t cell) const noexcept { return cells_.get(cell); }
  void set_raw(std::uint64_t cell, std::uint64_t value) noexcept {
    cells_.set(cell, static_cast<std::uint32_t>(value));
  }
  /// What a cell holds after an element of this level; it always has room.
  std::optional<std::uint64_t> raised(std::uint64_t value, std::uint32_t level) const noexcept {
    return std::max<std::uint64_t>(value, level + 1);
  }

  std::size_t memory_bytes() const noexcept { return cells_.memory_bytes(); }
  void clear_bytes(std::uint64_t first, std::uint64_t count) noexcept {
    cells_.clear_bytes(first, count);
  }

 private:
  packed_cells cells_;
};

/// Cells that count the elements of each level: one field for each, the last level's on top.
class level_counters {
 public:
  static constexpr cell_use use = cell_use::counting;

  explicit level_counters(const summary_plan& plan)
      : fields_(plan.filter_cells[0] * plan.cell_bits()), cell_bits_(plan.cell_bits()) {
    std::uint32_t shift = 0;
    for (std::uint32_t level = 0; level < plan.levels; ++level) {
      const std::uint32_t width = plan.counter_bits[level];
      counters_[level] = {shift, (std::uint64_t{1} << width) - 1};
      for (std::uint32_t bit = shift; bit < shift + width; ++bit)
        level_of_bit_[bit] = static_cast<std::uint8_t>(level);
      shift += width;
    }
  }

  std::uint32_t top(std::uint64_t cell) const noexcept {
    const std::uint64_t value = raw(cell);
    return value == 0 ? 0 : level_of_bit_[static_cast<std::size_t>(std::bit_width(value) - 1)] + 1u;
  }
  std::uint64_t raw(std::uint64_t cell) const noexcept {
    return fields_.read(cell * cell_bits_, cell_bits_);
  }
  void set_raw(std::uint64_t cell, std::uint64_t value) noexcept {
    fields_.write(cell * cell_bits_, cell_bits_, value);
  }
  /// None if the counter is at its largest value.
  std::optional<std::uint64_t> raised(std::uint64_t value, std::uint32_t level) const noexcept {
    const counter& its = counters_[level];
    if ((value >> its.shift & its.largest) == its.largest) return std::nullopt;
    return value + (std::uint64_t{1} << its.shift);
  }
  std::uint64_t lowered(std::uint64_t value, std::uint32_t level) const noexcept {
    assert((value >> counters_[level].shift & counters_[level].largest) != 0);
    return value - (std::uint64_t{1} << counters_[level].shift);
  }
  std::uint64_t count(std::uint64_t cell, std::uint32_t level) const noexcept {
    return raw(cell) >> counters_[level].shift & counters_[level].largest;
  }

  std::size_t memory_bytes() const noexcept { return fields_.memory_bytes(); }
  void clear_bytes(std::uint64_t first, std::uint64_t count) noexcept {
    fields_.clear_bytes(first, count);
  }

 private:
  struct counter {
    std::uint32_t shift;
    std::uint64_t largest;
  };
  bit_fields fields_;
  std::uint32_t cell_bits_;
  std::array<counter, summary_plan::most_levels> counters_{};
  std::array<std::uint8_t, summary_plan::most_cell_bits> level_of_bit_{};
};

}  // namespace detail

/// single_filter_summary and its counting variant. A level_summary; the counting one is an
/// erasable_summary.
template <class Cells>
class basic_single_filter_summary {
 public:
  static constexpr detail::cell_use use = Cells::use;  // whether cells are marked or count

  /// An empty summary. Refuses a plan that is for another one.
  explicit basic_single_filter_summary(const summary_plan& plan)
      : cells_(detail::checked_plan(plan, summary_kind::single_filter, use)),
        count_(plan.filter_cells[0]),
        hashes_(plan.filter_hashes[0]),
        levels_(plan.levels) {
    for (std::uint32_t j = 0; j <= hashes_; ++j) part_begin_[j] = j * count_ / hashes_;
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
    for (std::size_t i = changed.all().size(); i > 0; --i)
      cells_.set_raw(changed.all()[i - 1].cell, changed.all()[i - 1].before);
    changed.clear();
  }
  /// Forgets an element. REQUIRES: insert(hash, level) kept it, and it was not erased since.
  void erase(key_hash hash, std::uint32_t level) noexcept
      requires(use == detail::cell_use::counting) {
    for_each_cell(hash, [&](std::uint64_t cell) {
      cells_.set_raw(cell, cells_.lowered(cells_.raw(cell), level));
    });
  }
  /// Forgets all elements.
  void clear() noexcept { cells_.clear_bytes(0, cells_.memory_bytes()); }
  /// A part of it, for callers that clear in pieces.
  void clear_bytes(std::uint64_t first, std::uint64_t count) noexcept {
    cells_.clear_bytes(first, count);
  }

  std::optional<std::uint32_t> where(key_hash hash) const noexcept {
    const detail::cell_sequence sequence(hash);
    std::uint32_t least = levels_;
    for (std::uint32_t j = 0; j < hashes_; ++j) {
      least = std::min(least, cells_.top(cell_of(sequence, j)));
      if (least == 0) return std::nullopt;
    }
    return least - 1;
  }

  /// A cell by which an element of this level can be kept from being misdirected.
  watch_choice watch(key_hash hash, std::uint32_t level) const noexcept {
    if (level + 1 == levels_) return {};
    const detail::cell_sequence sequence(hash);
    for (std::uint32_t j = 0; j < hashes_; ++j) {
      const std::uint64_t cell = cell_of(sequence, j);
      if (keeps_safe(cell, level)) return {watch_choice::need::cell, cell};
    }
    return {watch_choice::need::too_late, 0};
  }
  /// Whether an element of this level that watches this cell is safe by it.
  bool keeps_safe(std::uint64_t cell, std::uint32_t level) const noexcept {
    return cells_.top(cell) <= level + 1;
  }

  std::size_t memory_bytes() const noexcept { return cells_.memory_bytes(); }
  /// The largest counter of each level now.
  std::array<std::uint64_t, summary_plan::most_levels> largest_counters() const noexcept
      requires(use == detail::cell_use::counting) {
    std::array<std::uint64_t, summary_plan::most_levels> largest{};
    for (std::uint64_t cell = 0; cell < count_; ++cell)
      for (std::uint32_t level = 0; level < levels_; ++level)
        largest[level] = std::max(largest[level], cells_.count(cell, level));
    return largest;
  }

 private:
  /// Each hash has a part of the cells for itself.
  std::uint64_t cell_of(const detail::cell_sequence& sequence, std::uint32_t j) const noexcept {
    const std::uint64_t begin = part_begin_[j];
    return begin + reduce(sequence.bits(0, j), part_begin_[j + 1] - begin);
  }
  template <class Visit>
  void for_each_cell(key_hash hash, Visit visit) const noexcept {
    const detail::cell_sequence sequence(hash);
    for (std::uint32_t j = 0; j < hashes_; ++j) visit(cell_of(sequence, j));
  }

  Cells cells_;
  std::uint64_t count_;
  std::uint32_t hashes_;
  std::uint32_t levels_;
  // Kept, because a division for every cell takes longer than all the rest.
  std::array<std::uint64_t, summary_plan::most_hashes + 1> part_begin_{};
};

template <class Cells>
summary_outcome basic_single_filter_summary<Cells>::insert(key_hash hash, std::uint32_t level,
                                                           cell_changes& changed) noexcept {
  assert(level < levels_ && changed.all().empty());
  bool room = true;
  for_each_cell(hash, [&](std::uint64_t cell) {
    const std::uint64_t before = cells_.raw(cell);
    const std::optional<std::uint64_t> after = cells_.raised(before, level);
    room = room && after;
    if (!room) return;
    changed.add(cell, before, *after);
    cells_.set_raw(cell, *after);
  });
  summary_outcome outcome = summary_outcome::kept;
  if (!room)
    outcome = summary_outcome::full;
  else if (watch(hash, level).what == watch_choice::need::too_late)
    outcome = summary_outcome::misleading;
  if (outcome != summary_outcome::kept) restore(changed);
  return outcome;
}

/// Cells that hold the largest level.
using single_filter_summary = basic_single_filter_summary<detail::largest_levels>;
/// Cells that count each level, which erase.
using counting_single_filter_summary = basic_single_filter_summary<detail::level_counters>;

static_assert(watched_summary<single_filter_summary>);
static_assert(watched_summary<counting_single_filter_summary> &&
              erasable_summary<counting_single_filter_summary>);

}  // namespace oneprobe::inline v0_1
