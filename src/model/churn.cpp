#include "oneprobe/model/churn.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "check.hpp"
#include "fluid_internal.hpp"
#include "least_overflow.hpp"
#include "numeric.hpp"

namespace oneprobe::inline v0_1::model {
namespace {

/// Stationary loads 0 .. h of a bucket with births at rate birth(i) from load i and deaths at rate
/// i. Built from the most likely load outwards, so that no weight overflows.
template <class Birth>
std::vector<double> stationary_loads(unsigned slots, Birth&& birth) {
  unsigned mode = 0;
  while (mode < slots && birth(mode) > mode + 1) ++mode;
  std::vector<double> loads(slots + 1, 0.0);
  loads[mode] = 1;
  double sum = 1;
  for (unsigned i = mode; i < slots; ++i) sum += loads[i + 1] = loads[i] * birth(i) / (i + 1);
  for (unsigned i = mode; i > 0 && loads[i] > 0; --i)
    sum += loads[i - 1] = loads[i] * i / birth(i - 1);
  for (double& load : loads) load /= sum;
  return loads;
}

/// A bucket under churn, as least_overflow.hpp wants it: R = y B(h, y), R' = B (1 + w),
/// G = y R' - R = y B w with w = h - y (1 - B) the mean number of free slots.
class churning_bucket {
 public:
  explicit churning_bucket(unsigned capacity) : capacity_(capacity) {}
  double refused(double mean) const { return mean * erlang_b(capacity_, mean); }
  double gain(double mean) const {
    const double blocked = erlang_b(capacity_, mean);
    return mean * blocked * free_slots(mean, blocked);
  }
  double gain_over_slope(double mean) const {
    const double room = free_slots(mean, erlang_b(capacity_, mean));
    return mean * room / (1 + room);
  }

 private:
  /// Summed over the loads from full downwards: the difference h - y (1 - B) cancels when full.
  double free_slots(double mean, double blocked) const {
    if (mean < 0.5 * capacity_) return capacity_ - mean * (1 - blocked);
    double room = 0, at_load = blocked;
    for (unsigned i = capacity_; i > 0; --i) {
      at_load *= i / mean;
      const double term = (capacity_ - i + 1) * at_load;
      room += term;
      if (i < mean && term < 1e-18 * room) break;
    }
    return room;
  }

