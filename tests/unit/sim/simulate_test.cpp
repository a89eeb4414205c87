// The simulator: repeatable, exact where it must be, and careful with what it is given.
// Whether it agrees with the models is the business of tests/statistical.

#include "oneprobe/sim/simulate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>

namespace {

using namespace oneprobe;
using namespace oneprobe::sim;

constexpr scheme_kind all_schemes[] = {scheme_kind::single, scheme_kind::sequential,
                                       scheme_kind::multilevel, scheme_kind::d_random,
                                       scheme_kind::d_left};
constexpr departure all_departures[] = {departure::random, departure::oldest, departure::one_level};

/// A small table that overflows a little with any scheme.
scenario table(scheme_kind scheme) {
  scenario what{.scheme = scheme,
                .choices = 3,
                .bucket_capacity = 4,
                .elements = 11'700,
                .trials = 5,
                .threads = 2};
  if (scheme == scheme_kind::multilevel)
    what.level_sizes = {1800, 800, 400};
  else
    what.buckets = 3000;
  return what;
}

scenario churning(scheme_kind scheme, departure leaves) {
  scenario what = table(scheme);
  what.churn = churn_settings{
      .leaves = leaves, .level = 0, .warm_up_turnovers = 1, .batch_turnovers = 0.5, .batches = 3};
  what.trials = 3;
  return what;
}

std::string show(const scenario& what) {
  return std::string(name_of(what.scheme)) + (what.churn ? " churning" : " filling");
}

void expect_same(const estimate& a, const estimate& b) {
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.standard_error, b.standard_error);
  EXPECT_EQ(a.least, b.least);
  EXPECT_EQ(a.most, b.most);
}

void expect_same(const std::vector<estimate>& a, const std::vector<estimate>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) expect_same(a[i], b[i]);
}

void expect_same(const look& a, const look& b) {
  EXPECT_EQ(a.time, b.time);
  expect_same(a.overflow_fraction, b.overflow_fraction);
  expect_same(a.cumulative_overflow_fraction, b.cumulative_overflow_fraction);
  expect_same(a.mean_accesses, b.mean_accesses);
  expect_same(a.largest_load, b.largest_load);
  expect_same(a.load_mean, b.load_mean);
  expect_same(a.load_variance, b.load_variance);
  expect_same(a.occupancy, b.occupancy);
  ASSERT_EQ(a.levels.size(), b.levels.size());
  for (std::size_t i = 0; i < a.levels.size(); ++i) expect_same(a.levels[i], b.levels[i]);
}

/// Everything but the time it took.
void expect_same(const findings& a, const findings& b) {
  ASSERT_EQ(a.looks.size(), b.looks.size());
  for (std::size_t i = 0; i < a.looks.size(); ++i) expect_same(a.looks[i], b.looks[i]);
  expect_same(a.accesses, b.accesses);
  expect_same(a.budget_end, b.budget_end);
  EXPECT_EQ(a.placements, b.placements);
}

double sum_of_means(const std::vector<estimate>& list) {
  return std::accumulate(list.begin(), list.end(), 0.0,
                         [](double sum, const estimate& each) { return sum + each.mean; });
}

double mean_of_index(const std::vector<estimate>& shares) {
  double mean = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) mean += static_cast<double>(i) * shares[i].mean;
  return mean;
}

/// The call refuses its scenario with a sentence that names the parameter.
void expect_refused(const scenario& what, const std::string& parameter) {
  try {
    simulate(what);
    ADD_FAILURE() << parameter << " was accepted";
  } catch (const std::invalid_argument& refused) {
    EXPECT_NE(std::string(refused.what()).find(parameter), std::string::npos) << refused.what();
  }
}

// --- repeatable ---------------------------------------------------------------------------------

