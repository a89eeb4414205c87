#include "oneprobe/model/finite_size.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "oneprobe/model/crisis.hpp"
#include "unit/model/expect.hpp"
#include "unit/model/small_table.hpp"

namespace {

using namespace oneprobe::model;

// Fifteen comparisons of a mean and fifteen of a deviation, fixed seeds: at 4.2 sigma the
// family-wise false-alarm rate is 30 x 2.7e-5, just below 1e-3.
constexpr double sigmas = 4.2;
// The mean of a finite table differs from its limit by order one, whatever its size.
constexpr double order_one = 1.0;

class every_scheme : public testing::TestWithParam<scheme_kind> {
 protected:
  table_shape shape() const { return {GetParam(), 3000, 4, 3, {0.6, 0.3, 0.1}}; }
};

TEST_P(every_scheme, the_overflow_of_a_filled_table_spreads_as_predicted) {
  for (const double load_factor : {0.9, 1.0}) {
    const table_shape table = shape();
    const auto elements = static_cast<unsigned>(load_factor * table.buckets * table.slots);
    const overflow_spread expected = overflow_spread_filling(filling(table, load_factor), elements);
    const sample found = overflow_of_filled(table, elements, 1000);
    const double error = sigmas * expected.standard_deviation / std::sqrt(found.count());
    EXPECT_NEAR(found.mean(), expected.mean, error + order_one);
    EXPECT_NEAR(found.deviation(), expected.standard_deviation, error / std::sqrt(2));
  }
}

TEST_P(every_scheme, the_overflow_of_a_churning_table_spreads_as_predicted) {
  const double load_factor = 0.8;
  const table_shape table = shape();
  const auto elements = static_cast<unsigned>(load_factor * table.buckets * table.slots);
  const overflow_spread expected = overflow_spread_churning(churning(table, load_factor), elements);
  const sample found = overflow_of_churning(table, elements, 100);
  // Looks two residence times apart are correlated by e^-2, which widens the errors by
  // sqrt((1 + e^-2) / (1 - e^-2)) = 1.15.
  const double error = 1.15 * sigmas * expected.standard_deviation / std::sqrt(found.count());
  EXPECT_NEAR(found.mean(), expected.mean, error + order_one);
  EXPECT_NEAR(found.deviation(), expected.standard_deviation, error / std::sqrt(2));
}

INSTANTIATE_TEST_SUITE_P(finite_size, every_scheme,
                         testing::Values(scheme_kind::single, scheme_kind::sequential,
                                         scheme_kind::multilevel, scheme_kind::d_random,
                                         scheme_kind::d_left),
                         [](const auto& scheme) {
                           std::string name(name_of(scheme.param));
                           for (char& c : name)
                             if (c == '-') c = '_';
                           return name;
                         });

TEST(finite_size, single_slots_spread_as_the_exact_calculator_says) {
  // |S_1| of SSH's table for 10,000 elements: level 1 alone, 40,000 buckets.
  const count_distribution left = crisis(10000, level_sizes{40000}).left_after.at(1);
  const overflow_spread spread = overflow_spread_filling(
      {.scheme = scheme_kind::single, .load_factor = 0.25, .bucket_capacity = 1}, 10000);
  expect_relative(spread.mean, left.mean(), 1e-3);
  expect_relative(spread.standard_deviation, left.standard_deviation(), 1e-3);
}

TEST(finite_size, a_reserve_is_exceeded_no_more_often_than_asked) {
  // Poisson with mean 10: P(X > 21) = 7.0e-4 > 5e-4 >= P(X > 22).
  EXPECT_EQ(reserve_for({.mean = 10, .standard_deviation = std::sqrt(10.0)}, 5e-4), 22);
  EXPECT_EQ(reserve_for({.mean = 0, .standard_deviation = 0}, 1e-9), 0);
  // Large: mean + 5.998 sigma for 1e-9.
  const double large = reserve_for({.mean = 1e6, .standard_deviation = 1e3}, 1e-9);
  EXPECT_NEAR(large, 1e6 + 5.998e3, 30);
  // Bursty: more than Poisson would need.
  EXPECT_GT(reserve_for({.mean = 10, .standard_deviation = 6}, 1e-6),
            reserve_for({.mean = 10, .standard_deviation = std::sqrt(10.0)}, 1e-6));
}

TEST(finite_size, a_table_that_must_overflow_needs_little_more_than_that) {
  // A thousand elements for twenty slots: 980 overflow, give or take next to nothing.
  const overflow_spread sure = overflow_spread_filling(
      {.scheme = scheme_kind::single, .load_factor = 50, .bucket_capacity = 2}, 1000);
  EXPECT_NEAR(sure.mean, 980, 1e-6);
  EXPECT_LE(reserve_for(sure, 1e-9), 990);
  // Large Poisson counts: the corrected normal quantile is the Poisson one, or just above.
  const double mean = 1000, exact = 1195;  // P(X > 1195) = 9.8e-10, P(X > 1194) = 1.2e-9
  const double reserve = reserve_for({.mean = mean, .standard_deviation = std::sqrt(mean)}, 1e-9);
  EXPECT_GE(reserve, exact);
  EXPECT_LE(reserve, exact + 4);
}

TEST(finite_size, the_reserve_grows_as_the_probability_falls) {
  double last = 0;
  for (const double probability : {0.5, 1e-2, 1e-6, 1e-9, 1e-15, 1e-30}) {
    const double slots_needed = reserve_for({.mean = 40, .standard_deviation = 9}, probability);
    EXPECT_GT(slots_needed, last);
    last = slots_needed;
  }
}

TEST(finite_size, bad_parameters_are_refused_by_name) {
  const fluid_parameters table{
      .scheme = scheme_kind::single, .load_factor = 1, .bucket_capacity = 4};
  expect_refused([&] { overflow_spread_filling(table, 0); }, "elements");
  expect_refused([&] { overflow_spread_filling(table, 2e13); }, "elements");
  fluid_parameters budgeted = table;
  budgeted.access_budget = 0.5;
  expect_refused([&] { overflow_spread_filling(budgeted, 100); }, "access budget");
  expect_refused([] { reserve_for({.mean = -1, .standard_deviation = 1}, 0.1); }, "mean");
  expect_refused([] { reserve_for({.mean = 1, .standard_deviation = 1}, 0); }, "probability");
}

}  // namespace
