#include "overflow_noise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "fluid_internal.hpp"
#include "numeric.hpp"

namespace oneprobe::inline v0_1::model::detail {
namespace {

using state_vector = std::vector<double>;

struct step_moments {
  double mean = 0;
  double square = 0;
  void add(double probability, double step) {
    mean += probability * step;
    square += probability * step * step;
  }
  double variance() const { return std::max(0.0, square - mean * mean); }
};

/// What an element that overflows is worth at once: 1 while we wait for the final count of a table
/// that fills; 0 under churn, where overflow is n less what the buckets hold at the end.
enum class overflow_value { counted, held };

/// Groups of buckets tried in order: f_{i,j}, the fraction of the buckets of group j with i = 0 ..
/// h + 1 elements, group after group. Multilevel: one group for each level. Sequential and single:
/// one group, tried d times.
class first_fit_process {
 public:
  first_fit_process(double rate, threshold rule, std::vector<double> fractions, unsigned tries,
                    overflow_value value)
      : rate_(rate),
        rule_(rule),
        fractions_(std::move(fractions)),
        tries_(tries),
        overflow_(value == overflow_value::counted ? 1.0 : 0.0) {}

  /// Of arrivals at a bucket, if no group before it took any.
  double fastest_rate() const {
    return rate_ * tries_ / *std::min_element(fractions_.begin(), fractions_.end());
  }

  state_vector start() const {
    state_vector state(fractions_.size() * loads(), 0.0);
    for (std::size_t group = 0; group < fractions_.size(); ++group) state[group * loads()] = 1;
    return state;
  }

  void drift(const state_vector& state, state_vector& change) const {
    std::fill(change.begin(), change.end(), 0.0);
    double reaching = 1;
    for (std::size_t group = 0; group < fractions_.size(); ++group) {
      const double* f = &state[group * loads()];
      double* df = &change[group * loads()];
      const double flow = reaching * tries_at(f) * scale(group);
      for (std::size_t i = 0; i <= h(); ++i) {
        const double moved = flow * admitted(i) * f[i];
        df[i] -= moved;
        df[i + 1] += moved;
      }
      reaching *= power(refused(f), tries_);
    }
  }

  step_moments arrival(const state_vector& state, const state_vector& pi) const {
    step_moments moments;
    double reaching = 1;
    for (std::size_t group = 0; group < fractions_.size(); ++group) {
      const double* f = &state[group * loads()];
      const double* p = &pi[group * loads()];
      const double placed = reaching * tries_at(f);
      for (std::size_t i = 0; i <= h(); ++i)
        moments.add(placed * admitted(i) * f[i], scale(group) * (p[i + 1] - p[i]));
      reaching *= power(refused(f), tries_);
    }
    moments.add(reaching, overflow_);
    return moments;
  }

  /// A uniformly random element leaves; one of the overflow leaves the buckets as they are.
  step_moments departure(const state_vector& state, const state_vector& pi) const {
    step_moments moments;
    for (std::size_t group = 0; group < fractions_.size(); ++group) {
      const double* f = &state[group * loads()];
      const double* p = &pi[group * loads()];
      for (std::size_t i = 1; i <= h() + 1; ++i)
        moments.add(static_cast<double>(i) * f[i] / scale(group), scale(group) * (p[i - 1] - p[i]));
    }
    return moments;
  }

  /// Adds the gradient of the arrivals' mean step: each group's own placements, and what a fuller
  /// group sends on to the groups behind it.
  void add_arrival_gradient(const state_vector& state, const state_vector& pi,
                            state_vector& gradient) const {
    double behind = overflow_;  // mean step of an element that reaches the groups behind this one
    for (std::size_t group = fractions_.size(); group-- > 0;) {
      const double* f = &state[group * loads()];
      const double* p = &pi[group * loads()];
      double* result = &gradient[group * loads()];
      double reaching = 1;
      for (std::size_t before = 0; before < group; ++before)
        reaching *= power(refused(&state[before * loads()]), tries_);
      const double u = refused(f);
      double placed = 0;  // mean step of one try, times its probability
      for (std::size_t i = 0; i <= h(); ++i) {
        const double step = admitted(i) * scale(group) * (p[i + 1] - p[i]);
        placed += f[i] * step;
        result[i] += reaching * tries_at(f) * step;
      }
      double tries_slope = 0;
      for (unsigned i = 1; i < tries_; ++i) tries_slope += i * power(u, i - 1);
      const double by_refusal =
          reaching * (tries_slope * placed + tries_ * power(u, tries_ - 1) * behind);
      result[h()] += (1 - rule_.admit_probability) * by_refusal;
      result[h() + 1] += by_refusal;
      behind = tries_at(f) * placed + power(u, tries_) * behind;
    }
  }

