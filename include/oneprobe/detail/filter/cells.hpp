// What the standard, the partitioned and the counting filter share: k cells anywhere in memory.
//
//   pattern = x_0, x_1 = x_0 * c, x_2 = x_1 * c, ...   (mod 2^64)
//   anywhere:   cell j = reduce(x_j, cells)
//   in parts:   cell j = j * width + reduce(x_j, width), width = cells / k
//
// A cell is one bit, or a counter of 2, 4, 8 or 16 bits; none crosses a 64-bit word. Files depend
// on every line of this.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <utility>

#include "oneprobe/detail/base/at_end.hpp"
#include "oneprobe/detail/base/prefetch.hpp"
#include "oneprobe/detail/base/word_access.hpp"
#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/detail/placement/ring.hpp"
#include "oneprobe/detail/placement/walk.hpp"
#include "oneprobe/detail/simd/isa.hpp"
#include "oneprobe/filter/default_plan.hpp"
#include "oneprobe/filter/plan.hpp"
#include "oneprobe/filter/results.hpp"
#include "oneprobe/hash_feed.hpp"
#include "oneprobe/memory.hpp"

namespace oneprobe::inline v0_1::detail {

/// From one cell's bits to the next. A multiplicative generator modulo 2^64 whose successive values
/// fill two to eight dimensions evenly (Steele and Vigna, "Computationally easy, spectrally good
/// multipliers for congruential pseudorandom number generators", 2022).
inline constexpr std::uint64_t next_cell_multiplier = 0xf135'7aea'2e62'a9c5;

/// Cells of a standard or counting filter.
struct cells_anywhere {
  std::uint64_t cells;

  explicit cells_anywhere(const filter_plan& plan) noexcept : cells(plan.cells) {}
  constexpr std::uint64_t operator()(std::uint64_t bits, std::uint32_t) const noexcept {
    return reduce(bits, cells);
  }
};

/// Cells of a partitioned filter.
struct cells_in_parts {
  std::uint64_t width;

  explicit cells_in_parts(const filter_plan& plan) noexcept : width(plan.cells / plan.bits_set) {}
  constexpr std::uint64_t operator()(std::uint64_t bits, std::uint32_t number) const noexcept {
    return number * width + reduce(bits, width);
  }
};

/// Where a cell lies: the word's byte, and the cell's lowest bit in the word.
struct cell_place {
  std::uint64_t byte;
  unsigned shift;
};
constexpr cell_place place_of_cell(std::uint64_t cell, unsigned cell_bits) noexcept {
  const std::uint64_t bit = cell * cell_bits;
  return {bit / word_bits * word_bytes, static_cast<unsigned>(bit % word_bits)};
}

/// Calls `visit(place)` for the k cells of an element.
template <class Geometry, class Visit>
constexpr void for_each_cell(const Geometry& geometry, key_hash hash, std::uint32_t bits_set,
                             unsigned cell_bits, Visit visit) {
  std::uint64_t bits = pattern_bits(hash);
  for (std::uint32_t j = 0; j < bits_set; ++j, bits *= next_cell_multiplier)
    visit(place_of_cell(geometry(bits, j), cell_bits));
}

/// The cache lines that a query has touched, each once.
class touched_lines {
 public:
  void touch(std::uint64_t byte) noexcept {
    const std::uint64_t line = byte / line_memory::line_bytes;
    for (std::uint32_t i = 0; i < count_; ++i)
      if (lines_[i] == line) return;
    lines_[count_++] = line;
  }
  std::uint32_t count() const noexcept { return count_; }

 private:
  std::array<std::uint64_t, filter_plan::most_bits_set> lines_;
  std::uint32_t count_ = 0;
};

/// Reads cell after cell and stops at the first that is zero: a walk of up to k steps. The ring
/// asks for the next cell while others take their steps.
template <class Geometry>
class cell_query {
 public:
  static constexpr bool may_overtake = true;  // nothing is changed

  struct state {
    std::uint64_t bits;  // x_j
    cell_place at;
    std::uint32_t number = 0;  // j
    walk_end end = walk_end::open;
  };

  cell_query(const Geometry& geometry, const std::byte* memory, std::uint32_t bits_set,
             unsigned cell_bits) noexcept
      : geometry_(geometry),
        memory_(memory),
        bits_set_(bits_set),
        cell_bits_(cell_bits),
        cell_mask_((std::uint64_t{1} << cell_bits) - 1) {}

