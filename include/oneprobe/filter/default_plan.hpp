// Plans for the common needs without the compiled planner: so many elements, at most this error.
//
//   filter_plan plan = default_filter_plan(filter_kind::balanced, 1'000'000, 1e-4);
//   balanced_filter filter(plan);              // what balanced_filter(1'000'000, 1e-4) does
//
// Kinds without blocks are sized by their formulas; blocked, balanced and fingerprint filters from
// the table in detail/generated/default_filter_plan_table.hpp, which the planner writes (tests hold
// it to the planner and the model). The last two stay within 1.2 accesses per negative query and 3
// choices.
//
// Limits: 1 to 2^40 elements, error from 1e-9 to 0.5, all memory up to 2^40 bits. Predictions are
// limits of many blocks: a filter of few elements has more slack, and errs less than predicted.
// Pure and thread-safe. plan/filter.hpp knows more needs and says what else could be had.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/detail/generated/default_filter_plan_table.hpp"
#include "oneprobe/detail/planning/balanced_layout.hpp"
#include "oneprobe/filter/plan.hpp"

namespace oneprobe::inline v0_1 {
namespace detail {

inline constexpr std::uint32_t default_counter_bits = 4;

/// Predictions of a filter of k bits anywhere, when the fraction `ones` of them is set: a negative
/// query reads until it meets a zero.
inline filter_prediction predict_scattered(double ones, std::uint32_t bits_set) {
  const auto k = static_cast<double>(bits_set);
  const double fpr = std::pow(ones, k);
  return {.fpr = fpr,
          .insert_accesses = k,
          .hit_accesses = k,
          .miss_accesses = ones < 1 ? (1 - fpr) / (1 - ones) : k};
}

/// The fraction of ones after `elements` elements.
inline double ones_fraction(const filter_plan& plan, double elements) {
  const auto cells = static_cast<double>(plan.cells);
  const auto k = static_cast<double>(plan.bits_set);
  return plan.kind == filter_kind::partitioned ? -std::expm1(elements * std::log1p(-k / cells))
                                               : -std::expm1(elements * k * std::log1p(-1 / cells));
}

/// As many cells as fit the lines of `bits` bits.
inline void set_cells(filter_plan& plan, double bits) {
  constexpr double line_bits = 512;
  const double whole = std::ceil(std::max(bits, 1.0) / line_bits) * line_bits;
  if (!(whole <= static_cast<double>(filter_plan::most_bits)))
    refuse_parameter("elements and fpr must need at most 2^40 bits; found " + in_words(bits));
  plan.cells = static_cast<std::uint64_t>(whole) / plan.counter_bits;
  if (plan.kind == filter_kind::partitioned) plan.cells -= plan.cells % plan.bits_set;
}

/// Cells for k bits of which so many elements leave a fraction fpr^(1/k) set.
inline double scattered_cells(filter_kind kind, double elements, double fpr, double k) {
  const double zeros_log = std::log1p(-std::exp(std::log(fpr) / k));  // log of the zeros' share
  if (kind == filter_kind::partitioned) {
    // Each part must have a bit; the last term pays for rounding its width down.
    return k / -std::expm1(zeros_log / elements) + k;
  }
  // The share of ones varies from filter to filter, and the mean of its k-th power exceeds the
  // power of its mean by about 0.15 k^2 / cells: k more cells pay for that.
  return elements * k / -zeros_log + k;
}

inline filter_plan default_scattered(filter_kind kind, std::uint64_t elements, double fpr) {
  filter_plan plan;
  plan.kind = kind;
  plan.elements = elements;
  plan.counter_bits = kind == filter_kind::counting ? default_counter_bits : 1;
  const auto n = static_cast<double>(elements);
  // The best real k is log2(1 / fpr); the best whole one is beside it.
  const double below = std::max(1.0, std::floor(-std::log2(fpr)));
  const double cells_below = scattered_cells(kind, n, fpr, below);
  const double cells_above = scattered_cells(kind, n, fpr, below + 1);
  plan.bits_set = static_cast<std::uint32_t>(cells_above < cells_below ? below + 1 : below);
  set_cells(plan, std::min(cells_below, cells_above) * plan.counter_bits);
  plan.predicted = predict_scattered(ones_fraction(plan, n), plan.bits_set);
  return plan;
}

/// Where an error lies in the table: its cell, and how far from the cell's lower end, 0 to 1, by
/// its logarithm.
struct table_place {
  std::size_t cell;
  double beyond;
};
inline table_place place_in_table(double fpr) {
  const double cells =
      (std::log10(fpr) - default_table_first_exponent) * default_table_cells_per_decade;
  const double last = default_balanced_table.size() - 1;
  const double cell = std::clamp(std::floor(cells), 0.0, last);
  return {static_cast<std::size_t>(cell), std::clamp(cells - cell, 0.0, 1.0)};
}

/// Between three values, each a power of the error as far as that goes. `value(i)` is that at the
/// lower end, in the middle and at the upper end of a cell.
template <class Value>
double interpolate(Value&& value, double beyond) {
  const std::size_t half = beyond < 0.5 ? 0 : 1;
  const double low = value(half), high = value(half + 1);
  return low * std::pow(high / low, 2 * beyond - static_cast<double>(half));
}

inline void refuse_too_many_blocks(const filter_plan& plan) {
  if (find_fault(plan))
    refuse_parameter("elements and fpr must need at most 2^40 bits; found " +
                     std::to_string(plan.elements) + " elements");
}

inline filter_plan default_blocked(std::uint64_t elements, double fpr) {
  const table_place place = place_in_table(fpr);
  const default_blocked_cell& row = default_blocked_table[place.cell];
  filter_plan plan;
  plan.kind = filter_kind::blocked;
  plan.elements = elements;
  plan.bits_set = row.bits_set;
  const double per_block =
      interpolate([&](std::size_t i) { return row.elements_per_block[i]; }, place.beyond);
  plan.level_buckets[0] =
      static_cast<std::uint64_t>(std::ceil(static_cast<double>(elements) / per_block));
  plan.predicted = {.fpr = fpr, .insert_accesses = 1, .hit_accesses = 1, .miss_accesses = 1};
  refuse_too_many_blocks(plan);
  return plan;
}

/// The values of a cell's three points at an error between them.
inline default_balanced_point interpolated(const std::array<default_balanced_point, 3>& points,
                                           double beyond) {
  const auto at = [&](double default_balanced_point::*value) {
    return interpolate([&](std::size_t i) { return points[i].*value; }, beyond);
  };
  return {.elements_per_block = at(&default_balanced_point::elements_per_block),
          .refused_fraction = at(&default_balanced_point::refused_fraction),
          .overflow_fraction = at(&default_balanced_point::overflow_fraction),
          .reserved_fraction = at(&default_balanced_point::reserved_fraction),
          .insert_accesses = at(&default_balanced_point::insert_accesses),
          .miss_accesses = at(&default_balanced_point::miss_accesses),
          .fpr = at(&default_balanced_point::fpr)};
}
inline void set_fill(block_fill& fill, const default_balanced_point& point) {
  fill.elements_per_block = point.elements_per_block;
  fill.refused_fraction = point.refused_fraction;
  fill.overflow_fraction = point.overflow_fraction;
  fill.reserved_fraction = point.reserved_fraction;
}
inline filter_prediction predict_from(const default_balanced_point& point, double fpr) {
  const double accesses = point.insert_accesses + point.overflow_fraction;
  return {.fpr = std::min(fpr, point.fpr),
          .insert_accesses = accesses,
          .hit_accesses = accesses,
          .miss_accesses = point.miss_accesses,
          .overflow_fraction = point.overflow_fraction};
}

inline filter_plan default_balanced(std::uint64_t elements, double fpr) {
  const table_place place = place_in_table(fpr);
  const default_balanced_cell& row = default_balanced_table[place.cell];
  balanced_design design;
  design.bits_set = row.bits_set;
  design.choices = row.choices;
  design.state = {.rule = lookup_rule::popcount,
                  .threshold = row.threshold,
                  .admit_probability = 0,
                  .tracking_bits = row.tracking_bits};
  const default_balanced_point point = interpolated(row.points, place.beyond);
  set_fill(design, point);
  filter_plan plan = lay_out_balanced(design, elements);
  plan.predicted = predict_from(point, fpr);
  refuse_too_many_blocks(plan);
  return plan;
}

inline filter_plan default_fingerprint(std::uint64_t elements, double fpr) {
  const double cell = std::floor((std::log10(fpr) - default_table_first_exponent) *
                                 default_fingerprint_cells_per_decade);
  const double last = default_fingerprint_table.size() - 1;
  const default_fingerprint_cell& row =
      default_fingerprint_table[static_cast<std::size_t>(std::clamp(cell, 0.0, last))];
  fingerprint_design design;
  design.fingerprint_bucket = {.bucket_capacity = row.bucket_capacity,
                               .remainder_bits = row.remainder_bits};
  design.choices = row.choices;
  set_fill(design, row.point);
  filter_plan plan = lay_out_fingerprint(design, elements);
  plan.predicted = predict_from(row.point, fpr);
  refuse_too_many_blocks(plan);
  return plan;
}

}  // namespace detail

/// The errors that there are default plans for, from the least to the largest.
inline constexpr double default_plan_least_fpr = 1e-9;
inline constexpr double default_plan_largest_fpr = 0.5;

/// The plan of a filter for so many elements and this error. Refuses, naming the parameter, what is
/// outside the limits above.
inline filter_plan default_filter_plan(filter_kind kind, std::uint64_t elements, double fpr) {
  if (elements < 1 || elements > filter_plan::most_bits)
    refuse_parameter("elements must be 1 to 2^40; found " + std::to_string(elements));
  if (!(fpr >= default_plan_least_fpr && fpr <= default_plan_largest_fpr))
    refuse_parameter("fpr must be from 1e-9 to 0.5; found " + in_words(fpr));
  switch (kind) {
    case filter_kind::standard:
    case filter_kind::partitioned:
    case filter_kind::counting:
      return detail::default_scattered(kind, elements, fpr);
    case filter_kind::blocked:
      return detail::default_blocked(elements, fpr);
    case filter_kind::balanced:
      return detail::default_balanced(elements, fpr);
    case filter_kind::fingerprint:
      return detail::default_fingerprint(elements, fpr);
  }
  refuse_parameter("kind must be 1 to 6; found " + std::to_string(static_cast<unsigned>(kind)));
}

}  // namespace oneprobe::inline v0_1
