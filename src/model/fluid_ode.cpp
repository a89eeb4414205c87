// The papers' differential equations, integrated as they stand.

#include <algorithm>
#include <array>
#include <boost/numeric/odeint.hpp>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "fluid_internal.hpp"
#include "numeric.hpp"

namespace oneprobe::inline v0_1::model {
namespace {

using state_vector = std::vector<double>;

/// A step of the solver may try a state a little outside its range, where high powers explode.
double probability(double value) { return std::clamp(value, 0.0, 1.0); }

/// OFH eqs. (7), (8), (13), (14) and ECB eqs. (4), (5), (7), (8) in one: groups of buckets tried in
/// order, each with its loads 0 .. h + 1. Single has one group, multilevel one for each level,
/// sequential one group that is tried d times. After the loads: accesses, overflowed elements.
class first_fit_equations {
 public:
  explicit first_fit_equations(const fluid_parameters& parameters)
      : rate_(detail::elements_per_bucket(parameters)),
        rule_(detail::admission_of(parameters)),
        loads_(parameters.bucket_capacity + 2),
        fractions_(parameters.scheme == scheme_kind::multilevel ? parameters.level_fractions
                                                                : std::vector<double>{1.0}),
        tries_(parameters.scheme == scheme_kind::sequential ? parameters.choices : 1) {}

  std::size_t groups() const { return fractions_.size(); }
  std::size_t loads() const { return loads_; }
  double fraction(std::size_t group) const { return fractions_[group]; }
  std::size_t accesses_index() const { return groups() * loads_; }
  std::size_t overflow_index() const { return groups() * loads_ + 1; }

  /// Arrivals per unit of time at a bucket of the smallest group, if it gets them all.
  double fastest_rate() const {
    double smallest = 1;
    for (const double fraction : fractions_)
      if (fraction > 0) smallest = std::min(smallest, fraction);
    return rate_ * tries_ / smallest;
  }

  state_vector start() const {
    state_vector state(groups() * loads_ + 2, 0.0);
    for (std::size_t group = 0; group < groups(); ++group) state[group * loads_] = 1;
    return state;
  }

  void operator()(const state_vector& state, state_vector& change, double /*time*/) const {
    double reaching = 1;  // g_j: probability that an arrival gets as far as this group
    double accesses = 0;
    for (std::size_t group = 0; group < groups(); ++group) {
      const double* f = &state[group * loads_];
      double* df = &change[group * loads_];
      const std::size_t h = loads_ - 2;
      const double p = rule_.admit_probability;
      const double refused = probability((1 - p) * f[h] + f[h + 1]);
      const double tries = detail::geometric_sum(refused, tries_);
      accesses += reaching * tries;
      if (fractions_[group] == 0) {  // no buckets: nothing changes, everything is refused
        std::fill_n(df, loads_, 0.0);
        continue;
      }
      const double flow = rate_ * reaching * tries / fractions_[group];
      df[0] = -flow * f[0];
      for (std::size_t i = 1; i < h; ++i) df[i] = flow * (f[i - 1] - f[i]);
      df[h] = flow * (f[h - 1] - p * f[h]);
      df[h + 1] = flow * p * f[h];
      reaching *= detail::power(refused, tries_);
    }
    change[accesses_index()] = accesses;
    change[overflow_index()] = reaching;
  }

 private:
  double rate_;
  threshold rule_;
  std::size_t loads_;
  std::vector<double> fractions_;
  unsigned tries_;
};

/// The least loaded of d candidates. s_{i,j}: fraction of the buckets of group j with at least i
/// elements, i = 1 .. h. d-random: one group, an arrival raises it to at least i if all d
/// candidates have at least i - 1 but not all at least i. d-left: d groups of m / d buckets, ties
/// to the left, so candidate j takes the element at load i - 1 if those left of it have at least i
/// and those right of it at least i - 1. After the fractions: overflowed elements.
class least_loaded_equations {
 public:
  explicit least_loaded_equations(const fluid_parameters& parameters)
      : rate_(detail::elements_per_bucket(parameters)),
        capacity_(parameters.bucket_capacity),
        choices_(parameters.choices),
        groups_(parameters.scheme == scheme_kind::d_left ? parameters.choices : 1) {}