  state start(key_hash hash) const noexcept {
    const std::uint64_t bits = pattern_bits(hash);
    return {.bits = bits, .at = place_of_cell(geometry_(bits, 0), cell_bits_)};
  }
  void prefetch(const state& walk) const noexcept { prefetch_line_ahead(memory_ + walk.at.byte); }
  void prefetch_next(const state& walk) const noexcept { prefetch(walk); }

  void step(state& walk) const noexcept {
    if ((plain_words::load(memory_ + walk.at.byte) >> walk.at.shift & cell_mask_) == 0) {
      walk.end = walk_end::absent;
      return;
    }
    if (++walk.number == bits_set_) {
      walk.end = walk_end::present;
      return;
    }
    walk.bits *= next_cell_multiplier;
    walk.at = place_of_cell(geometry_(walk.bits, walk.number), cell_bits_);
  }

 private:
  Geometry geometry_;
  const std::byte* memory_;
  std::uint32_t bits_set_;
  unsigned cell_bits_;
  std::uint64_t cell_mask_;
};

template <class Geometry>
void answer_all(const cell_query<Geometry>& walk, const hash_feed& hashes, bool* answers) {
  roll(
      walk, hashes.size(), hashes, [&](key_hash hash) { return walk.start(hash); },
      [&](std::size_t i, const typename cell_query<Geometry>::state& ended) {
        answers[i] = ended.end == walk_end::present;
      });
}

/// Changes all k cells of an element in one step, after all of them were asked for.
template <class Geometry, class Change>
class cell_change {
 public:
  static constexpr bool single_step = true;
  using state = key_hash;

  cell_change(const Geometry& geometry, const std::byte* memory, std::uint32_t bits_set,
              unsigned cell_bits, Change change) noexcept
      : geometry_(geometry),
        memory_(memory),
        bits_set_(bits_set),
        cell_bits_(cell_bits),
        change_(change) {}

  void prefetch(key_hash hash) const noexcept {
    for_each_cell(geometry_, hash, bits_set_, cell_bits_,
                  [this](cell_place at) { prefetch_line_ahead(memory_ + at.byte); });
  }
  /// Whether all cells were above zero before.
  bool step(key_hash hash) const noexcept { return change_(hash); }

 private:
  Geometry geometry_;
  const std::byte* memory_;
  std::uint32_t bits_set_;
  unsigned cell_bits_;
  Change change_;
};

/// Bit 0 of every cell that is not zero.
constexpr std::uint64_t nonzero_cells(std::uint64_t word, unsigned cell_bits) noexcept {
  for (unsigned shift = cell_bits / 2; shift > 0; shift /= 2) word |= word >> shift;
  // All ones divided by the largest cell has one bit at the bottom of each cell.
  return word & (~std::uint64_t{0} / ((std::uint64_t{1} << cell_bits) - 1));
}

/// How many of the cells first .. last - 1 are not zero.
inline std::uint64_t count_nonzero_plain(const std::byte* memory, std::uint64_t first,
                                         std::uint64_t last, unsigned cell_bits) noexcept {
  const std::uint64_t begin = first * cell_bits;
  const std::uint64_t end = last * cell_bits;
  std::uint64_t count = 0;
  for (std::uint64_t i = begin / word_bits; i * word_bits < end; ++i) {
    std::uint64_t word = nonzero_cells(plain_words::load(memory + i * word_bytes), cell_bits);
    if (i == begin / word_bits) word &= ~std::uint64_t{0} << (begin % word_bits);
    if (end - i * word_bits < word_bits) word &= (std::uint64_t{1} << (end % word_bits)) - 1;
    count += static_cast<unsigned>(std::popcount(word));
  }
  return count;
}

inline std::uint64_t count_nonzero(const std::byte* memory, std::uint64_t first, std::uint64_t last,
                                   unsigned cell_bits) noexcept {
  // With the instruction that counts bits, where there is one.
  if (simd_in_use() >= isa::avx2)
    return compiled_for<isa::avx2, count_nonzero_plain, const std::byte*, std::uint64_t,
                        std::uint64_t, unsigned>::call(memory, first, last, cell_bits);
  return count_nonzero_plain(memory, first, last, cell_bits);
}

/// A query as it goes, with what it touches.
template <class Geometry>
lookup_path explain_cells(const Geometry& geometry, const std::byte* memory, key_hash hash,
                          std::uint32_t bits_set, unsigned cell_bits) noexcept {
  const cell_query<Geometry> query(geometry, memory, bits_set, cell_bits);
  touched_lines lines;
  lookup_path path;
  auto walk = query.start(hash);
  do {
    lines.touch(walk.at.byte);
    ++path.accesses;
    query.step(walk);
  } while (walk.end == walk_end::open);
  path.lines = lines.count();
  path.stopped =
      walk.end == walk_end::present ? lookup_path::stop::matched : lookup_path::stop::ruled_out;
  return path;
}

/// Two filters of the same shape were filled apart: what was counted is added.
constexpr void add_counts(filter_counts& own, const filter_counts& other) noexcept {
  own.size += other.size;
  own.overflow += other.overflow;
  own.forced += other.forced;
  own.dropped += other.dropped;
}

/// Sets in `own` what is set in `other`. REQUIRES: whole words, equally many.
inline void unite_bits(std::span<std::byte> own, std::span<const std::byte> other) noexcept {
  for (std::size_t i = 0; i < own.size(); i += word_bytes)
    plain_words::set_bits(own.data() + i, plain_words::load(other.data() + i));
}

/// The engine of the filters whose cells are bits.
template <filter_kind Kind, class Geometry>
class bit_cells_engine {
 public:
  static constexpr filter_kind kind = Kind;

