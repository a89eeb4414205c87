#include "oneprobe/model/grouped_slots.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"
#include "numeric.hpp"
#include "oneprobe/model/poisson.hpp"

namespace oneprobe::inline v0_1::model {
namespace {

void check(const grouped_slots& bucket, double arrivals) {
  detail::check_range("slots", bucket.slots, 4, 16);
  detail::check_range("group slots", bucket.group_slots, 4, bucket.slots);
  if (bucket.slots % bucket.group_slots != 0)
    detail::refuse("group slots", "a divisor of the slots", bucket.group_slots);
  detail::check_range("same tag", bucket.same_tag, 0, 0.01);
  detail::check_range("arrivals per bucket", arrivals, 0, 1e6);
}

/// How many elements are in each group, all cases: state i has digit k of i, to the base of one
/// more than a group's slots, in group k.
class occupancies {
 public:
  struct arrival {
    std::size_t from;
    double probability;  // that an arrival of `from` is not refused and ends here
  };

  explicit occupancies(const grouped_slots& bucket)
      : group_slots_(bucket.group_slots), groups_(bucket.slots / bucket.group_slots) {
    std::size_t states = 1;
    for (unsigned k = 0; k < groups_; ++k) {
      step_.push_back(states);
      states *= group_slots_ + 1;
    }
    load_.resize(states);
    refused_.resize(states);
    arrivals_.resize(states);
    for (std::size_t state = 0; state < states; ++state) describe(state, bucket);
    for (std::size_t state = 0; state < states; ++state) add_arrivals(state);
  }

  std::size_t count() const { return load_.size(); }
  unsigned load(std::size_t state) const { return load_[state]; }
  double refused(std::size_t state) const { return refused_[state]; }
  const std::vector<arrival>& arrivals(std::size_t state) const { return arrivals_[state]; }
  unsigned groups() const { return groups_; }
  unsigned in_group(std::size_t state, unsigned group) const {
    return static_cast<unsigned>(state / step_[group] % (group_slots_ + 1));
  }
  bool has_room(std::size_t state, unsigned group) const {
    return in_group(state, group) < group_slots_;
  }
  std::size_t with_one_more(std::size_t state, unsigned group) const {
    return state + step_[group];
  }

 private:
  void describe(std::size_t state, const grouped_slots& bucket) {
    unsigned in_full_groups = 0;
    for (unsigned k = 0; k < groups_; ++k) {
      load_[state] += in_group(state, k);
      if (!has_room(state, k)) in_full_groups += group_slots_;
    }
    refused_[state] = in_full_groups == bucket.slots ? 1 : bucket.same_tag * in_full_groups;
  }
  void add_arrivals(std::size_t state) {
    if (refused_[state] == 1) return;
    unsigned first = 0;
    while (!has_room(state, first)) ++first;
    for (unsigned home = 0; home < groups_; ++home)
      arrivals_[with_one_more(state, has_room(state, home) ? home : first)].push_back(
          {.from = state, .probability = (1 - refused_[state]) / groups_});
  }

  unsigned group_slots_;
  unsigned groups_;
  std::vector<std::size_t> step_;  // one element more in group k
  std::vector<unsigned> load_;
  std::vector<double> refused_;
  std::vector<std::vector<arrival>> arrivals_;
};

/// Stationary law of a churning bucket: sweeps over the states, and after each the loads are given
/// the law of the birth-death chain that they are, with the refusals seen so far.
class churning_law {
 public:
  churning_law(const occupancies& states, unsigned slots, double offered)
      : states_(states),
        offered_(offered),
        share_(states.count(), 1.0),
        of_load_(slots + 1, 0.0),
        refused_at_(slots + 1, 0.0) {}

