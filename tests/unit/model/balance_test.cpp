#include "oneprobe/model/balance.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numeric>

#include "oneprobe/model/bucket.hpp"
#include "oneprobe/model/fluid.hpp"
#include "unit/model/expect.hpp"

namespace {

using namespace oneprobe::model;

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

double any_ratio() { return *rc::gen::inRange(50, 70000) / 1000.0; }

RC_GTEST_PROP(balance_bound, sums_to_one_and_has_the_stated_mean, ()) {
  const double r = any_ratio();
  const double a = *rc::gen::inRange(1000, 3000) / 1000.0;
  const double overflow = *rc::gen::inRange(0, 500) / 1000.0;
  const balance_bound bound = lower_bound_loads(r, a, overflow);
  RC_ASSERT(std::abs(sum(bound.loads.fractions) - 1) <= 1e-12);
  RC_ASSERT(std::abs(bound.loads.mean() - r * (1 - overflow)) <= 1e-12 * std::max(1.0, r));
  for (const double fraction : bound.loads.fractions) RC_ASSERT(fraction >= 0);
}

RC_GTEST_PROP(balance_bound, more_accesses_never_cost_more_under_any_convex_cost, ()) {
  const double r = any_ratio();
  const double a = *rc::gen::inRange(1000, 2500) / 1000.0;
  const double overflow = *rc::gen::inRange(0, 100) / 1000.0;
  const load_distribution less = lower_bound_loads(r, a, overflow).loads;
  const load_distribution more = lower_bound_loads(r, a + 0.05, overflow).loads;
  RC_ASSERT(more.variance() <= less.variance() * (1 + 1e-9) + 1e-12);
  const auto cubic = [](std::size_t load) { return std::pow(static_cast<double>(load), 3); };
  RC_ASSERT(more.cost(cubic) <= less.cost(cubic) * (1 + 1e-9));
  const double bend = *rc::gen::inRange(0, 80);
  const auto hinge = [=](std::size_t load) {
    return std::max(0.0, static_cast<double>(load) - bend);
  };
  RC_ASSERT(more.cost(hinge) <= less.cost(hinge) + 1e-11 * (1 + r));
}

RC_GTEST_PROP(balance, every_scheme_at_its_operating_point_has_the_loads_of_the_bound, ()) {
  const double r = any_ratio();
  const unsigned d = *rc::gen::inRange(2u, 5u);
  const double a =
      1 + (std::min(2.0, static_cast<double>(d)) - 1) * *rc::gen::inRange(20, 900) / 1000.0;
  const balance_needs needs{.elements_per_bucket = r, .choices = d, .accesses = a};
  for (const balance_plan& plan : {sequential_balance(needs), multilevel_balance(needs)}) {
    RC_ASSERT(plan.threshold.has_value());
    const std::vector<double> loads =
        bucket_occupancy(a * r, {*plan.threshold, plan.admit_probability});
    const std::vector<double>& bound =
        lower_bound_loads(r, a, plan.overflow_fraction).loads.fractions;
    for (std::size_t i = 0; i < std::min(loads.size(), bound.size()); ++i)
      RC_ASSERT(std::abs(loads[i] - bound[i]) <= 1e-9);
    RC_ASSERT(std::abs(plan.end_time - 1) <= 1e-9);
  }
}

RC_GTEST_PROP(balance, the_plans_do_what_they_say_when_run, ()) {
  const double r = *rc::gen::inRange(2000, 40000) / 1000.0;
  const unsigned d = *rc::gen::inRange(2u, 5u);
  const double a = *rc::gen::inRange(1050, 1500) / 1000.0;
  const balance_needs needs{.elements_per_bucket = r, .choices = d, .accesses = a};
  const auto run = [&](scheme_kind scheme, const balance_plan& plan) {
    return fluid_limit({.scheme = scheme,
                        .load_factor = r / *plan.threshold,
                        .bucket_capacity = *plan.threshold,
                        .choices = d,
                        .level_fractions = plan.level_fractions,
                        .admit_probability = plan.admit_probability});
  };
  const balance_plan sequential = sequential_balance(needs);
  const balance_plan multilevel = multilevel_balance(needs);
  RC_PRE(*sequential.threshold > 0 && *multilevel.threshold > 0);
  const fluid_state a_run = run(scheme_kind::sequential, sequential);
  const fluid_state b_run = run(scheme_kind::multilevel, multilevel);
  RC_ASSERT(std::abs(a_run.mean_accesses - a) <= 1e-8);
  RC_ASSERT(std::abs(a_run.overflow_fraction - sequential.overflow_fraction) <= 1e-8);
  RC_ASSERT(std::abs(b_run.mean_accesses - a) <= 1e-8);
  RC_ASSERT(std::abs(b_run.overflow_fraction - multilevel.overflow_fraction) <= 1e-8);
}

RC_GTEST_PROP(balance, the_optimality_regions_invert_each_other, ()) {
  const unsigned d = *rc::gen::inRange(2u, 6u);
  const double a = *rc::gen::inRange(1010, 1500) / 1000.0;
  const double by_levels = least_overflow_multilevel(d, a);
  RC_ASSERT(std::abs(edge_accesses_multilevel(d, by_levels) - a) <= 1e-9);
  const double r = any_ratio();
  const double by_sequence = least_overflow_sequential(r, d, a);
  RC_PRE(by_sequence > 1e-12);
  // Where almost every bucket is full the overflow hardly depends on the budget.
  RC_ASSERT(std::abs(edge_accesses_sequential(r, d, by_sequence) - a) <= 1e-6);
}

TEST(balance, more_overflow_than_needed_ends_the_budget_early) {
  const balance_plan plan = multilevel_balance(
      {.elements_per_bucket = 8, .choices = 3, .accesses = 1.2, .overflow_fraction = 0.05});
  EXPECT_LT(plan.end_time, 1);
  // ECB Theorem 6 (ii): t_0 = a (1 - p(a)) / (1 - p(a)^d).
  const double passed = plan.level_fractions[1] / plan.level_fractions[0];
  expect_relative(plan.end_time, 1.2 * (1 - passed) / (1 - std::pow(passed, 3)), 1e-12);
  expect_relative(refused_fraction(1.2 * 8, {*plan.threshold, plan.admit_probability}), passed,
                  1e-10);
}

TEST(balance, one_access_and_no_overflow_is_poisson) {  // erratum 0.9, ECB Example 2
  const balance_bound bound = lower_bound_loads(8, 1, 0);
  EXPECT_FALSE(bound.k0.has_value());
  EXPECT_FALSE(bound.largest_load().has_value());
  expect_relative(bound.loads.variance(), 8, 1e-12);
  const balance_plan plan = single_balance({.elements_per_bucket = 8});
  EXPECT_FALSE(plan.threshold.has_value());
  EXPECT_EQ(plan.overflow_fraction, 0.0);
}

TEST(balance, less_than_one_element_per_bucket_gives_k0_of_zero) {  // erratum 0.8
  const balance_bound bound = lower_bound_loads(0.5, 2, 0);
  EXPECT_EQ(bound.k0, 0u);
  EXPECT_EQ(bound.e0, 0.0);
  ASSERT_EQ(bound.loads.fractions.size(), 2u);
  expect_relative(bound.loads.fractions[1], 0.5, 1e-12);
  EXPECT_EQ(bound.largest_load(), 1u);
}

TEST(balance_bound, of_a_finite_table_tends_to_the_limit) {  // ECB, proof of Theorem 1
  const balance_bound limit = lower_bound_loads(8, 1.1, 0.01);
  double last = 1;
  for (const double buckets : {10.0, 100.0, 1e4, 1e7}) {
    const balance_bound finite = lower_bound_loads_finite(8 * buckets, buckets, 1.1, 0.01);
    EXPECT_NEAR(sum(finite.loads.fractions), 1, 1e-11);
    EXPECT_NEAR(finite.loads.mean(), 8 * 0.99, 1e-9);
    ASSERT_EQ(finite.k0, limit.k0);
    const double away = std::abs(finite.loads.variance() - limit.loads.variance());
    EXPECT_LT(away, last);
    last = away;
  }
  EXPECT_LT(last, 1e-5);
  EXPECT_LT(lower_bound_loads_finite(80, 10, 1.1, 0.01).loads.variance(), limit.loads.variance());
}

TEST(balance_bound, of_a_finite_table_without_surplus_is_binomial) {
  const balance_bound bound = lower_bound_loads_finite(80, 10, 1, 0);
  EXPECT_FALSE(bound.k0.has_value());
  expect_relative(bound.loads.variance(), 8 * 0.9, 1e-10);
  expect_refused([] { lower_bound_loads_finite(80, 10, 0.5, 0); }, "accesses");
  expect_refused([] { lower_bound_loads_finite(80, 0, 1, 0); }, "buckets");
}

TEST(balance, the_shared_coin_costs_overflow) {  // erratum 0.23
  const double independent = least_overflow_multilevel(3, 1.2);
  EXPECT_GT(shared_coin_overflow(6.4, 3, 1.2), 1.4 * independent);
  EXPECT_TRUE(prints_as(100 * shared_coin_overflow(6.4, 3, 1.2), "0.7211"));
}

TEST(balance, bad_parameters_are_refused_by_name) {
  expect_refused([] { lower_bound_loads(0, 1, 0); }, "elements per bucket");
  expect_refused([] { lower_bound_loads(8, 0.5, 0); }, "accesses");
  expect_refused([] { lower_bound_loads(8, -1, 0); }, "accesses");
  expect_refused([] { lower_bound_loads(8, 1, 1.5); }, "overflow fraction");
  expect_refused([] { lower_bound_loads(8, std::nan(""), 0); }, "accesses");
  expect_refused([] { single_balance({.elements_per_bucket = 8, .accesses = 1.2}); }, "accesses");
  expect_refused(
      [] { multilevel_balance({.elements_per_bucket = 8, .choices = 2, .accesses = 3}); },
      "accesses");
  expect_refused(
      [] { multilevel_balance({.elements_per_bucket = 8, .choices = 0, .accesses = 1}); },
      "choices");
  expect_refused(
      [] {
        multilevel_balance(
            {.elements_per_bucket = 8, .choices = 3, .accesses = 1.2, .overflow_fraction = 0.001});
      },
      "overflow fraction");
}

}  // namespace
