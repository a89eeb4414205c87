// Costs inside the planners. Private to src/plan.
#pragma once

#include "needs_check.hpp"
#include "oneprobe/plan/cost.hpp"

namespace oneprobe::inline v0_1::planning {

inline constexpr double least_cost = 1e-15, most_cost = 1e15;

inline void check_costs(const access_costs& costs) {
  check_range("access_cost", costs.access, least_cost, most_cost);
  check_range("overflow_cost", costs.overflow, 0, most_cost);
  for (const double number : {costs.hits, costs.misses, costs.inserts})
    check_range("operations", number, 0, most_cost);
  if (!(costs.hits + costs.misses + costs.inserts > 0))
    refuse("operations must not all be 0; found 0, 0 and 0");
}

/// Accesses, and how often the overflow is looked into, of one kind of operation.
struct operation_work {
  double accesses = 0;
  double overflow = 0;

  double cost(const access_costs& of) const {
    return accesses * of.access + overflow * of.overflow;
  }
};

inline operation_costs costs_of(const operation_work& hit, const operation_work& miss,
                                const operation_work& insert, const access_costs& of) {
  operation_costs each{.hit = hit.cost(of), .miss = miss.cost(of), .insert = insert.cost(of)};
  each.mean = (of.hits * each.hit + of.misses * each.miss + of.inserts * each.insert) /
              (of.hits + of.misses + of.inserts);
  return each;
}

}  // namespace oneprobe::inline v0_1::planning
