#include "oneprobe/model/overflow_bound.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cmath>

#include "unit/model/expect.hpp"

namespace {

using namespace oneprobe::model;

double any_load() { return *rc::gen::inRange(50, 3000) / 1000.0; }
unsigned any_capacity() { return *rc::gen::inRange(1u, 65u); }
double any_accesses() { return *rc::gen::inRange(0, 6000) / 1000.0; }

TEST(overflow_bound, with_single_slots_it_is_the_closed_form_of_example_4) {
  for (const double a : {0.0, 0.3, 1.0, 1.7, 4.0})
    expect_relative(overflow_bound(a, 1, 1), std::exp(-a), 1e-13);  // OFH, Example 4
  expect_relative(overflow_bound(1.5, 2, 1), 0.5 + 0.5 * std::exp(-3.0), 1e-13);
}

TEST(overflow_bound, is_clamped_where_everything_fits) {
  EXPECT_EQ(overflow_bound(2, 0.1, 1), 0.0);  // the raw expression is -0.81
  EXPECT_EQ(overflow_bound(0, 1, 4), 1.0);
}

TEST(overflow_bound, a_tiny_bound_keeps_its_digits) {
  // c = 0.1, h = 16, a = 1: E[(X - 16)+] / r with X ~ Poisson(1.6).
  double tail = 0;
  for (int i = 17; i < 60; ++i)
    tail += (i - 16) * std::exp(-1.6 + i * std::log(1.6) - std::lgamma(i + 1.0));
  expect_relative(overflow_bound(1, 0.1, 16), tail / 1.6, 1e-11);
}

TEST(overflow_bound, an_overflow_no_budget_reaches_is_refused) {
  expect_refused([] { accesses_for_overflow(0.5, 2, 4); }, "overflow fraction");
  expect_refused([] { accesses_for_overflow(0.0, 1, 4); }, "overflow fraction");
}

TEST(overflow_bound, the_poisson_limit_is_off_by_at_most_two_buckets_worth) {  // OFH eq. (2), Thm 2
  EXPECT_EQ(poisson_error_bound(1, 1000), 0.002);
  EXPECT_EQ(poisson_error_bound(4, 1000), 0.008);
}

TEST(overflow_bound, a_lookup_costs_its_share_of_hits_and_misses) {  // OFH, Section II
  EXPECT_DOUBLE_EQ(lookup_accesses_bound(1, 1.697, 4), 1.697);
  EXPECT_DOUBLE_EQ(lookup_accesses_bound(0, 1.697, 4), 4);
  EXPECT_DOUBLE_EQ(lookup_accesses_bound(0.5, 2, 4), 3);
  expect_refused([] { lookup_accesses_bound(0.5, 5, 4); }, "mean accesses");
}

TEST(overflow_bound, bad_parameters_are_refused_by_name) {
  expect_refused([] { overflow_bound(-0.1, 1, 4); }, "accesses");
  expect_refused([] { overflow_bound(std::nan(""), 1, 4); }, "accesses");
  expect_refused([] { overflow_bound(1, 0, 4); }, "load factor");
  expect_refused([] { overflow_bound(1, -1, 4); }, "load factor");
  expect_refused([] { overflow_bound(1, HUGE_VAL, 4); }, "load factor");
  expect_refused([] { overflow_bound(1, 1, 0); }, "bucket capacity");
}

TEST(mixture, two_distributions_that_average_to_uniform_reach_the_bound) {
  // OFH, Fig. 3: f_1 = 3/m on a third of the buckets, f_2 = 3/(2m) on the rest, k = 1/3, 2/3.
  const std::array groups{1.0 / 3, 2.0 / 3};
  const std::array first{3.0, 0.0}, second{0.0, 1.5};
  const std::array mixture{access_distribution{1.0 / 3, first},
                           access_distribution{2.0 / 3, second}};
  EXPECT_NEAR(mixture_imbalance(groups, mixture), 0, 1e-15);
  expect_relative(mixture_overflow(1.3, 1, 4, groups, mixture), overflow_bound(1.3, 1, 4), 1e-12);
}

TEST(mixture, one_that_does_not_overflows_more) {
  const std::array groups{1.0 / 3, 2.0 / 3};
  const std::array first{3.0, 0.0}, second{0.0, 1.5};
  const std::array mixture{access_distribution{0.5, first}, access_distribution{0.5, second}};
  EXPECT_NEAR(mixture_imbalance(groups, mixture), 0.5, 1e-15);
  EXPECT_GT(mixture_overflow(1.3, 1, 4, groups, mixture), 1.05 * overflow_bound(1.3, 1, 4));
}

TEST(mixture, distributions_that_are_none_are_refused) {
  const std::array groups{0.5, 0.5};
  const std::array flat{1.0, 1.0}, heavy{2.0, 2.0};
  const std::array short_one{1.0};
  const auto imbalance = [&](double share, std::span<const double> density) {
    const std::array mixture{access_distribution{share, density}};
    return mixture_imbalance(groups, mixture);
  };
  EXPECT_EQ(imbalance(1, flat), 0.0);
  expect_refused([&] { imbalance(1, heavy); }, "density");
  expect_refused([&] { imbalance(1, short_one); }, "densities");
  expect_refused([&] { imbalance(0.7, flat); }, "access fractions");
}

RC_GTEST_PROP(overflow_bound, falls_with_the_budget_and_rises_with_the_load, ()) {
  const double c = any_load(), a = any_accesses();
  const unsigned h = any_capacity();
  const double here = overflow_bound(a, c, h);
  RC_ASSERT(here >= 0 && here <= 1);
  RC_ASSERT(overflow_bound(a + 0.01, c, h) <= here);
  RC_ASSERT(overflow_bound(a, c * 1.01, h) >= here - 1e-14);
}

RC_GTEST_PROP(overflow_bound, its_inverse_inverts_it, ()) {
  const double c = any_load();
  const unsigned h = any_capacity();
  const double never_below = std::max(0.0, 1 - 1 / c);
  const double overflow = never_below + (1 - never_below) * *rc::gen::inRange(1, 999) / 1000.0;
  const double a = accesses_for_overflow(overflow, c, h);
  RC_ASSERT(std::abs(overflow_bound(a, c, h) - overflow) <= 1e-11);
}

RC_GTEST_PROP(mixture, no_mixture_beats_the_bound, ()) {
  const double share = *rc::gen::inRange(50, 950) / 1000.0;
  const double tilt = *rc::gen::inRange(0, 1000) / 1000.0;
  const std::array groups{share, 1 - share};
  const std::array density{1 - tilt, (1 - share * (1 - tilt)) / (1 - share)};
  const std::array mixture{access_distribution{1.0, density}};
  const double a = any_accesses(), c = any_load();
  const unsigned h = any_capacity();
  RC_ASSERT(mixture_overflow(a, c, h, groups, mixture) >= overflow_bound(a, c, h) - 1e-12);
}

}  // namespace
