// What a table must do, read from options, and the plan that follows from it.
#pragma once

#include "arguments.hpp"
#include "oneprobe/plan/table.hpp"

namespace oneprobe::cli {

/// Throws usage_error.
table_needs read_table_needs(const arguments& in);

/// What the planner proposes. Needs that it refuses are a usage_error in the names of the options.
table_proposal plan_needs(const table_needs& needs);

}  // namespace oneprobe::cli
