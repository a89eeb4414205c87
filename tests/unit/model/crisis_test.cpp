#include "oneprobe/model/crisis.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "unit/model/expect.hpp"

namespace {

using namespace oneprobe::model;

const level_sizes table_one{30000, 15000, 7500, 3750, 1875};
const level_sizes ten_thousand{40000, 10000, 5000, 2500, 2500};
const level_sizes hundred_thousand{400000, 100000, 50000, 25000, 12500, 12500};

void expect_printed(const std::vector<double>& found, const std::vector<double>& printed,
                    const std::vector<double>& half_a_digit) {
  ASSERT_EQ(found.size(), printed.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], printed[i], half_a_digit[i]) << "sub-table " << i + 1;
}

double sum(const count_distribution& counts) {
  return std::accumulate(counts.probability.begin(), counts.probability.end(), 0.0);
}

/// P(balls occupy exactly `occupied` bins) by inclusion and exclusion in long double; small cases.
double occupied_by_formula(unsigned balls, unsigned bins, unsigned occupied) {
  const auto choose = [](unsigned n, unsigned k) {
    long double c = 1;
    for (unsigned i = 0; i < k; ++i) c = c * (n - i) / (i + 1);
    return c;
  };
  long double p = 0;
  for (unsigned i = 0; i <= occupied; ++i)
    p += (i % 2 == 0 ? 1 : -1) * choose(occupied, i) *
         std::pow(static_cast<long double>(occupied - i) / bins, static_cast<long double>(balls));
  return static_cast<double>(choose(bins, occupied) * p);
}

TEST(crisis, occupied_bins_follow_the_classical_formula) {  // SSH, Appendix III-A, recurrence (3)
  for (const unsigned bins : {1u, 2u, 5u, 12u})
    for (const unsigned balls : {1u, 2u, 7u, 15u}) {
      const count_distribution found = occupied_bins(balls, bins);
      for (unsigned b = 0; b <= std::max(balls, bins) + 1; ++b)
        EXPECT_NEAR(found.at(b), b > bins ? 0.0 : occupied_by_formula(balls, bins, b), 1e-13)
            << balls << " balls, " << bins << " bins, " << b << " occupied";
    }
  EXPECT_EQ(occupied_bins(0, 7).at(0), 1.0);
}

TEST(crisis, table_i_exact_row_is_reproduced) {
  const crisis_result r = crisis(10000, table_one);
  EXPECT_TRUE(r.exact);
  expect_printed(r.expected_per_level, {8504.18, 1423.67, 71.80, 0.35, 1.62e-5},
                 {5e-3, 5e-3, 5e-3, 5e-3, 5e-8});
}

TEST(crisis, table_i_approximate_row_uses_the_power_form) {  // erratum 1.15
  expect_printed(approximate_per_level(10000, table_one), {8504.18, 1423.70, 71.78, 0.34, -3.00e-5},
                 {5e-3, 5e-3, 5e-3, 5e-3, 5e-8});
  EXPECT_NEAR(approximate_per_level(10000, table_one, approximation::exponential)[4], 1.60e-5,
              5e-8);
}

TEST(crisis, table_ii_exact_row_is_reproduced) {
  expect_printed(crisis(10000, ten_thousand).expected_per_level,
                 {8848.07, 1088.08, 63.45, 0.41, 3.37e-5}, {5e-3, 5e-3, 5e-3, 5e-3, 5e-8});
}

TEST(crisis, table_ii_approximate_row_is_reproduced) {
  const crisis_result r = crisis(10000, ten_thousand);
  expect_printed(r.approximate_per_level, {8848.07, 1088.11, 63.42, 0.40, -4.80e-5},
                 {5e-3, 5e-3, 5e-3, 5e-3, 5e-8});
  EXPECT_EQ(r.approximate_per_level, approximate_per_level(10000, ten_thousand));
}

TEST(crisis, probability_for_ten_thousand_is_below_1_01e_12) {  // SSH, Section IX
  const crisis_result r = crisis(10000, ten_thousand);
  expect_relative(r.crisis_probability, 1.0070201815563937e-12);
  expect_relative(r.left_after[5].at(6), 8.264462043650261e-51);
  expect_relative(r.left_after[1].standard_deviation(), 28.730782220421805);
}

