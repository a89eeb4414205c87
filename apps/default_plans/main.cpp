// Writes include/oneprobe/detail/generated/default_filter_plan_table.hpp to standard output: the
// planner's answers on a grid of errors.
//
//   oneprobe_default_plans > include/oneprobe/detail/generated/default_filter_plan_table.hpp
//
// A cell is a block that the planner chose for the middle of its errors, filled as far as its two
// ends and its middle allow; between them fills and predictions are interpolated.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <functional>
#include <stdexcept>

#include "oneprobe/detail/planning/balanced_layout.hpp"
#include "oneprobe/model/balanced_levels.hpp"
#include "oneprobe/model/bloom.hpp"
#include "oneprobe/model/fingerprint.hpp"
#include "oneprobe/plan/filter.hpp"

namespace {

using namespace oneprobe;

constexpr int first_exponent = -9;
constexpr int cells_per_decade = 5;
constexpr int cells = 44;  // the last one ends at 10^-0.2, above 0.5
constexpr int fine_per_decade = 25;
constexpr int fine_cells = 218;  // the last one begins below 0.5
/// So many that all sizes are those of the limit.
constexpr std::uint64_t many = 1'000'000'000;
/// The planner's limit on accesses for the middle of a cell: at its upper end, where blocks are
/// fuller and queries read more, they then still stay within 1.2.
constexpr double planned_accesses = 1.18;

double error_at(int end) {
  return std::pow(10.0, first_exponent + static_cast<double>(end) / cells_per_decade);
}

/// The errors of a cell's two ends and of its middle.
std::array<double, 3> errors_of(int cell) {
  return {error_at(cell), std::sqrt(error_at(cell) * error_at(cell + 1)), error_at(cell + 1)};
}
/// Points aim a little below their error, so that what is interpolated between them stays below
/// its own.
constexpr double aim = 0.997;

double middle_of(int cell) { return errors_of(cell)[1]; }

/// Where an increasing function reaches 0, to the last digits that are printed.
template <class Function>
double increasing_root(Function&& function, double low, double high) {
  for (int step = 0; step < 60; ++step) {
    const double middle = std::sqrt(low * high);
    (function(middle) < 0 ? low : high) = middle;
  }
  return low;
}

filter_plan planned(filter_kind kind, double fpr) {
  const filter_proposal proposal = plan_filter({.elements = many,
                                                .fpr = std::min(fpr, 0.5),
                                                .accesses = planned_accesses,
                                                .kind = kind,
                                                .detail = plan_detail::plan_only});
  if (!proposal.plan) throw std::runtime_error(proposal.reason);
  return *proposal.plan;
}

void write_blocked(int cell) {
  const unsigned bits_set = planned(filter_kind::blocked, middle_of(cell)).bits_set;
  const auto per_block = [&](double fpr) {
    return increasing_root(
        [&](double mean) {
          return model::blocked_error({512 / mean, 512, bits_set}) - fpr;
        },
        0.01, 511.0);
  };
  const auto [low, middle, high] = errors_of(cell);
  std::printf("    {%u, {{%.8g, %.8g, %.8g}}},\n", bits_set, per_block(aim * low),
              per_block(aim * middle), per_block(aim * high));
}

/// A block as the model knows it: what it passes on, and the filter of such blocks.
struct block_model {
  double absorbed;  // times the planned elements
  std::function<double(double mean)> refused_fraction;
  std::function<model::built_error(double elements, const model::built_levels&)> at;
};

/// The block of a plan, filled with `mean` elements in the first level.
struct filled {
  block_fill fill;
  model::built_error error;
};

filled fill(const block_model& block, const filter_plan& plan, double mean) {
  filled result;
  block_fill& fill = result.fill;
  fill.elements_per_block = mean;
  fill.refused_fraction = block.refused_fraction(mean);
  constexpr auto n = static_cast<double>(many);
  model::built_levels levels;
  const auto shares = level_shares(fill, plan.levels, n, with_slack);
  for (std::uint32_t i = 0; i < plan.levels; ++i) levels.blocks.push_back(std::max(1.0, shares[i]));
  levels.overflow_slots = levels.overflow_reserve = 2 * n;
  fill.overflow_fraction = block.at(n, levels).overflow_fraction;
  fill.reserved_fraction = block.absorbed * block.at(block.absorbed * n, levels).overflow_fraction;
  const std::uint64_t reserve = overflow_reserve_for(n * fill.reserved_fraction);
  levels.overflow_reserve = static_cast<double>(reserve);
  levels.overflow_slots = static_cast<double>(overflow_slots_for(reserve));
  result.error = block.at(n, levels);
  return result;
}

/// With so many elements per block of the first level.
void write_fill(const block_model& block, const filter_plan& plan, double mean, const char* after) {
  const filled at = fill(block, plan, mean);
  // What never happens is written as a number that has a logarithm.
  constexpr double never = 1e-100;
  std::printf("      {%.8g, %.8g, %.8g, %.8g, %.8g, %.8g, %.8g}%s\n", mean,
              std::max(never, at.fill.refused_fraction), std::max(never, at.fill.overflow_fraction),
              std::max(never, at.fill.reserved_fraction), at.error.insert_accesses,
              at.error.miss_accesses, at.error.fpr, after);
}

void write_point(const block_model& block, const filter_plan& plan, double fpr, const char* after) {
  const double mean = increasing_root(
      [&](double at) {
        const model::built_error error = fill(block, plan, at).error;
        return std::max(error.fpr / fpr - 1, error.miss_accesses - default_miss_accesses);
      },
      0.1, 1000.0);
  write_fill(block, plan, mean, after);
}

void write_points(const block_model& block, const filter_plan& plan, int cell) {
  const auto [low, middle, high] = errors_of(cell);
  write_point(block, plan, aim * low, ",");
  write_point(block, plan, aim * middle, ",");
  write_point(block, plan, aim * high, "}}},");
}

void write_balanced(int cell) {
  const filter_plan plan = planned(filter_kind::balanced, middle_of(cell));
  const model::built_filter filter({.block_bits = plan.block_bits,
                                    .bits_set = plan.bits_set,
                                    .scheme = plan.scheme,
                                    .choices = plan.choices,
                                    .rule = plan.state.rule,
                                    .threshold = plan.state.threshold,
                                    .tracking_bits = plan.state.tracking_bits});
  std::printf("    {%u, %u, %u, %u, {{\n", plan.bits_set, plan.state.threshold,
              plan.state.tracking_bits, plan.choices);
  write_points(
      {.absorbed = absorbed_overfill,
       .refused_fraction = [&](double mean) { return filter.refused_fraction(mean); },
       .at = [&](double elements,
                 const model::built_levels& levels) { return filter.at(elements, levels); }},
      plan, cell);
}

/// The best bucket for an error is full or nearly so; for another error it is another one. So there
/// are many cells, each with a plan for its least error.
void write_fingerprint(int cell) {
  const double least = std::pow(10.0, first_exponent + static_cast<double>(cell) / fine_per_decade);
  const filter_plan plan = planned(filter_kind::fingerprint, least);
  const model::fingerprint_shape shape{.bucket_capacity = plan.fingerprint_bucket.bucket_capacity,
                                       .remainder_bits = plan.fingerprint_bucket.remainder_bits};
  std::printf("    {%u, %u, %u,", plan.fingerprint_bucket.bucket_capacity,
              plan.fingerprint_bucket.remainder_bits, plan.choices);
  write_fill({.absorbed = absorbed_fingerprints,
              .refused_fraction =
                  [&](double mean) {
                    const double grown = later_level_growth(absorbed_fingerprints);
                    return grown * model::handed_on_fraction(shape, grown * mean);
                  },
              .at =
                  [&](double elements, const model::built_levels& levels) {
                    return model::evaluate_built(shape, elements, levels);
                  }},
             plan, static_cast<double>(many) / static_cast<double>(plan.level_buckets[0]), "},");
}

}  // namespace

