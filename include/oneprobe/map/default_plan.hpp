// Plans for the common need without the compiled planner: so many elements that come and go.
//
//   table_plan plan = default_table_plan(1'000'000);
//   bounded_map<std::uint64_t, flow> flows(plan);      // what bounded_map(1'000'000) does
//
// Four choices; with 2 % more elements than planned one in a million overflows, and more than are
// reserved for with a probability of 1e-9. That is planned and predicted for elements of 16 bytes;
// others overflow less, since fewer of them are refused for a tag. Levels come from
// default_table_designs.hpp, which the planner writes; tests hold plans and predictions to the
// planner's. Buckets of 16 are 0.81 full and cost 1.21 accesses per hit; smaller buckets need more
// memory.
//
// Limits: 1 to 2^40 elements, up to 2^40 buckets of 1 to 16 slots. Pure and thread-safe.
// plan/table.hpp knows more needs and says what else could be had.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>

#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/detail/generated/default_table_designs.hpp"
#include "oneprobe/detail/planning/table_layout.hpp"
#include "oneprobe/detail/planning/tag_refusals.hpp"
#include "oneprobe/map/plan.hpp"

namespace oneprobe::inline v0_1 {
namespace detail {

/// What a new element finds in a bucket under churn: the short form of model/notes.hpp.
struct bucket_odds {
  double full = 0;         // all slots are taken
  double up = 0;           // the note of its kind is up
  double full_and_up = 0;  // both
};

/// Binomial moments of the elements that an Erlang loss system has turned away and that are still
/// stored elsewhere (Kosten): A^k / k! sigma_0(h) / sigma_k(h), sigma_0(i) = A^i / i! and sigma_k
/// its k-fold sums. A note is down with probability sum (-1/K)^k of them.
inline bucket_odds churning_bucket_odds(std::uint32_t slots, double offered) {
  constexpr double kinds = 16;
  std::array<double, table_plan::most_bucket_capacity + 1> sigma{};
  sigma[0] = 1;
  for (std::uint32_t i = 1; i <= slots; ++i) sigma[i] = sigma[i - 1] * offered / i;
  const double none_free = sigma[slots];
  bucket_odds odds;
  double term = 1;         // (-A / K)^k / k!
  double last_moment = 1;  // sigma_0 / sigma_k
  for (int k = 1; k < 100 && std::abs(term) > 1e-18; ++k) {
    for (std::uint32_t i = 1; i <= slots; ++i) sigma[i] += sigma[i - 1];
    last_moment = none_free / sigma[slots];
    if (k == 1)
      odds.full = last_moment;
    else
      odds.full_and_up -= term * last_moment;
    term *= -offered / kinds / k;
    odds.up -= term * last_moment;
  }
  return odds;
}

/// The chance that Poisson(mean) is above `most`, ten or more. The factorial by Stirling's series:
/// std::lgamma is not for several threads.
inline double poisson_above(double mean, double most) {
  if (!(mean > 0)) return 0;
  double at = std::floor(most) + 1;
  if (at <= mean) return 1;  // not a tail: no plan asks for that
  const double log_factorial = at * std::log(at) - at + 0.5 * std::log(2 * std::numbers::pi * at) +
                               1 / (12 * at) - 1 / (360 * at * at * at);
  double term = std::exp(at * std::log(mean) - mean - log_factorial);
  double sum = 0;
  for (; term > 1e-17 * sum; term *= mean / ++at) sum += term;
  return sum;
}

/// The overflow with what is refused for a tag.
inline double default_overflow_mean(const table_plan& plan, double elements) {
  constexpr std::uint64_t slot_bytes = 16;
  const tag_refusals* for_tags =
      tag_refusals_of(table_workload::churn, plan.bucket_capacity, slot_bytes);
  double entering = elements;
  for (std::uint32_t level = 0; level < plan.levels; ++level) {
    const double offered = entering / static_cast<double>(plan.level_buckets[level]);
    double refused = churning_bucket_odds(plan.bucket_capacity, offered).full;
    if (for_tags != nullptr && offered > 0) refused += for_tags->at(offered).fraction;
    entering *= refused;
  }
  return entering;
}

/// All but the overflow's deviation and tail. Accesses are those without tags.
inline table_prediction predict_churning(const table_plan& plan, double elements) {
  table_prediction seen;
  double missing = 1;       // all notes so far were up
  double without_room = 1;  // all buckets so far were full
  double neither = 1;       // both
  double only_looking = 0;  // room was found, and all notes were up
  for (std::uint32_t level = 0; level < plan.levels; ++level) {
    const double offered = elements * without_room / static_cast<double>(plan.level_buckets[level]);
    const bucket_odds odds = churning_bucket_odds(plan.bucket_capacity, offered);
    seen.hit_accesses += without_room;
    seen.miss_accesses += missing;
    seen.insert_accesses += without_room + only_looking;
    only_looking = only_looking * odds.up + neither * (odds.up - odds.full_and_up);
    neither *= odds.full_and_up;
    without_room *= odds.full;
    missing *= odds.up;
  }
  seen.overflow_mean = default_overflow_mean(plan, elements);
  seen.overflow_fraction = seen.overflow_mean / elements;
  return seen;
}

/// Slots for an overflow that comes in bursts, exceeded with a probability of 1e-9: six standard
/// deviations, and the correction for skewness of model/finite_size.hpp.
inline std::uint64_t default_overflow_reserve(double mean, double burst) {
  const double slots =
      std::ceil(mean + 6 * std::sqrt(mean * burst) + 6 * std::max(1.0, 2 * burst - 1) + 1);
  return std::max(least_overflow_reserve, static_cast<std::uint64_t>(slots));
}

}  // namespace detail

/// The plan of a table for so many elements that come and go. Refuses, naming the parameter, what
/// is outside the limits above.
inline table_plan default_table_plan(std::uint64_t elements, std::uint32_t bucket_capacity = 16) {
  if (elements < 1 || elements > table_plan::most_buckets)
    refuse_parameter("elements must be 1 to 2^40; found " + std::to_string(elements));
  if (bucket_capacity < 1 || bucket_capacity > table_plan::most_bucket_capacity)
    refuse_parameter("bucket_capacity must be 1 to 16; found " + std::to_string(bucket_capacity));
  const detail::default_table_row& row = detail::default_table_rows[bucket_capacity - 1];
  const auto n = static_cast<double>(elements);
  const double over_full = n * row.design.made_for;

  table_plan plan;
  plan.elements = elements;
  plan.bucket_capacity = bucket_capacity;
  plan.choices = plan.levels = row.design.levels;
  plan.level_buckets = level_buckets_for(row.design, n);
  if (plan.buckets() > table_plan::most_buckets)
    refuse_parameter("elements must need at most 2^40 buckets; found " + std::to_string(elements) +
                     " elements");
  const double reserved_for = detail::default_overflow_mean(plan, over_full);
  plan.overflow_reserve = detail::default_overflow_reserve(reserved_for, row.burst);
  plan.overflow_buckets = overflow_buckets_for(plan.overflow_reserve, bucket_capacity);
  plan.predicted = detail::predict_churning(plan, n);
  // With fewer elements bursts are smaller, by a tenth or two; that is left out.
  const double mean = plan.predicted.overflow_mean;
  plan.predicted.overflow_deviation = std::sqrt(mean * row.burst);
  plan.predicted.exceed_probability = detail::poisson_above(
      mean / row.burst, static_cast<double>(plan.overflow_reserve) / row.burst);
  return plan;
}

}  // namespace oneprobe::inline v0_1
