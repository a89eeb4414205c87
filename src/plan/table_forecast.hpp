// What a table of given levels does. Private to src/plan.
#pragma once

#include <cstdint>

#include "cost.hpp"
#include "oneprobe/map/plan.hpp"
#include "oneprobe/model/finite_size.hpp"
#include "oneprobe/plan/table.hpp"
#include "table_levels.hpp"

namespace oneprobe::inline v0_1::planning {

/// Note kinds of a bucket of the tables; detail/map/tagged_buckets.hpp has as many.
inline constexpr unsigned table_note_kinds = 16;

/// Whether there is a model of what such a table refuses for a tag.
constexpr bool has_tag_model(scheme_kind scheme, table_workload workload) noexcept {
  return scheme == scheme_kind::single || scheme == scheme_kind::multilevel ||
         (scheme == scheme_kind::sequential && workload == table_workload::churn);
}

/// Of all elements, those that overflow: scheme and sizes of the plan, under its workload. `loss`
/// is that of its buckets; what they refuse for a tag is counted where there is a model of it.
double overflow_fraction(const table_plan& plan, double elements, const bucket_loss& loss);

/// Mean and deviation of their number.
model::overflow_spread overflow_spread(const table_plan& plan, double elements,
                                       const bucket_loss& loss);

/// Everything that is predicted.
table_prediction predict(const table_plan& plan, double elements, const bucket_loss& loss);

/// What operations cost, of a plan that has its predictions.
operation_costs costs_unchecked(const table_plan& plan, const access_costs& costs);

}  // namespace oneprobe::inline v0_1::planning
