// The walk of n elements through the levels of a table of single-slot buckets, level by level, each
// step conditioned on how many enter (SSH, Appendix III-A). Private to src/model: the crisis
// calculator and the failure sums of the summaries (Appendix III-B, C) are two views of one walk.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "oneprobe/model/crisis.hpp"

namespace oneprobe::inline v0_1::model::detail {

/// Given that `entering` elements enter level `level` (from 0), which has probability `weight`:
/// left_probability[i] = P(first_left + i step of them are not placed there).
struct level_outcome {
  std::size_t level = 0;
  double entering = 0;
  double weight = 1;
  double first_left = 0;
  double step = 1;
  std::span<const double> left_probability;
};

using level_visitor = std::function<void(const level_outcome&)>;

/// Checks its parameters as `crisis` promises.
crisis_result walk_levels(std::uint64_t elements, std::span<const std::uint64_t> levels,
                          const level_visitor& visit);

/// a - m (1 - (1 - 1/m)^a), what a elements leave over by eq. (2) of SSH, for real a and whole m;
/// keeps its digits where almost all find a place.
double expected_left(double elements, double bins);

/// r in the proof of SSH, Theorem 1.1: the last level whose z_r is at least 2 (c + 1) log_4/e n, so
/// that |S_r| stays below z_r but with probability r n^-(c+1) (Lemma 1.4; erratum 1.8).
unsigned last_concentrated_level(double elements, double c1, double c2, double exponent);

}  // namespace oneprobe::inline v0_1::model::detail
