#include "table_forecast.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

#include "oneprobe/model/churn.hpp"
#include "oneprobe/model/fluid.hpp"
#include "oneprobe/model/notes.hpp"
#include "oneprobe/model/poisson.hpp"
#include "root.hpp"

namespace oneprobe::inline v0_1 {
namespace planning {
namespace {

double load_factor_of(const table_plan& plan, double elements) {
  return elements / (static_cast<double>(plan.buckets()) * plan.bucket_capacity);
}

std::vector<double> fractions_of(const table_plan& plan) {
  std::vector<double> fractions;
  if (plan.scheme != scheme_kind::multilevel) return fractions;
  const auto buckets = static_cast<double>(plan.buckets());
  // A breath more, for a level of one bucket must not look like one of less.
  for (std::uint32_t level = 0; level < plan.levels; ++level)
    fractions.push_back(
        std::min(1.0, static_cast<double>(plan.level_buckets[level]) / buckets * (1 + 1e-12)));
  return fractions;
}

model::churn_parameters churning(const table_plan& plan, double elements) {
  return {.scheme = plan.scheme,
          .load_factor = load_factor_of(plan, elements),
          .bucket_capacity = plan.bucket_capacity,
          .choices = plan.choices,
          .level_fractions = fractions_of(plan)};
}

model::fluid_parameters filling(const table_plan& plan, double elements) {
  return {.scheme = plan.scheme,
          .load_factor = load_factor_of(plan, elements),
          .bucket_capacity = plan.bucket_capacity,
          .choices = plan.choices,
          .level_fractions = fractions_of(plan)};
}

/// Arrivals per bucket where there are most.
double most_arrivals(const table_plan& plan, double elements) {
  if (plan.scheme != scheme_kind::multilevel)
    return load_factor_of(plan, elements) * plan.bucket_capacity * plan.choices;
  double entering = elements, most = 0;
  for (std::uint32_t level = 0; level < plan.levels; ++level) {
    const double offered = entering / static_cast<double>(plan.level_buckets[level]);
    most = std::max(most, offered);
    entering *= model::erlang_b(plan.bucket_capacity, offered);
  }
  return most;
}

bool is_parallel(const table_plan& plan) {
  return plan.scheme == scheme_kind::d_random || plan.scheme == scheme_kind::d_left;
}

double mean_load(const std::vector<double>& occupancy) {
  double mean = 0;
  for (std::size_t load = 0; load < occupancy.size(); ++load)
    mean += static_cast<double>(load) * occupancy[load];
  return mean;
}

/// d-left: an element is in the group where it is; those of the overflow were looked for in all.
double d_left_hit(const std::vector<std::vector<double>>& groups, double overflow) {
  double all = 0, weighted = 0;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const double load = mean_load(groups[group]);
    all += load;
    weighted += static_cast<double>(group + 1) * load;
  }
  return (1 - overflow) * weighted / all + overflow * static_cast<double>(groups.size());
}

/// d-random: where the first of the least loaded of d buckets stands, whose loads have this law.
double first_least_loaded(const std::vector<double>& occupancy, unsigned choices) {
  std::vector<double> at_least(occupancy.size() + 1, 0.0);
  for (std::size_t load = occupancy.size(); load-- > 0;)
    at_least[load] = at_least[load + 1] + occupancy[load];
  double mean = 0;
  for (std::size_t load = 0; load + 1 < occupancy.size(); ++load)
    for (unsigned place = 0; place < choices; ++place)
      mean += (place + 1) * occupancy[load] * std::pow(at_least[load + 1], place) *
              std::pow(at_least[load], choices - place - 1);
  return mean + choices * std::pow(occupancy.back(), choices);
}

/// Elements of a table that fills came at any time; three points of Gauss in each of four parts.
double d_random_hit_filling(const table_plan& plan, double elements) {
  constexpr std::array<double, 3> places{0.112701665379258, 0.5, 0.887298334620742};
  constexpr std::array<double, 3> weights{5.0 / 18, 8.0 / 18, 5.0 / 18};
  constexpr int parts = 4;
  model::fluid_parameters parameters = filling(plan, elements);
  double mean = 0;
  for (int part = 0; part < parts; ++part)
    for (std::size_t i = 0; i < places.size(); ++i) {
      parameters.time = (part + places[i]) / parts;
      mean += weights[i] / parts *
              first_least_loaded(model::fluid_limit(parameters).occupancy, plan.choices);
    }
  return mean;
}

/// A placement among all candidates reads them all, and so may a miss.
model::table_accesses parallel_accesses(const table_plan& plan, double elements) {
  model::table_accesses cost{.insert = static_cast<double>(plan.choices),
                             .hit = 0,
                             .miss = static_cast<double>(plan.choices),
                             .miss_overflow = 1};
  if (plan.workload == table_workload::churn) {
    const model::churn_state state = model::churn_limit(churning(plan, elements));
    cost.hit = plan.scheme == scheme_kind::d_left
                   ? d_left_hit(state.levels, state.overflow_fraction)
                   : first_least_loaded(state.occupancy, plan.choices);
  } else if (plan.scheme == scheme_kind::d_left) {
    const model::fluid_state state = model::fluid_limit(filling(plan, elements));
    cost.hit = d_left_hit(state.levels, state.overflow_fraction);
  } else {
    cost.hit = d_random_hit_filling(plan, elements);
  }
  return cost;
}

/// What buckets with this loss leave of one element, level after level.
double left_by_levels(const table_plan& plan, double elements, const bucket_loss& loss) {
  double entering = 1;
  for (std::uint32_t level = 0; level < plan.levels; ++level) {
    const double offered = elements * entering / static_cast<double>(plan.level_buckets[level]);
    entering *= loss.refused_fraction(std::min(offered, model::largest_mean));
  }
  return entering;
}

/// The same of d candidates drawn from all buckets, of a churning table: each of them sees the
/// arrivals of all that the others refused.
double left_by_candidates(const table_plan& plan, double elements, const bucket_loss& loss) {
  const double per_bucket = elements / static_cast<double>(plan.buckets());
  const auto distance = [&](double offered) {
    const double refused = loss.refused_fraction(offered);
    double visits = 0;
    for (std::uint32_t i = 0; i < plan.choices; ++i) visits = 1 + refused * visits;
    return std::log(offered / (per_bucket * visits));
  };
  const double offered =
      find_crossing(distance, per_bucket, per_bucket * plan.choices, 1e-13).value_or(per_bucket);
  return std::pow(loss.refused_fraction(offered), plan.choices);
}

double overflow_without_groups(const table_plan& plan, double elements) {
  return plan.workload == table_workload::churn
             ? model::churn_limit(churning(plan, elements)).overflow_fraction
             : model::fluid_limit(filling(plan, elements)).overflow_fraction;
}

model::overflow_spread spread_without_groups(const table_plan& plan, double elements) {
  // Where a small level drowns in arrivals the deviation is beyond the model, and of no interest.
  constexpr double most_work = 1e5;
  if (most_arrivals(plan, elements) * plan.choices * (plan.bucket_capacity + 1) > most_work) {
    const double mean = elements * overflow_without_groups(plan, elements);
    return {.mean = mean, .standard_deviation = std::sqrt(mean)};
  }
  return plan.workload == table_workload::churn
             ? model::overflow_spread_churning(churning(plan, elements), elements)
             : model::overflow_spread_filling(filling(plan, elements), elements);
}

model::table_accesses accesses_of(const table_plan& plan, double elements) {
  if (is_parallel(plan)) return parallel_accesses(plan, elements);
  return plan.workload == table_workload::churn
             ? model::table_accesses_churning(churning(plan, elements), table_note_kinds)
             : model::table_accesses_filling(filling(plan, elements), table_note_kinds);
}

/// Overflowed elements come in bursts: Poisson many of variance / mean elements each.
double tail_probability(const model::overflow_spread& spread, double most) {
  if (!(spread.mean > 0)) return 0;
  const double burst =
      std::max(1.0, spread.standard_deviation * spread.standard_deviation / spread.mean);
  if (spread.mean / burst > 1e6)
    return 0.5 * std::erfc((most - spread.mean) / spread.standard_deviation / std::numbers::sqrt2);
  return model::poisson_at_least(spread.mean / burst,
                                 static_cast<std::uint64_t>(std::floor(most / burst)) + 1);
}

}  // namespace

double overflow_fraction(const table_plan& plan, double elements, const bucket_loss& loss) {
  if (!loss.in_groups() || !has_tag_model(plan.scheme, plan.workload))
    return overflow_without_groups(plan, elements);
  return plan.scheme == scheme_kind::sequential ? left_by_candidates(plan, elements, loss)
                                                : left_by_levels(plan, elements, loss);
}

model::overflow_spread overflow_spread(const table_plan& plan, double elements,
                                       const bucket_loss& loss) {
  const model::overflow_spread plain = spread_without_groups(plan, elements);
  if (!loss.in_groups()) return plain;
  // In bursts as large as if none were refused for a tag; of next to none one by one.
  const double variance = plain.standard_deviation * plain.standard_deviation;
  const double burst = plain.mean > 1e-100 ? variance / plain.mean : 1;
  const double mean = elements * overflow_fraction(plan, elements, loss);
  return {.mean = mean, .standard_deviation = std::sqrt(mean * burst)};
}

operation_costs costs_unchecked(const table_plan& plan, const access_costs& costs) {
  const model::table_accesses mean = accesses_of(plan, static_cast<double>(plan.elements));
  const double overflow = plan.predicted.overflow_fraction;
  // A new key is looked for in the overflow as a miss is, and placed there if it has to be.
  return costs_of({mean.hit, overflow}, {mean.miss, mean.miss_overflow},
                  {mean.insert, mean.miss_overflow + overflow}, costs);
}

table_prediction predict(const table_plan& plan, double elements, const bucket_loss& loss) {
  const model::table_accesses cost = accesses_of(plan, elements);
  const model::overflow_spread spread = overflow_spread(plan, elements, loss);
  return {
      .insert_accesses = cost.insert,
      .hit_accesses = cost.hit,
      .miss_accesses = cost.miss,
      .overflow_fraction = spread.mean / elements,
      .overflow_mean = spread.mean,
      .overflow_deviation = spread.standard_deviation,
      .exceed_probability = tail_probability(spread, static_cast<double>(plan.overflow_reserve))};
}

}  // namespace planning

table_forecast forecast(const table_plan& plan, std::uint64_t elements, std::uint32_t slot_bytes) {
  if (const auto fault = find_fault(plan)) throw std::invalid_argument(*fault);
  if (elements < 1 || elements / most_forecast_factor > plan.elements)
    throw std::invalid_argument("elements must be 1 to 64 times the planned ones; found " +
                                std::to_string(elements));
  return {.factor = static_cast<double>(elements) / static_cast<double>(plan.elements),
          .elements = elements,
          .predicted = planning::predict(plan, static_cast<double>(elements),
                                         {plan.workload, plan.bucket_capacity, slot_bytes})};
}

}  // namespace oneprobe::inline v0_1
