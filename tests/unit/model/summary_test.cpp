#include "oneprobe/model/summary.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "oneprobe/model/bloom.hpp"
#include "unit/model/expect.hpp"

namespace {

using namespace oneprobe::model;
using sizes = std::vector<std::uint64_t>;
using counts = std::vector<unsigned>;

const level_sizes ten_thousand{40000, 10000, 5000, 2500, 2500};
const level_sizes hundred_thousand{400000, 100000, 50000, 25000, 12500, 12500};

double failure_or_crisis(const summary_error& error) {
  return error.failure_probability + error.crisis_probability;
}

TEST(summary, table_iii_a_interpolation_row_is_reproduced) {  // SSH, Sections VII, IX; erratum 1.17
  const summary_error e = interpolation_summary(10000, ten_thousand, 55);
  EXPECT_EQ(e.bytes, 80000.0);
  EXPECT_NEAR(e.false_positive_probability, 2.78e-13, 0.005e-13);
  EXPECT_NEAR(failure_or_crisis(e), 1.39e-9, 0.005e-9);
  EXPECT_TRUE(e.failure_per_level.empty());
}

TEST(summary, table_iii_a_single_filter_row_is_reproduced) {
  const summary_error e = single_filter_summary(10000, ten_thousand, 120000, 15);
  EXPECT_EQ(e.bytes, 47500.0);
  EXPECT_NEAR(e.false_positive_probability, 0.006, 0.0005);
  expect_relative(e.false_positive_probability, 0.00632514136043571);  // erratum 1.16
  EXPECT_NEAR(failure_or_crisis(e), 7.64e-10, 0.005e-10);
}

TEST(summary, table_iii_a_multiple_filters_row_is_reproduced) {
  const summary_error e = multi_filter_summary(
      10000, ten_thousand, sizes{106000, 87500, 5500, 500, 100}, counts{7, 49, 49, 49, 49});
  EXPECT_EQ(e.bytes, 32450.0);
  EXPECT_NEAR(e.false_positive_probability, 0.006, 0.0005);
  expect_relative(e.false_positive_probability, 0.00616314450478174);  // erratum 1.16
  EXPECT_NEAR(failure_or_crisis(e), 4.97e-12, 0.005e-12);
  ASSERT_EQ(e.failure_per_level.size(), 4u);
  expect_relative(e.failure_per_level[2], 5.2285354689203725e-18);
}

TEST(summary, table_iii_b_interpolation_row_is_reproduced) {
  const summary_error e = interpolation_summary(100000, hundred_thousand, 61);
  EXPECT_EQ(e.bytes, 875000.0);
  EXPECT_NEAR(e.false_positive_probability, 4.34e-14, 0.005e-14);
  EXPECT_NEAR(failure_or_crisis(e), 2.17e-9, 0.005e-9);
}

TEST(summary, table_iii_b_single_filter_row_is_reproduced) {
  const summary_error e = single_filter_summary(100000, hundred_thousand, 1200000, 15);
  EXPECT_EQ(e.bytes, 525000.0);
  expect_relative(e.false_positive_probability, 0.00632246307680392);
  EXPECT_NEAR(failure_or_crisis(e), 7.27e-9, 0.005e-9);
  expect_relative(e.failure_per_level[4], 1.6665552284219746e-85);
}

TEST(
    summary,
    table_iii_b_multiple_filters_row_needs_six_filters) {  // errata 1.1, 1.2: printed 379,000 bytes
  const summary_error e = multi_filter_summary(100000, hundred_thousand,
                                               sizes{1060000, 875000, 55000, 1000, 1000, 1000},
                                               counts{7, 49, 49, 49, 49, 49});
  EXPECT_EQ(e.bytes, 324125.0);
  EXPECT_NEAR(failure_or_crisis(e), 1.38e-11, 0.005e-11);
  expect_relative(failure_or_crisis(e), 1.3836479838018988e-11);
}

TEST(summary, section_x_variant_with_ten_hashes_fails_with_just_over_2_1e_6) {
  expect_relative(single_filter_summary(10000, ten_thousand, 100000, 10).failure_probability,
                  2.108098647530656e-06);
}

TEST(summary, section_vii_instances_stay_below_the_printed_bounds) {
  EXPECT_LT(interpolation_failure(100000, 61), 2.17e-9);
  EXPECT_LT(interpolation_false_positive(100000, 61), 4.34e-14);
  EXPECT_LT(interpolation_failure(10000, 55), 1.39e-9);
  expect_relative(interpolation_failure(100000, 61), 2.16838265857665e-09);
  expect_relative(interpolation_failure(10000, 55), 1.38764000194072e-09);
}

TEST(summary, interpolation_failure_keeps_its_digits_from_one_element_to_1e_13) {
  EXPECT_EQ(interpolation_failure(1, 1), 0.0);
  EXPECT_EQ(interpolation_failure(2, 1), 0.5);
  EXPECT_EQ(interpolation_failure(3, 1), 1.0);
  // n (n - 1) / 2^(b + 1) where that is small.
  expect_relative(interpolation_failure(1e13, 512), std::ldexp(1e13 * (1e13 - 1), -513), 1e-12);
  expect_relative(interpolation_failure(1e13, 128), std::ldexp(1e13 * (1e13 - 1), -129), 1e-12);
  // Where the closed form takes over from the product, both agree.
  const double jump = interpolation_failure(10001, 40) / interpolation_failure(10000, 40);
  expect_relative(jump, 10001.0 / 9999, 1e-7);
  EXPECT_EQ(interpolation_failure(1e13, 64), 1.0);
}

TEST(summary, table_iii_row_of_song_et_al_is_reproduced) {  // SSH, Section IV
  const song_error e = song_summary(10000, 131072, 10, 3);
  EXPECT_EQ(e.bytes, 49152.0);
  EXPECT_NEAR(e.false_positive_probability, 0.002, 0.0005);
  expect_relative(e.false_positive_probability, 0.00187509290192459);
}

TEST(summary, misdirection_is_q_l_of_appendix_iii) {
  expect_relative(misdirection_probability(120000, 15, 1), 2.8421709430404e-59);
  expect_relative(misdirection_probability(87500, 49, 1), 4.58366979023365e-160);
  expect_relative(misdirection_probability(87500, 49, 1152), 1.51412160741365e-16);
  EXPECT_EQ(misdirection_probability(100, 49, 0), 0.0);
  EXPECT_EQ(misdirection_probability(1, 1, 1), 1.0);
}

TEST(summary, cells_are_packed_into_bytes) {      // SSH, Sections VIII-A, IX
  EXPECT_EQ(packed_bytes(120000, 6), 40000.0);    // three cells of [0, 5] in a byte
  EXPECT_EQ(packed_bytes(1200000, 7), 450000.0);  // three bits per cell of [0, 6]
  EXPECT_EQ(packed_bytes(800, 2), 100.0);
  EXPECT_EQ(packed_bytes(500, 3), 100.0);  // five ternary cells: 243 <= 256
  EXPECT_EQ(packed_bytes(100, 256), 100.0);
  EXPECT_EQ(packed_bytes(800, 257), 900.0);
}

TEST(summary, section_xi_b_counting_variants_take_the_printed_bytes) {
  const sizes filters{106000, 87500, 5500, 500, 100};
  EXPECT_EQ(counting_summary_bytes(filters, counts{4, 4, 4, 4, 2}), 99775.0);
  EXPECT_EQ(counting_summary_bytes(filters, counts{4, 4, 4, 3, 1}), 99700.0);
  // Table III's 32,450 bytes, "essentially 3.3 times".
  EXPECT_NEAR((99775 + 7500) / 32450.0, 3.3, 0.05);
}

TEST(summary, section_xi_b_counter_widths_are_the_suggested_ones) {
  const crisis_result filled = crisis(10000, ten_thousand);
  const sizes filters{106000, 87500, 5500, 500, 100};
  const counts hashes{7, 49, 49, 49, 49};
  counts conservative, bold;
  for (std::size_t i = 0; i < filters.size(); ++i) {
    const double elements = filled.left_after[i].mean();
    const double bits = static_cast<double>(filters[i]);
    conservative.push_back(summary_counter_bits(bits, elements, hashes[i], 1e-9));
    bold.push_back(summary_counter_bits(bits, elements, hashes[i], 1e-6));
  }
  // Four bits in the first three filters, three or four in the fourth, one or two in the last.
  EXPECT_EQ(conservative, (counts{4, 4, 4, 3, 2}));
  EXPECT_EQ(bold, (counts{4, 4, 4, 3, 1}));
}

TEST(summary, failure_sums_are_those_of_appendix_iii_by_hand) {
  // Two elements, levels of 2 and 1: with probability 1/2 one of them is of level 2 and the other,
  // of level 1, is misdirected with probability q_1 = (2/8)^2.
  const summary_error e = single_filter_summary(2, level_sizes{2, 1}, 8, 2);
  ASSERT_EQ(e.failure_per_level.size(), 1u);
  EXPECT_NEAR(e.failure_per_level[0], 0.5 * 1 * 0.0625, 1e-15);
  EXPECT_EQ(e.crisis_probability, 0.0);
}

TEST(summary, one_level_cannot_fail) {
  EXPECT_EQ(single_filter_summary(1, level_sizes{1}, 1, 1).failure_probability, 0.0);
  const summary_error e = multi_filter_summary(3, level_sizes{10}, sizes{100}, counts{3});
  EXPECT_EQ(e.failure_probability, 0.0);
  EXPECT_NEAR(e.crisis_probability, 1 - 0.9 * 0.8, 1e-15);
  EXPECT_EQ(interpolation_summary(8, level_sizes{64}, 8).bytes, 8 + 8.0);
}

TEST(summary, failure_bounds_beyond_certainty_are_one) {
  const summary_error e = single_filter_summary(10000, ten_thousand, 100, 1);
  EXPECT_EQ(e.failure_per_level[0], 1.0);
  EXPECT_EQ(e.failure_probability, 1.0);
}

TEST(summary, many_elements_are_approximated_smoothly) {
  const auto failure = [](std::uint64_t n) {
    return single_filter_summary(n, level_sizes{1200000, 300000, 150000, 75000}, 3600000, 15)
        .failure_probability;
  };
  // One more element of 300,000 raises the bound by about 31 / 300,000: n (n^2)^15.
  expect_relative(failure(exact_limit + 1) / failure(exact_limit), 1 + 31.0 / exact_limit, 2e-5);
  const std::uint64_t n = 1'000'000'000'000;
  const summary_error huge =
      single_filter_summary(n, level_sizes{4 * n, n, n / 2, n / 4, n / 8, n / 8}, 10 * n, 15);
  EXPECT_GT(huge.failure_probability, 0.0);
  EXPECT_TRUE(std::isfinite(huge.failure_probability));
}

TEST(summary, asymptotic_single_filter_fails_rarely_enough) {  // SSH, Appendix II-A; erratum 1.12
  for (const double n : {1e3, 1e5, 1e9, 1e13}) {
    const asymptotic_filter f = asymptotic_single_filter(n, 1);
    EXPECT_EQ(std::fmod(f.cells, f.hashes), 0.0);
    EXPECT_GE(f.cells, 3 / std::log(2.0) * n * std::log(n) / std::log(10.0 / 7));
    EXPECT_EQ(f.hashes, std::floor(f.cells / n * std::log(2.0)));
    // One element fails with probability at most (10/7) n^-(c + 2).
    const double log_failure =
        f.hashes * std::log(-std::expm1(n * std::log1p(-(f.hashes / f.cells))));
    EXPECT_LE(log_failure, std::log(10.0 / 7) - 3 * std::log(n));
  }
}

TEST(summary,
     asymptotic_multiple_filters_take_order_n_log_n_bits) {  // Appendix II-B; errata 1.13, 1.14
  for (const double n : {1e5, 1e9, 1e13}) {
    const unsigned levels = asymptotic_levels(n, 3, 0.5, 1);
    const std::vector<asymptotic_filter> filters = asymptotic_multi_filter(n, 3, 0.5, levels, 1);
    ASSERT_EQ(filters.size(), levels);
    double bits = 0;
    for (std::size_t i = 0; i < filters.size(); ++i) {
      bits += filters[i].cells;
      EXPECT_LE(filters[i].cells, filters[i == 0 ? 0 : i - 1].cells);
      EXPECT_EQ(filters[i].hashes, filters[0].hashes);
    }
    EXPECT_LT(bits, 4 * filters[0].cells);
  }
}

TEST(summary, bad_parameters_are_named) {
  EXPECT_EQ(refusal([] { interpolation_summary(10, level_sizes{}, 8); }),
            "number of levels must be from 1 to 32; found 0");
  EXPECT_EQ(refusal([] { interpolation_failure(10, 0); }),
            "string bits must be from 1 to 512; found 0");
  EXPECT_EQ(refusal([] { interpolation_failure(1e14, 8); }),
            "elements must be from 1 to 1e+13; found 1e+14");
  EXPECT_EQ(refusal([] { single_filter_summary(1, level_sizes{1}, 0, 1); }),
            "cells must be from 1 to 1e+13; found 0");
  EXPECT_EQ(refusal([] { single_filter_summary(1, level_sizes{1}, 9, 10); }),
            "hashes must be at most the cells; found 10");
  EXPECT_EQ(refusal([] { single_filter_summary(1, level_sizes{1}, 9, 0); }),
            "hashes must be from 1 to 256; found 0");
  EXPECT_EQ(refusal([] {
              multi_filter_summary(1, level_sizes{1, 1}, sizes{8}, counts{1, 1});
            }),
            "number of filter sizes must be as many as levels (2); found 1");
  EXPECT_EQ(refusal([] { multi_filter_summary(1, level_sizes{1}, sizes{8}, counts{}); }),
            "number of hash counts must be as many as levels (1); found 0");
  EXPECT_EQ(refusal([] { counting_summary_bytes(sizes{8}, counts{}); }),
            "number of counter widths must be as many as filters (1); found 0");
  EXPECT_EQ(refusal([] { counting_summary_bytes(sizes{}, counts{}); }),
            "number of filters must be at least 1; found 0");
  EXPECT_EQ(refusal([] { packed_bytes(8, 1); }), "values must be from 2 to 4294967295; found 1");
  EXPECT_EQ(refusal([] { song_summary(10, 0, 2, 3); }), "buckets must be from 1 to 1e+13; found 0");
  EXPECT_EQ(refusal([] { asymptotic_single_filter(1, 1); }),
            "elements must be from 2 to 1e+13; found 1");
}

RC_GTEST_PROP(summary_properties, more_cells_fail_less_and_cost_more, ()) {
  const auto n = *rc::gen::inRange<std::uint64_t>(2, 300);
  const auto cells = *rc::gen::inRange<std::uint64_t>(20, 5000);
  const auto hashes = *rc::gen::inRange(1u, 20u);
  const level_sizes levels{4 * n, n, n};
  const summary_error small = single_filter_summary(n, levels, cells, hashes);
  const summary_error large = single_filter_summary(n, levels, cells + 100, hashes);
  RC_ASSERT(large.bytes > small.bytes);
  RC_ASSERT(large.failure_probability <= small.failure_probability);
  RC_ASSERT(large.false_positive_probability <= small.false_positive_probability);
  RC_ASSERT(large.crisis_probability == small.crisis_probability);
}

TEST(summary, counters_of_song_et_al_hardly_ever_overflow) {
  // SSH, Section IX: three-bit counters, ten hashes, 131,072 buckets, 10,000 elements. Overflow, a
  // counter of eight or more, is rare per counter; it matters only if all ten of a key's counters
  // are wrong.
  const double overflowing = expected_counters_at_least(131072, 10000, 10, 8);
  EXPECT_LT(overflowing / 131072, 2e-6);
  EXPECT_LT(std::pow(overflowing / 131072, 10), 1e-50);
}

TEST(summary, counters_reach_values_as_balls_in_bins_do) {
  // Three elements or none, and two counters: by hand.
  const count_distribution three{.first = 0, .step = 3, .probability = {0.5, 0.5}};
  const counter_law each = counters_reaching(three, 2, 1, counted::each_hash, 4);
  expect_relative(each.expected[2], 0.5 * 2 / 8, 1e-12);
  expect_relative(each.any[2], 0.5 * (1 - std::pow(7.0 / 8, 2)), 1e-12);
  EXPECT_EQ(each.any[3], 0);
  // Two hashes that count once: an element misses a counter with probability 1/4.
  const counter_law once = counters_reaching(three, 2, 2, counted::once, 3);
  expect_relative(once.expected[2], 0.5 * 2 * std::pow(0.75, 3), 1e-12);
  const std::vector<double> largest = largest_counter_at_least(each, 10);
  expect_relative(largest[2], 1 - std::pow(1 - each.any[2], 10), 1e-12);
}

TEST(summary, hashes_best_against_failures_are_far_more_than_against_false_positives) {
  // SSH, Section VIII-A: k = (ln 2) m / (beta_1 n) and (ln 2) m / n.
  expect_relative(hashes_of_least_error(120000, 10000), 12 * std::log(2.0), 1e-12);
  expect_relative(hashes_of_least_error(120000, 1152), 120000 / 1152.0 * std::log(2.0), 1e-12);
  EXPECT_GT(hashes_of_least_error(120000, 1152), 70);
}

}  // namespace
