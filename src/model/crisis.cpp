#include "oneprobe/model/crisis.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "check.hpp"
#include "level_walk.hpp"
#include "occupancy.hpp"
#include "oneprobe/model/poisson.hpp"

namespace oneprobe::inline v0_1::model {
namespace detail {
namespace {

/// e^-y - 1 + y.
double exponential_remainder(double y) {
  if (std::abs(y) > 0.5) return std::expm1(-y) + y;
  double term = 0.5 * y * y;
  double sum = 0;
  for (int i = 3; sum + term != sum; ++i) {
    sum += term;
    term *= -y / i;
  }
  return sum;
}

/// -log(1 - x) - x for 0 <= x < 1.
double logarithm_remainder(double x) {
  if (x > 0.1) return -std::log1p(-x) - x;
  double power = x * x;
  double sum = 0;
  for (int i = 2; sum + power / i != sum; ++i) {
    sum += power / i;
    power *= x;
  }
  return sum;
}

/// Variance of the number of occupied bins,
/// m (m - 1) (1 - 2/m)^j + m (1 - 1/m)^j - m^2 (1 - 1/m)^2j, arranged so that m^2 does not cancel.
double occupied_variance(double balls, double bins) {
  if (bins <= 1) return 0;
  const double empty = std::exp(balls * std::log1p(-1 / bins));
  const double pair = -std::expm1(balls * std::log1p(-1 / ((bins - 1) * (bins - 1))));
  return std::max(0.0, bins * empty * (1 - empty - (bins - 1) * empty * pair));
}

struct moments {
  double mean = 0;
  double variance = 0;
};

struct level_moments {
  double placed = 0;  // mean
  moments left;
};

moments moments_of(const count_distribution& counts) {
  const double deviation = counts.standard_deviation();
  return {counts.mean(), deviation * deviation};
}

/// What a level keeps and leaves over of a large number of elements with the given moments:
/// conditional means and variances averaged over the entering number with the three nodes of Gauss
/// and Hermite, exact for polynomials of degree five.
level_moments pass_level(const moments& entering, double bins) {
  const double reach = std::sqrt(3 * entering.variance);
  constexpr std::array weights{1.0 / 6, 2.0 / 3, 1.0 / 6};
  std::array<double, 3> means{};
  level_moments result;
  moments& left = result.left;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double elements = entering.mean + (static_cast<double>(i) - 1) * reach;
    means[i] = expected_left(elements, bins);
    left.mean += weights[i] * means[i];
    left.variance += weights[i] * occupied_variance(elements, bins);
    result.placed -= weights[i] * bins * std::expm1(elements * std::log1p(-1 / bins));
  }
  for (std::size_t i = 0; i < weights.size(); ++i)
    left.variance += weights[i] * (means[i] - left.mean) * (means[i] - left.mean);
  return result;
}

void drop_negligible(count_distribution& counts) {
  auto& p = counts.probability;
  const auto kept = [](double x) { return x >= least_probability; };
  const auto begin = std::find_if(p.begin(), p.end(), kept);
  const auto end = std::find_if(p.rbegin(), p.rend(), kept).base();
  if (begin >= end) return;
  p.erase(end, p.end());
  counts.first += static_cast<std::uint64_t>(begin - p.begin()) * counts.step;
  p.erase(p.begin(), begin);
}

/// Normal where the deviation is large, else a constant plus a Poisson number: collisions are rare
/// events when bins are many, and so are empty bins when balls are many.
count_distribution approximate_counts(const moments& left) {
  constexpr double largest_poisson_variance = 1000;
  constexpr double most_entries = 65536;
  count_distribution counts;
  const double deviation = std::sqrt(left.variance);
  // Where a normal density falls below least_probability, with a little to spare.
  const double reach = std::sqrt(-2 * std::log(least_probability)) * deviation + 1;
  if (left.variance < largest_poisson_variance) {
    const double constant = std::floor(std::max(0.0, left.mean - left.variance));
    const double mean = left.mean - constant;
    counts.first = static_cast<std::uint64_t>(constant);
    // The Poisson tail is longer than the normal one by about reach^2 / (6 mean).
    const auto entries = static_cast<std::uint64_t>(mean + 4 * reach + 300);
    for (std::uint64_t i = 0; i < entries; ++i)
      counts.probability.push_back(poisson_probability(mean, i));
  } else {
    const double step = std::ceil(2 * reach / most_entries);
    const double first = std::floor(std::max(0.0, left.mean - reach));
    counts.first = static_cast<std::uint64_t>(first);
    counts.step = static_cast<std::uint64_t>(step);
    for (double count = first; count <= left.mean + reach; count += step) {
      const double z = (count - left.mean) / deviation;
      counts.probability.push_back(std::exp(-0.5 * z * z) * step / deviation *
                                   std::numbers::inv_sqrtpi / std::numbers::sqrt2);
    }
  }
  drop_negligible(counts);
  return counts;
}

}  // namespace

double expected_left(double elements, double bins) {
  if (elements == 0) return 0;
  // (1 - 1/m)^a is 0 for one bin and any a > 0; below one element it is no longer meaningful.
  if (bins <= 1) return std::max(0.0, elements - 1);
  const double y = -elements * std::log1p(-1 / bins);
  return bins * exponential_remainder(y) - elements * bins * logarithm_remainder(1 / bins);
}

crisis_result walk_levels(std::uint64_t elements, std::span<const std::uint64_t> levels,
                          const level_visitor& visit) {
  check_elements("elements", static_cast<double>(elements));
  check_level_sizes(levels);
  const double buckets = std::accumulate(
      levels.begin(), levels.end(), 0.0,
      [](double sum, std::uint64_t size) { return sum + static_cast<double>(size); });
  check_range("elements (at most as many as buckets)", static_cast<double>(elements), 1.0, buckets);

  crisis_result result;
  result.approximate_per_level = approximate_per_level(static_cast<double>(elements), levels);
  result.left_after.push_back({.first = elements, .step = 1, .probability = {1.0}});
  moments entering_moments{static_cast<double>(elements), 0};

  for (std::size_t level = 0; level < levels.size(); ++level) {
    const count_distribution& entering = result.left_after.back();
    const std::uint64_t most = entering.first + entering.step * (entering.probability.size() - 1);
    count_distribution left;
    if (most <= exact_limit && entering.step == 1) {
      double placed = 0;
      left.probability.assign(most + 1, 0.0);
      occupancy bins(levels[level], most);
      for (std::uint64_t j = 0; j <= most; ++j) {
        if (j > 0) bins.throw_ball();
        if (j < entering.first) continue;
        const double weight = entering.probability[j - entering.first];
        const auto probability = bins.probability();
        const double highest = static_cast<double>(bins.highest());
        double* const into = left.probability.data() + bins.lowest_left();
        double occupied = 0;
        for (std::size_t i = 0; i < probability.size(); ++i) {
          into[i] += weight * probability[i];
          occupied += probability[i] * (highest - static_cast<double>(i));
        }
        placed += weight * occupied;
        visit({level, static_cast<double>(j), weight, static_cast<double>(bins.lowest_left()), 1.0,
               probability});
      }
      drop_negligible(left);
      result.expected_per_level.push_back(placed);
      entering_moments = moments_of(left);
    } else {
      const level_moments passed = pass_level(entering_moments, static_cast<double>(levels[level]));
      left = approximate_counts(passed.left);
      visit({level, entering_moments.mean, 1.0, static_cast<double>(left.first),
             static_cast<double>(left.step), left.probability});
      result.expected_per_level.push_back(passed.placed);
      entering_moments = passed.left;
      result.exact = false;
    }
    result.left_after.push_back(std::move(left));
  }
  result.crisis_probability = result.left_after.back().at_least_one();
  return result;
}

}  // namespace detail

