// From one block of a balanced or a fingerprint filter, and how full it is meant to be, to whole
// levels and an overflow list for so many elements: the arithmetic that the planner and the default
// plans share.
//
//   first level     elements / elements_per_block
//   level i         what i levels without slack would pass on, plus slack
//   overflow list   what the last level passes on with 2 % more elements than planned, plus a tail;
//                   of a fingerprint filter that is planned for an error with 5 % more
//
// Slack: room for 20 % more elements than a level gets on average, or for three standard deviations
// more where that is more (below 225 elements). Refusals grow by about 7 % when the filter holds
// 1 % more elements, so later levels that fit exactly would overflow at once. The list is the last
// resort: until the filter holds 2 % more elements than planned, nothing is forced into a block
// that had refused it.
// Pure and thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "oneprobe/filter/plan.hpp"

namespace oneprobe::inline v0_1 {

inline constexpr double later_level_slack = 0.2;
inline constexpr double slack_deviations = 3;
/// So many times the planned elements the overflow list is made for.
inline constexpr double absorbed_overfill = 1.02;
/// The same of a fingerprint filter that is planned for an error: beyond its reserve the error
/// would be hundreds of times that. Room for these is in the later levels, where it is cheaper than
/// in the list.
inline constexpr double absorbed_fingerprints = 1.05;
/// The overflow list holds its reserve at this load.
inline constexpr double overflow_list_load = 0.75;

/// What happens to a block in a filter as full as it is planned to be.
struct block_fill {
  double elements_per_block = 0;  // of the first level; sequential: of all blocks
  double refused_fraction = 0;    // of the elements that reach the first level
  /// Elements that overflow from the levels as they become here, by planned element: when the
  /// filter holds what was planned, and as many more as it is to absorb.
  double overflow_fraction = 0;
  double reserved_fraction = 0;
};

/// One block of a balanced filter.
struct balanced_design : block_fill {
  std::uint32_t block_bits = 512;
  std::uint32_t bits_set = 1;
  scheme_kind scheme = scheme_kind::multilevel;  // single, sequential or multilevel
  std::uint32_t choices = 1;
  block_state state{};

  constexpr std::uint32_t levels() const noexcept {
    return scheme == scheme_kind::multilevel ? choices : 1;
  }
};

/// One bucket of a fingerprint filter.
struct fingerprint_design : block_fill {
  fingerprint_bucket_shape fingerprint_bucket{};
  std::uint32_t choices = 1;
};

/// So many times the planned elements the later levels of a fingerprint filter are sized for,
/// before slack, so that `absorbed` times as many find room: the slack alone has it for
/// absorbed_overfill.
constexpr double later_level_growth(double absorbed) {
  return std::max(1.0, absorbed / absorbed_overfill);
}

/// Room for `mean` elements on average.
inline double with_slack(double mean) {
  return mean + std::max(later_level_slack * mean, slack_deviations * std::sqrt(mean));
}

/// Blocks of each level, not yet whole; `Room` says how much room a mean gets.
template <class Room>
std::array<double, filter_plan::most_levels> level_shares(const block_fill& fill,
                                                          std::uint32_t levels, double elements,
                                                          Room&& room) {
  std::array<double, filter_plan::most_levels> blocks{};
  double reach = elements;
  for (std::uint32_t level = 0; level < levels; ++level) {
    blocks[level] = (level == 0 ? reach : room(reach)) / fill.elements_per_block;
    reach *= fill.refused_fraction;
  }
  return blocks;
}

/// The list's reserve when `mean` elements are to be expected: a tail of eight deviations. The 64
/// are for means so small that a deviation says little, and let bulk insertion run in rounds.
inline std::uint64_t overflow_reserve_for(double mean) {
  return static_cast<std::uint64_t>(std::ceil(mean + 8 * std::sqrt(mean) + 64));
}

/// Slots in whole cache lines.
inline std::uint64_t overflow_slots_for(std::uint64_t reserve) {
  constexpr std::uint64_t slots_per_line = 16;
  const auto slots =
      static_cast<std::uint64_t>(std::ceil(static_cast<double>(reserve) / overflow_list_load));
  return (slots / slots_per_line + 1) * slots_per_line;
}

/// The levels and the list of a plan for `plan.elements` elements in `plan.levels` levels.
inline void set_levels(filter_plan& plan, const block_fill& fill) {
  const auto n = static_cast<double>(plan.elements);
  const auto shares = level_shares(fill, plan.levels, n, with_slack);
  for (std::uint32_t level = 0; level < plan.levels; ++level)
    plan.level_buckets[level] = static_cast<std::uint64_t>(std::max(1.0, std::ceil(shares[level])));
  plan.overflow_reserve = overflow_reserve_for(n * fill.reserved_fraction);
  plan.overflow_slots = overflow_slots_for(plan.overflow_reserve);
}

/// A plan without predictions, for `elements` elements.
inline filter_plan lay_out_balanced(const balanced_design& design, std::uint64_t elements) {
  filter_plan plan;
  plan.kind = filter_kind::balanced;
  plan.elements = elements;
  plan.bits_set = design.bits_set;
  plan.block_bits = design.block_bits;
  plan.levels = design.levels();
  plan.scheme = design.scheme;
  plan.choices = design.choices;
  plan.state = design.state;
  set_levels(plan, design);
  return plan;
}
inline filter_plan lay_out_fingerprint(const fingerprint_design& design, std::uint64_t elements) {
  filter_plan plan;
  plan.kind = filter_kind::fingerprint;
  plan.elements = elements;
  plan.levels = plan.choices = design.choices;
  plan.fingerprint_bucket = design.fingerprint_bucket;
  set_levels(plan, design);
  return plan;
}

}  // namespace oneprobe::inline v0_1
