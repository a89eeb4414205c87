#include "cost.hpp"

#include <cmath>

#include "contenders.hpp"
#include "table_forecast.hpp"

namespace oneprobe::inline v0_1 {

operation_costs cost_of(const filter_plan& plan, const access_costs& costs) {
  check_plan(plan, plan.kind);
  planning::check_costs(costs);
  const planning::filter_work work = planning::work_of(plan);
  return planning::costs_of(work.positive, work.negative, work.insert, costs);
}

operation_costs cost_of(const table_plan& plan, const access_costs& costs) {
  check_plan(plan);
  planning::check_costs(costs);
  return planning::costs_unchecked(plan, costs);
}

operation_costs cost_of(const summary_plan& plan, const access_costs& costs) {
  check_plan(plan);
  planning::check_costs(costs);
  const summary_prediction& seen = plan.predicted;
  const double in_overflow = seen.overflow_mean / static_cast<double>(plan.elements);
  // Nearly always there is nothing in it.
  const double any = -std::expm1(-seen.overflow_mean);
  const planning::operation_work hit{.accesses = 1 - in_overflow, .overflow = in_overflow};
  const planning::operation_work miss{.accesses = seen.absent_read_probability, .overflow = any};
  // A new key is looked for, and then one bucket is written.
  const planning::operation_work insert{.accesses = seen.absent_read_probability + 1 - in_overflow,
                                        .overflow = any + in_overflow};
  return planning::costs_of(hit, miss, insert, costs);
}

}  // namespace oneprobe::inline v0_1