  void add_departure_gradient(const state_vector& pi, state_vector& gradient) const {
    for (std::size_t group = 0; group < fractions_.size(); ++group) {
      const double* p = &pi[group * loads()];
      for (std::size_t i = 1; i <= h() + 1; ++i)
        gradient[group * loads() + i] += static_cast<double>(i) * (p[i - 1] - p[i]);
    }
  }

  /// Gradient of the overflow as n less what the buckets hold, over n.
  state_vector held_gradient() const {
    state_vector gradient(fractions_.size() * loads(), 0.0);
    for (std::size_t group = 0; group < fractions_.size(); ++group)
      for (std::size_t i = 0; i < loads(); ++i)
        gradient[group * loads() + i] = -static_cast<double>(i) / scale(group);
    return gradient;
  }

  /// From the occupancies of the groups, loads 0 .. h.
  state_vector state_of(const std::vector<std::vector<double>>& groups) const {
    state_vector state(fractions_.size() * loads(), 0.0);
    for (std::size_t group = 0; group < fractions_.size(); ++group)
      std::copy(groups[group].begin(), groups[group].end(),
                state.begin() + static_cast<std::ptrdiff_t>(group * loads()));
    return state;
  }

 private:
  std::size_t h() const { return rule_.bucket_capacity; }
  std::size_t loads() const { return h() + 2; }
  double scale(std::size_t group) const { return rate_ / fractions_[group]; }
  double admitted(std::size_t load) const { return load < h() ? 1 : rule_.admit_probability; }
  double refused(const double* f) const {
    return (1 - rule_.admit_probability) * f[h()] + f[h() + 1];
  }
  double tries_at(const double* f) const { return geometric_sum(refused(f), tries_); }

  double rate_;
  threshold rule_;
  std::vector<double> fractions_;
  unsigned tries_;
  double overflow_;
};

/// The least loaded of d candidates, as a chain of events: the candidate in group 1 has load at
/// least 1, then also that in group 2, ... then all have at least 1, then group 1 at least 2, and
/// so on. P_c is the probability that event c is reached; the element goes to the group and load
/// where the chain breaks, and overflows if it never does. s_{i,k} is the factor that event (i, k)
/// adds, replacing s_{i-1,k}, so each P_c is a product of d consecutive factors. d-random is the
/// chain with one group standing for all d: its factor is s^d.
class least_loaded_process {
 public:
  least_loaded_process(double rate, unsigned capacity, unsigned choices, scheme_kind scheme,
                       overflow_value value)
      : capacity_(capacity),
        groups_(scheme == scheme_kind::d_left ? choices : 1),
        repeats_(scheme == scheme_kind::d_left ? 1 : choices),
        scale_(rate * static_cast<double>(groups_)),
        overflow_(value == overflow_value::counted ? 1.0 : 0.0) {}

  double fastest_rate() const { return scale_ * repeats_; }

  /// s_{1,1}, s_{1,2}, ..., s_{1,d}, s_{2,1}, ...: in the order of the chain.
  state_vector start() const { return state_vector(capacity_ * groups_, 0.0); }

  void drift(const state_vector& s, state_vector& change) const {
    double reached = 1;
    for (std::size_t c = 0; c < s.size(); ++c) {
      const double next = product(s, c);
      change[c] = scale_ * (reached - next);
      reached = next;
    }
  }

  step_moments arrival(const state_vector& s, const state_vector& pi) const {
    step_moments moments;
    double reached = 1;
    for (std::size_t c = 0; c < s.size(); ++c) {
      const double next = product(s, c);
      moments.add(reached - next, scale_ * pi[c]);
      reached = next;
    }
    moments.add(reached, overflow_);
    return moments;
  }

  step_moments departure(const state_vector& s, const state_vector& pi) const {
    step_moments moments;
    for (std::size_t c = 0; c < s.size(); ++c)
      moments.add(load_of(c) * (s[c] - above(s, c)) / scale_, -scale_ * pi[c]);
    return moments;
  }

  /// H = sum_c y_c (P_c - P_{c+1}) + P_end = y_1 + sum_c P_{c+1} (y_{c+1} - y_c).
  void add_arrival_gradient(const state_vector& s, const state_vector& pi,
                            state_vector& gradient) const {
    std::array<double, largest_choices> products_before{};
    for (std::size_t c = 0; c < s.size(); ++c) {
      const double next_step = c + 1 < s.size() ? scale_ * pi[c + 1] : overflow_;
      const double weight = next_step - scale_ * pi[c];
      // Each factor's share: the product of the others, those before it and those behind it.
      double before = 1;
      for (std::size_t factor = first(c); factor <= c; ++factor) {
        products_before[factor - first(c)] = before;
        before *= power(s[factor], repeats_);
      }
      double behind = 1;
      for (std::size_t factor = c + 1; factor-- > first(c);) {
        gradient[factor] += weight * products_before[factor - first(c)] * behind * repeats_ *
                            power(s[factor], repeats_ - 1);
        behind *= power(s[factor], repeats_);
      }
    }
  }

