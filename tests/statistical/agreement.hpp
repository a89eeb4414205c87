// Holds findings of the simulator to the predictions of the models.
//
// A mean over tables must be within so many standard errors of the prediction. Which standard
// error: for the overflow of a filled table the model's own (finite_size.hpp), otherwise the
// sampled one. For the share of buckets at a load it is at least that of independent buckets, since
// the sampled one means little where a handful of buckets have that load; elements are shared out
// among the buckets, so that the true one is seldom larger.
//
// On top of it the limit may be off by one element, or one bucket, per table: it is the limit of
// many buckets, and its shift in a finite table is of that order (README, Limitations).
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "generated_tables.hpp"
#include "oneprobe/model/finite_size.hpp"

namespace generated {

/// How far off a mean may be.
struct tolerance {
  double sigmas = 4;  // standard errors
  double slack = 0;   // a part of the prediction, on top of them
};

class agreement {
 public:
  explicit agreement(tolerance allowed) : allowed_(allowed) {}

  void expect_near(const std::string& what, const sim::estimate& found, double predicted,
                   double error, double shift) {
    ++comparisons_;
    const double difference = std::abs(found.mean - predicted) - shift - allowed_.slack * predicted;
    if (error > 0) largest_ = std::max(largest_, difference / error);
    EXPECT_LE(difference, allowed_.sigmas * error)
        << what << ": simulated " << found.mean << " +- " << found.standard_error << ", predicted "
        << predicted << ", " << difference / error << " standard errors";
  }

  /// Shares of `buckets` buckets, in each of `tables` tables.
  void expect_shares(const std::string& what, const std::vector<sim::estimate>& found,
                     const std::vector<double>& predicted, double buckets, double tables) {
    for (std::size_t load = 0; load < std::max(found.size(), predicted.size()); ++load) {
      const double share = load < predicted.size() ? predicted[load] : 0;
      const sim::estimate seen = load < found.size() ? found[load] : sim::estimate{};
      const double independent = std::sqrt(share * (1 - share) / (buckets * tables));
      expect_near(what + " load " + std::to_string(load), seen, share,
                  std::max(seen.standard_error, independent), 1 / buckets);
    }
  }

  int comparisons() const { return comparisons_; }
  /// The largest deviation that was seen, in standard errors.
  double largest() const { return largest_; }

 private:
  tolerance allowed_;
  int comparisons_ = 0;
  double largest_ = 0;
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
    double error = look.overflow_fraction.standard_error;
    if (look.time == 1 && !what.access_budget && what.admit_probability == 0)
      error = model::overflow_spread_filling(table, n).standard_deviation / n /
              std::sqrt(static_cast<double>(trials));
    with.expect_near(name + " overflow", look.overflow_fraction, predicted.overflow_fraction, error,
                     1 / n);
    with.expect_near(name + " accesses", look.mean_accesses, predicted.mean_accesses,
                     look.mean_accesses.standard_error, 1 / n);
    with.expect_shares(name, look.occupancy, predicted.occupancy, buckets_of(what), trials);
    ASSERT_EQ(look.levels.size(), predicted.levels.size()) << name;
    for (std::size_t level = 0; level < look.levels.size(); ++level)
      with.expect_shares(name + " level " + std::to_string(level), look.levels[level],
                         predicted.levels[level], level_buckets(what, level), trials);
  }
}

/// Churns the table and compares overflow, accesses and loads.
inline void compare_churned(sim::scenario what, const sim::churn_settings& how, agreement& with) {
  what.churn = how;
  const std::string name = name_of(what) + " churning";
  const sim::look found = sim::simulate(what).end();
  const model::churn_state predicted = model::churn_limit(churn_of(what));
  const double arrivals = static_cast<double>(what.elements) * how.batch_turnovers;
  with.expect_near(name + " overflow", found.overflow_fraction, predicted.overflow_fraction,
                   found.overflow_fraction.standard_error, 1 / arrivals);
  with.expect_near(name + " accesses", found.mean_accesses, predicted.mean_accesses,
                   found.mean_accesses.standard_error, 1 / arrivals);
  with.expect_shares(name, found.occupancy, predicted.occupancy, buckets_of(what),
                     static_cast<double>(what.trials) * how.batches);
}

}  // namespace generated