  unsigned groups() const { return groups_; }
  unsigned capacity() const { return capacity_; }
  std::size_t overflow_index() const { return std::size_t{groups_} * capacity_; }
  state_vector start() const { return state_vector(overflow_index() + 1, 0.0); }

  /// s_{load, group}; at least 0 elements is every bucket.
  double at_least(const state_vector& state, unsigned load, unsigned group) const {
    return load == 0 ? 1.0 : probability(state[std::size_t{group} * capacity_ + load - 1]);
  }

  void operator()(const state_vector& state, state_vector& change, double /*time*/) const {
    std::fill(change.begin(), change.end(), 0.0);
    if (groups_ == 1)
      raise_random(state, change);
    else
      raise_left(state, change);
  }

 private:
  // Both stop at the first load no bucket has reached yet: nothing above it can change.

  void raise_random(const state_vector& state, state_vector& change) const {
    double below = 1;
    for (unsigned i = 0; i < capacity_ && below > 0; ++i) {
      const double here = detail::power(probability(state[i]), choices_);
      change[i] = rate_ * (below - here);
      below = here;
    }
    change[overflow_index()] = detail::power(probability(state[capacity_ - 1]), choices_);
  }

  void raise_left(const state_vector& state, state_vector& change) const {
    std::array<double, largest_choices + 1> right{};  // products over the groups right of each
    right[groups_ - 1] = 1;
    for (unsigned i = 1; i <= capacity_; ++i) {
      for (unsigned group = groups_ - 1; group > 0; --group)
        right[group - 1] = right[group] * at_least(state, i - 1, group);
      if (right[0] * at_least(state, i - 1, 0) == 0) return;
      double left = 1;  // product of s_{i, k} over the groups left of the candidate
      for (unsigned group = 0; group < groups_; ++group) {
        const double here = at_least(state, i, group);
        change[std::size_t{group} * capacity_ + i - 1] =
            rate_ * groups_ * (at_least(state, i - 1, group) - here) * left * right[group];
        left *= here;
      }
      if (i == capacity_) change[overflow_index()] = left;
    }
  }