  void add_departure_gradient(const state_vector& pi, state_vector& gradient) const {
    for (std::size_t c = 0; c < pi.size(); ++c) {
      gradient[c] -= load_of(c) * pi[c];
      if (c + groups_ < pi.size()) gradient[c + groups_] += load_of(c) * pi[c];
    }
  }

  state_vector held_gradient() const { return state_vector(capacity_ * groups_, -1 / scale_); }

  state_vector state_of(const std::vector<std::vector<double>>& groups) const {
    state_vector state(capacity_ * groups_, 0.0);
    for (std::size_t group = 0; group < groups_; ++group) {
      double at_least = 0;
      for (std::size_t load = capacity_; load > 0; --load) {
        at_least += groups[group][load];
        state[(load - 1) * groups_ + group] = at_least;
      }
    }
    return state;
  }

 private:
  /// P_{c+1} is the product of the factors first(c) .. c.
  std::size_t first(std::size_t c) const { return c + 1 >= groups_ ? c + 1 - groups_ : 0; }
  double product(const state_vector& s, std::size_t c) const {
    double result = 1;
    for (std::size_t k = first(c); k <= c; ++k) result *= power(s[k], repeats_);
    return result;
  }
  double load_of(std::size_t c) const {
    const std::size_t load = c / groups_ + 1;
    return static_cast<double>(load);
  }
  double above(const state_vector& s, std::size_t c) const {
    return c + groups_ < s.size() ? s[c + groups_] : 0;
  }

  std::size_t capacity_;
  std::size_t groups_;
  unsigned repeats_;
  double scale_;
  double overflow_;
};

/// One classical fourth-order step of x' = rate(stage, x); stages 0, 1, 2 are the beginning, middle
/// and end of the step. Keeps its working memory between steps.
class runge_kutta {
 public:
  template <class Rate>
  void step(state_vector& state, double length, Rate&& rate) {
    for (state_vector& slope : slopes_) slope.assign(state.size(), 0.0);
    probe_.resize(state.size());
    rate(0, std::as_const(state), slopes_[0]);
    rate(1, ahead(state, 0.5 * length, slopes_[0]), slopes_[1]);
    rate(1, ahead(state, 0.5 * length, slopes_[1]), slopes_[2]);
    rate(2, ahead(state, length, slopes_[2]), slopes_[3]);
    for (std::size_t i = 0; i < state.size(); ++i)
      state[i] +=
          length / 6 * (slopes_[0][i] + 2 * slopes_[1][i] + 2 * slopes_[2][i] + slopes_[3][i]);
  }

 private:
  const state_vector& ahead(const state_vector& state, double length, const state_vector& slope) {
    for (std::size_t i = 0; i < state.size(); ++i) probe_[i] = state[i] + length * slope[i];
    return probe_;
  }

