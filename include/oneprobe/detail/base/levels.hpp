// Whole buckets per level from the fractions that a plan gives.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/scheme_kind.hpp"

namespace oneprobe::inline v0_1 {

/// Splits `buckets` into levels. Fractions are above 0 and sum to 1 within 1e-6, so that what is
/// printed with seven digits is accepted. Rounding the running total keeps the sum exact and, but
/// for the one bucket that each has at least, every level within one bucket of its share.
inline std::vector<std::uint64_t> split_into_levels(std::uint64_t buckets,
                                                    std::span<const double> fractions) {
  if (fractions.empty() || fractions.size() > largest_choices)
    refuse_parameter("level_fractions must be 1 to " + std::to_string(largest_choices) +
                     " levels; found " + std::to_string(fractions.size()));
  double sum = 0;
  for (const double fraction : fractions) {
    if (!(fraction > 0))
      refuse_parameter("level_fractions must be above 0; found " + std::to_string(fraction));
    sum += fraction;
  }
  if (!(std::abs(sum - 1) <= 1e-6))
    refuse_parameter("level_fractions must sum to 1; found " + std::to_string(sum));
  if (buckets < fractions.size())
    refuse_parameter("there must be at least one bucket per level; found " +
                     std::to_string(buckets));
  std::vector<std::uint64_t> sizes;
  std::uint64_t given = 0;
  double total = 0;
  for (std::size_t i = 0; i < fractions.size(); ++i) {
    total += fractions[i] / sum;
    const auto share =
        static_cast<std::uint64_t>(std::llround(total * static_cast<double>(buckets)));
    const std::uint64_t levels_after = fractions.size() - i - 1;
    const std::uint64_t end = std::clamp(share, given + 1, buckets - levels_after);
    sizes.push_back(end - given);
    given = end;
  }
  return sizes;
}

}  // namespace oneprobe::inline v0_1
