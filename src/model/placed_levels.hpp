// Elements on their way through levels of blocks: for the filters as they are built. Private to
// src/model.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "block_law.hpp"
#include "check.hpp"
#include "oneprobe/model/balanced_levels.hpp"

namespace oneprobe::inline v0_1::model::detail {

/// Refuses what no built filter has, with up to `most_levels` levels.
void check_built(double elements, const built_levels& levels, std::size_t most_levels);

/// What the blocks of every level became, and what no candidate had room for.
struct placed_elements {
  std::vector<block_outcome> blocks;
  double accesses = 0;   // of all elements together
  double overflow = 0;   // elements
  double deviation = 0;  // of their number
};

/// One level after the other. The number that reaches a level varies: with that of the level before
/// and with how arrivals fell there. If N elements reach blocks that would each get Poisson
/// arrivals, the variance of the refused ones has a part that N itself brings, Var(N) u^2 with u
/// the refusal of a further arrival; Poisson arrivals bring E[N] u^2 of it on their own.
template <class Outcome>
placed_elements place_in_levels(Outcome&& outcome, double elements,
                                const std::vector<double>& level_buckets) {
  placed_elements placed;
  double reach = elements, variance = 0;
  for (const double blocks : level_buckets) {
    placed.accesses += reach;
    const double mean = std::max(reach / blocks, smallest_mean);
    const block_outcome block = outcome(mean);
    const double own = block.refused_square - block.refused_mean * block.refused_mean;
    variance = std::max(0.0, blocks * own + block.refusal * block.refusal * (variance - reach));
    reach = blocks * block.refused_mean;
    placed.blocks.push_back(block);
  }
  placed.overflow = reach;
  placed.deviation = std::sqrt(variance);
  return placed;
}

}  // namespace oneprobe::inline v0_1::model::detail