  std::array<state_vector, 4> slopes_;
  state_vector probe_;
};

/// Steps are as short as the fastest bucket needs, and each visits every component; longer ones
/// would be unstable.
void check_noise_work(double fastest_rate, std::size_t components) {
  check_range("arrivals per bucket x loads (load factor, bucket capacity, choices, small levels)",
              fastest_rate * static_cast<double>(components), 0.0, 1.5e5);
}

/// Forwards along the fluid limit, then backwards with the adjoint; Simpson's rule over the steps.
template <class Process>
double filling_variance(const Process& process, double time) {
  check_noise_work(process.fastest_rate(), process.start().size());
  const auto steps = static_cast<std::size_t>(std::max(8 * process.fastest_rate() * time, 200.0));
  const double half = 0.5 * time / static_cast<double>(steps);
  runge_kutta solver;
  std::vector<state_vector> path{process.start()};  // at every quarter of a step
  path.reserve(4 * steps + 1);
  for (std::size_t i = 0; i < 4 * steps; ++i) {
    state_vector state = path.back();
    solver.step(state, 0.5 * half, [&](int, const state_vector& x, state_vector& change) {
      process.drift(x, change);
    });
    path.push_back(std::move(state));
  }
  state_vector pi(path.front().size(), 0.0);
  std::size_t at = path.size() - 1;
  const auto back_half_a_step = [&] {
    solver.step(pi, half, [&](int stage, const state_vector& p, state_vector& change) {
      std::fill(change.begin(), change.end(), 0.0);
      process.add_arrival_gradient(path[at - static_cast<std::size_t>(stage)], p, change);
    });
    at -= 2;
    return process.arrival(path[at], pi).variance();
  };
  double variance = 0;
  double at_end = process.arrival(path[at], pi).variance();
  for (std::size_t i = 0; i < steps; ++i) {
    const double middle = back_half_a_step();
    const double at_start = back_half_a_step();
    variance += half / 3 * (at_end + 4 * middle + at_start);
    at_end = at_start;
  }
  return variance;
}

/// In the stationary state the adjoint runs for ever; it forgets at rate one per residence time, so
/// forty of them leave nothing.
template <class Process>
double churning_variance(const Process& process, const state_vector& state, double fastest_rate) {
  check_noise_work(fastest_rate, state.size());
  const double half = 0.5 / (2 * fastest_rate);
  runge_kutta solver;
  state_vector pi = process.held_gradient();
  const auto step_variance = [&] {
    return process.arrival(state, pi).variance() + process.departure(state, pi).variance();
  };
  const auto half_a_step = [&] {
    solver.step(pi, half, [&](int, const state_vector& p, state_vector& change) {
      std::fill(change.begin(), change.end(), 0.0);
      process.add_arrival_gradient(state, p, change);
      process.add_departure_gradient(p, change);
    });
    return step_variance();
  };
  double variance = 0;
  double before = step_variance();
  for (double passed = 0; passed < 40; passed += 2 * half) {
    const double middle = half_a_step();
    const double after = half_a_step();
    const double gained = half / 3 * (before + 4 * middle + after);
    variance += gained;
    if (gained < 1e-9 * half * variance) break;
    before = after;
  }
  return variance;
}

/// Levels without buckets take nothing and change nothing.
std::vector<double> used_levels(const std::vector<double>& fractions) {
  std::vector<double> used;
  for (const double fraction : fractions)
    if (fraction > 0) used.push_back(fraction);
  return used;
}

}  // namespace

double overflow_noise_filling(const fluid_parameters& parameters) {
  const double rate = elements_per_bucket(parameters);
  const bool levels = parameters.scheme == scheme_kind::multilevel;
  switch (parameters.scheme) {
    case scheme_kind::single:
    case scheme_kind::sequential:
    case scheme_kind::multilevel:
      return filling_variance(
          first_fit_process(
              rate, admission_of(parameters),
              levels ? used_levels(parameters.level_fractions) : std::vector<double>{1.0},
              parameters.scheme == scheme_kind::sequential ? parameters.choices : 1,
              overflow_value::counted),
          parameters.time);
    case scheme_kind::d_random:
    case scheme_kind::d_left:
      return filling_variance(
          least_loaded_process(rate, parameters.bucket_capacity, parameters.choices,
                               parameters.scheme, overflow_value::counted),
          parameters.time);
  }
  throw std::logic_error("oneprobe: unknown scheme");
}

double overflow_noise_churning(const churn_parameters& parameters, const churn_state& state) {
  const double rate = parameters.load_factor * parameters.bucket_capacity;
  std::vector<std::vector<double>> groups;
  std::vector<double> fractions{1.0};
  if (parameters.scheme == scheme_kind::multilevel) {
    fractions = used_levels(parameters.level_fractions);
    for (std::size_t level = 0; level < state.levels.size(); ++level)
      if (parameters.level_fractions[level] > 0) groups.push_back(state.levels[level]);
  } else if (parameters.scheme == scheme_kind::d_left) {
    groups = state.levels;
  } else {
    groups.push_back(state.occupancy);
  }
  // Departures at rate up to h, arrivals at a bucket at a rate that its load balances.
  switch (parameters.scheme) {
    case scheme_kind::single:
    case scheme_kind::sequential:
    case scheme_kind::multilevel: {
      const first_fit_process process(
          rate, {parameters.bucket_capacity, 0.0}, fractions,
          parameters.scheme == scheme_kind::sequential ? parameters.choices : 1,
          overflow_value::held);
      double fastest = parameters.bucket_capacity;
      double entering = 1;
      for (std::size_t group = 0; group < fractions.size(); ++group) {
        fastest = std::max(fastest, rate * entering / fractions[group]);
        entering *= groups[group].back();
      }
      if (parameters.scheme == scheme_kind::sequential) fastest *= parameters.choices;
      return churning_variance(process, process.state_of(groups),
                               fastest + parameters.bucket_capacity);
    }
    case scheme_kind::d_random:
    case scheme_kind::d_left: {
      const least_loaded_process process(rate, parameters.bucket_capacity, parameters.choices,
                                         parameters.scheme, overflow_value::held);
      return churning_variance(process, process.state_of(groups),
                               process.fastest_rate() + parameters.bucket_capacity);
    }
  }
  throw std::logic_error("oneprobe: unknown scheme");
}

}  // namespace oneprobe::inline v0_1::model::detail
