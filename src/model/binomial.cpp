#include "binomial.hpp"

#include <cmath>
#include <limits>
#include <numbers>

namespace oneprobe::inline v0_1::model::detail {

namespace {

/// x log(x / mean) + mean - x, also where x is close to the mean.
double deviance(double x, double mean) {
  const double difference = x - mean;
  if (std::abs(difference) >= 0.1 * (x + mean)) return x * std::log(x / mean) - difference;
  const double v = difference / (x + mean);
  double sum = difference * v;
  double term = 2 * x * v;
  for (int odd = 3;; odd += 2) {
    term *= v * v;
    const double next = sum + term / odd;
    if (next == sum) return sum;
    sum = next;
  }
}

}  // namespace

double stirling_remainder(double n) {
  if (n <= 15) {
    double log_factorial = 0;
    for (double i = 2; i <= n; ++i) log_factorial += std::log(i);
    return log_factorial - (n + 0.5) * std::log(n) + n - 0.5 * std::log(2 * std::numbers::pi);
  }
  const double s = 1 / (n * n);
  return (1.0 / 12 - (1.0 / 360 - (1.0 / 1260 - (1.0 / 1680 - s / 1188) * s) * s) * s) / n;
}

double binomial_probability(double trials, double probability, double count) {
  if (count > trials) return 0;
  const double failure = 1 - probability;
  if (probability == 0 || count == 0)
    return count == 0 ? std::exp(trials * std::log1p(-probability)) : 0.0;
  if (failure == 0 || count == trials)
    return count == trials ? std::exp(trials * std::log(probability)) : 0.0;
  const double rest = trials - count;
  const double exponent = stirling_remainder(trials) - stirling_remainder(count) -
                          stirling_remainder(rest) - deviance(count, trials * probability) -
                          deviance(rest, trials * failure);
  return std::exp(exponent) * std::sqrt(trials / (2 * std::numbers::pi * count * rest));
}

double binomial_at_least(double trials, double probability, double count) {
  if (count <= 0) return 1;
  if (count > trials || probability == 0) return 0;
  if (probability == 1) return 1;
  const double odds = probability / (1 - probability);
  constexpr double negligible = 0.1 * std::numeric_limits<double>::epsilon();
  if (count > trials * probability) {
    double sum = 1, term = 1;
    for (double i = count; i < trials; ++i) {
      term *= (trials - i) / (i + 1) * odds;
      if (term < negligible * sum) break;
      sum += term;
    }
    return binomial_probability(trials, probability, count) * sum;
  }
  double sum = 1, term = 1;
  for (double i = count - 1; i > 0; --i) {
    term *= i / ((trials - i + 1) * odds);
    if (term < negligible * sum) break;
    sum += term;
  }
  return 1 - binomial_probability(trials, probability, count - 1) * sum;
}

double log_choose(double trials, double count) {
  if (count == 0 || count == trials) return 0;
  const double rest = trials - count;
  return count * std::log(trials / count) - rest * std::log1p(-count / trials) +
         0.5 * std::log(trials / (2 * std::numbers::pi * count * rest)) +
         stirling_remainder(trials) - stirling_remainder(count) - stirling_remainder(rest);
}

double log_all_different(double balls, double bins) {
  constexpr double few = 10000;
  if (balls > bins) return -std::numeric_limits<double>::infinity();
  if (balls <= few) {
    double sum = 0;
    for (double i = 1; i < balls; ++i) sum += std::log1p(-i / bins);
    return sum;
  }
  // Stirling for n! / (n - m)!, with x = m/n:
  // -n (x + (1 - x) log(1 - x)) - log(1 - x) / 2 + what Stirling leaves.
  const double x = balls / bins;
  double leading;
  if (x > 0.1) {
    if (balls == bins)
      return 0.5 * std::log(2 * std::numbers::pi * bins) - bins + stirling_remainder(bins);
    leading = -bins * (x + (1 - x) * std::log1p(-x));
  } else {
    double sum = 0, power = x;
    for (int i = 2; sum + power / (i * (i - 1)) != sum; ++i, power *= x)
      sum += power / (i * (i - 1));
    leading = -balls * sum;
  }
  return leading - 0.5 * std::log1p(-x) + stirling_remainder(bins) -
         stirling_remainder(bins - balls);
}

}  // namespace oneprobe::inline v0_1::model::detail
