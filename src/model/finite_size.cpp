#include "oneprobe/model/finite_size.hpp"

#include <algorithm>
#include <boost/math/distributions/negative_binomial.hpp>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/distributions/poisson.hpp>
#include <cmath>
#include <stdexcept>

#include "check.hpp"
#include "fluid_internal.hpp"
#include "overflow_noise.hpp"
#include "poisson_series.hpp"

namespace oneprobe::inline v0_1::model {
namespace {

/// E[F^2] for F the number of elements a bucket refuses.
double refused_square(double arrivals_mean, threshold rule) {
  double sum = 0;
  detail::for_poisson_from(
      arrivals_mean, rule.bucket_capacity + 1ull, [&](std::uint64_t i, double probability) {
        const auto j = static_cast<double>(i - rule.bucket_capacity);
        const double none_admitted = std::pow(1 - rule.admit_probability, j);
        const double term = (j - 1) * (j - 1) * (1 - none_admitted) + j * j * none_admitted;
        sum += probability * term;
        return !detail::negligible(arrivals_mean, i, probability * j * j, sum);
      });
  return sum;
}

/// Levels one after the other. Given the number that enter, the refused ones of a level are a sum
/// over buckets whose arrivals are Poisson but for their fixed total: variance per bucket
/// E[F^2] - R^2 - mean R'^2. The deviation of the number that enter goes on with slope R'.
double level_by_level_variance(const fluid_parameters& parameters,
                               const std::vector<double>& fractions, double elements) {
  const threshold rule = detail::admission_of(parameters);
  const double buckets = elements / detail::elements_per_bucket(parameters);
  double entering = elements * parameters.time;
  double variance = 0;
  for (const double fraction : fractions) {
    if (fraction == 0) continue;
    const double mean = entering / (fraction * buckets);
    const double refused = refused_mean(mean, rule);
    const double slope = refusal_probability(mean, rule);
    const double per_bucket = refused_square(mean, rule) - refused * refused - mean * slope * slope;
    variance = fraction * buckets * std::max(0.0, per_bucket) + slope * slope * variance;
    entering = fraction * buckets * refused;
  }
  return variance;
}

/// Normal quantile with its first correction for skewness (Cornish and Fisher): (z^2 - 1) / 6 times
/// the ratio of the third cumulant to the variance, which is at most 1 for counts that vary less
/// than Poisson ones and 2 v / m - 1 for negative binomial ones. One more for rounding.
double large_reserve(const overflow_spread& spread, double probability) {
  const double z = boost::math::quantile(
      boost::math::complement(boost::math::normal_distribution<double>(), probability));
  const double variance = spread.standard_deviation * spread.standard_deviation;
  const double skew = std::max(1.0, 2 * variance / spread.mean - 1);
  return std::ceil(std::max(0.0, spread.mean + z * spread.standard_deviation +
                                     std::max(0.0, (z * z - 1) / 6) * skew + 1));
}

/// A level of half a bucket exists in the limit only.
void check_whole_levels(const std::vector<double>& fractions, double buckets) {
  for (const double fraction : fractions)
    if (fraction > 0 && fraction * buckets < 1)
      detail::refuse("buckets of each level", "at least 1 for a finite table", fraction * buckets);
}

}  // namespace

overflow_spread overflow_spread_filling(const fluid_parameters& parameters, double elements) {
  detail::check_fluid(parameters);
  detail::check_elements("elements", elements);
  const double buckets = elements / detail::elements_per_bucket(parameters);
  if (parameters.scheme == scheme_kind::multilevel)
    check_whole_levels(parameters.level_fractions, buckets);
  if (parameters.access_budget)
    detail::refuse("access budget", "absent for a finite table", *parameters.access_budget);
  const fluid_state limit = fluid_limit(parameters);
  const double mean = elements * limit.time * limit.cumulative_overflow_fraction;
  const auto spread = [&](double variance) {
    return overflow_spread{.mean = mean, .standard_deviation = std::sqrt(std::max(0.0, variance))};
  };
  switch (parameters.scheme) {
    case scheme_kind::single:
      return spread(level_by_level_variance(parameters, {1.0}, elements));
    case scheme_kind::multilevel:
      return spread(level_by_level_variance(parameters, parameters.level_fractions, elements));
    case scheme_kind::sequential:
    case scheme_kind::d_random:
    case scheme_kind::d_left:
      detail::check_range("bucket capacity of the differential equations",
                          parameters.bucket_capacity, 1, detail::largest_ode_capacity);
      return spread(elements * detail::overflow_noise_filling(parameters));
  }
  throw std::logic_error("oneprobe: unknown scheme");
}

overflow_spread overflow_spread_churning(const churn_parameters& parameters, double elements) {
  detail::check_elements("elements", elements);
  const churn_state state = churn_limit(parameters);  // checks the parameters
  if (parameters.scheme == scheme_kind::multilevel)
    check_whole_levels(parameters.level_fractions,
                       elements / (parameters.load_factor * parameters.bucket_capacity));
  detail::check_range("bucket capacity of the differential equations", parameters.bucket_capacity,
                      1, detail::largest_ode_capacity);
  const double mean = elements * state.overflow_fraction;
  // Rounding of the loads leaves a noise of up to 1e-14 n; below it overflows are rare and single.
  const double noise = 1e-13 * elements;
  const double variance = elements * detail::overflow_noise_churning(parameters, state);
  return {.mean = mean, .standard_deviation = std::sqrt(variance < noise ? mean : variance)};
}

double reserve_for(const overflow_spread& spread, double probability) {
  detail::check_range("mean", spread.mean, 0.0, detail::most_elements);
  detail::check_range("standard deviation", spread.standard_deviation, 0.0, detail::most_elements);
  detail::check_range("probability", probability, 1e-30, 1.0);
  if (spread.mean <= probability) return 0;  // P(overflow >= 1) is at most its mean
  using boost::math::complement;
  using boost::math::policies::discrete_quantile;
  using policy =
      boost::math::policies::policy<discrete_quantile<boost::math::policies::integer_round_up>>;
  const double variance = spread.standard_deviation * spread.standard_deviation;
  const bool bursty = variance > spread.mean * (1 + 1e-9);
  if (spread.mean > 1e6 || (spread.mean > 30 && !bursty)) return large_reserve(spread, probability);
  if (!bursty) {
    const boost::math::poisson_distribution<double, policy> overflow(spread.mean);
    return std::ceil(quantile(complement(overflow, probability)));
  }
  // Mean r (1 - s) / s and variance r (1 - s) / s^2.
  const double success = spread.mean / variance;
  const boost::math::negative_binomial_distribution<double, policy> overflow(
      spread.mean * success / (1 - success), success);
  return std::ceil(quantile(complement(overflow, probability)));
}

}  // namespace oneprobe::inline v0_1::model