int main() {
  std::printf(
      R"(// The default plans of filters made of blocks, one cell for each interval of the error.
// Written by oneprobe_default_plans (apps/default_plans) from the planner; not by hand. A test
// writes it again and compares.
#pragma once

#include <array>
#include <cstdint>

namespace oneprobe::inline v0_1::detail {

/// Cell i is for errors from 10^(first_exponent + i / cells_per_decade) to the next.
inline constexpr double default_table_first_exponent = %d;
inline constexpr double default_table_cells_per_decade = %d;

struct default_blocked_cell {
  std::uint32_t bits_set;
  std::array<double, 3> elements_per_block;  // at the lower end, in the middle, at the upper end
};

struct default_balanced_point {
  double elements_per_block;  // of the first level
  double refused_fraction;    // of those that reach it
  double overflow_fraction;   // of all
  double reserved_fraction;   // of all, when there are as many more as it absorbs
  double insert_accesses;     // blocks
  double miss_accesses;
  double fpr;  // by the model
};
struct default_balanced_cell {
  std::uint32_t bits_set;
  std::uint32_t threshold;
  std::uint32_t tracking_bits;
  std::uint32_t choices;
  std::array<default_balanced_point, 3> points;  // as above
};
struct default_fingerprint_cell {
  std::uint32_t bucket_capacity;
  std::uint32_t remainder_bits;
  std::uint32_t choices;
  default_balanced_point point;  // at the lower end
};
inline constexpr double default_fingerprint_cells_per_decade = %d;

// clang-format off
inline constexpr std::array<default_blocked_cell, %d> default_blocked_table{{
)",
      first_exponent, cells_per_decade, fine_per_decade, cells);
  for (int cell = 0; cell < cells; ++cell) write_blocked(cell);
  std::printf(
      "}};\n\ninline constexpr std::array<default_balanced_cell, %d> default_balanced_table{{\n",
      cells);
  for (int cell = 0; cell < cells; ++cell) write_balanced(cell);
  std::printf(
      "}};\n\ninline constexpr std::array<default_fingerprint_cell, %d> "
      "default_fingerprint_table{{\n",
      fine_cells);
  for (int cell = 0; cell < fine_cells; ++cell) write_fingerprint(cell);
  std::printf("}};\n// clang-format on\n\n}  // namespace oneprobe::inline v0_1::detail\n");
  return 0;
}