  double refused() {
    double before = -1, now = settle_loads();
    for (int sweep = 0; std::abs(now - before) > 1e-13 * now; ++sweep) {
      if (sweep == 10'000) throw std::logic_error("oneprobe: grouped slots do not settle");
      for (std::size_t state = 0; state < states_.count(); ++state) balance(state);
      before = now;
      now = settle_loads();
    }
    return now;
  }

 private:
  /// What leaves a state is what comes to it.
  void balance(std::size_t state) {
    double coming = 0;
    for (const auto& [from, probability] : states_.arrivals(state))
      coming += offered_ * probability * share_[from];
    for (unsigned k = 0; k < states_.groups(); ++k)
      if (states_.has_room(state, k))
        coming += (states_.in_group(state, k) + 1) * share_[states_.with_one_more(state, k)];
    const double leaving =
        offered_ * (states_.refused(state) == 1 ? 0 : 1 - states_.refused(state)) +
        states_.load(state);
    share_[state] = coming / leaving;
  }

  /// Scales the states of each load to its share. Returns the fraction refused.
  double settle_loads() {
    std::fill(of_load_.begin(), of_load_.end(), 0.0);
    std::fill(refused_at_.begin(), refused_at_.end(), 0.0);
    for (std::size_t state = 0; state < states_.count(); ++state) {
      of_load_[states_.load(state)] += share_[state];
      refused_at_[states_.load(state)] += share_[state] * states_.refused(state);
    }
    const std::size_t slots = of_load_.size() - 1;
    std::vector<double> wanted(slots + 1, 1.0);
    double sum = 1;
    // From a full bucket down: with few arrivals the emptier ones outweigh it by far.
    for (std::size_t load = slots; load-- > 0;) {
      refused_at_[load] /= of_load_[load];
      wanted[load] =
          wanted[load + 1] * static_cast<double>(load + 1) / (offered_ * (1 - refused_at_[load]));
      sum += wanted[load];
    }
    refused_at_[slots] = 1;
    double refused = 0;
    for (std::size_t load = 0; load <= slots; ++load)
      refused += wanted[load] / sum * refused_at_[load];
    for (std::size_t state = 0; state < states_.count(); ++state)
      share_[state] *= wanted[states_.load(state)] / sum / of_load_[states_.load(state)];
    return refused;
  }

  const occupancies& states_;
  double offered_;
  std::vector<double> share_;       // of the time in each state
  std::vector<double> of_load_;     // the same, by load
  std::vector<double> refused_at_;  // of the arrivals at each load
};

void check_slots(unsigned capacity, const grouped_slots& bucket) {
  if (capacity != bucket.slots)
    detail::refuse("bucket capacity", "the slots of the bucket", capacity);
}

[[noreturn]] void refuse_scheme(const char* allowed, scheme_kind found) {
  throw std::invalid_argument("scheme must be " + std::string(allowed) +
                              " for buckets with groups; found " + std::string(name_of(found)));
}

/// What is left of one element after all levels.
template <class Refused>
double through_levels(const std::vector<double>& fractions, double per_bucket, Refused refused) {
  double entering = 1;
  for (const double fraction : fractions)
    if (fraction > 0) entering *= refused(per_bucket * entering / fraction);
  return entering;
}

std::vector<double> levels_of(scheme_kind scheme, const std::vector<double>& fractions) {
  return scheme == scheme_kind::single ? std::vector<double>{1.0} : fractions;
}

}  // namespace

double refused_churning(const grouped_slots& bucket, double offered_load) {
  check(bucket, offered_load);
  const double full = erlang_b(bucket.slots, offered_load);
  // Nothing to be refused for, or too little for the loads to be doubles.
  if (bucket.group_slots == bucket.slots || bucket.same_tag == 0 || full < 1e-200) return full;
  const occupancies states(bucket);
  return churning_law(states, bucket.slots, offered_load).refused();
}

double refused_filling(const grouped_slots& bucket, double arrivals_mean) {
  check(bucket, arrivals_mean);
  if (arrivals_mean == 0) return 0;
  const occupancies states(bucket);
  std::vector<double> share(states.count(), 0.0), next(states.count());
  share[0] = 1;
  // The arrival after k others is refused with a probability that falls short of 1 by the buckets
  // that still have room; a handful of refusals later there are none.
  const unsigned last = bucket.slots + 8;
  double refused = poisson_excess(arrivals_mean, last);
  for (unsigned k = 0; k < last; ++k) {
    double at_this = 0;
    for (std::size_t state = 0; state < states.count(); ++state) {
      at_this += share[state] * states.refused(state);
      next[state] = share[state] * states.refused(state);
      for (const auto& [from, probability] : states.arrivals(state))
        next[state] += share[from] * probability;
    }
    refused += at_this * poisson_at_least(arrivals_mean, k + 1);
    share.swap(next);
  }
  return refused / arrivals_mean;
}

double grouped_overflow_churning(const churn_parameters& parameters, const grouped_slots& bucket) {
  check_slots(parameters.bucket_capacity, bucket);
  const churn_state without = churn_limit(parameters);  // checks the parameters
  const double per_bucket = parameters.load_factor * parameters.bucket_capacity;
  const auto refused = [&](double offered) { return refused_churning(bucket, offered); };
  switch (parameters.scheme) {
    case scheme_kind::single:
    case scheme_kind::multilevel:
      return through_levels(levels_of(parameters.scheme, parameters.level_fractions), per_bucket,
                            refused);
    case scheme_kind::sequential: {
      const auto distance = [&](double offered) {
        return offered - per_bucket * detail::geometric_sum(refused(offered), parameters.choices);
      };
      const double offered =
          parameters.choices == 1
              ? per_bucket
              : detail::find_root(distance, per_bucket, per_bucket * parameters.choices);
      return detail::power(refused(offered), parameters.choices);
    }
    case scheme_kind::d_random:
    case scheme_kind::d_left:
      break;
  }
  refuse_scheme("single, sequential or multilevel", parameters.scheme);
}

double grouped_overflow_filling(const fluid_parameters& parameters, const grouped_slots& bucket) {
  check_slots(parameters.bucket_capacity, bucket);
  if (parameters.scheme != scheme_kind::single && parameters.scheme != scheme_kind::multilevel)
    refuse_scheme("single or multilevel", parameters.scheme);
  fluid_limit(parameters);  // checks the parameters
  return through_levels(levels_of(parameters.scheme, parameters.level_fractions),
                        parameters.load_factor * parameters.bucket_capacity * parameters.time,
                        [&](double mean) { return refused_filling(bucket, mean); });
}

}  // namespace oneprobe::inline v0_1::model