TEST(simulate, findings_do_not_depend_on_the_number_of_threads) {
  for (const scheme_kind scheme : all_schemes) {
    for (scenario what : {table(scheme), churning(scheme, departure::random),
                          churning(scheme, departure::one_level)}) {
      SCOPED_TRACE(show(what));
      what.threads = 1;
      const findings alone = simulate(what);
      for (const unsigned threads : {2U, 7U, 0U}) {
        what.threads = threads;
        expect_same(alone, simulate(what));
      }
    }
  }
}

TEST(simulate, trials_are_independent_of_how_many_follow) {
  scenario what = table(scheme_kind::sequential);
  what.trials = 1;
  const double first = simulate(what).end().overflow_fraction.mean;
  // One of two trials is the lesser and the other the greater: the first must be there unchanged.
  what.trials = 2;
  const estimate both = simulate(what).end().overflow_fraction;
  EXPECT_LT(both.least, both.most);
  EXPECT_TRUE(both.least == first || both.most == first)
      << first << " is neither " << both.least << " nor " << both.most;
}

TEST(simulate, another_seed_gives_another_table) {
  scenario what = table(scheme_kind::multilevel);
  const double one = simulate(what).end().load_variance.mean;
  what.seed = 2;
  EXPECT_NE(one, simulate(what).end().load_variance.mean);
}

// --- filling ------------------------------------------------------------------------------------

TEST(simulate, what_is_placed_and_what_overflows_is_everything) {
  for (const scheme_kind scheme : all_schemes) {
    const scenario what = table(scheme);
    SCOPED_TRACE(show(what));
    const findings found = simulate(what);
    const double n = static_cast<double>(what.elements);
    const double placed = found.end().load_mean.mean * 3000;
    EXPECT_NEAR(placed + found.end().overflow_fraction.mean * n, n, 1e-6);
    EXPECT_GT(found.end().overflow_fraction.least, 0);
    EXPECT_EQ(found.end().largest_load.most, 4);
    EXPECT_NEAR(sum_of_means(found.end().occupancy), 1, 1e-12);
    EXPECT_NEAR(mean_of_index(found.end().occupancy), found.end().load_mean.mean, 1e-12);
    EXPECT_NEAR(sum_of_means(found.accesses), 1, 1e-12);
    EXPECT_NEAR(mean_of_index(found.accesses), found.end().mean_accesses.mean, 1e-12);
    EXPECT_EQ(found.placements, what.elements * what.trials);
    EXPECT_EQ(found.budget_end.mean, 1);
  }
}

TEST(simulate, levels_add_up_to_the_table) {
  const scenario what = table(scheme_kind::multilevel);
  const look end = simulate(what).end();
  ASSERT_EQ(end.levels.size(), what.level_sizes.size());
  for (std::size_t load = 0; load < end.occupancy.size(); ++load) {
    double buckets = 0;
    for (std::size_t level = 0; level < end.levels.size(); ++level) {
      EXPECT_NEAR(sum_of_means(end.levels[level]), 1, 1e-12);
      if (load < end.levels[level].size())
        buckets += static_cast<double>(what.level_sizes[level]) * end.levels[level][load].mean;
    }
    EXPECT_NEAR(buckets, 3000 * end.occupancy[load].mean, 1e-8);
  }
  EXPECT_EQ(simulate(table(scheme_kind::d_left)).end().levels.size(), 3U);
  EXPECT_TRUE(simulate(table(scheme_kind::d_random)).end().levels.empty());
}

TEST(simulate, in_a_multilevel_table_the_level_is_the_number_of_accesses) {
  const scenario what = table(scheme_kind::multilevel);
  const findings found = simulate(what);
  const double n = static_cast<double>(what.elements);
  for (std::size_t level = 0; level + 1 < what.level_sizes.size(); ++level) {
    const double in_level =
        static_cast<double>(what.level_sizes[level]) * mean_of_index(found.end().levels[level]);
    EXPECT_NEAR(found.accesses[level + 1].mean, in_level / n, 1e-12);
  }
}

