// A filter of levels that need not be whole yet: what a search compares. Private to src/plan.
#pragma once

#include <algorithm>
#include <cstdint>

#include "contenders.hpp"
#include "oneprobe/detail/planning/balanced_layout.hpp"
#include "oneprobe/model/balanced_levels.hpp"

namespace oneprobe::inline v0_1::planning {

struct sized {
  double bits_per_element = 0;
  double fpr = 1;
  double accesses = 0;
};

/// The levels that a fill needs for the goal, with slack, and the list that then overflows; `at`
/// is the model of such a filter. Writes what overflows into the fill.
template <class Model>
sized size_up(const goal& what, block_fill& fill, std::uint32_t levels, double block_bits,
              Model&& at) {
  const double n = what.n();
  const auto shares = level_shares(fill, levels, n, with_slack);
  model::built_levels built;
  double blocks = 0;
  for (std::uint32_t i = 0; i < levels; ++i) {
    built.blocks.push_back(std::max(1.0, shares[i]));
    blocks += built.blocks.back();
  }
  // As if the list had room for everything; what it costs and errs is added below.
  built.overflow_slots = built.overflow_reserve = 2 * n;
  const model::built_error error = at(n, built);
  fill.overflow_fraction = error.overflow_fraction;
  fill.reserved_fraction = what.absorbed * at(what.absorbed * n, built).overflow_fraction;
  const auto slots =
      static_cast<double>(overflow_slots_for(overflow_reserve_for(n * fill.reserved_fraction)));
  return {.bits_per_element = (blocks * block_bits + 32 * slots) / n,
          .fpr = error.fpr + error.list_queries * model::overflow_list_match(
                                                      32, n * error.overflow_fraction / slots),
          .accesses = error.miss_accesses + (what.list_accesses - 1) * error.list_queries};
}

}  // namespace oneprobe::inline v0_1::planning
