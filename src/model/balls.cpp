#include "oneprobe/model/balls.hpp"

#include <algorithm>
#include <boost/math/special_functions/gamma.hpp>
#include <boost/numeric/odeint/integrate/integrate_adaptive.hpp>
#include <boost/numeric/odeint/stepper/generation.hpp>
#include <boost/numeric/odeint/stepper/runge_kutta_fehlberg78.hpp>
#include <cmath>
#include <numbers>

#include "binomial.hpp"
#include "check.hpp"
#include "numeric.hpp"
#include "oneprobe/model/poisson.hpp"

namespace oneprobe::inline v0_1::model {
namespace {

void check_balls_and_bins(double balls, double bins) {
  detail::check_elements("balls", balls);
  detail::check_elements("bins", bins);
}

/// n large enough for ln ln n to be positive.
void check_many_bins(double bins) { detail::check_range("bins", bins, 3.0, detail::most_elements); }

void check_counts(std::uint64_t balls, std::uint64_t bins) {
  detail::check_range("balls", static_cast<double>(balls), 1.0, most_exact_balls);
  detail::check_range("bins", static_cast<double>(bins), 1.0, most_exact_balls);
}

/// d s_i / dt = s_(i-1)^d - s_i^d, s_0 = 1, from an empty table: s_i the fraction of bins with at
/// least i balls. The solution becomes a wave that passes one level per unit of time. Only its
/// front is integrated, some 25 levels: behind it s_i is 1, ahead of it s_i underflows.
class choice_front {
 public:
  choice_front(unsigned choices, unsigned count) : choices_(choices), at_least_(count + 1u, 0.0) {
    at_least_[0] = 1;
  }

  void advance(double time) {
    // Ahead of the front s_i(t) is about s_i(t + 1)^d, so what is tiny two units before the end has
    // no influence: until then an absolute tolerance will do, and the tiny start afresh.
    const double coarse = std::max(0.0, std::floor(time) - 2);
    for (double at = 0; at < coarse; ++at) advance_at_most_one(1.0, 1e-30, 1e-25);
    for (double at = coarse; at < time; ++at)
      advance_at_most_one(std::min(1.0, time - at), 1e-290, 1e-300);
  }

  std::vector<double> at_least() const { return {at_least_.begin() + 1, at_least_.end()}; }

 private:
  using state = std::vector<double>;

  void advance_at_most_one(double time, double tolerance, double tiny) {
    namespace odeint = boost::numeric::odeint;
    const auto begin =
        std::find_if(at_least_.begin(), at_least_.end(), [](double s) { return s < 1; });
    const auto zero = std::find(begin, at_least_.end(), 0.0);
    // Within one unit, no more levels than this can rise from 0 to the smallest double.
    const auto end = zero + std::min<std::ptrdiff_t>(at_least_.end() - zero, 11);
    if (begin == end) return;
    state front(begin, end);
    const auto flow = [d = choices_](const state& s, state& rate, double) {
      double below = 1;
      for (std::size_t i = 0; i < s.size(); ++i) {
        const double here = detail::power(std::clamp(s[i], 0.0, 1.0), d);
        rate[i] = below - here;
        below = here;
      }
    };
    odeint::integrate_adaptive(
        odeint::make_controlled(tolerance, 1e-12, odeint::runge_kutta_fehlberg78<state>()), flow,
        front, 0.0, time, std::min(time, 1e-3));
    std::transform(front.begin(), front.end(), begin, [=](double s) {
      return s < tiny ? 0.0 : s > 1 - 1e-13 ? 1.0 : s;
    });
  }

