// What a table of given levels does. Private to src/plan.
#pragma once

#include <cstdint>

#include "oneprobe/core/table_plan.hpp"
#include "oneprobe/model/finite_size.hpp"
#include "oneprobe/plan/table.hpp"

namespace oneprobe::planning {

/// Note kinds of a bucket of the tables; store/tagged_buckets.hpp has as many.
inline constexpr unsigned table_note_kinds = 16;

/// Of all elements, those that overflow: scheme and sizes of the plan, under its workload.
double overflow_fraction(const table_plan& plan, double elements);

/// Mean and deviation of their number.
model::overflow_spread overflow_spread(const table_plan& plan, double elements);

/// Everything that is predicted.
table_prediction predict(const table_plan& plan, double elements);

}  // namespace oneprobe::planning