  bit_cells_engine(const filter_plan& plan, line_memory memory, const filter_counts& counts)
      : memory_(std::move(memory)), plan_(checked(plan)), geometry_(plan), counts_(counts) {}

  static filter_plan default_plan(std::uint64_t elements, double fpr) {
    return default_filter_plan(kind, elements, fpr);
  }

  insert_outcome insert(key_hash hash) noexcept {
    if (set_all(hash)) return insert_outcome::possibly_present;
    ++counts_.size;
    return insert_outcome::added;
  }
  std::uint64_t insert_all(const hash_feed& hashes) {
    const auto set = [this](key_hash hash) { return set_all(hash); };
    cell_change<Geometry, decltype(set)> walk(geometry_, memory_.data(), plan_.bits_set, 1, set);
    std::uint64_t added = 0;
    const at_end count([&] { counts_.size += added; });
    roll(walk, hashes.size(), hashes, std::identity(),
         [&](std::size_t, bool present) { added += present ? 0 : 1; });
    return added;
  }
  void merge(const bit_cells_engine& other) noexcept {
    unite_bits(memory_.bytes(), other.memory());
    add_counts(counts_, other.counts_);
  }
  void clear() noexcept {
    std::memset(memory_.data(), 0, memory_.size());
    counts_ = {};
  }

  bool may_contain(key_hash hash) const noexcept {
    const query walk = make_query();
    return walk_to_end(walk, walk.start(hash)).end == walk_end::present;
  }
  void query_all(const hash_feed& hashes, bool* answers) const {
    answer_all(make_query(), hashes, answers);
  }
  lookup_path explain(key_hash hash) const noexcept {
    return explain_cells(geometry_, memory_.data(), hash, plan_.bits_set, 1);
  }

  const filter_plan& plan() const noexcept { return plan_; }
  filter_counts counts() const noexcept { return counts_; }
  std::span<const std::byte> memory() const noexcept { return memory_.bytes(); }
  /// The probability that all k bits of a new element are set, from the bits as they are.
  double current_fpr() const noexcept {
    double fpr = 1;
    if constexpr (Kind == filter_kind::partitioned) {
      for (std::uint32_t j = 0; j < plan_.bits_set; ++j)
        fpr *= fill(j * geometry_.width, (j + 1) * geometry_.width);
    } else {
      const double all = fill_fraction();
      for (std::uint32_t j = 0; j < plan_.bits_set; ++j) fpr *= all;
    }
    return fpr;
  }
  double fill_fraction() const noexcept { return fill(0, plan_.cells); }

 private:
  using query = cell_query<Geometry>;

  static const filter_plan& checked(const filter_plan& plan) {
    check_plan(plan, kind);
    return plan;
  }
  query make_query() const noexcept { return query(geometry_, memory_.data(), plan_.bits_set, 1); }
  double fill(std::uint64_t first, std::uint64_t last) const noexcept {
    return static_cast<double>(count_nonzero(memory_.data(), first, last, 1)) /
           static_cast<double>(last - first);
  }
  /// No branch on what is found: the k lines are fetched side by side.
  bool set_all(key_hash hash) noexcept {
    std::uint64_t present = 1;
    for_each_cell(geometry_, hash, plan_.bits_set, 1, [&](cell_place at) {
      present &=
          plain_words::set_bits(memory_.data() + at.byte, std::uint64_t{1} << at.shift) >> at.shift;
    });
    return (present & 1) != 0;
  }

  // First: a copy that finds no memory must leave everything as it was.
  line_memory memory_;
  filter_plan plan_;
  Geometry geometry_;
  filter_counts counts_;
};

}  // namespace oneprobe::inline v0_1::detail
