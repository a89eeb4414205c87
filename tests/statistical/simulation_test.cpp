// The simulator against the models, on generated tables: filled, filled with a coin or a budget,
// and churning. docs/simulator.md says how to read a deviation.
//
// False alarms, over the choice of the seeds (they are fixed): a comparison at 4 standard errors
// fails by chance with probability 6.3e-5 where the error is the model's or that of independent
// buckets, and with 2.7e-4 (Student, 39 degrees of freedom) where it is sampled from 40 tables: the
// accesses, and the overflow with a coin or a budget. The filled tables make some 1750 comparisons
// of the first kind and 110 of the second: at most 0.15 for them together. The long tests have more
// samples, and a tolerance for a rate of 1e-2.

#include <gtest/gtest.h>

#include <cstdio>

#include "agreement.hpp"

namespace {

using namespace generated;

constexpr unsigned trials = sanitized ? 4 : 40;
constexpr int sets = sanitized ? 1 : 9;          // of each scheme
constexpr int further_sets = sanitized ? 1 : 4;  // of each scheme, with a coin or a budget
constexpr int churned_sets = sanitized ? 1 : 4;  // of each scheme
constexpr int adversaries = sanitized ? 1 : 2;   // of each scheme

constexpr scheme_kind first_fit[] = {scheme_kind::single, scheme_kind::sequential,
                                     scheme_kind::multilevel};
constexpr scheme_kind all_schemes[] = {scheme_kind::single, scheme_kind::sequential,
                                       scheme_kind::multilevel, scheme_kind::d_random,
                                       scheme_kind::d_left};

constexpr tolerance allowed{.sigmas = 4};

void report(const agreement& with) {
  std::printf("%d comparisons, at most %.2f standard errors off\n", with.comparisons(),
              with.largest());
}

void compare_scheme(scheme_kind scheme) {
  tables drawn(1000 + static_cast<std::uint64_t>(scheme));
  agreement with(allowed);
  for (int i = 0; i < sets; ++i) compare_filled(drawn.next(scheme), trials, with);
  report(with);
}

TEST(simulation, single_fills_as_predicted) { compare_scheme(scheme_kind::single); }
TEST(simulation, sequential_fills_as_predicted) { compare_scheme(scheme_kind::sequential); }
TEST(simulation, multilevel_fills_as_predicted) { compare_scheme(scheme_kind::multilevel); }
TEST(simulation, d_random_fills_as_predicted) { compare_scheme(scheme_kind::d_random); }
TEST(simulation, d_left_fills_as_predicted) { compare_scheme(scheme_kind::d_left); }

TEST(simulation, a_coin_at_the_threshold_admits_as_predicted) {
  tables drawn(2000);
  agreement with(allowed);
  for (const scheme_kind scheme : first_fit) {
    for (int i = 0; i < further_sets; ++i) {
      sim::scenario what = drawn.next(scheme);
      what.admit_probability = drawn.between(0, 1);
      compare_filled(what, trials, with);
    }
  }
  report(with);
}

TEST(simulation, a_budget_ends_as_predicted) {
  tables drawn(3000);
  agreement with(allowed);
  for (const scheme_kind scheme : all_schemes) {
    for (int i = 0; i < further_sets; ++i) {
      sim::scenario what = drawn.next(scheme);
      what.access_budget = drawn.between(0.3, 1.2) * what.choices;
      what.looks = {drawn.between(0.2, 0.9), 1};
      compare_filled(what, trials, with);
    }
  }
  report(with);
}

// Batches of one table follow each other and are not quite independent, and the prediction holds
// for ever-lasting churn: a tenth of the prediction is allowed on top.
constexpr tolerance allowed_churning{.sigmas = 4, .slack = 0.1};
constexpr sim::churn_settings churn_settings{
    .warm_up_turnovers = 5, .batch_turnovers = 1, .batches = 5};
constexpr unsigned churned_tables = 2;

void compare_churning(scheme_kind scheme, sim::departure leaves, std::uint64_t seed) {
  tables drawn(seed + static_cast<std::uint64_t>(scheme));
  agreement with(allowed_churning);
  for (int i = 0; i < churned_sets; ++i) {
    sim::scenario what = drawn.next(scheme);
    what.trials = churned_tables;
    sim::churn_settings how = churn_settings;
    how.leaves = leaves;
    compare_churned(what, how, with);
  }
  report(with);
}

TEST(simulation, first_fit_churns_as_predicted) {
  for (const scheme_kind scheme : first_fit) compare_churning(scheme, sim::departure::random, 4000);
}

TEST(simulation, the_least_loaded_churn_as_predicted) {
  for (const scheme_kind scheme : {scheme_kind::d_random, scheme_kind::d_left})
    compare_churning(scheme, sim::departure::random, 4000);
}

// Erlang's loss does not depend on how long each element stays, only on the mean.
TEST(simulation, first_fit_churns_as_predicted_when_the_oldest_leave) {
  for (const scheme_kind scheme : first_fit) compare_churning(scheme, sim::departure::oldest, 5000);
}

// What an adversary who empties one level does is not predicted, only shown; but nobody gets lost.
TEST(simulation, an_adversary_who_empties_a_level_loses_nobody) {
  tables drawn(6000);
  for (const scheme_kind scheme : all_schemes) {
    for (int i = 0; i < adversaries; ++i) {
      sim::scenario what = drawn.next(scheme);
      what.churn = sim::churn_settings{.leaves = sim::departure::one_level,
                                       .warm_up_turnovers = 2,
                                       .batch_turnovers = 0.5,
                                       .batches = 2};
      what.churn->level =
          std::min(what.choices - 1, static_cast<unsigned>(drawn.between(0, what.choices)));
      const sim::look found = sim::simulate(what).end();
      const double n = static_cast<double>(what.elements), m = buckets_of(what);
      SCOPED_TRACE(name_of(what) + " level " + std::to_string(what.churn->level));
      double shares = 0, loads = 0;
      for (std::size_t load = 0; load < found.occupancy.size(); ++load) {
        shares += found.occupancy[load].mean;
        loads += static_cast<double>(load) * found.occupancy[load].mean;
      }
      EXPECT_NEAR(shares, 1, 1e-9);
      EXPECT_NEAR(loads, found.load_mean.mean, 1e-9);
      EXPECT_LE(found.load_mean.most * m, n + 1e-3);
      EXPECT_LE(found.largest_load.most, *what.bucket_capacity);
      EXPECT_GE(found.overflow_fraction.least, 0);
      EXPECT_LE(found.overflow_fraction.most, 1);
      std::printf("%s, level %u emptied: overflow %.3g of the arrivals, %.3g of the elements\n",
                  std::string(oneprobe::name_of(scheme)).c_str(), what.churn->level,
                  found.overflow_fraction.mean, 1 - found.load_mean.mean * m / n);
    }
  }
}

}  // namespace