double count_distribution::mean() const {
  double sum = 0;
  for (std::size_t i = 0; i < probability.size(); ++i)
    sum += probability[i] * static_cast<double>(first + i * step);
  return sum;
}

double count_distribution::standard_deviation() const {
  const double centre = mean();
  double sum = 0;
  for (std::size_t i = 0; i < probability.size(); ++i) {
    const double difference = static_cast<double>(first + i * step) - centre;
    sum += probability[i] * difference * difference;
  }
  return std::sqrt(sum);
}

double count_distribution::at(std::uint64_t count) const {
  const std::uint64_t from = count + step / 2;  // the nearest stored count is at most this far up
  if (from < first) return 0;
  const std::uint64_t index = (from - first) / step;
  return index < probability.size() ? probability[index] / static_cast<double>(step) : 0.0;
}

double count_distribution::at_least_one() const {
  double sum = 0;
  for (std::size_t i = first == 0 ? 1 : 0; i < probability.size(); ++i) sum += probability[i];
  return std::min(sum, 1.0);
}

count_distribution occupied_bins(std::uint64_t balls, std::uint64_t bins) {
  detail::check_range("balls", static_cast<double>(balls), 0.0, static_cast<double>(exact_limit));
  detail::check_elements("bins", static_cast<double>(bins));
  detail::occupancy thrown(bins, balls);
  for (std::uint64_t j = 0; j < balls; ++j) thrown.throw_ball();
  const auto from_highest = thrown.probability();
  return {.first = thrown.highest() + 1 - from_highest.size(),
          .step = 1,
          .probability = {from_highest.rbegin(), from_highest.rend()}};
}

