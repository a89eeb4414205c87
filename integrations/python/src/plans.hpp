// Plans as Python sees them: a proposal of the planner that has a plan.
#pragma once

#include <pybind11/pybind11.h>

#include "oneprobe/plan/filter.hpp"
#include "oneprobe/plan/table.hpp"

namespace oneprobe::python {

struct planned_filter {
  filter_proposal proposal;
  const filter_plan& plan() const { return *proposal.plan; }
};

struct planned_table {
  table_proposal proposal;
  table_needs needs;
  const table_plan& plan() const { return *proposal.plan; }
};

/// Throws std::invalid_argument with the reason where the need cannot be met.
planned_filter planned(const filter_needs& needs);
planned_table planned(const table_needs& needs);

filter_kind filter_kind_of(const std::string& name);

}  // namespace oneprobe::python
