#include "oneprobe/model/bucket.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numeric>

#include "unit/model/expect.hpp"

namespace {

using namespace oneprobe::model;

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}
double mean_of(const std::vector<double>& fractions) {
  double mean = 0;
  for (std::size_t i = 0; i < fractions.size(); ++i) mean += static_cast<double>(i) * fractions[i];
  return mean;
}

threshold any_rule() { return {*rc::gen::inRange(1u, 80u), *rc::gen::inRange(0, 1001) / 1000.0}; }
double any_mean() { return *rc::gen::inRange(1, 200000) / 1000.0; }

TEST(bucket, full_admission_at_h_is_a_threshold_of_h_plus_one) {
  for (const double mean : {0.1, 3.0, 40.0}) {
    const auto open = bucket_occupancy(mean, {4, 1.0});
    const auto hard = bucket_occupancy(mean, {5, 0.0});
    ASSERT_EQ(open.size(), hard.size());
    for (std::size_t i = 0; i < open.size(); ++i) expect_relative(open[i], hard[i], 1e-13);
    expect_relative(refused_mean(mean, {4, 1.0}), refused_mean(mean, {5, 0.0}), 1e-13);
    expect_relative(refusal_probability(mean, {4, 1.0}), refusal_probability(mean, {5, 0.0}),
                    1e-13);
  }
}

TEST(bucket, p_near_one_does_not_cancel) {
  // Erratum 0.10: the printed closed form is 0/0 at p = 1 and loses all digits near it.
  const threshold almost{10, 1 - 1e-13};
  expect_relative(refused_mean(2, almost), refused_mean(2, {11, 0}), 1e-9);
  expect_relative(bucket_occupancy(2, almost)[10], bucket_occupancy(2, {10, 1})[10], 1e-9);
}

TEST(bucket, a_tiny_p_admits_in_proportion) {
  const double above = fraction_above_threshold(5, {3, 1e-14});
  double expected = 0;  // p times the mean number of arrivals at load h
  for (int j = 1; j < 60; ++j)
    expected += j * std::exp(-5 + (3 + j) * std::log(5.0) - std::lgamma(4.0 + j));
  expect_relative(above, 1e-14 * expected, 1e-9);
}

TEST(bucket, a_threshold_far_below_the_arrivals_keeps_its_digits) {
  // E[(1 - p)^(X - h); X >= h] = e^(-p mean) (1 - p)^-h but for the tail below h.
  const double mean = 798.408;
  expect_relative(bucket_occupancy(mean, {13, 0.001})[13],
                  std::exp(-0.001 * mean) * std::pow(0.999, -13), 1e-12);
  expect_relative(bucket_occupancy(mean, {13, 0.5})[13], std::exp(-0.5 * mean) * std::pow(0.5, -13),
                  1e-11);
}

TEST(bucket, the_printed_closed_form_of_f_h_is_the_series) {
  // ECB Theorem 3 at r = 2.5, h = 2, p = 0.5.
  const double r = 2.5, p = 0.5;
  const double closed = std::exp(-p * r) / 0.25 - std::exp(-r) / 0.25 * (1 + r * (1 - p));
  expect_relative(bucket_occupancy(r, {2, p})[2], closed, 1e-13);
}

TEST(bucket, the_closed_form_and_the_series_of_the_refusals_agree) {
  // Below p = 1/2 the closed form is used, above it the series: both at the border, and both
  // against (1 - p) f_h + f_{h+1}.
  for (const unsigned h : {1u, 10u, 200u})
    for (const double mean : {0.2 * h, 1.0 * h, 3.0 * h})
      for (const double p : {1e-12, 0.2, 0.5, std::nextafter(0.5, 1.0), 0.9}) {
        const auto occupancy = bucket_occupancy(mean, {h, p});
        expect_relative(refusal_probability(mean, {h, p}),
                        (1 - p) * occupancy[h] + occupancy[h + 1], 1e-11);
      }
}

TEST(bucket, bad_parameters_are_refused_by_name) {
  expect_refused([] { refused_mean(-1, {3, 0}); }, "arrivals");
  expect_refused([] { refused_mean(1, {70000, 0}); }, "threshold");
  expect_refused([] { refused_mean(1, {3, 1.5}); }, "admit probability");
  expect_refused([] { bucket_occupancy(std::nan(""), {3, 0}); }, "arrivals");
}

RC_GTEST_PROP(bucket, occupancy_sums_to_one_and_holds_what_is_not_refused, ()) {
  const threshold rule = any_rule();
  const double mean = any_mean();
  const auto fractions = bucket_occupancy(mean, rule);
  RC_ASSERT(std::abs(sum(fractions) - 1) <= 1e-12);
  RC_ASSERT(std::abs(mean_of(fractions) + refused_mean(mean, rule) - mean) <= 1e-11 * (1 + mean));
}

RC_GTEST_PROP(bucket, refusal_probability_is_the_slope_of_the_refused_mean, ()) {
  const threshold rule = any_rule();
  const double mean = any_mean();
  const double step = 1e-4 * mean;
  const double slope =
      (refused_mean(mean + step, rule) - refused_mean(mean - step, rule)) / (2 * step);
  RC_ASSERT(std::abs(slope - refusal_probability(mean, rule)) <= 1e-5);
}

RC_GTEST_PROP(bucket, a_higher_threshold_never_refuses_more, ()) {
  const double mean = any_mean();
  const double low = *rc::gen::inRange(1000, 60000) / 1000.0;
  const double high = low + *rc::gen::inRange(1, 5000) / 1000.0;
  const auto rule = [](double level) {
    return threshold{static_cast<unsigned>(level), level - std::floor(level)};
  };
  RC_ASSERT(refused_mean(mean, rule(high)) <= refused_mean(mean, rule(low)) * (1 + 1e-12));
}

}  // namespace