crisis_result crisis(std::uint64_t elements, std::span<const std::uint64_t> levels) {
  return detail::walk_levels(elements, levels, [](const detail::level_outcome&) {});
}

std::vector<double> approximate_per_level(double elements, std::span<const std::uint64_t> levels,
                                          approximation form) {
  detail::check_elements("elements", elements);
  detail::check_level_sizes(levels);
  std::vector<double> placed;
  double entering = elements;
  for (const std::uint64_t size : levels) {
    const double bins = static_cast<double>(size);
    const double left = form == approximation::power
                            ? detail::expected_left(entering, bins)
                            : bins * detail::exponential_remainder(entering / bins);
    placed.push_back(entering - left);
    entering = left;
  }
  return placed;
}

std::vector<double> skew_bound(double elements, std::span<const std::uint64_t> levels) {
  detail::check_elements("elements", elements);
  detail::check_level_sizes(levels);
  std::vector<double> left{elements};
  for (const std::uint64_t size : levels)
    left.push_back(left.back() * left.back() / (2 * static_cast<double>(size)));
  return left;
}

namespace {

void check_geometry(double c1, double c2) {
  detail::check_above("c1", c1, 1.0, 1e6);
  if (!(c2 > 0 && c2 < 1)) detail::refuse("c2", "between 0 and 1", c2);
  if (!(c1 * c2 > 1)) detail::refuse("c1 c2", "above 1", c1 * c2);
}

}  // namespace

double skew_sequence(double elements, double c1, double c2, unsigned level) {
  detail::check_elements("elements", elements);
  check_geometry(c1, c2);
  detail::check_range("level", level, 0.0, 64.0);
  return std::pow(1 / (c1 * c2), std::exp2(level) - 1) * std::pow(c2, level) * elements;
}

double skew_tail_bound(double limit) {
  detail::check_range("limit", limit, 0.0, detail::most_elements);
  return std::exp(0.5 * limit * (1 - std::log(4.0)));
}

double skew_sequence_bound(double elements, double c1, double c2, unsigned level) {
  return std::min(1.0, level * skew_tail_bound(skew_sequence(elements, c1, c2, level)));
}

unsigned asymptotic_levels(double elements, double c1, double c2, double exponent) {
  detail::check_above("exponent", exponent, 0.0, 100.0);
  return detail::last_concentrated_level(elements, c1, c2, exponent) + 1 +
         static_cast<unsigned>(std::ceil(exponent + 1));
}

namespace detail {

unsigned last_concentrated_level(double elements, double c1, double c2, double exponent) {
  const double least = 2 * (exponent + 1) * std::log(elements) / (std::log(4.0) - 1);
  unsigned level = 0;
  while (level < 64 && skew_sequence(elements, c1, c2, level + 1) >= least) ++level;
  return level;
}

}  // namespace detail

}  // namespace oneprobe::inline v0_1::model
