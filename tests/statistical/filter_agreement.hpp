// Holds real filters to the predictions of the models.
//
// Several filters of one plan are filled, each with a seed of its own, and asked for keys they do
// not have. Two things are compared:
//
//   the false positives of all of them with the model's rate. Their variance has two parts: that of
//   the questions, known from the prediction, and that from filter to filter, sampled from the
//   errors that the filters state of themselves. Standard errors are counted by Student's
//   distribution with the degrees of freedom that Welch and Satterthwaite give such a sum.
//
//   the false positives with what the filters state of themselves (current_fpr): only the questions
//   vary.
//
// With few false positives the normal distribution would not do: below `enough` of them the tails
// are those of the Poisson distribution, with a mean moved by the deviation from filter to filter.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "agreement.hpp"
#include "oneprobe/model/poisson.hpp"
#include "support/with_filter.hpp"

namespace filters {

using namespace oneprobe;

/// Family-wise rate of false alarms if seeds were drawn anew, over at most so many comparisons in
/// all tests that include this file and run together.
inline constexpr double family_rate = 1e-3;
inline constexpr int most_comparisons = 500;
inline constexpr double rate = family_rate / most_comparisons;

/// As many false positives make a normal distribution.
inline constexpr double enough = 400;

/// So many standard errors are exceeded at `rate`, when their square has so many degrees of
/// freedom.
inline double sigmas_for(double degrees) {
  double low = 0, high = 1e4;
  for (int i = 0; i < 80; ++i) {
    const double middle = (low + high) / 2;
    const double alarms = degrees > 1e4 ? generated::normal_false_alarms(middle)
                                        : generated::student_false_alarms(middle, degrees);
    (alarms > rate ? low : high) = middle;
  }
  return high;
}

/// What was seen of all filters of one plan.
struct observed {
  unsigned filters = 0;
  double queries = 0;  // of all filters
  double false_positives = 0;
  std::vector<double> stated_fpr{};  // current_fpr of each
  double overflow_fraction = 0;      // mean

  double stated_mean() const {
    double sum = 0;
    for (const double fpr : stated_fpr) sum += fpr;
    return sum / filters;
  }
  /// Of the mean of all filters.
  double stated_variance() const {
    double sum = 0;
    for (const double fpr : stated_fpr) sum += (fpr - stated_mean()) * (fpr - stated_mean());
    return sum / (filters - 1) / filters;
  }
  double measured_fpr() const { return false_positives / queries; }
};

/// Fills `filters` filters of the plan and asks each for `queries` keys that it does not have.
inline observed observe(const filter_plan& plan, unsigned filters, std::uint64_t queries,
                        std::uint64_t first_seed, key_pattern pattern = key_pattern::random) {
  observed seen;
  seen.filters = filters;
  for (unsigned i = 0; i < filters; ++i)
    with_filter(plan, first_seed + i, [&](auto filter) {
      insert_keys(filter, pattern, 0, plan.elements);
      seen.false_positives +=
          static_cast<double>(count_yes(filter, pattern, plan.elements, queries));
      seen.queries += static_cast<double>(queries);
      seen.stated_fpr.push_back(filter.stats().current_fpr);
      seen.overflow_fraction += static_cast<double>(filter.counts().overflow) /
                                static_cast<double>(plan.elements) / filters;
    });
  return seen;
}

/// Fails unless `found` events agree with `expected`, whose part that is not Poisson's has the
/// given variance with so many degrees of freedom.
inline void expect_events(const std::string& what, double found, double expected,
                          double other_variance, double other_degrees) {
  const double variance = expected + other_variance;
  const double degrees = other_variance == 0 ? 1e9
                                             : other_degrees * (variance / other_variance) *
                                                   (variance / other_variance);
  if (expected >= enough) {
    const double sigmas = sigmas_for(degrees);
    const double off = (found - expected) / std::sqrt(variance);
    std::printf("%-60s found %10.0f expected %12.1f  %+5.2f sigma of %.2f\n", what.c_str(), found,
                expected, off, sigmas);
    EXPECT_LE(std::abs(off), sigmas) << what << ": " << found << " false positives, expected "
                                     << expected << " +- " << std::sqrt(variance);
    return;
  }
  const double moved = sigmas_for(other_degrees) * std::sqrt(other_variance);
  const auto count = static_cast<std::uint64_t>(found);
  const double above = model::poisson_at_least(expected + moved, count);
  const double below = model::poisson_at_most(std::max(0.0, expected - moved), count);
  std::printf("%-60s found %10.0f expected %12.1f  tails %.2g %.2g\n", what.c_str(), found,
              expected, above, below);
  EXPECT_GE(std::min(above, below), rate / 2)
      << what << ": " << found << " false positives, expected " << expected;
}

/// False positives of the filters against the model's rate, and against what they state.
inline void expect_agreement(const std::string& what, const observed& seen, double model_fpr) {
  expect_events(what + ": model", seen.false_positives, model_fpr * seen.queries,
                seen.stated_variance() * seen.queries * seen.queries, seen.filters - 1);
  expect_events(what + ": stated", seen.false_positives, seen.stated_mean() * seen.queries, 0, 1);
}

/// What the filters state of themselves against the model, where questions do not blur it: within
/// Student's standard errors, and a part of the prediction on top that the model may be off.
inline void expect_stated(const std::string& what, const observed& seen, double model_fpr,
                          double slack) {
  const double sigmas = sigmas_for(seen.filters - 1);
  const double error = std::sqrt(seen.stated_variance());
  std::printf("%-60s stated %.4g model %.4g  %+.2f %% +- %.2f %%\n", what.c_str(),
              seen.stated_mean(), model_fpr, 100 * (seen.stated_mean() / model_fpr - 1),
              100 * error / model_fpr);
  EXPECT_LE(std::abs(seen.stated_mean() - model_fpr), sigmas * error + slack * model_fpr) << what;
}

}  // namespace filters
