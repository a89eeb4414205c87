#include "oneprobe/model/partition.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numeric>

#include "oneprobe/model/fluid.hpp"
#include "oneprobe/model/overflow_bound.hpp"
#include "unit/model/expect.hpp"

namespace {

using namespace oneprobe::model;

struct table {
  double load_factor = *rc::gen::inRange(300, 1400) / 1000.0;
  unsigned bucket_capacity = *rc::gen::inRange(1u, 33u);
  unsigned choices = *rc::gen::inRange(2u, 7u);

  fluid_state run(const std::vector<double>& fractions) const {
    return fluid_limit({.scheme = scheme_kind::multilevel,
                        .load_factor = load_factor,
                        .bucket_capacity = bucket_capacity,
                        .level_fractions = fractions});
  }
};

RC_GTEST_PROP(cutoff, both_schemes_meet_the_bound_at_their_cut_off, ()) {
  const table t;
  for (const cutoff& edge : {sequential_cutoff(t.load_factor, t.bucket_capacity, t.choices),
                             multilevel_cutoff(t.load_factor, t.bucket_capacity, t.choices)}) {
    RC_ASSERT(edge.mean_accesses >= 1 && edge.mean_accesses <= t.choices);
    RC_ASSERT(std::abs(overflow_bound(edge.mean_accesses, t.load_factor, t.bucket_capacity) -
                       edge.overflow_fraction) <= 1e-10);
  }
}

RC_GTEST_PROP(cutoff, the_geometric_partition_reaches_its_cut_off_when_run, ()) {
  const table t;
  const cutoff edge = multilevel_cutoff(t.load_factor, t.bucket_capacity, t.choices);
  const fluid_state end = t.run(edge.level_fractions);
  RC_ASSERT(std::abs(end.mean_accesses - edge.mean_accesses) <= 1e-10);
  RC_ASSERT(std::abs(end.overflow_fraction - edge.overflow_fraction) <=
            1e-6 * edge.overflow_fraction);  // at 1e-50 each level multiplies rounding by h
}

RC_GTEST_PROP(cutoff, multilevel_stays_optimal_longer_than_sequential, ()) {
  const table t;
  RC_ASSERT(multilevel_cutoff(t.load_factor, t.bucket_capacity, t.choices).mean_accesses >=
            sequential_cutoff(t.load_factor, t.bucket_capacity, t.choices).mean_accesses - 1e-12);
}

RC_GTEST_PROP(partition, the_access_optimal_one_meets_the_bound_at_its_budget, ()) {
  const table t;
  const double edge = multilevel_cutoff(t.load_factor, t.bucket_capacity, t.choices).mean_accesses;
  const double budget = edge * *rc::gen::inRange(100, 1001) / 1000.0;
  const partition plan =
      access_optimal_partition(budget, t.load_factor, t.bucket_capacity, t.choices);
  const fluid_state end = fluid_limit({.scheme = scheme_kind::multilevel,
                                       .load_factor = t.load_factor,
                                       .bucket_capacity = t.bucket_capacity,
                                       .level_fractions = plan.level_fractions,
                                       .access_budget = budget});
  RC_ASSERT(std::abs(end.overflow_fraction - plan.overflow_fraction) <= 1e-10);
  RC_ASSERT(std::abs(end.time - plan.end_time) <= 1e-9);
}

RC_GTEST_PROP(partition, no_neighbour_of_the_least_overflow_partition_overflows_less, ()) {
  const table t;
  const partition best = least_overflow_partition(t.load_factor, t.bucket_capacity, t.choices);
  RC_ASSERT(
      std::abs(std::accumulate(best.level_fractions.begin(), best.level_fractions.end(), 0.0) -
               1) <= 1e-12);
  const double here = t.run(best.level_fractions).overflow_fraction;
  RC_ASSERT(std::abs(here - best.overflow_fraction) <= 1e-9 * here);
  const auto from = *rc::gen::inRange<std::size_t>(0, t.choices);
  const auto to = *rc::gen::inRange<std::size_t>(0, t.choices);
  for (const double share : {0.001, 0.01, 0.1}) {
    std::vector<double> other = best.level_fractions;
    const double moved = share * other[from];
    other[from] -= moved;
    other[to] += moved;
    RC_ASSERT(t.run(other).overflow_fraction >= here * (1 - 1e-10));
  }
}

RC_GTEST_PROP(partition, least_overflow_is_at_most_that_of_the_geometric_partition, ()) {
  const table t;
  RC_ASSERT(
      least_overflow_partition(t.load_factor, t.bucket_capacity, t.choices).overflow_fraction <=
      multilevel_cutoff(t.load_factor, t.bucket_capacity, t.choices).overflow_fraction *
          (1 + 1e-10));
}

RC_GTEST_PROP(partition, the_largest_load_factor_has_exactly_the_overflow_asked_for, ()) {
  const unsigned h = *rc::gen::inRange(1u, 33u), d = *rc::gen::inRange(1u, 6u);
  const double overflow = std::pow(10.0, -*rc::gen::inRange(1, d == 1 && h == 1 ? 8 : 13));
  const double c = largest_load_factor(overflow, h, d);
  const double found = least_overflow_partition(c, h, d).overflow_fraction;
  RC_ASSERT(std::abs(found - overflow) <= 1e-8 * overflow);
}

TEST(partition, one_level_is_the_whole_table) {
  const partition plan = least_overflow_partition(0.9, 8, 1);
  ASSERT_EQ(plan.level_fractions.size(), 1u);
  EXPECT_EQ(plan.level_fractions[0], 1.0);
  EXPECT_EQ(plan.mean_accesses, 1.0);
}

TEST(partition, extreme_tables_are_partitioned_too) {
  for (const double c : {1e-3, 0.01, 20.0, 1000.0})
    for (const unsigned h : {1u, 64u, 1000u})
      for (const unsigned d : {2u, 8u, 32u}) {
        const partition plan = least_overflow_partition(c, h, d);
        EXPECT_GE(plan.overflow_fraction, 0) << c << " " << h << " " << d;
        EXPECT_LE(plan.overflow_fraction, 1) << c << " " << h << " " << d;
        EXPECT_TRUE(std::isfinite(plan.mean_accesses));
        const cutoff edge = multilevel_cutoff(c, h, d);
        EXPECT_TRUE(std::isfinite(edge.mean_accesses) && edge.mean_accesses >= 1);
      }
}

TEST(partition, a_budget_beyond_the_cut_off_is_refused) {
  expect_refused([] { access_optimal_partition(1.8, 1, 4, 4); }, "accesses");
  expect_refused([] { access_optimal_partition(-1, 1, 4, 4); }, "accesses");
  expect_refused([] { least_overflow_partition(0, 4, 4); }, "load factor");
  expect_refused([] { least_overflow_partition(1, 4, 0); }, "choices");
  expect_refused([] { largest_load_factor(0, 4, 4); }, "overflow fraction");
  expect_refused([] { largest_load_factor(1e-20, 1, 1); }, "overflow fraction");
  expect_refused([] { sequential_cutoff(1, 0, 4); }, "bucket capacity");
}

}  // namespace
