// What operations cost in time, energy or round trips: the papers' budget, in a unit that the
// caller chooses.
//
//   access_costs nanoseconds{.access = 100, .overflow = 2000};
//   operation_costs each = cost_of(plan, nanoseconds);         // each.miss: of an absent key
//
// An operation costs its mean number of accesses times the cost of one, plus the probability that
// it looks into the overflow times the cost of that. Costs are doubles of one unit, whichever it
// is. plan_filter and plan_table take them among their needs and choose by them.
//
// Pure and thread-safe.
#pragma once

#include <cstdint>

#include "oneprobe/filter/plan.hpp"
#include "oneprobe/map/plan.hpp"
#include "oneprobe/one_probe/plan.hpp"

namespace oneprobe::inline v0_1 {

/// What an access costs, in any unit, and how often there is one.
struct access_costs {
  double access = 1;    // to read one bucket or block; above 0
  double overflow = 1;  // to look for one key in the overflow; 0 and up

  /// How many of each operation there are; only their ratios matter.
  double hits = 1;     // lookups of keys that are there
  double misses = 1;   // lookups of absent keys
  double inserts = 1;  // of new keys
};

/// Per operation, on average.
struct operation_costs {
  double hit = 0;     // of a key that is there
  double miss = 0;    // of one that is not
  double insert = 0;  // of a new one
  double mean = 0;    // over all operations, as many of each as there are
};

/// By the model, for the planned number of elements. Throw std::invalid_argument for a plan with a
/// fault, of a filter scheme that no model covers, and for costs out of range.
operation_costs cost_of(const filter_plan& plan, const access_costs& costs);
/// For d-random and d-left placement, whose lookups the model does not know, a miss costs the most
/// that it can.
operation_costs cost_of(const table_plan& plan, const access_costs& costs);
/// Accesses are those of slow memory. The overflow is looked into while anything is in it, by every
/// miss.
operation_costs cost_of(const summary_plan& plan, const access_costs& costs);

}  // namespace oneprobe::inline v0_1
