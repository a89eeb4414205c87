#include "oneprobe/model/poisson.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "unit/model/expect.hpp"

namespace {

using namespace oneprobe::model;

/// A mean between 1e-6 and 1e4, all orders of magnitude alike.
double any_mean() { return std::exp(*rc::gen::inRange(-1380, 921) / 100.0); }

TEST(poisson, an_excess_far_in_the_tail_keeps_its_digits) {
  // E[(X - 60)+] for mean 1: the first two terms of its series are 1e-83 apart from each other.
  const double first = std::exp(-1 - std::lgamma(62.0));
  expect_relative(poisson_excess(1, 60), first * (1 + 2.0 / 62 + 3.0 / (62 * 63)), 1e-4);
  expect_relative(poisson_at_least(1e-3, 10), std::exp(-1e-3) * 1e-30 / 3628800, 1e-3);
}

TEST(poisson, a_huge_mean_is_computed_at_once) {
  // Normal limit: E[(X - mean)+] = sqrt(mean / (2 pi)).
  expect_relative(poisson_excess(1e8, 100000000), std::sqrt(1e8 / (2 * 3.141592653589793)), 1e-4);
  EXPECT_NEAR(poisson_at_most(1e8, 100000000), 0.5, 1e-4);
  EXPECT_DOUBLE_EQ(poisson_kept(1e8, 10), 10.0);
}

TEST(poisson, a_mean_of_zero_is_nobody) {
  EXPECT_EQ(poisson_probability(0, 0), 1.0);
  EXPECT_EQ(poisson_probability(0, 3), 0.0);
  EXPECT_EQ(poisson_at_least(0, 0), 1.0);
  EXPECT_EQ(poisson_at_least(0, 1), 0.0);
  EXPECT_EQ(poisson_excess(0, 0), 0.0);
  EXPECT_EQ(poisson_kept(0, 5), 0.0);
}

TEST(poisson, a_bad_mean_is_refused_by_name) {
  for (const double mean : {-1.0, std::nan(""), HUGE_VAL, 2e9})
    expect_refused([=] { poisson_excess(mean, 3); }, "mean");
}

RC_GTEST_PROP(poisson, what_is_kept_and_what_is_not_make_up_the_mean, ()) {
  const double mean = any_mean();
  const auto limit = *rc::gen::inRange<std::uint64_t>(0, 20000);
  RC_ASSERT(std::abs(poisson_kept(mean, limit) + poisson_excess(mean, limit) - mean) <=
            1e-12 * mean);
}

RC_GTEST_PROP(poisson, room_and_content_make_up_the_bucket, ()) {
  const double mean = any_mean();
  const auto limit = *rc::gen::inRange<std::uint64_t>(0, 20000);
  const double full = static_cast<double>(limit);
  RC_ASSERT(std::abs(poisson_shortfall(mean, limit) + poisson_kept(mean, limit) - full) <=
            1e-12 * (full + mean));
}

TEST(poisson, the_room_left_in_a_flooded_bucket_keeps_its_digits) {
  // E[(3 - X)+] for mean 60: 3 P(0) + 2 P(1) + P(2).
  expect_relative(poisson_shortfall(60, 3), std::exp(-60.0) * (3 + 2 * 60 + 60 * 60 / 2.0), 1e-12);
}

RC_GTEST_PROP(poisson, the_two_forms_of_the_excess_agree, ()) {
  // Below the mean by tails, above by its series; the definition by differences links them.
  const double mean = any_mean();
  const auto limit = *rc::gen::inRange<std::uint64_t>(0, 200);
  const double drop = poisson_excess(mean, limit) - poisson_excess(mean, limit + 1);
  RC_ASSERT(std::abs(drop - poisson_at_least(mean, limit + 1)) <= 1e-12 * (1 + mean));
}

}  // namespace