  unsigned choices_;
  state at_least_;
};

}  // namespace

double expected_collisions(double balls, double bins) {
  check_balls_and_bins(balls, bins);
  return balls * (balls - 1) / 2 / bins;
}

double collision_probability(double balls, double bins) {
  check_balls_and_bins(balls, bins);
  return -std::expm1(detail::log_all_different(balls, bins));
}

double birthday_balls(double bins, double probability) {
  detail::check_elements("bins", bins);
  detail::check_above("probability", probability, 0.0, 1.0);
  if (probability == 1) return bins + 1;
  double too_few = 1, enough = bins + 1;
  while (enough - too_few > 1) {
    const double middle = std::floor((too_few + enough) / 2);
    const double reached = -std::expm1(detail::log_all_different(middle, bins));
    (reached >= probability ? enough : too_few) = middle;
  }
  return enough;
}

double balls_for_one_collision(double bins) {
  detail::check_elements("bins", bins);
  return 0.5 + std::sqrt(0.25 + 2 * bins);
}

double expected_chain_collisions(double balls, double bins) {
  check_balls_and_bins(balls, bins);
  return (balls - 1) / bins;
}

double empty_fraction(double balls, double bins) {
  check_balls_and_bins(balls, bins);
  return std::exp(balls * std::log1p(-1 / bins));
}

double bin_has(double balls, double bins, std::uint64_t count) {
  check_balls_and_bins(balls, bins);
  return detail::binomial_probability(balls, 1 / bins, static_cast<double>(count));
}

double bin_has_at_least(double balls, double bins, std::uint64_t count) {
  check_balls_and_bins(balls, bins);
  return detail::binomial_at_least(balls, 1 / bins, static_cast<double>(count));
}

double bin_has_bound(std::uint64_t count) {
  return std::exp(-boost::math::lgamma(static_cast<double>(count) + 1));
}

double bin_has_at_least_bound(std::uint64_t count) {
  const double k = static_cast<double>(count);
  return count == 0 ? 1 : std::min(1.0, std::pow(std::numbers::e / k, k));
}

double bin_has_at_least_union_bound(double balls, double bins, std::uint64_t count) {
  check_balls_and_bins(balls, bins);
  const double k = static_cast<double>(count);
  if (k > balls) return 0;
  return std::exp(std::min(0.0, detail::log_choose(balls, k) - k * std::log(bins)));
}

std::vector<double> bin_occupancy(double balls, double bins, unsigned choices) {
  check_balls_and_bins(balls, bins);
  detail::check_choices(choices);
  const double mean = balls / bins;
  detail::check_range("balls per bin", mean, 0.0, largest_balls_per_bin);
  constexpr std::size_t least_entries = 8;
  constexpr double negligible = 1e-18;
  std::vector<double> fractions;
  if (choices == 1) {
    for (double count = 0;; ++count) {
      const double fraction = detail::binomial_probability(balls, 1 / bins, count);
      if (fractions.size() >= least_entries && count > mean && fraction < negligible) break;
      fractions.push_back(fraction);
    }
    return fractions;
  }
  const auto entries = static_cast<unsigned>(mean) + 64;
  const std::vector<double> at_least = bins_with_at_least(mean, choices, entries);
  double above = 1;
  for (const double next : at_least) {
    if (fractions.size() >= least_entries && above < negligible) break;
    fractions.push_back(above - next);
    above = next;
  }
  return fractions;
}

std::vector<double> bins_with_at_least(double balls_per_bin, unsigned choices, unsigned count) {
  detail::check_range("balls per bin", balls_per_bin, 0.0, largest_balls_per_bin);
  detail::check_choices(choices);
  detail::check_range("count", count, 1.0, 1e6);
  if (choices == 1) {
    std::vector<double> at_least;
    for (unsigned i = 1; i <= count; ++i) at_least.push_back(poisson_at_least(balls_per_bin, i));
    return at_least;
  }
  // After `settled` units of time the wave keeps its shape to nine digits (d = 2; sooner for more).
  constexpr double settled = 100;
  const double shift = std::max(0.0, std::floor(balls_per_bin) - settled);
  std::vector<double> at_least(static_cast<std::size_t>(std::min<double>(shift, count)), 1.0);
  choice_front front(choices, count - static_cast<unsigned>(at_least.size()));
  front.advance(balls_per_bin - shift);
  const std::vector<double> moving = front.at_least();
  at_least.insert(at_least.end(), moving.begin(), moving.end());
  return at_least;
}

double max_load_theorem(double bins) {
  check_many_bins(bins);
  return 3 * std::log(bins) / std::log(std::log(bins));
}

double max_load_proof_threshold() {
  // ln z / z = 1/3 at the larger root, z = ln ln n.
  return std::exp(
      detail::find_root([](double z) { return std::log(z) - z / 3; }, std::numbers::e, 10.0));
}

double max_load_leading_term(double bins, unsigned choices) {
  check_many_bins(bins);
  detail::check_choices(choices);
  const double twice = std::log(std::log(bins));
  return choices == 1 ? std::log(bins) / twice : twice / std::log(choices);
}

double max_load_exceeds_bound(double balls, double bins, std::uint64_t load) {
  check_balls_and_bins(balls, bins);
  return std::min(1.0,
                  bins * detail::binomial_at_least(balls, 1 / bins, static_cast<double>(load) + 1));
}

std::uint64_t max_load_union_bound(double balls, double bins, double probability) {
  check_balls_and_bins(balls, bins);
  detail::check_above("probability", probability, 0.0, 1.0);
  const auto exceeds = [&](double load) {
    return bins * detail::binomial_at_least(balls, 1 / bins, load + 1) > probability;
  };
  // A bracket that grows by deviations, then bisection.
  const double mean = std::floor(balls / bins);
  double low = -1;
  double high = std::min(balls, mean);
  for (double step = std::ceil(std::sqrt(balls / bins)); exceeds(high); step *= 2) {
    low = high;
    high = std::min(balls, high + step);
  }
  while (high - low > 1) {
    const double middle = std::floor((low + high) / 2);
    (exceeds(middle) ? low : high) = middle;
  }
  return static_cast<std::uint64_t>(high);
}

namespace {

/// P(maximum load >= k) for m balls in n bins, every term positive: the first bin that reaches k is
/// bin i + 1 of n with s balls in the i bins before it. Bins are Poisson(m/n), given their sum m.
double reaches(std::uint64_t balls, std::uint64_t bins, unsigned load) {
  const double mean = static_cast<double>(balls) / static_cast<double>(bins);
  constexpr double negligible = 1e-60;
  const auto size = static_cast<std::size_t>(balls) + 1;
  std::vector<double> one_bin(load);  // P(X = t), t < k
  for (unsigned t = 0; t < load; ++t) one_bin[t] = poisson_probability(mean, t);

  std::vector<double> none(size, 0.0), next(size, 0.0);  // P(no bin so far has k, they hold s)
  none[0] = 1;
  std::size_t first = 0, last = 0;
  double sum = 0;
  for (std::uint64_t before = 0; before < bins; ++before) {
    // Of u balls for the r bins from here on: P(all r hold u) P(the next of them holds >= k), both
    // by recurrences in u: P_u+1(X >= k) = P_u(X >= k) + P_u(X = k - 1) / r.
    const double rest = static_cast<double>(bins - before);
    const double share = 1 / rest;
    const std::size_t least = std::max<std::size_t>(load - 1, balls - std::min(balls, last));
    double u = static_cast<double>(least);
    double total = poisson_probability(rest * mean, least);
    double at_least = detail::binomial_at_least(u, share, load);
    double just_below = detail::binomial_probability(u, share, load - 1.0);
    for (std::size_t held = balls - least + 1; held-- > first;) {
      sum += none[held] * total * at_least;
      at_least += share * just_below;
      u += 1;
      just_below *= u / (u - load + 1) * (1 - share);
      total *= rest * mean / u;
    }
    // One more bin without k balls.
    const std::size_t new_last = std::min(size - 1, last + load - 1);
    std::fill(next.begin() + static_cast<std::ptrdiff_t>(first),
              next.begin() + static_cast<std::ptrdiff_t>(new_last) + 1, 0.0);
    for (unsigned t = 0; t < load; ++t) {
      const std::size_t reach = std::min(last, new_last - std::min<std::size_t>(t, new_last));
      for (std::size_t s = first; s <= reach; ++s) next[s + t] += none[s] * one_bin[t];
    }
    none.swap(next);
    last = new_last;
    while (last > first && none[last] < negligible) --last;
    while (first < last && none[first] < negligible) ++first;
  }
  return sum / poisson_probability(static_cast<double>(balls), balls);
}

}  // namespace

std::uint64_t max_load_fluid_bound(double balls, double bins, unsigned choices,
                                   double probability) {
  check_balls_and_bins(balls, bins);
  detail::check_above("probability", probability, 0.0, 1.0);
  // One ball per bin more raises the loads by one; beyond the average they fall doubly
  // exponentially, or like a Poisson tail with one choice.
  const double average = balls / bins;
  const auto most = static_cast<unsigned>(average + 12 * std::sqrt(average + 1) + 60);
  const std::vector<double> at_least = bins_with_at_least(average, choices, most);
  std::uint64_t load = 0;
  while (load < at_least.size() && bins * at_least[load] > probability) ++load;
  return load;
}

std::vector<double> max_load_at_least(std::uint64_t balls, std::uint64_t bins, unsigned count) {
  check_counts(balls, bins);
  detail::check_range("count", count, 1.0, most_exact_balls);
  std::vector<double> result;
  for (unsigned k = 1; k <= count; ++k) {
    const bool certain = (k - 1) * bins < balls;  // pigeonhole
    result.push_back(certain ? 1.0 : k > balls ? 0.0 : std::min(1.0, reaches(balls, bins, k)));
  }
  return result;
}

double expected_max_load(std::uint64_t balls, std::uint64_t bins) {
  check_counts(balls, bins);
  const std::uint64_t certain = (balls + bins - 1) / bins;
  double sum = static_cast<double>(certain);
  for (std::uint64_t k = certain + 1; k <= balls; ++k) {
    const double next = std::min(1.0, reaches(balls, bins, static_cast<unsigned>(k)));
    sum += next;
    if (next < 1e-17 * sum) break;
  }
  return sum;
}

}  // namespace oneprobe::inline v0_1::model
