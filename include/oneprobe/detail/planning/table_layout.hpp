// Whole buckets for a table whose levels are known in the limit of many. Shared by the planner and
// by map/default_plan.hpp, so that both lay out the same table.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "oneprobe/map/plan.hpp"

namespace oneprobe::inline v0_1 {

/// Levels by what their buckets see, for tables of any size.
struct table_design {
  std::uint32_t bucket_capacity = 16;  // h
  std::uint32_t levels = 4;            // d
  double made_for = 1;  // elements over planned elements; the following is for so many
  std::array<double, table_plan::most_levels> entering{};  // of all elements, those that reach it
  std::array<double, table_plan::most_levels> offered{};   // of them per bucket
};

/// So much more room than the mean a level has, in square roots of the mean: what the levels before
/// it turn away varies, and a small last level would overflow more than the limit says. Of 10^8
/// elements this is nothing, of 10^4 two percent of the buckets.
inline constexpr double level_slack_deviations = 2;

/// The levels of such a table that is planned for so many elements.
inline std::array<std::uint64_t, table_plan::most_levels> level_buckets_for(
    const table_design& design, double elements) {
  std::array<std::uint64_t, table_plan::most_levels> sizes{};
  for (std::uint32_t level = 0; level < design.levels; ++level) {
    double mean = elements * design.made_for * design.entering[level];
    if (level > 0) mean += level_slack_deviations * std::sqrt(mean);
    // The share that reaches a late level may be too small for a double: one bucket then.
    const double offered = design.offered[level];
    const double buckets = mean > 0 && offered > 0 ? std::ceil(mean / offered) : 1;
    sizes[level] = static_cast<std::uint64_t>(std::clamp(buckets, 1.0, 1e18));
  }
  return sizes;
}

/// The least that an overflow is made for.
inline constexpr std::uint64_t least_overflow_reserve = 16;

/// Buckets of an overflow for so many elements: a load of 1/2 at most, less with few slots per
/// bucket, so that an element hardly ever finds all its four candidates full.
inline std::uint64_t overflow_buckets_for(std::uint64_t reserve, std::uint32_t bucket_capacity) {
  const std::uint64_t slots_each = bucket_capacity >= 8 ? 2 : bucket_capacity >= 4 ? 4 : 8;
  return std::max<std::uint64_t>(4, (slots_each * reserve + bucket_capacity - 1) / bucket_capacity);
}

}  // namespace oneprobe::inline v0_1
