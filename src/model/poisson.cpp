#include "oneprobe/model/poisson.hpp"

#include <boost/math/special_functions/gamma.hpp>

#include "check.hpp"
#include "poisson_series.hpp"

namespace oneprobe::inline v0_1::model {
namespace {

void check_mean(double mean) { detail::check_range("mean", mean, 0.0, largest_mean); }

/// Errors of Boost.Math's default policy (overflow, underflow) become plain numbers.
using policy = boost::math::policies::policy<
    boost::math::policies::underflow_error<boost::math::policies::ignore_error>,
    boost::math::policies::denorm_error<boost::math::policies::ignore_error>,
    boost::math::policies::overflow_error<boost::math::policies::ignore_error>>;

}  // namespace

double poisson_probability(double mean, std::uint64_t count) {
  check_mean(mean);
  if (mean == 0) return count == 0 ? 1 : 0;
  return boost::math::gamma_p_derivative(static_cast<double>(count) + 1, mean, policy());
}

double poisson_at_most(double mean, std::uint64_t count) {
  check_mean(mean);
  return mean == 0 ? 1 : boost::math::gamma_q(static_cast<double>(count) + 1, mean, policy());
}

double poisson_at_least(double mean, std::uint64_t count) {
  check_mean(mean);
  if (count == 0) return 1;
  return mean == 0 ? 0 : boost::math::gamma_p(static_cast<double>(count), mean, policy());
}

double poisson_excess(double mean, std::uint64_t limit) {
  check_mean(mean);
  const double h = static_cast<double>(limit);
  // E[(X-h)+] = mean P(X >= h) - h P(X >= h+1) = (mean - h) P(X >= h+1) + mean P(X = h): two
  // positive terms at or above the limit, and the series of the definition below it.
  if (mean >= h)
    return (mean - h) * poisson_at_least(mean, limit + 1) + mean * poisson_probability(mean, limit);
  double sum = 0;
  detail::for_poisson_from(mean, limit + 1, [&](std::uint64_t i, double probability) {
    const double term = static_cast<double>(i - limit) * probability;
    sum += term;
    return !detail::negligible(mean, i, term, sum);
  });
  return sum;
}

double poisson_shortfall(double mean, std::uint64_t limit) {
  check_mean(mean);
  if (limit == 0) return 0;
  const double h = static_cast<double>(limit);
  // (h - mean) P(X <= h-1) + h P(X = h), or the series from h - 1 downwards.
  if (mean <= h)
    return (h - mean) * poisson_at_most(mean, limit - 1) + h * poisson_probability(mean, limit);
  double sum = 0;
  double probability = poisson_probability(mean, limit - 1);
  for (std::uint64_t i = limit - 1;; --i) {
    const double term = static_cast<double>(limit - i) * probability;
    sum += term;
    const double ratio = static_cast<double>(i) / mean;
    if (i == 0 || term <= 1e-17 * (1 - ratio) * (1 - ratio) * sum) return sum;
    probability *= ratio;
  }
}

double poisson_kept(double mean, std::uint64_t limit) {
  check_mean(mean);
  if (limit == 0) return 0;
  return mean * poisson_at_most(mean, limit - 1) +
         static_cast<double>(limit) * poisson_at_least(mean, limit + 1);
}

}  // namespace oneprobe::inline v0_1::model