TEST(crisis,
     probability_for_a_hundred_thousand_keeps_its_digits) {  // erratum 1.3: printed 7.78e-16
  const crisis_result r = crisis(100000, hundred_thousand);
  EXPECT_TRUE(r.exact);
  expect_relative(r.crisis_probability, 6.6413588433892e-24);
  expect_relative(r.left_after[6].mean(), 6.641358843395703e-24);
  expect_relative(r.left_after[3].mean(), 4.063370566198971);
}

TEST(crisis, section_xi_a_8847_of_the_elements_are_in_the_first_sub_table) {  // erratum 1.6
  EXPECT_NEAR(crisis(9999, ten_thousand).expected_per_level[0], 8847.29, 5e-3);
}

TEST(crisis, smallest_tables_agree_with_hand_calculation) {
  EXPECT_EQ(crisis(1, level_sizes{1}).crisis_probability, 0.0);
  EXPECT_EQ(crisis(1, level_sizes{10'000'000'000'000}).crisis_probability, 0.0);
  EXPECT_EQ(crisis(2, level_sizes{1, 1}).crisis_probability, 0.0);
  EXPECT_NEAR(crisis(2, level_sizes{2}).crisis_probability, 0.5, 1e-15);
  EXPECT_NEAR(crisis(2, level_sizes{2, 1}).expected_per_level[1], 0.5, 1e-15);
  // Three elements meet in one of m buckets, then two of them in one of m', by hand.
  EXPECT_NEAR(crisis(3, level_sizes{10, 7}).crisis_probability, 0.01 / 7, 1e-15);
  // 32 levels of one bucket each take 32 elements, one each.
  const crisis_result narrow = crisis(32, level_sizes(32, 1));
  EXPECT_EQ(narrow.crisis_probability, 0.0);
  EXPECT_EQ(narrow.expected_per_level[31], 1.0);
}

TEST(crisis, few_elements_have_a_closed_form_down_to_1e_60) {
  const level_sizes sizes{10'000'000, 100'000'000, 10'000'000'000'000, 1'000'000'000'000,
                          10'000'000'000'000};
  // All that is ever left over is one of the two; it always fits into the next level.
  const crisis_result r = crisis(2, level_sizes{sizes[0]});
  expect_relative(r.crisis_probability, 1e-7, 1e-12);
  EXPECT_EQ(crisis(2, sizes).crisis_probability, 0.0);
  // k + 1 elements collide in all of k levels with probability prod m_i^-(k + 1 - i).
  expect_relative(
      crisis(4, level_sizes{10'000'000, 10'000'000'000'000, 10'000'000'000'000}).crisis_probability,
      1e-21 * 1e-26 * 1e-13, 1e-10);
}

TEST(crisis, approximation_joins_the_exact_calculation_at_its_limit) {
  // Just within the limit and just beyond it; the second differs by one element in 300,000.
  const level_sizes sizes{1200000, 300000, 150000, 75000, 37500, 37500};
  const crisis_result within = crisis(exact_limit, sizes);
  const crisis_result beyond = crisis(exact_limit + 1, sizes);
  EXPECT_TRUE(within.exact);
  EXPECT_FALSE(beyond.exact);
  // One more element of 300,000 raises the probability by about 1.4e-4 of itself.
  expect_relative(beyond.crisis_probability, within.crisis_probability * 1.00014, 2e-5);
  expect_relative(beyond.left_after[1].standard_deviation(),
                  within.left_after[1].standard_deviation(), 1e-5);
  EXPECT_NEAR(beyond.left_after[1].mean() - within.left_after[1].mean(),
              within.left_after[1].mean() * 2 / exact_limit, 0.02);
}

TEST(crisis, approximated_levels_pass_on_means_and_variances_as_exact_ones_do) {
  // The same table a hundred times larger: means scale by 100, deviations by 10.
  const crisis_result exact = crisis(20'000, level_sizes{20'000, 20'000, 10'000});
  const crisis_result approximate = crisis(2'000'000, level_sizes{2'000'000, 2'000'000, 1'000'000});
  EXPECT_FALSE(approximate.exact);
  for (std::size_t i = 1; i <= 2; ++i) {
    expect_relative(approximate.left_after[i].mean(), 100 * exact.left_after[i].mean(), 3e-4);
    expect_relative(approximate.left_after[i].standard_deviation(),
                    10 * exact.left_after[i].standard_deviation(), 1e-3);
  }
}

