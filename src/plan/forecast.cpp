#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "contenders.hpp"
#include "oneprobe/filter/default_plan.hpp"
#include "oneprobe/model/balanced_levels.hpp"
#include "oneprobe/model/bloom.hpp"
#include "oneprobe/model/fingerprint.hpp"
#include "oneprobe/model/poisson.hpp"

namespace oneprobe::inline v0_1 {
namespace planning {
namespace {

model::built_levels levels_of(const filter_plan& plan) {
  model::built_levels levels;
  for (std::uint32_t i = 0; i < plan.levels; ++i)
    levels.blocks.push_back(static_cast<double>(plan.level_buckets[i]));
  levels.overflow_slots = static_cast<double>(plan.overflow_slots);
  levels.overflow_reserve = static_cast<double>(plan.overflow_reserve);
  return levels;
}

/// A balanced or a fingerprint filter.
model::built_error built(const filter_plan& plan, double elements) {
  if (plan.kind == filter_kind::fingerprint)
    return model::evaluate_built(shape_of(plan.fingerprint_bucket), elements, levels_of(plan));
  return model::built_filter(shape_of(plan)).at(elements, levels_of(plan));
}

}  // namespace

model::balanced_shape shape_of(const filter_plan& plan) {
  return {.block_bits = plan.block_bits,
          .bits_set = plan.bits_set,
          .scheme = plan.scheme,
          .choices = plan.choices,
          .rule = plan.state.rule,
          .threshold = plan.state.threshold,
          .admit_probability = plan.state.admit_probability,
          .tracking_bits = plan.state.tracking_bits};
}

overfill_forecast forecast_unchecked(const filter_plan& plan, double elements) {
  overfill_forecast seen;
  seen.elements = static_cast<std::uint64_t>(elements);
  seen.factor = elements / static_cast<double>(plan.elements);
  seen.condition =
      seen.elements > plan.elements ? filter_condition::over_full : filter_condition::as_planned;
  switch (plan.kind) {
    case filter_kind::standard:
    case filter_kind::partitioned:
    case filter_kind::counting:
      seen.predicted =
          detail::predict_scattered(detail::ones_fraction(plan, elements), plan.bits_set);
      break;
    case filter_kind::blocked:
      seen.predicted = {
          .fpr = model::blocked_error_finite(seen.elements, plan.blocks(), plan.block_bits,
                                             plan.bits_set, plan.layout),
          .insert_accesses = 1,
          .hit_accesses = 1,
          .miss_accesses = 1};
      break;
    case filter_kind::balanced:
    case filter_kind::fingerprint: {
      const model::built_error error = built(plan, elements);
      const double listed = error.overflow_fraction - error.forced_fraction;
      seen.predicted = {.fpr = error.fpr,
                        .insert_accesses = error.insert_accesses + listed,
                        .hit_accesses = error.hit_accesses,
                        .miss_accesses = error.miss_accesses,
                        .overflow_fraction = error.overflow_fraction};
      seen.forced_fraction = error.forced_fraction;
      if (error.forced_fraction > 0) seen.condition = filter_condition::degraded;
      break;
    }
  }
  return seen;
}

filter_work work_of(const filter_plan& plan) {
  const filter_prediction& seen = plan.predicted;
  if (!plan.has_candidates())
    return {.positive = {.accesses = seen.hit_accesses},
            .negative = {.accesses = seen.miss_accesses},
            .insert = {.accesses = seen.insert_accesses}};
  const model::built_error error = built(plan, static_cast<double>(plan.elements));
  // The accesses of a prediction count a look into the list as one.
  const double listed = error.overflow_fraction - error.forced_fraction;
  return {.positive = {error.hit_accesses - listed, listed},
          .negative = {error.miss_accesses - error.list_queries, error.list_queries},
          .insert = {error.insert_accesses, listed}};
}

bool goal::met_by(const filter_plan& plan) const {
  if (plan.memory().total() > bytes || (fpr && plan.predicted.fpr > *fpr)) return false;
  if (list_accesses == 1 || !plan.has_candidates()) return plan.predicted.miss_accesses <= accesses;
  const operation_work negative = work_of(plan).negative;
  return negative.accesses + list_accesses * negative.overflow <= accesses;
}

void predict(filter_plan& plan) {
  plan.predicted = forecast_unchecked(plan, static_cast<double>(plan.elements)).predicted;
}

overflow_forecast overflow_of(const filter_plan& plan) {
  const auto n = static_cast<double>(plan.elements);
  const model::built_error error = built(plan, n);
  overflow_forecast seen{.mean = n * error.overflow_fraction,
                         .deviation = error.overflow_deviation,
                         .tail_probability = 0};
  if (seen.mean <= 0) return seen;
  // Overflowed elements come in bursts, so their number varies more than a Poisson number with the
  // same mean. Bursts of variance / mean elements each, Poisson many of them, have both right.
  const double burst = std::max(1.0, seen.deviation * seen.deviation / seen.mean);
  const double most = static_cast<double>(plan.overflow_reserve);
  seen.tail_probability = model::poisson_at_least(
      seen.mean / burst, static_cast<std::uint64_t>(std::floor(most / burst)) + 1);
  return seen;
}

}  // namespace planning

overfill_forecast forecast(const filter_plan& plan, std::uint64_t elements) {
  if (const auto fault = find_fault(plan)) throw std::invalid_argument(*fault);
  if (elements < 1 || elements > filter_plan::most_bits)
    throw std::invalid_argument("elements must be 1 to 2^40; found " + std::to_string(elements));
  return planning::forecast_unchecked(plan, static_cast<double>(elements));
}

}  // namespace oneprobe::inline v0_1
