// Small tools that experiments share: arithmetic of estimates, grids for curves, and a plan that
// runs several scenarios with seeds of their own under one progress bar.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "oneprobe/detail/hash/derive.hpp"
#include "reproduce/experiment.hpp"

namespace oneprobe::cli {

/// One of three numbers, by how much simulation is wanted.
template <class T>
T by_effort(effort how_much, T quick, T normal, T full) {
  return how_much == effort::quick ? quick : how_much == effort::normal ? normal : full;
}

/// shift + factor x: exact for the mean and its error, since both are linear.
inline sim::estimate scaled(const sim::estimate& x, double factor, double shift = 0) {
  const double one = shift + factor * x.least, other = shift + factor * x.most;
  return {.mean = shift + factor * x.mean,
          .standard_error = std::abs(factor) * x.standard_error,
          .least = std::min(one, other),
          .most = std::max(one, other)};
}

/// The sum of two estimates from independent runs.
inline sim::estimate sum_of_independent(const sim::estimate& x, const sim::estimate& y) {
  return {.mean = x.mean + y.mean,
          .standard_error = std::hypot(x.standard_error, y.standard_error),
          .least = x.least + y.least,
          .most = x.most + y.most};
}

/// The entry for a load; loads that no trial saw are not listed.
inline sim::estimate entry(const std::vector<sim::estimate>& by_load, std::size_t load) {
  return load < by_load.size() ? by_load[load] : sim::estimate{};
}

/// `count` + 1 equally spaced numbers, both ends included.
inline std::vector<double> grid(double from, double to, unsigned count) {
  std::vector<double> result;
  result.reserve(count + 1u);
  for (unsigned i = 0; i <= count; ++i) result.push_back(from + (to - from) * i / count);
  return result;
}

/// A curve y = f(x) over a grid.
template <class Function>
std::vector<point> curve(const std::vector<double>& places, Function f) {
  std::vector<point> result;
  result.reserve(places.size());
  for (const double x : places) result.push_back({.x = x, .y = f(x)});
  return result;
}

inline point mark(double x, const sim::estimate& y) {
  return {.x = x, .y = y.mean, .error = y.standard_error};
}

/// "57.68" printed as a percentage.
inline printed_number printed_percent(const std::string& digits) {
  printed_number result = as_printed(digits, 0.01);
  result.text += " %";
  return result;
}

/// What is counted, with the error that the trials themselves show, is held to its model where at
/// least this many are expected in all trials together: they are then known to five percent, and
/// their number is nearly normal.
inline constexpr double enough_to_count = 400;

/// The same with the error of rare() (trials.hpp), which comes from the model and knows the
/// skewness of a Poisson count: fewer will do. From here on expected > 4 (sqrt(expected) + 5/8), so
/// that none seen at all disagrees; with fewer expected, a count could not be too small.
inline constexpr double enough_if_rare = 21;

/// A seed for each simulation of an experiment. Hashed, since with seeds in a row the runs of
/// neighbouring --seed would share most of their keys.
inline std::uint64_t seed_of(const conditions& in, std::uint64_t stream) {
  return hash_stream({in.seed}, stream);
}

/// The largest load of a table, seen over many tables.
struct largest_load_law {
  double mean = 0;
  double deviation = 0;
};

/// From the probabilities that the largest load is at least 1, 2, ...
inline largest_load_law law_of_largest(std::span<const double> at_least) {
  double mean = 0, square = 0;
  for (std::size_t i = 0; i < at_least.size(); ++i) {
    mean += at_least[i];
    square += (2 * static_cast<double>(i) + 1) * at_least[i];  // k^2 - (k - 1)^2, k = i + 1
  }
  return {mean, std::sqrt(std::max(0.0, square - mean * mean))};
}

/// The same from the fractions of the buckets with at least 1, 2, ... elements, the buckets taken
/// as independent: some bucket has that many with probability 1 - (1 - fraction)^buckets.
inline largest_load_law law_of_largest(double buckets, std::span<const double> fractions) {
  std::vector<double> at_least;
  for (const double fraction : fractions)
    at_least.push_back(-std::expm1(buckets * std::log1p(-std::min(fraction, 1.0))));
  return law_of_largest(at_least);
}

/// A mean of whole numbers that rarely differ may come from trials that are all alike and show no
/// error. It has at least the error that the law behind it says.
inline sim::estimate with_error_of(const largest_load_law& law, sim::estimate found,
                                   unsigned trials) {
  found.standard_error = std::max(found.standard_error, law.deviation / std::sqrt(trials));
  return found;
}

/// Scenarios that are run one after the other. Each has a seed of its own, so that their findings
/// are independent, and an equal part of the experiment's progress.
class simulation_plan {
 public:
  simulation_plan(const conditions& in, std::size_t scenarios)
      : in_(in), scenarios_(std::max<std::size_t>(scenarios, 1)) {}

  sim::findings run(sim::scenario what) {
    what.seed = seed_of(in_, done_);
    what.threads = in_.threads;
    const double part = 1.0 / static_cast<double>(scenarios_);
    const double begin = std::min(1.0, static_cast<double>(done_) * part);
    ++done_;
    if (!in_.tell) return sim::simulate(what);
    return sim::simulate(what,
                         [&](double share) { in_.tell(std::min(1.0, begin + part * share)); });
  }

 private:
  const conditions& in_;
  std::size_t scenarios_;
  std::uint64_t done_ = 0;
};

}  // namespace oneprobe::cli
