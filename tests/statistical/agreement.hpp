// Holds findings of the simulator to the predictions of the models.
//
// A mean over tables must be within so many standard errors of the prediction. Which standard
// error: for the overflow of a filled table the model's own (finite_size.hpp), otherwise the
// sampled one. For the share of buckets at a load it is at least that of independent buckets, since
// the sampled one means little where a handful of buckets have that load; elements are shared out
// among the buckets, so that the true one is seldom larger.
//
// How many standard errors: as many as the test says, where the error is known. A sampled one is
// itself uncertain; the number is then the quantile of Student's distribution that fails as often
// by chance as the number of the test does with the samples it was stated for.
//
// On top of it the limit may be off by one element, or one bucket, per table: it is the limit of
// many buckets, and its shift in a finite table is of that order (README, Limitations).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "generated_tables.hpp"
#include "oneprobe/model/finite_size.hpp"

namespace generated {

/// How often a mean of normal samples is more than `sigmas` of its sampled standard errors off.
/// With t = sqrt(degrees) tan(angle) Student's density is that of cos(angle)^(degrees - 1); the
/// integrals are Simpson's.
inline double student_false_alarms(double sigmas, double degrees) {
  const auto integral = [&](double from) {
    constexpr int intervals = 2000;
    const double width = (std::acos(0.0) - from) / intervals;
    double sum = 0;
    for (int i = 0; i <= intervals; ++i)
      sum += (i == 0 || i == intervals ? 1
              : i % 2 == 1             ? 4
                                       : 2) *
             std::pow(std::max(0.0, std::cos(from + width * i)), degrees - 1);
    return sum * width / 3;
  };
  return integral(std::atan(sigmas / std::sqrt(degrees))) / integral(0);
}

/// The same where the standard error is known.
inline double normal_false_alarms(double sigmas) { return std::erfc(sigmas / std::sqrt(2.0)); }

/// How far off a mean may be.
struct tolerance {
  double sigmas = 4;      // standard errors
  double slack = 0;       // a part of the prediction, on top of them
  unsigned samples = 40;  // that sampled standard errors come from

  /// Standard errors that fail as rarely when they come from so many samples.
  double sigmas_of(unsigned other_samples) const {
    if (other_samples == samples) return sigmas;
    const double rate = student_false_alarms(sigmas, samples - 1.0);
    double low = 0, high = 1e6;
    for (int i = 0; i < 100; ++i) {
      const double middle = (low + high) / 2;
      (student_false_alarms(middle, other_samples - 1.0) > rate ? low : high) = middle;
    }
    return high;
  }
};

/// Where a standard error comes from.
struct standard_error {
  double value = 0;
  unsigned samples = 0;  // 0: it is known
};

class agreement {
 public:
  explicit agreement(tolerance allowed) : allowed_(allowed) {}

  void expect_near(const std::string& what, const sim::estimate& found, double predicted,
                   standard_error error, double shift) {
    ++comparisons_;
    false_alarms_ += error.samples > 0
                         ? student_false_alarms(allowed_.sigmas, allowed_.samples - 1.0)
                         : normal_false_alarms(allowed_.sigmas);
    const double sigmas = error.samples > 0 ? allowed_.sigmas_of(error.samples) : allowed_.sigmas;
    const double difference = std::abs(found.mean - predicted) - shift - allowed_.slack * predicted;
    if (error.value > 0) largest_ = std::max(largest_, difference / error.value);
    EXPECT_LE(difference, sigmas * error.value)
        << what << ": simulated " << found.mean << " +- " << found.standard_error << ", predicted "
        << predicted << ", " << difference / error.value << " standard errors";
  }

  /// Shares of `buckets` buckets, in each of `tables` tables.
  void expect_shares(const std::string& what, const std::vector<sim::estimate>& found,
                     const std::vector<double>& predicted, double buckets, double tables) {
    for (std::size_t load = 0; load < std::max(found.size(), predicted.size()); ++load) {
      const double share = load < predicted.size() ? predicted[load] : 0;
      const sim::estimate seen = load < found.size() ? found[load] : sim::estimate{};
      const double independent = std::sqrt(share * (1 - share) / (buckets * tables));
      expect_near(what + " load " + std::to_string(load), seen, share,
                  {std::max(seen.standard_error, independent)}, 1 / buckets);
    }
  }

  /// Prints what was seen, and how often seeds would fail by chance if they were drawn anew: this
  /// is not known where there is slack.
  void report() const {
    std::printf("%d comparisons, at most %.2f standard errors off", comparisons_, largest_);
    if (allowed_.slack > 0)
      std::printf(" beyond the slack\n");
    else
      std::printf("; false alarms at most %.2g\n", false_alarms_);
  }

 private:
  tolerance allowed_;
  int comparisons_ = 0;
  double largest_ = 0;       // deviation, in standard errors
  double false_alarms_ = 0;  // the sum of their probabilities
};

/// d-left has levels of equal size.
inline double level_buckets(const sim::scenario& what, std::size_t level) {
  return what.level_sizes.empty() ? buckets_of(what) / what.choices
                                  : static_cast<double>(what.level_sizes[level]);
}

/// Fills the table `trials` times and compares everything that is predicted.
inline void compare_filled(sim::scenario what, unsigned trials, agreement& with) {
  what.trials = trials;
  const std::string name = name_of(what);
  const sim::findings found = sim::simulate(what);
  for (const sim::look& look : found.looks) {
    model::fluid_parameters table = fluid_of(what);
    table.time = look.time;
    const model::fluid_state predicted = model::fluid_limit(table);
    const double n = static_cast<double>(what.elements);
    standard_error error{look.overflow_fraction.standard_error, trials};
    if (look.time == 1 && !what.access_budget && what.admit_probability == 0)
      error = {model::overflow_spread_filling(table, n).standard_deviation / n /
               std::sqrt(static_cast<double>(trials))};
    with.expect_near(name + " overflow", look.overflow_fraction, predicted.overflow_fraction, error,
                     1 / n);
    with.expect_near(name + " accesses", look.mean_accesses, predicted.mean_accesses,
                     {look.mean_accesses.standard_error, trials}, 1 / n);
    with.expect_shares(name, look.occupancy, predicted.occupancy, buckets_of(what), trials);
    ASSERT_EQ(look.levels.size(), predicted.levels.size()) << name;
    for (std::size_t level = 0; level < look.levels.size(); ++level)
      with.expect_shares(name + " level " + std::to_string(level), look.levels[level],
                         predicted.levels[level], level_buckets(what, level), trials);
  }
}

/// Churns the table and compares overflow, accesses and loads. Standard errors are those of the
/// batches of all tables: of two tables alone they would say nothing.
inline void compare_churned(sim::scenario what, const sim::churn_settings& how, agreement& with) {
  what.churn = how;
  const std::string name = name_of(what) + " churning";
  const sim::look found = sim::simulate(what).end();
  const model::churn_state predicted = model::churn_limit(churn_of(what));
  const double arrivals = static_cast<double>(what.elements) * how.batch_turnovers;
  with.expect_near(name + " overflow", found.overflow_fraction, predicted.overflow_fraction,
                   {found.overflow_fraction.standard_error}, 1 / arrivals);
  with.expect_near(name + " accesses", found.mean_accesses, predicted.mean_accesses,
                   {found.mean_accesses.standard_error}, 1 / arrivals);
  with.expect_shares(name, found.occupancy, predicted.occupancy, buckets_of(what),
                     static_cast<double>(what.trials) * how.batches);
}

}  // namespace generated
