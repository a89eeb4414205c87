// How large an interpolation summary is: how many strings there are, and how they are cut.
//
// A string is one of `strings()` values, b = log2 of that many bits. It is cut into the number of
// the block where it belongs and a remainder, which is all that the block keeps of it.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/detail/planning/plan_check.hpp"

namespace oneprobe::inline v0_1 {

/// How an interpolation summary is cut into blocks and cells.
struct interpolation_plan {
  static constexpr std::uint32_t block_bytes = 64;  // a cache line
  static constexpr std::uint32_t head_bits = 32;    // of each block
  /// A cell is read with one load of a word that begins at a byte.
  static constexpr std::uint32_t most_cell_bits = 56;
  /// The most that a plan may ask for.
  static constexpr std::uint32_t most_levels = 8;
  static constexpr std::uint64_t most_blocks = std::uint64_t{1} << 40;
  std::uint64_t elements = 0;  // n
  std::uint32_t levels = 4;    // d
  std::uint64_t blocks = 1;    // those that strings belong to; one more takes what the last spills
  std::uint32_t remainder_bits = 14;  // what a block keeps of a string

  /// Bits of a cell that say the level.
  constexpr std::uint32_t level_bits() const noexcept {
    return static_cast<std::uint32_t>(std::bit_width(levels - 1));
  }
  /// Bits of a cell: the remainder and the level.
  constexpr std::uint32_t cell_bits() const noexcept { return remainder_bits + level_bits(); }
  /// How many cells a block has room for.
  constexpr std::uint32_t block_cells() const noexcept {
    return (8 * block_bytes - head_bits) / cell_bits();
  }
  /// Of the cells that are taken when all elements are there, by plan_interpolation. What blocks of
  /// c cells spill is a queue: with 8 free cells for c arrivals it is longer than a whole block
  /// with probability exp(-2 * 8) or so.
  constexpr double fill_fraction() const noexcept {
    constexpr double free_cells = 8;
    return block_cells() / (block_cells() + free_cells);
  }
  /// The blocks, with the one for what the last spills.
  constexpr std::uint64_t memory_bytes() const noexcept { return (blocks + 1) * block_bytes; }
  /// 2^b.
  double strings() const noexcept {
    return std::ldexp(static_cast<double>(blocks), static_cast<int>(remainder_bits));
  }
  /// b: bits of a string; not a whole number, as the blocks are any number.
  double string_bits() const noexcept { return std::log2(strings()); }
  /// Of all memory, for each planned element.
  double bits_per_element() const noexcept {
    return 8 * static_cast<double>(memory_bytes()) / static_cast<double>(elements);
  }
  /// That an absent key has the string of one of the stored elements.
  double false_positive_probability(double stored) const noexcept {
    return -std::expm1(-stored / strings());
  }
  /// That any block spills more than the next one has room for, when so many are stored: a bound.
  /// What the blocks spill is a queue: to each come a Poisson number of mean a, and c stay. It is
  /// longer than c with probability exp(-t (c + 1)) at most (Lundberg), a (e^t - 1) = t c.
  double spill_probability(double stored) const noexcept {
    const double cells = block_cells(), mean = stored / static_cast<double>(blocks);
    if (mean >= cells) return 1;
    // Right of the root, from where Newton's steps come down to it.
    double root = 2 * std::log(cells / mean) + 2;
    for (double step = root; step > 1e-12 * root;) {
      step = (mean * std::expm1(root) - root * cells) / (mean * std::exp(root) - cells);
      root -= step;
    }
    return std::min(1.0, static_cast<double>(blocks) * std::exp(-root * (cells + 1)));
  }
};

/// The first parameter that is not as it must be, in words.
inline std::optional<std::string> find_fault(const interpolation_plan& plan) {
  detail::plan_check check;
  check(plan.elements >= 1 && plan.elements <= interpolation_plan::most_blocks, "elements",
        "1 to 2^40", plan.elements);
  check(plan.levels >= 1 && plan.levels <= interpolation_plan::most_levels, "levels", "1 to 8",
        plan.levels);
  check(plan.blocks >= 1 && plan.blocks <= interpolation_plan::most_blocks, "blocks", "1 to 2^40",
        plan.blocks);
  if (check.fault) return check.fault;
  check(plan.remainder_bits >= 4 &&
            plan.remainder_bits <= interpolation_plan::most_cell_bits - plan.level_bits(),
        "remainder_bits", "4 up to 56 with those of the level", plan.remainder_bits);
  return check.fault;
}

/// Room for so many elements. The default remainder makes cells of 16 bits: with four levels one
/// absent key in about 690 has the string of an element.
inline interpolation_plan plan_interpolation(std::uint64_t elements, std::uint32_t levels = 4,
                                             std::optional<std::uint32_t> remainder_bits = {}) {
  interpolation_plan plan;
  plan.elements = elements;
  plan.levels = levels;
  constexpr std::uint32_t default_cell_bits = 16;
  const bool has_levels = levels >= 1 && levels <= interpolation_plan::most_levels;
  plan.remainder_bits =
      remainder_bits.value_or(has_levels ? default_cell_bits - plan.level_bits() : 0);
  if (const auto fault = find_fault(plan)) refuse_parameter(*fault);
  const double per_block = plan.fill_fraction() * plan.block_cells();
  plan.blocks = std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(std::ceil(static_cast<double>(elements) / per_block)));
  return plan;
}

}  // namespace oneprobe::inline v0_1