  unsigned capacity_;
};

void check(const churn_parameters& parameters) {
  detail::check_load_factor(parameters.load_factor);
  detail::check_capacity(parameters.bucket_capacity);
  if (parameters.scheme == scheme_kind::multilevel)
    detail::check_fractions("level fractions", parameters.level_fractions,
                            detail::empty_levels::allowed);
  else if (parameters.scheme != scheme_kind::single)
    detail::check_choices(parameters.choices);
  if (parameters.scheme == scheme_kind::d_random || parameters.scheme == scheme_kind::d_left)
    detail::check_parallel(parameters.bucket_capacity, parameters.choices, parameters.scheme);
}

std::vector<double> erlang_loads(unsigned slots, double offered_load) {
  return stationary_loads(slots, [=](unsigned) { return offered_load; });
}

churn_state multilevel_churn(double per_bucket, unsigned slots, const std::vector<double>& levels) {
  churn_state state;
  state.occupancy.assign(slots + 1, 0.0);
  double entering = 1;
  for (const double fraction : levels) {
    state.mean_accesses += entering;
    const double offered = fraction > 0 ? per_bucket * entering / fraction : 0;
    const double blocked = fraction > 0 ? erlang_b(slots, offered) : 1;
    const std::vector<double> loads = erlang_loads(slots, offered);
    for (unsigned i = 0; i <= slots; ++i) state.occupancy[i] += fraction * loads[i];
    state.overflow_per_level.push_back(blocked);
    state.levels.push_back(loads);
    entering *= blocked;
  }
  state.overflow_fraction = entering;
  return state;
}

churn_state sequential_churn(double per_bucket, unsigned slots, unsigned choices) {
  const auto distance = [&](double offered) {
    return offered - per_bucket * detail::geometric_sum(erlang_b(slots, offered), choices);
  };
  const double offered =
      choices == 1 ? per_bucket : detail::find_root(distance, per_bucket, per_bucket * choices);
  const double blocked = erlang_b(slots, offered);
  return {.overflow_fraction = detail::power(blocked, choices),
          .overflow_per_level = {blocked},
          .mean_accesses = offered / per_bucket,
          .occupancy = erlang_loads(slots, offered),
          .levels = {}};
}

/// Flow balance at every load: r (s_{i-1}^d - s_i^d) = i (s_i - s_{i+1}), s_i the fraction of
/// buckets with at least i. The fraction at the highest load fixes all the others downwards; search
/// the one that ends in s_0 = 1. Loads whose fraction is below the smallest double do not occur.
churn_state d_random_churn(double per_bucket, unsigned slots, unsigned choices) {
  std::vector<double> at_least(slots + 2, 0.0);
  unsigned top = slots;
  const auto fill_from_top = [&](double log_fraction) {
    at_least[top] = std::exp(log_fraction);
    for (unsigned i = top; i > 0; --i)
      at_least[i - 1] = std::pow(
          detail::power(at_least[i], choices) + i * (at_least[i] - at_least[i + 1]) / per_bucket,
          1.0 / choices);
    return at_least[0] - 1;
  };
  const double lowest = std::log(std::numeric_limits<double>::min());
  for (; fill_from_top(lowest) >= 0; --top) at_least[top] = 0;
  // With all buckets full at the least rounding, full is the answer.
  if (fill_from_top(0.0) > 0) fill_from_top(detail::find_root(fill_from_top, lowest, 0.0));
  churn_state state;
  state.overflow_per_level = {at_least[slots]};
  state.overflow_fraction = detail::power(at_least[slots], choices);
  state.mean_accesses = choices;
  for (unsigned i = 0; i <= slots; ++i)
    state.occupancy.push_back(std::max(0.0, at_least[i] - at_least[i + 1]));
  return state;
}

/// d groups of buckets; a bucket of group j at load i receives the element if the candidates left
/// of it have more than i and those right of it at least i. Given the other groups that is a
/// birth-death chain, so the stationary state is found group by group until nothing changes.
churn_state d_left_churn(double per_bucket, unsigned slots, unsigned choices) {
  std::vector<std::vector<double>> at_least(choices, std::vector<double>(slots + 2, 0.0));
  for (std::vector<double>& group : at_least) group[0] = 1;
  std::vector<std::vector<double>> loads(choices, std::vector<double>(slots + 1, 0.0));
  // A tiny fraction is a product of many others and multiplies their rounding: it has settled at
  // nine digits, and below 1e-100 it does not matter.
  const auto settled = [](double now, double before) {
    const double change = std::abs(now - before);
    return change <= 1e-14 && (change <= 1e-9 * now || now < 1e-100);
  };
  bool at_rest = false;
  for (int round = 0; !at_rest; ++round) {
    if (round == 20000) throw std::logic_error("oneprobe: the stationary state does not settle");
    at_rest = true;
    for (unsigned group = 0; group < choices; ++group) {
      loads[group] = stationary_loads(slots, [&](unsigned load) {
        double arriving = per_bucket * choices;
        for (unsigned left = 0; left < group; ++left) arriving *= at_least[left][load + 1];
        for (unsigned right = group + 1; right < choices; ++right)
          arriving *= at_least[right][load];
        return arriving;
      });
      double sum = 0;
      for (unsigned i = slots; i > 0; --i) {
        sum += loads[group][i];
        at_rest = at_rest && settled(sum, at_least[group][i]);
        at_least[group][i] = sum;
      }
    }
  }
  churn_state state;
  state.overflow_fraction = 1;
  state.mean_accesses = choices;
  state.occupancy.assign(slots + 1, 0.0);
  for (unsigned group = 0; group < choices; ++group) {
    state.overflow_per_level.push_back(at_least[group][slots]);
    state.overflow_fraction *= at_least[group][slots];
    for (unsigned i = 0; i <= slots; ++i) state.occupancy[i] += loads[group][i] / choices;
  }
  state.levels = std::move(loads);
  return state;
}

}  // namespace

double erlang_b(unsigned slots, double offered_load) {
  detail::check_range("slots", slots, 0, largest_threshold);
  detail::check_range("offered load", offered_load, 0.0, 1e12);
  // 1 / B(i) = 1 + i / (y B(i - 1)): a plan asks a million times, and a quotient in every step
  // would be most of its time.
  const double per_arrival = 1 / offered_load;
  double inverse = 1;
  for (unsigned i = 1; i <= slots; ++i) inverse = 1 + i * per_arrival * inverse;
  return 1 / inverse;
}

churn_state churn_limit(const churn_parameters& parameters) {
  check(parameters);
  const double per_bucket = parameters.load_factor * parameters.bucket_capacity;
  const unsigned slots = parameters.bucket_capacity;
  switch (parameters.scheme) {
    case scheme_kind::single:
      return multilevel_churn(per_bucket, slots, {1.0});
    case scheme_kind::multilevel:
      return multilevel_churn(per_bucket, slots, parameters.level_fractions);
    case scheme_kind::sequential:
      return sequential_churn(per_bucket, slots, parameters.choices);
    case scheme_kind::d_random:
      return d_random_churn(per_bucket, slots, parameters.choices);
    case scheme_kind::d_left:
      return d_left_churn(per_bucket, slots, parameters.choices);
  }
  throw std::logic_error("oneprobe: unknown scheme");
}

partition least_overflow_partition_under_churn(double load_factor, unsigned bucket_capacity,
                                               unsigned choices) {
  detail::check_load_factor(load_factor);
  detail::check_capacity(bucket_capacity);
  detail::check_choices(choices);
  return detail::least_overflow(churning_bucket(bucket_capacity), load_factor * bucket_capacity,
                                choices);
}

double largest_load_factor_under_churn(double overflow_fraction, unsigned bucket_capacity,
                                       unsigned choices) {
  detail::check_capacity(bucket_capacity);
  detail::check_choices(choices);
  return detail::largest_load(overflow_fraction, [&](double load_factor) {
    return least_overflow_partition_under_churn(load_factor, bucket_capacity, choices)
        .overflow_fraction;
  });
}

}  // namespace oneprobe::inline v0_1::model
