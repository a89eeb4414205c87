// Writes include/oneprobe/detail/generated/default_table_designs.hpp to standard output: the
// planner's levels of a churning table of 16-byte elements for every bucket capacity.
//
//   oneprobe_default_tables > include/oneprobe/detail/generated/default_table_designs.hpp
#include <cstdio>
#include <vector>

#include "oneprobe/model/finite_size.hpp"
#include "oneprobe/plan/table.hpp"

namespace {

using namespace oneprobe;

/// Variance of the overflow over its mean, in the limit, with as many elements as it is made for.
double burst_of(const table_design& design) {
  model::churn_parameters parameters{.load_factor = 0,
                                     .bucket_capacity = design.bucket_capacity,
                                     .choices = design.levels,
                                     .level_fractions = {}};
  double space = 0;  // buckets per element
  for (std::uint32_t i = 0; i < design.levels; ++i) {
    parameters.level_fractions.push_back(design.entering[i] / design.offered[i]);
    space += parameters.level_fractions.back();
  }
  for (double& fraction : parameters.level_fractions) fraction /= space;
  parameters.load_factor = 1 / (space * design.bucket_capacity);
  constexpr double many = 1e12;
  const model::overflow_spread spread = model::overflow_spread_churning(parameters, many);
  return spread.standard_deviation * spread.standard_deviation / spread.mean;
}

void write_row(std::uint32_t bucket_capacity) {
  const table_needs needs{.elements = 1, .bucket_capacity = bucket_capacity};
  const table_design design = design_table(needs);
  std::printf("    {{%u, %u, %.17g, {{", design.bucket_capacity, design.levels, design.made_for);
  for (std::uint32_t i = 0; i < design.levels; ++i)
    std::printf("%.17g%s", design.entering[i], i + 1 < design.levels ? ", " : "}},\n      {{");
  for (std::uint32_t i = 0; i < design.levels; ++i)
    std::printf("%.17g%s", design.offered[i], i + 1 < design.levels ? ", " : "}}},\n");
  std::printf("     %.8g},\n", burst_of(design));
}

}  // namespace

int main() {
  std::printf(
      R"(// The levels of default table plans, one row for each bucket capacity from 1 to 16.
// Written by oneprobe_default_tables (apps/default_plans) from the planner; not by hand. A test
// writes it again and compares.
#pragma once

#include <array>

#include "oneprobe/detail/planning/table_layout.hpp"

namespace oneprobe::inline v0_1::detail {

struct default_table_row {
  table_design design;
  double burst;  // variance of the overflow over its mean, with as many elements as it is made for
};

// clang-format off
inline constexpr std::array<default_table_row, %u> default_table_rows{{
)",
      table_plan::most_bucket_capacity);
  for (std::uint32_t capacity = 1; capacity <= table_plan::most_bucket_capacity; ++capacity)
    write_row(capacity);
  std::printf("}};\n// clang-format on\n\n}  // namespace oneprobe::inline v0_1::detail\n");
  return 0;
}