  double rate_;
  unsigned capacity_;
  unsigned choices_;
  unsigned groups_;
};

/// Relative error 1e-11 in every component above 1e-60: overflow fractions far below one keep their
/// digits.
auto solver() {
  namespace odeint = boost::numeric::odeint;
  return odeint::make_controlled<odeint::runge_kutta_fehlberg78<state_vector>>(1e-60, 1e-11);
}

template <class Equations>
void advance(const Equations& equations, state_vector& state, double from, double to) {
  if (to > from)
    boost::numeric::odeint::integrate_adaptive(solver(), equations, state, from, to,
                                               std::min(to - from, 1e-4));
}

struct solution {
  double time;
  state_vector state;
};

/// Until `time`, or until component `watched` reaches `limit`, whichever comes first.
template <class Equations>
solution solve(const Equations& equations, double time, std::size_t watched, double limit) {
  namespace odeint = boost::numeric::odeint;
  solution now{0, equations.start()};
  auto stepper = solver();
  double step = std::min(time, 1e-4);
  while (now.time < time && now.state[watched] < limit) {
    solution next = now;
    step = std::min(step, time - now.time);
    if (stepper.try_step(equations, next.state, next.time, step) == odeint::fail) continue;
    if (next.time > time - 1e-15) next.time = time;
    if (next.state[watched] > limit) {  // somewhere within this step
      const auto beyond = [&](double end) {
        state_vector state = now.state;
        advance(equations, state, now.time, end);
        return state[watched] - limit;
      };
      // Taken in other steps, the end may lie a rounding error before the limit: then it is there.
      const double end =
          beyond(next.time) > 0 ? detail::find_root(beyond, now.time, next.time) : next.time;
      advance(equations, now.state, now.time, end);
      return {end, now.state};
    }
    now = std::move(next);
  }
  return now;
}

/// Steps are as short as the fastest bucket needs, and each visits every component.
void check_work(double fastest_rate, double components) {
  detail::check_range(
      "arrivals per bucket x loads (load factor, bucket capacity, choices over the smallest level)",
      fastest_rate * components, 0.0, detail::most_ode_work);
}

fluid_state first_fit_limit(const fluid_parameters& parameters) {
  const first_fit_equations equations(parameters);
  check_work(equations.fastest_rate(), static_cast<double>(equations.groups() * equations.loads()));
  fluid_state result;
  const auto [end, state] =
      solve(equations, parameters.time, equations.accesses_index(),
            parameters.access_budget.value_or(std::numeric_limits<double>::infinity()));
  result.time = end;
  result.mean_accesses = state[equations.accesses_index()];
  const std::size_t shown = equations.loads() - (parameters.admit_probability == 0 ? 1 : 0);
  result.occupancy.assign(shown, 0.0);
  const unsigned tries = parameters.scheme == scheme_kind::sequential ? parameters.choices : 1;
  double reached = 1;
  for (std::size_t group = 0; group < equations.groups(); ++group) {
    const auto first = state.begin() + static_cast<std::ptrdiff_t>(group * equations.loads());
    std::vector<double> occupancy(first, first + static_cast<std::ptrdiff_t>(shown));
    for (double& share : occupancy) share = std::max(0.0, share);  // rounding of the solver
    for (std::size_t i = 0; i < shown; ++i)
      result.occupancy[i] += equations.fraction(group) * occupancy[i];
    const double refused = detail::refusal_of(occupancy, parameters);
    result.miss_accesses += reached * detail::geometric_sum(refused, tries);
    if (equations.fraction(group) > 0) reached *= detail::power(refused, tries);
    if (parameters.scheme == scheme_kind::multilevel) result.levels.push_back(occupancy);
  }
  detail::set_overflow(result, state[equations.overflow_index()]);
  return result;
}

fluid_state least_loaded_limit(const fluid_parameters& parameters) {
  const least_loaded_equations equations(parameters);
  const double choices = parameters.choices;
  fluid_state result;
  // Every element looks at all its candidates, so a budget of a accesses ends at time a / d.
  result.time = std::min(parameters.time, parameters.access_budget.value_or(choices) / choices);
  result.mean_accesses = choices * result.time;
  result.miss_accesses = choices;
  check_work(detail::elements_per_bucket(parameters) * choices,
             static_cast<double>(equations.overflow_index()));
  state_vector state = equations.start();
  advance(equations, state, 0.0, result.time);
  result.occupancy.assign(equations.capacity() + 1, 0.0);
  for (unsigned group = 0; group < equations.groups(); ++group) {
    std::vector<double> occupancy;
    for (unsigned i = 0; i <= equations.capacity(); ++i) {
      const double above = i == equations.capacity() ? 0 : equations.at_least(state, i + 1, group);
      // Differences of nearly equal numbers: rounding may leave one below zero.
      occupancy.push_back(std::max(0.0, equations.at_least(state, i, group) - above));
      result.occupancy[i] += occupancy.back() / equations.groups();
    }
    if (parameters.scheme == scheme_kind::d_left) result.levels.push_back(std::move(occupancy));
  }
  detail::set_overflow(result, state[equations.overflow_index()]);
  return result;
}

}  // namespace

fluid_state fluid_limit_by_ode(const fluid_parameters& parameters) {
  detail::check_fluid(parameters);
  detail::check_range("bucket capacity of the differential equations", parameters.bucket_capacity,
                      1, detail::largest_ode_capacity);
  switch (parameters.scheme) {
    case scheme_kind::single:
    case scheme_kind::sequential:
    case scheme_kind::multilevel:
      return first_fit_limit(parameters);
    case scheme_kind::d_random:
    case scheme_kind::d_left:
      return least_loaded_limit(parameters);
  }
  throw std::logic_error("oneprobe: unknown scheme");
}

}  // namespace oneprobe::inline v0_1::model