TEST(simulate, parallel_schemes_look_at_all_candidates_and_single_at_one) {
  for (const scheme_kind scheme : {scheme_kind::d_random, scheme_kind::d_left}) {
    const findings found = simulate(table(scheme));
    EXPECT_EQ(found.end().mean_accesses.least, 3);
    EXPECT_EQ(found.end().mean_accesses.most, 3);
  }
  EXPECT_EQ(simulate(table(scheme_kind::single)).end().mean_accesses.mean, 1);
}

TEST(simulate, looks_show_what_running_to_that_share_shows) {
  for (const scheme_kind scheme : all_schemes) {
    SCOPED_TRACE(name_of(scheme));
    scenario what = table(scheme);
    what.looks = {0, 0.25, 0.5, 0.5, 1};
    const findings all = simulate(what);
    ASSERT_EQ(all.looks.size(), what.looks.size());
    double before = 2;
    for (std::size_t i = 0; i < what.looks.size(); ++i) {
      EXPECT_EQ(all.looks[i].time, what.looks[i]);
      EXPECT_LE(all.looks[i].overflow_fraction.mean, before);
      before = all.looks[i].overflow_fraction.mean;
      scenario shorter = what;
      shorter.looks = {what.looks[i]};
      expect_same(all.looks[i], simulate(shorter).end());
    }
    EXPECT_EQ(all.looks[0].load_mean.mean, 0);
    EXPECT_EQ(all.looks[0].overflow_fraction.mean, 1);
  }
}

TEST(simulate, the_budget_is_spent_to_the_last_access_and_not_beyond) {
  for (const scheme_kind scheme : all_schemes) {
    SCOPED_TRACE(name_of(scheme));
    scenario what = table(scheme);
    for (const double budget : {0.0, 0.4, 0.9}) {
      what.access_budget = budget;
      const findings found = simulate(what);
      EXPECT_DOUBLE_EQ(found.end().mean_accesses.least, budget);
      EXPECT_DOUBLE_EQ(found.end().mean_accesses.most, budget);
      EXPECT_LT(found.budget_end.most, 1);
      EXPECT_NEAR(found.accesses[0].mean, 1 - found.budget_end.mean, 1e-12);
    }
    // More than anybody asks for changes nothing.
    what.access_budget.reset();
    const findings unlimited = simulate(what);
    what.access_budget = 3;
    expect_same(unlimited, simulate(what));
  }
}

TEST(simulate, unbounded_buckets_take_everything) {
  for (const scheme_kind scheme : all_schemes) {
    scenario what = table(scheme);
    what.bucket_capacity.reset();
    const look end = simulate(what).end();
    EXPECT_EQ(end.overflow_fraction.most, 0) << name_of(scheme);
    EXPECT_NEAR(end.load_mean.mean, 3.9, 1e-12) << name_of(scheme);
  }
}

TEST(simulate, a_sure_coin_is_one_more_slot) {
  for (const scheme_kind scheme :
       {scheme_kind::single, scheme_kind::sequential, scheme_kind::multilevel}) {
    scenario what = table(scheme);
    const findings five = [&] {
      scenario more = what;
      more.bucket_capacity = 5;
      return simulate(more);
    }();
    what.admit_probability = 1;
    expect_same(five, simulate(what));
    what.admit_probability = 0.5;
    const look half = simulate(what).end();
    EXPECT_EQ(half.largest_load.most, 5);
    EXPECT_GT(half.overflow_fraction.mean, five.end().overflow_fraction.mean);
  }
}

TEST(simulate, a_single_sample_has_no_standard_error) {
  scenario what = table(scheme_kind::sequential);
  what.trials = 1;
  const findings found = simulate(what);
  EXPECT_EQ(found.end().overflow_fraction.standard_error, 0);
  EXPECT_EQ(found.end().occupancy[1].standard_error, 0);
  EXPECT_EQ(found.accesses[1].standard_error, 0);
  EXPECT_EQ(found.end().overflow_fraction.least, found.end().overflow_fraction.most);
  what.trials = 2;
  const estimate two = simulate(what).end().overflow_fraction;
  // Of two samples the standard error is half their distance.
  EXPECT_NEAR(two.standard_error, (two.most - two.least) / 2, 1e-15);
}

