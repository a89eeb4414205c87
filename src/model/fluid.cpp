#include "oneprobe/model/fluid.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "fluid_internal.hpp"
#include "numeric.hpp"
#include "oneprobe/model/poisson.hpp"
#include "sequential.hpp"

namespace oneprobe::inline v0_1::model {
namespace detail {

void check_fluid(const fluid_parameters& parameters) {
  check_load_factor(parameters.load_factor);
  check_capacity(parameters.bucket_capacity);
  check_range("elements per bucket (load factor x bucket capacity)",
              elements_per_bucket(parameters), 0.0, 1e7);
  check_probability("admit probability", parameters.admit_probability);
  check_range("time", parameters.time, 0.0, 1.0);
  if (parameters.access_budget) check_range("accesses", *parameters.access_budget, 0.0, 1e6);
  switch (parameters.scheme) {
    case scheme_kind::single:
      break;
    case scheme_kind::multilevel:
      check_fractions("level fractions", parameters.level_fractions, empty_levels::allowed);
      check_above("first of level fractions", parameters.level_fractions.front(), 0.0, 1.0);
      break;
    case scheme_kind::sequential:
      check_choices(parameters.choices);
      break;
    case scheme_kind::d_random:
    case scheme_kind::d_left:
      check_choices(parameters.choices);
      check_parallel(parameters.bucket_capacity, parameters.choices, parameters.scheme);
      if (parameters.admit_probability != 0)
        refuse("admit probability", "0 for d-random and d-left, which compare loads",
               parameters.admit_probability);
  }
}

void check_parallel(unsigned bucket_capacity, unsigned choices, scheme_kind scheme) {
  check_range("bucket capacity of d-random and d-left", bucket_capacity, 1, largest_ode_capacity);
  if (scheme == scheme_kind::d_left)
    check_range("bucket capacity x choices of d-left", bucket_capacity * choices, 1,
                largest_left_product);
}

double elements_per_bucket(const fluid_parameters& parameters) {
  return parameters.load_factor * parameters.bucket_capacity;
}

threshold admission_of(const fluid_parameters& parameters) {
  return {parameters.bucket_capacity, parameters.admit_probability};
}

double refusal_of(std::span<const double> occupancy, const fluid_parameters& parameters) {
  const unsigned h = parameters.bucket_capacity;
  const double above = occupancy.size() > h + 1 ? occupancy[h + 1] : 0;
  return (1 - parameters.admit_probability) * occupancy[h] + above;
}

/// The first of the fractions of overflow: what did not arrive yet, or came after the budget's end,
/// counts as not in a bucket (OFH, below eq. (4)).
void set_overflow(fluid_state& state, double overflowed) {
  state.overflow_fraction = (1 - state.time) + overflowed;
  state.cumulative_overflow_fraction = state.time > 0 ? overflowed / state.time : 0;
}

}  // namespace detail

namespace {

/// Levels of a multilevel table after the elements of times 0 to `time`: OFH Theorem 5, ECB
/// Theorem 5. All counts per element of the whole table.
struct level_flow {
  std::vector<double> arrivals_mean;  // per bucket, by level
  double accesses = 0;
  double overflowed = 0;
};

level_flow flow_through(const fluid_parameters& parameters, double time) {
  const double per_bucket = detail::elements_per_bucket(parameters);
  const threshold rule = detail::admission_of(parameters);
  level_flow flow;
  flow.arrivals_mean.reserve(parameters.level_fractions.size());
  double entering = time;
  for (const double fraction : parameters.level_fractions) {
    flow.accesses += entering;
    if (fraction == 0) {  // a level without buckets refuses everything
      flow.arrivals_mean.push_back(0);
      continue;
    }
    // A level so small that it sees more than the models' largest mean is full after that many.
    const double arrivals = per_bucket * entering / fraction;
    const double counted = std::min(arrivals, largest_mean);
    flow.arrivals_mean.push_back(counted);
    entering = fraction * (refused_mean(counted, rule) + (arrivals - counted)) / per_bucket;
  }
  flow.overflowed = entering;
  return flow;
}

fluid_state single_limit(const fluid_parameters& parameters) {
  fluid_state state;
  state.time = std::min(parameters.time, parameters.access_budget.value_or(parameters.time));
  const double per_bucket = detail::elements_per_bucket(parameters);
  const double arrivals = per_bucket * state.time;
  state.occupancy = bucket_occupancy(arrivals, detail::admission_of(parameters));
  state.mean_accesses = state.time;
  state.miss_accesses = 1;
  detail::set_overflow(state,
                       refused_mean(arrivals, detail::admission_of(parameters)) / per_bucket);
  return state;
}

fluid_state sequential_limit(const fluid_parameters& parameters) {
  const double per_bucket = detail::elements_per_bucket(parameters);
  const detail::sequential_process process(detail::admission_of(parameters), parameters.choices);
  double arrivals = process.arrivals_at(per_bucket * parameters.time);
  fluid_state state;
  state.time = parameters.time;
  if (parameters.access_budget && per_bucket * *parameters.access_budget < arrivals) {
    arrivals = per_bucket * *parameters.access_budget;
    state.time = process.elements_at(arrivals) / per_bucket;
  }
  state.occupancy = bucket_occupancy(arrivals, detail::admission_of(parameters));
  state.mean_accesses = arrivals / per_bucket;
  state.miss_accesses =
      detail::geometric_sum(detail::refusal_of(state.occupancy, parameters), parameters.choices);
  detail::set_overflow(state, process.overflowed_at(arrivals) / per_bucket);
  return state;
}

fluid_state multilevel_limit(const fluid_parameters& parameters) {
  fluid_state state;
  state.time = parameters.time;
  level_flow flow = flow_through(parameters, state.time);
  if (parameters.access_budget && *parameters.access_budget < flow.accesses) {
    const auto over_budget = [&](double time) {
      return flow_through(parameters, time).accesses - *parameters.access_budget;
    };
    state.time = detail::find_root(over_budget, 0.0, parameters.time);
    flow = flow_through(parameters, state.time);
  }
  state.mean_accesses = flow.accesses;
  state.occupancy.assign(bucket_occupancy(0, detail::admission_of(parameters)).size(), 0.0);
  double reached = 1;
  for (std::size_t level = 0; level < parameters.level_fractions.size(); ++level) {
    state.levels.push_back(
        bucket_occupancy(flow.arrivals_mean[level], detail::admission_of(parameters)));
    const std::vector<double>& occupancy = state.levels.back();
    for (std::size_t i = 0; i < occupancy.size(); ++i)
      state.occupancy[i] += parameters.level_fractions[level] * occupancy[i];
    state.miss_accesses += reached;
    if (parameters.level_fractions[level] > 0) reached *= detail::refusal_of(occupancy, parameters);
  }
  detail::set_overflow(state, flow.overflowed);
  return state;
}

}  // namespace

fluid_state fluid_limit(const fluid_parameters& parameters) {
  detail::check_fluid(parameters);
  switch (parameters.scheme) {
    case scheme_kind::single:
      return single_limit(parameters);
    case scheme_kind::sequential:
      return sequential_limit(parameters);
    case scheme_kind::multilevel:
      return multilevel_limit(parameters);
    case scheme_kind::d_random:
    case scheme_kind::d_left:
      return fluid_limit_by_ode(parameters);
  }
  throw std::logic_error("oneprobe: unknown scheme");
}

}  // namespace oneprobe::inline v0_1::model
