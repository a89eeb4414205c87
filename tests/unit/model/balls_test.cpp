#include "oneprobe/model/balls.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "oneprobe/model/poisson.hpp"
#include "unit/model/expect.hpp"

namespace {

using namespace oneprobe::model;

/// P(maximum load >= k) by enumerating every placement.
double enumerated_reach(unsigned balls, unsigned bins, unsigned load) {
  unsigned total = 1;
  for (unsigned i = 0; i < balls; ++i) total *= bins;
  unsigned reached = 0;
  for (unsigned placement = 0; placement < total; ++placement) {
    std::vector<unsigned> loads(bins, 0);
    for (unsigned i = 0, rest = placement; i < balls; ++i, rest /= bins) ++loads[rest % bins];
    if (*std::max_element(loads.begin(), loads.end()) >= load) ++reached;
  }
  return static_cast<double>(reached) / total;
}

TEST(
    balls,
    question_2_birthday_paradox_needs_23_balls_for_one_half_and_28_for_one_collision) {  // LEC, 7.1.1;
                                                                                         // erratum 2.1:
                                                                                         // 23 is
                                                                                         // the 50 %
                                                                                         // threshold
  EXPECT_EQ(birthday_balls(365, 0.5), 23.0);
  expect_relative(collision_probability(23, 365), 0.507297234323985);
  expect_relative(collision_probability(22, 365), 0.47569530766255);
  EXPECT_NEAR(balls_for_one_collision(365), 27.52, 5e-3);
  EXPECT_LT(expected_collisions(27, 365), 1.0);
  EXPECT_GT(expected_collisions(28, 365), 1.0);
}

TEST(balls, collisions_keep_their_digits_from_two_balls_to_1e_13) {
  EXPECT_EQ(collision_probability(1, 1), 0.0);
  EXPECT_EQ(collision_probability(2, 1), 1.0);
  expect_relative(collision_probability(2, 1e13), 1e-13, 1e-12);
  // 1 - exp(-m^2/2n + m/2n - m^3/6n^2 + ...), m = 10^7, n = 10^13.
  expect_relative(collision_probability(1e7, 1e13),
                  -std::expm1(-(1e7 * (1e7 - 1) / 2e13 + 1e21 / 6e26)), 1e-10);
  EXPECT_EQ(collision_probability(1e13, 1e13), 1.0);
  // The product and the closed form meet at 10,000 balls.
  const double ratio = std::log1p(-collision_probability(10001, 1e9)) -
                       std::log1p(-collision_probability(10000, 1e9));
  EXPECT_NEAR(ratio, std::log1p(-1e4 / 1e9), 1e-14);
  EXPECT_EQ(birthday_balls(1e13, 1.0), 1e13 + 1);
  EXPECT_EQ(birthday_balls(1, 0.5), 2.0);
  expect_relative(birthday_balls(1e13, 0.5), std::sqrt(2e13 * std::log(2.0)), 1e-6);
}

TEST(balls, chain_collisions_are_those_of_equation_7_2_7) {
  EXPECT_EQ(expected_chain_collisions(101, 100), 1.0);
  EXPECT_EQ(expected_chain_collisions(1, 100), 0.0);
}

TEST(balls, question_3_empty_bins_tend_to_one_over_e) {  // (7.1.3)
  expect_relative(empty_fraction(10, 10), 0.3486784401, 1e-14);
  expect_relative(empty_fraction(1e6, 1e6), 0.367879257231645);
  expect_relative(empty_fraction(1e13, 1e13), std::exp(-1.0), 1e-12);
  EXPECT_EQ(empty_fraction(5, 1), 0.0);
}

TEST(balls, questions_4_and_5_one_bin_is_binomial) {
  expect_relative(bin_has(10, 10, 8), 3.645e-07, 1e-13);
  expect_relative(bin_has_at_least(10, 10, 8), 3.736e-07, 1e-13);
  expect_relative(bin_has_at_least(1000, 1000, 8), 1.00318706147564e-05);
  EXPECT_EQ(bin_has_at_least(10, 10, 0), 1.0);
  EXPECT_EQ(bin_has_at_least(10, 10, 11), 0.0);
  expect_relative(bin_has_at_least(10, 10, 10), 1e-10, 1e-13);
  EXPECT_EQ(bin_has(7, 1, 7), 1.0);
  EXPECT_EQ(bin_has(7, 1, 6), 0.0);
  // 10^13 balls in 10^13 bins are Poisson; half of 10^13 in one of two bins.
  expect_relative(bin_has_at_least(1e13, 1e13, 20), poisson_at_least(1, 20), 1e-10);
  EXPECT_NEAR(bin_has_at_least(1e13, 2, 5'000'000'000'000),
              0.5 + 0.5 * bin_has(1e13, 2, 5'000'000'000'000), 1e-9);
}

TEST(balls, bounds_7_1_4_and_7_1_5_hold) {
  for (const double n : {10.0, 100.0, 1000.0, 1e13})
    for (std::uint64_t k = 0; k < 9; ++k) {
      EXPECT_LE(bin_has(n, n, k), bin_has_bound(k));
      EXPECT_LE(bin_has_at_least(n, n, k), bin_has_at_least_union_bound(n, n, k) * (1 + 1e-12));
      EXPECT_LE(bin_has_at_least_union_bound(n, n, k), bin_has_at_least_bound(k));
    }
  expect_relative(bin_has_bound(5), 1.0 / 120, 1e-14);
  expect_relative(bin_has_at_least_bound(4), std::pow(std::exp(1.0) / 4, 4), 1e-14);
  expect_relative(bin_has_at_least_union_bound(10, 20, 3), 120.0 / 8000, 1e-13);
  EXPECT_EQ(bin_has_at_least_union_bound(10, 20, 11), 0.0);
  EXPECT_EQ(bin_has_at_least_union_bound(1e13, 1, 5'000'000'000'000), 1.0);
}

TEST(balls, occupancy_of_one_choice_is_binomial) {
  const std::vector<double> found = bin_occupancy(10, 10, 1);
  ASSERT_GE(found.size(), 8u);
  expect_relative(found[3], 0.057395628, 1e-13);
  EXPECT_NEAR(std::accumulate(found.begin(), found.end(), 0.0), 1.0, 1e-14);
  EXPECT_EQ(bin_occupancy(1, 1, 1)[1], 1.0);
  const std::vector<double> many = bin_occupancy(1e13, 1e10, 1);
  EXPECT_NEAR(std::accumulate(many.begin(), many.end(), 0.0), 1.0, 1e-12);
}

TEST(balls, two_choices_make_the_fractions_fall_double_exponentially) {  // LEC, 7.1.2
  const std::vector<double> two = bins_with_at_least(1, 2, 8);
  const double expected[] = {0.7615941559557651,    0.22950453849605829,   0.008895258291039876,
                             6.047255802747208e-06, 1.334569400061118e-12, 3.179157954576885e-26,
                             8.923630276475801e-54, 3.496660207527122e-109};
  for (std::size_t i = 0; i < two.size(); ++i) expect_relative(two[i], expected[i], 1e-6);
  EXPECT_NEAR(two[0], std::tanh(1.0), 1e-11);  // ds/dt = 1 - s^2
  const std::vector<double> one = bins_with_at_least(1, 1, 3);
  expect_relative(one[2], poisson_at_least(1, 3), 1e-14);
}

TEST(balls, choices_conserve_balls_at_every_load) {
  for (const unsigned choices : {2u, 3u, 8u, 32u})
    for (const double ratio : {0.0, 1e-3, 0.5, 1.0, 7.3, 60.0, 123.4, 1000.0}) {
      const std::vector<double> at_least =
          bins_with_at_least(ratio, choices, static_cast<unsigned>(ratio) + 40);
      EXPECT_NEAR(std::accumulate(at_least.begin(), at_least.end(), 0.0), ratio,
                  1e-10 * (ratio + 1e-3))
          << choices << " choices, " << ratio << " balls per bin";
      const std::vector<double> occupancy = bin_occupancy(std::max(1.0, 1e9 * ratio), 1e9, choices);
      EXPECT_NEAR(std::accumulate(occupancy.begin(), occupancy.end(), 0.0), 1.0, 1e-12);
    }
  EXPECT_EQ(bins_with_at_least(1000, 2, 3), (std::vector<double>{1, 1, 1}));
}

TEST(balls, the_wave_of_many_balls_keeps_its_shape) {
  // Just before and just after the integration is replaced by a shift.
  for (const unsigned choices : {2u, 5u}) {
    const std::vector<double> before = bins_with_at_least(100.5, choices, 110);
    const std::vector<double> after = bins_with_at_least(101.5, choices, 111);
    for (std::size_t i = 80; i < before.size(); ++i)
      EXPECT_NEAR(after[i + 1], before[i], 1e-9 * before[i]);
  }
}

TEST(balls, theorem_7_1_1_holds_for_practical_n) {  // erratum 2.4
  for (const double n : {1e2, 1e3, 1e4, 1e5, 1e6, 1e9, 1e13}) {
    const double k = max_load_theorem(n);
    EXPECT_LE(max_load_exceeds_bound(n, n, static_cast<std::uint64_t>(k)), 1 / n) << n;
  }
  expect_relative(max_load_exceeds_bound(100, 100, 9), 7.63158753226062e-06);
  expect_relative(max_load_exceeds_bound(1e9, 1e9, 20), 7.54262364070912e-12);
  EXPECT_EQ(max_load_exceeds_bound(100, 100, 0), 1.0);
  expect_relative(max_load_proof_threshold(), 93.3544608350037);
}

TEST(balls, leading_terms_of_the_maximum_load_are_those_printed) {  // errata 2.2, 2.3
  EXPECT_NEAR(max_load_leading_term(1e5, 1), 4.71, 5e-3);
  EXPECT_NEAR(max_load_leading_term(1e5, 2), 3.53, 5e-3);
  EXPECT_NEAR(max_load_leading_term(1e5, 3), 2.22, 5e-3);
  EXPECT_NEAR(max_load_leading_term(1e5, 4), 1.76, 5e-3);
}

TEST(balls, union_bound_on_the_maximum_load_is_the_least_one) {
  for (const auto& [balls, bins, probability] : {std::tuple{1e6, 1e6, 1e-6},
                                                 {100.0, 100.0, 0.5},
                                                 {1e13, 1e13, 1e-30},
                                                 {1e13, 1e9, 1e-9},
                                                 {1.0, 1e13, 1e-9},
                                                 {1e6, 3.0, 1e-3}}) {
    const std::uint64_t load = max_load_union_bound(balls, bins, probability);
    EXPECT_LE(max_load_exceeds_bound(balls, bins, load), probability);
    if (load > 0) {
      EXPECT_GT(max_load_exceeds_bound(balls, bins, load - 1), probability);
    }
  }
  EXPECT_EQ(max_load_union_bound(1e13, 1, 1e-6), 10'000'000'000'000u);
  EXPECT_EQ(max_load_union_bound(1, 1e13, 0.5), 1u);
}

TEST(balls, maximum_load_agrees_with_enumeration) {
  for (const unsigned balls : {1u, 2u, 5u, 7u})
    for (const unsigned bins : {1u, 2u, 4u, 5u}) {
      const std::vector<double> found = max_load_at_least(balls, bins, balls + 1);
      double mean = 0;
      for (unsigned k = 1; k <= balls + 1; ++k) {
        EXPECT_NEAR(found[k - 1], enumerated_reach(balls, bins, k), 1e-13)
            << balls << " balls, " << bins << " bins, load " << k;
        mean += found[k - 1];
      }
      EXPECT_NEAR(expected_max_load(balls, bins), mean, 1e-12);
    }
}

TEST(balls, maximum_load_of_a_hundred_and_five_hundred) {
  const std::vector<double> hundred = max_load_at_least(100, 100, 10);
  expect_relative(hundred[3], 0.873843676028296);
  expect_relative(hundred[9], 7.63157618558508e-06);
  expect_relative(max_load_at_least(500, 500, 10)[9], 5.17716287076916e-05);
  expect_relative(expected_max_load(100, 100), 4.232595235422682);
}

TEST(balls, maximum_load_at_the_limit_of_the_exact_calculation) {
  // Two bins: the larger share, 1000 + E|X - 1000|, X ~ Binomial(2000, 1/2).
  double larger = 0;
  for (std::uint64_t x = 0; x <= 2000; ++x)
    larger += static_cast<double>(std::max(x, 2000 - x)) * bin_has(2000, 2, x);
  expect_relative(expected_max_load(2000, 2), larger, 1e-11);
  EXPECT_NEAR(expected_max_load(2000, 2000), 5.87, 0.01);
  EXPECT_EQ(expected_max_load(2000, 1), 2000.0);
  EXPECT_EQ(expected_max_load(1, 2000), 1.0);
  // No bin of 2000 gets all 30 balls, but with probability 2000^-29.
  expect_relative(max_load_at_least(30, 2000, 10)[9], 2000 * bin_has_at_least(30, 2000, 10), 1e-9);
}

TEST(balls, bad_parameters_are_named) {
  EXPECT_EQ(refusal([] { expected_collisions(0, 10); }), "balls must be from 1 to 1e+13; found 0");
  EXPECT_EQ(refusal([] { empty_fraction(10, NAN); }), "bins must be from 1 to 1e+13; found nan");
  EXPECT_EQ(refusal([] { birthday_balls(365, 0); }),
            "probability must be above 0 and at most 1; found 0");
  EXPECT_EQ(refusal([] { bin_occupancy(1e6, 10, 2); }),
            "balls per bin must be from 0 to 1000; found 1e+05");
  EXPECT_EQ(refusal([] { bins_with_at_least(1, 0, 8); }), "choices must be from 1 to 32; found 0");
  EXPECT_EQ(refusal([] { bins_with_at_least(1, 2, 0); }), "count must be from 1 to 1e+06; found 0");
  EXPECT_EQ(refusal([] { max_load_theorem(2); }), "bins must be from 3 to 1e+13; found 2");
  EXPECT_EQ(refusal([] { expected_max_load(2001, 1); }),
            "balls must be from 1 to 2000; found 2001");
  EXPECT_EQ(refusal([] { max_load_at_least(1, 2001, 1); }),
            "bins must be from 1 to 2000; found 2001");
}

RC_GTEST_PROP(balls_properties, one_bins_probabilities_sum_to_one_with_the_right_mean, ()) {
  const auto balls = *rc::gen::inRange(1, 500);
  const auto bins = *rc::gen::inRange(1, 500);
  double sum = 0, mean = 0, tail = 0;
  for (int k = balls; k >= 0; --k) {
    const double p = bin_has(balls, bins, static_cast<std::uint64_t>(k));
    sum += p;
    mean += p * k;
    tail += p;
    RC_ASSERT(std::abs(bin_has_at_least(balls, bins, static_cast<std::uint64_t>(k)) - tail) <=
              1e-11 * tail + 1e-300);
  }
  RC_ASSERT(std::abs(sum - 1) < 1e-12);
  RC_ASSERT(std::abs(mean * bins / balls - 1) < 1e-12);
}

RC_GTEST_PROP(balls_properties,
              maximum_load_falls_with_the_threshold_and_stays_below_the_union_bound, ()) {
  const auto balls = *rc::gen::inRange<std::uint64_t>(1, 200);
  const auto bins = *rc::gen::inRange<std::uint64_t>(1, 200);
  const std::vector<double> reach = max_load_at_least(balls, bins, 30);
  for (std::size_t k = 1; k < reach.size(); ++k) {
    RC_ASSERT(reach[k] <= reach[k - 1] * (1 + 1e-12));
    RC_ASSERT(reach[k] <=
              max_load_exceeds_bound(static_cast<double>(balls), static_cast<double>(bins), k) *
                  (1 + 1e-10));
  }
}

}  // namespace