TEST(crisis, rare_collisions_among_many_elements_are_poisson) {
  // 10^6 elements in 10^13 buckets: 0.05 collisions.
  const crisis_result r = crisis(1'000'000, level_sizes{10'000'000'000'000});
  expect_relative(r.crisis_probability, -std::expm1(-0.04999995), 1e-6);
}

TEST(crisis, ten_to_the_thirteen_elements_are_approximated_in_little_memory) {
  const std::uint64_t n = 10'000'000'000'000;
  const crisis_result r = crisis(n, level_sizes{n, n / 2, n / 2, 1'000'000'000, 1000});
  EXPECT_FALSE(r.exact);
  expect_relative(r.expected_per_level[0], 1e13 * (1 - std::exp(-1.0)), 1e-12);
  EXPECT_NEAR(r.expected_per_level[4], 1000, 1e-9);
  EXPECT_NEAR(r.crisis_probability, 1.0, 1e-12);
  for (const count_distribution& left : r.left_after) {
    EXPECT_LE(left.probability.size(), 65537u);
    EXPECT_NEAR(sum(left), 1.0, 1e-12);
  }
  expect_relative(r.left_after[1].standard_deviation(),
                  std::sqrt(1e13 * (std::exp(-1) - 2 * std::exp(-2))), 1e-6);
  // at() of a wide distribution is still per count.
  const auto mean = static_cast<std::uint64_t>(r.left_after[1].mean());
  expect_relative(r.left_after[1].at(mean),
                  1 / std::sqrt(2 * std::acos(-1.0)) / r.left_after[1].standard_deviation(), 1e-3);
}

TEST(crisis, skew_bound_holds) {  // SSH, Section VI-B
  const crisis_result r = crisis(10000, ten_thousand);
  const std::vector<double> bound = skew_bound(10000, ten_thousand);
  ASSERT_EQ(bound.size(), 6u);
  EXPECT_EQ(bound[0], 10000.0);
  EXPECT_EQ(bound[1], 1e8 / 80000);
  EXPECT_LT(r.left_after[1].mean(), bound[1]);
}

TEST(crisis, skew_sequence_is_the_one_of_lemma_1_2) {
  // z_0 = n, z_i = z_{i-1}^2 / m_i, m_i = c2^(i-1) c1 n.
  double z = 10000, size = 30000;
  for (unsigned level = 0; level < 6; ++level) {
    expect_relative(skew_sequence(10000, 3, 0.5, level), z, 1e-12);
    z = z * z / size;
    size *= 0.5;
  }
}

TEST(crisis, asymptotic_levels_grow_like_log_log) {  // SSH, Theorem 1.1; erratum 1.8
  // z_3 = 732 is the last z_r above 2 (c + 1) log_4/e n = 119; then 1 + ceil(c + 1) = 3 more.
  EXPECT_EQ(asymptotic_levels(1e5, 3, 0.5, 1), 6u);
  unsigned previous = 0;
  for (double n = 10; n <= 1e13; n *= 10) {
    const unsigned levels = asymptotic_levels(n, 3, 0.5, 1);
    EXPECT_GE(levels, previous);
    previous = levels;
  }
  EXPECT_LE(previous, 9u);
  EXPECT_EQ(asymptotic_levels(1, 3, 0.5, 1), asymptotic_levels(1, 3, 0.5, 0.5));
}

TEST(crisis, bad_parameters_are_named) {
  EXPECT_EQ(refusal([] { crisis(10, level_sizes{}); }),
            "number of levels must be from 1 to 32; found 0");
  EXPECT_EQ(refusal([] { crisis(0, level_sizes{1}); }),
            "elements must be from 1 to 1e+13; found 0");
  EXPECT_EQ(refusal([] { crisis(10'000'000'000'001, level_sizes{1}); }),
            "elements must be from 1 to 1e+13; found 10000000000001");
  EXPECT_EQ(refusal([] {
              crisis(10, level_sizes{5, 0, 5});
            }),
            "each level size must be from 1 to 1e+13; found 0");
  EXPECT_EQ(refusal([] {
              crisis(11, level_sizes{5, 5});
            }),
            "elements (at most as many as buckets) must be from 1 to 10; found 11");
  EXPECT_EQ(refusal([] { occupied_bins(exact_limit + 1, 10); }),
            "balls must be from 0 to 3e+05; found 300001");
  EXPECT_EQ(refusal([] { occupied_bins(1, 0); }), "bins must be from 1 to 1e+13; found 0");
  EXPECT_EQ(refusal([] { asymptotic_levels(100, 1, 0.5, 1); }),
            "c1 must be above 1 and at most 1e+06; found 1");
  EXPECT_EQ(refusal([] { asymptotic_levels(100, 3, 1, 1); }),
            "c2 must be between 0 and 1; found 1");
  EXPECT_EQ(refusal([] { skew_sequence(100, 1.5, 0.5, 1); }), "c1 c2 must be above 1; found 0.75");
  EXPECT_EQ(refusal([] { asymptotic_levels(100, 3, 0.5, NAN); }),
            "exponent must be above 0 and at most 100; found nan");
}

RC_GTEST_PROP(crisis_properties, occupied_bins_sum_to_one_and_have_the_exact_mean_and_variance,
              ()) {
  const auto balls = *rc::gen::inRange<std::uint64_t>(1, 3000);
  const auto bins = *rc::gen::inRange<std::uint64_t>(1, 3000);
  const count_distribution found = occupied_bins(balls, bins);
  const double j = static_cast<double>(balls), m = static_cast<double>(bins);
  RC_ASSERT(std::abs(sum(found) - 1) < 1e-12);
  const double mean = bins == 1 ? 1 : -m * std::expm1(j * std::log1p(-1 / m));
  RC_ASSERT(std::abs(found.mean() / mean - 1) < 1e-12);
  const double variance = bins == 1
                              ? 0
                              : m * (m - 1) * std::pow(1 - 2 / m, j) + m * std::pow(1 - 1 / m, j) -
                                    m * m * std::pow(1 - 1 / m, 2 * j);
  RC_ASSERT(std::abs(std::pow(found.standard_deviation(), 2) - variance) < 1e-9 + 1e-13 * m * m);
}

RC_GTEST_PROP(crisis_properties, every_element_is_placed_or_left_over, ()) {
  const auto levels =
      *rc::gen::nonEmpty(rc::gen::container<level_sizes>(rc::gen::inRange<std::uint64_t>(1, 2000)));
  const level_sizes few(
      levels.begin(),
      levels.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(levels.size(), 8)));
  const auto buckets = std::accumulate(few.begin(), few.end(), std::uint64_t{0});
  const auto elements =
      *rc::gen::inRange<std::uint64_t>(1, std::min<std::uint64_t>(buckets, 2000) + 1);
  const crisis_result r = crisis(elements, few);
  double placed = 0;
  for (std::size_t i = 0; i < few.size(); ++i) {
    RC_ASSERT(std::abs(sum(r.left_after[i + 1]) - 1) < 1e-12);
    placed += r.expected_per_level[i];
    RC_ASSERT(std::abs(placed + r.left_after[i + 1].mean() - static_cast<double>(elements)) <
              1e-11 * static_cast<double>(elements));
  }
}

RC_GTEST_PROP(crisis_properties, more_elements_or_fewer_buckets_make_a_crisis_more_likely, ()) {
  const auto elements = *rc::gen::inRange<std::uint64_t>(2, 400);
  const level_sizes levels{4 * elements, elements, elements / 2 + 1};
  const level_sizes smaller{4 * elements - 1, elements, elements / 2 + 1};
  const double crisis_probability = crisis(elements, levels).crisis_probability;
  RC_ASSERT(crisis(elements + 1, levels).crisis_probability >= crisis_probability);
  RC_ASSERT(crisis(elements, smaller).crisis_probability >= crisis_probability);
}

TEST(crisis, the_skew_lemmas_bound_what_is_left) {  // SSH, Lemmas 1.1 and 1.4
  expect_relative(skew_tail_bound(10), std::pow(std::exp(1.0) / 4, 5), 1e-12);
  const double z = skew_sequence(1e4, 3, 0.5, 2);
  expect_relative(skew_sequence_bound(1e4, 3, 0.5, 2), 2 * skew_tail_bound(z), 1e-12);
  EXPECT_EQ(skew_sequence_bound(10, 3, 0.5, 8), 1.0);
  // The exact distribution respects the lemma: P(|S_1| > n^2 / m_1).
  const crisis_result exact = crisis(10000, level_sizes{30000, 15000, 7500, 3750, 1875});
  double beyond = 0;
  const double limit = 1e8 / 30000;
  for (std::uint64_t count = 3334; count < 3600; ++count) beyond += exact.left_after[1].at(count);
  EXPECT_LE(beyond, skew_tail_bound(limit));
}

}  // namespace