TEST(simulate, loads_beyond_a_byte_are_counted) {
  const scenario what{
      .scheme = scheme_kind::single, .buckets = 10, .bucket_capacity = 1000, .elements = 8000};
  const look end = simulate(what).end();
  EXPECT_GT(end.largest_load.mean, 700);
  EXPECT_NEAR(end.load_mean.mean, 800 * (1 - end.overflow_fraction.mean), 1e-9);
}

TEST(simulate, progress_is_told_and_rises) {
  // Long enough for several reports on any machine.
  scenario what = table(scheme_kind::sequential);
  what.trials = 3000;
  double last = 0;
  int told = 0;
  simulate(what, [&](double done) {
    EXPECT_GE(done, last);
    EXPECT_LE(done, 1);
    last = done;
    ++told;
  });
  EXPECT_GT(told, 0);
  EXPECT_GT(last, 0);
}

// --- churning -----------------------------------------------------------------------------------

TEST(simulate, churn_loses_nobody) {
  for (const scheme_kind scheme : all_schemes) {
    for (const departure leaves : all_departures) {
      scenario what = churning(scheme, leaves);
      SCOPED_TRACE(show(what));
      const findings found = simulate(what);
      const look& end = found.end();
      EXPECT_LE(end.load_mean.most * 3000, 11'700 + 1e-6);
      EXPECT_EQ(end.largest_load.most, 4);
      EXPECT_GT(end.overflow_fraction.mean, 0);
      EXPECT_LT(end.overflow_fraction.mean, 0.5);
      EXPECT_EQ(found.placements, 3U * (11'700 + 11'700 + 3 * 5850));

      // Where nobody can overflow, everybody is in a bucket after every batch.
      what.bucket_capacity.reset();
      const look roomy = simulate(what).end();
      EXPECT_NEAR(roomy.load_mean.least, 3.9, 1e-12);
      EXPECT_NEAR(roomy.load_mean.most, 3.9, 1e-12);
      EXPECT_EQ(roomy.overflow_fraction.most, 0);
    }
  }
}

TEST(simulate, the_adversary_empties_the_level_he_picks_on) {
  scenario what = churning(scheme_kind::multilevel, departure::random);
  const auto first_level_load = [&] { return mean_of_index(simulate(what).end().levels[0]); };
  const auto last_level_load = [&] { return mean_of_index(simulate(what).end().levels[2]); };
  const double fair = first_level_load();
  const double fair_last = last_level_load();
  what.churn->leaves = departure::one_level;
  what.churn->level = 2;
  EXPECT_LT(last_level_load(), 0.5 * fair_last);
  EXPECT_GT(first_level_load(), fair);
}

TEST(simulate, who_leaves_matters) {
  scenario what = churning(scheme_kind::sequential, departure::random);
  const double any = simulate(what).end().load_variance.mean;
  what.churn->leaves = departure::oldest;
  EXPECT_NE(any, simulate(what).end().load_variance.mean);
}

TEST(simulate, batches_are_the_samples) {
  scenario what = churning(scheme_kind::multilevel, departure::random);
  what.trials = 1;
  EXPECT_GT(simulate(what).end().overflow_fraction.standard_error, 0);
  what.churn->batches = 1;
  EXPECT_EQ(simulate(what).end().overflow_fraction.standard_error, 0);
}

// --- refused ------------------------------------------------------------------------------------

TEST(simulate, refuses_bad_parameters_by_name) {
  const scenario good = table(scheme_kind::sequential);
  const scenario levels = table(scheme_kind::multilevel);
  const auto with = [](scenario what, auto change) {
    change(what);
    return what;
  };
  using s = scenario&;
  expect_refused(with(good, [](s w) { w.buckets = 0; }), "buckets");
  expect_refused(with(good, [](s w) { w.buckets = std::uint64_t{1} << 41; }), "buckets");
  expect_refused(with(good, [](s w) { w.choices = 0; }), "choices");
  expect_refused(with(good, [](s w) { w.choices = 33; }), "choices");
  expect_refused(with(good, [](s w) { w.level_sizes = {3000}; }), "level_sizes");
  expect_refused(with(levels, [](s w) { w.level_sizes.clear(); }), "level_sizes");
  expect_refused(with(levels, [](s w) { w.level_sizes[1] = 0; }), "level_sizes");
  expect_refused(with(levels, [](s w) { w.level_sizes.assign(33, 10); }), "level_sizes");
  expect_refused(with(levels, [](s w) { w.buckets = 2999; }), "buckets");
  expect_refused(with(levels, [](s w) { w.level_sizes.assign(3, std::uint64_t{1} << 40); }),
                 "level_sizes");
  expect_refused(with(good,
                      [](s w) {
                        w.scheme = scheme_kind::d_left;
                        w.buckets = 2;
                      }),
                 "buckets");
  expect_refused(with(good, [](s w) { w.admit_probability = -0.1; }), "admit_probability");
  expect_refused(with(good, [](s w) { w.admit_probability = 1.1; }), "admit_probability");
  expect_refused(with(good, [](s w) { w.admit_probability = std::nan(""); }), "admit_probability");
  expect_refused(with(good,
                      [](s w) {
                        w.admit_probability = 0.5;
                        w.bucket_capacity.reset();
                      }),
                 "admit_probability");
  for (const scheme_kind parallel : {scheme_kind::d_random, scheme_kind::d_left})
    expect_refused(with(table(parallel), [](s w) { w.admit_probability = 0.5; }),
                   "admit_probability");
  expect_refused(with(good, [](s w) { w.bucket_capacity = 0xFFFFFFFF; }), "bucket_capacity");
  expect_refused(with(good, [](s w) { w.elements = 0; }), "elements");
  expect_refused(with(good, [](s w) { w.elements = ~std::uint64_t{0}; }), "elements");
  expect_refused(with(good, [](s w) { w.access_budget = -1; }), "access_budget");
  expect_refused(with(good, [](s w) { w.access_budget = 33; }), "access_budget");
  expect_refused(with(good, [](s w) { w.trials = 0; }), "trials");
  expect_refused(with(good, [](s w) { w.trials = 1'000'000'000; }), "trials");
  expect_refused(with(good, [](s w) { w.looks.clear(); }), "looks");
  expect_refused(with(good, [](s w) { w.looks = {0.5, 0.4}; }), "looks");
  expect_refused(with(good, [](s w) { w.looks = {1.5}; }), "looks");
  expect_refused(with(good, [](s w) { w.looks = {-0.5}; }), "looks");
  expect_refused(with(good, [](s w) { w.looks = {std::nan("")}; }), "looks");
}

TEST(simulate, refuses_bad_churn_by_name) {
  const scenario good = churning(scheme_kind::multilevel, departure::one_level);
  const auto with = [&](auto change) {
    scenario what = good;
    change(*what.churn);
    return what;
  };
  using c = churn_settings&;
  expect_refused(with([](c w) { w.warm_up_turnovers = -1; }), "warm_up_turnovers");
  expect_refused(with([](c w) { w.warm_up_turnovers = 1e7; }), "warm_up_turnovers");
  expect_refused(with([](c w) { w.batch_turnovers = std::nan(""); }), "batch_turnovers");
  expect_refused(with([](c w) { w.batch_turnovers = 1e-9; }), "batch_turnovers");
  expect_refused(with([](c w) { w.batches = 0; }), "batches");
  // Levels count from 0: of three candidates there is none of number 3.
  expect_refused(with([](c w) { w.level = 3; }), "level must be");
  expect_refused(with([](c w) { w.level = 32; }), "level must be");
  scenario alone = churning(scheme_kind::single, departure::one_level);
  alone.churn->level = 1;
  expect_refused(alone, "level must be");
  scenario budgeted = good;
  budgeted.access_budget = 1;
  expect_refused(budgeted, "access_budget");
}

}  // namespace
