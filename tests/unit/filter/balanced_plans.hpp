// Plans of balanced filters for tests: shapes of the model, cut to a number of elements.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>

#include "oneprobe/filter/plan.hpp"
#include "oneprobe/model/balanced.hpp"

namespace balanced_plans {

struct planned_filter {
  oneprobe::filter_plan plan;
  oneprobe::model::filter_error predicted;
};

/// The filter of the model whose blocks see so many arrivals. Levels are geometric by the fraction
/// that each refuses; the overflow list has room for the mean, eight standard deviations of a
/// Poisson number, and a few.
inline planned_filter planned(const oneprobe::model::balanced_shape& shape, double arrivals_mean,
                              std::uint64_t elements) {
  using namespace oneprobe;
  const model::filter_error error = model::evaluate(shape, arrivals_mean);
  filter_plan plan;
  plan.kind = filter_kind::balanced;
  plan.elements = elements;
  plan.bits_set = shape.bits_set;
  plan.block_bits = shape.block_bits;
  plan.scheme = shape.scheme;
  plan.choices = shape.choices;
  plan.state = {.rule = shape.rule,
                .threshold = shape.threshold,
                .admit_probability = shape.admit_probability,
                .tracking_bits = shape.tracking_bits};
  const double n = static_cast<double>(elements);
  const bool levelled = shape.scheme == scheme_kind::multilevel;
  plan.levels = levelled ? shape.choices : 1;
  const double refused = std::pow(error.overflow_fraction, 1.0 / shape.choices);
  double reaching = n;
  for (std::uint32_t i = 0; i < plan.levels; ++i, reaching *= refused)
    plan.level_buckets[i] = static_cast<std::uint64_t>(
        std::llround(levelled ? reaching / arrivals_mean : n / error.elements_per_block));
  const double overflow = n * error.overflow_fraction;
  plan.overflow_reserve = static_cast<std::uint64_t>(overflow + 8 * std::sqrt(overflow) + 16);
  plan.overflow_slots = plan.overflow_reserve * 4 / 3 + 1;
  plan.predicted = {.fpr = error.fpr,
                    .insert_accesses = error.insert_accesses,
                    .hit_accesses = error.hit_accesses,
                    .miss_accesses = error.miss_accesses,
                    .overflow_fraction = error.overflow_fraction};
  return {plan, error};
}

/// 20 bits per element at 1.2 accesses per negative query (reference study).
inline oneprobe::model::balanced_shape popcount_shape() {
  return {.block_bits = 512,
          .bits_set = 13,
          .choices = 4,
          .rule = oneprobe::lookup_rule::popcount,
          .threshold = 252,
          .tracking_bits = 12};
}
inline constexpr double popcount_arrivals = 28.13;

inline std::string name_of(const oneprobe::filter_plan& plan) {
  return std::string(oneprobe::name_of(plan.scheme)) + ", " +
         std::string(oneprobe::name_of(plan.state.rule)) +
         ", B = " + std::to_string(plan.block_bits) +
         ", p = " + std::to_string(plan.state.admit_probability);
}

}  // namespace balanced_plans
