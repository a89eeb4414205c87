#include "oneprobe/model/bloom.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <initializer_list>
#include <numbers>
#include <vector>

#include "oneprobe/model/poisson.hpp"
#include "unit/model/expect.hpp"

namespace {

using namespace oneprobe::model;

/// Every set of positions of every element, enumerated: P(a further element finds only set bits).
double enumerated_block_error(unsigned bits, unsigned bits_set, unsigned load, bool distinct) {
  std::vector<unsigned> masks;  // of one element, each equally likely
  const auto draw = [&](auto&& self, unsigned left, unsigned mask) -> void {
    if (left == 0) {
      masks.push_back(mask);
      return;
    }
    for (unsigned b = 0; b < bits; ++b)
      if (!distinct || (mask >> b & 1u) == 0) self(self, left - 1, mask | 1u << b);
  };
  draw(draw, bits_set, 0);
  std::vector<double> filled(1u << bits, 0.0);
  filled[0] = 1;
  for (unsigned i = 0; i < load; ++i) {
    std::vector<double> next(filled.size(), 0.0);
    for (unsigned set = 0; set < filled.size(); ++set)
      for (const unsigned mask : masks)
        next[set | mask] += filled[set] / static_cast<double>(masks.size());
    filled = next;
  }
  double error = 0;
  for (unsigned set = 0; set < filled.size(); ++set)
    for (const unsigned mask : masks)
      if ((mask & ~set) == 0) error += filled[set] / static_cast<double>(masks.size());
  return error;
}

TEST(bloom, standard_error_at_the_best_real_number_of_bits_is_0_6185_per_bit) {  // SSH, Section III
  EXPECT_NEAR(std::pow(0.5, std::numbers::ln2), 0.6185, 5e-5);
  // 1/2 of the bits are set when k = beta ln 2; beta = 10 / ln 2 makes k = 10 whole.
  expect_relative(standard_error(10 / std::numbers::ln2, 10), std::pow(0.5, 10), 1e-13);
}

TEST(bloom, standard_error_of_ecb_section_ix_c_at_40_bits_and_at_39_point_4) {  // erratum 0.17
  expect_relative(standard_error(40, 28), 4.50738768448927e-09);
  EXPECT_NEAR(standard_error(40.0 * 252 / 256, 28), 6.1e-9, 0.05e-9);
}

TEST(bloom, standard_error_is_exact_for_finite_filters) {
  expect_relative(standard_error_exact(1000, 100, 7), 0.008266247514843558);
  expect_relative(standard_error_exact(10000, 1000, 7), 0.008200957404774735);
  expect_relative(standard_error_exact(256, 10, 17), 5.521164511515082e-06);
  // One element, two bits, k = 2: one bit is set or both, with equal probability.
  EXPECT_NEAR(standard_error_exact(2, 1, 2), 0.5 * 0.25 + 0.5 * 1.0, 1e-15);
  EXPECT_EQ(standard_error_exact(1, 1, 1), 1.0);
}

TEST(bloom, standard_error_of_a_huge_finite_filter_tends_to_the_limit) {
  expect_relative(standard_error_exact(10'000'000'000'000, 1'000'000'000'000, 7),
                  standard_error(10, 7), 1e-10);
  EXPECT_GT(standard_error_exact(1000, 100, 7), standard_error_finite(1000, 100, 7));
}

TEST(bloom, exact_standard_error_agrees_with_a_block_of_the_same_size) {
  for (const unsigned k : {1u, 3u, 8u, 20u})
    expect_relative(standard_error_exact(512, 37, k), block_error(512, k, 37), 1e-12);
}

TEST(bloom, partitioned_error_is_that_of_lemma_8_1) {  // SSH, Section VIII-A
  expect_relative(partitioned_error(1000, 100, 7), 0.00833383314731045);
  expect_relative(partitioned_error(120000, 10000, 15), 0.00632514136043571);
  expect_relative(partitioned_error(1e13, 1e12, 7), standard_error(10, 7), 1e-10);
}

TEST(bloom, best_bits_set_is_next_to_beta_ln_2) {
  for (const auto& [beta, best] : std::initializer_list<std::pair<double, unsigned>>{
           {0.01, 1}, {1, 1}, {8, 6}, {12, 8}, {16, 11}, {28, 19}, {32, 22}, {40, 28}})
    EXPECT_EQ(best_bits_set_standard(beta), best) << beta;
  EXPECT_EQ(best_bits_set_standard(1e6), largest_bits_set);
}

TEST(bloom, negative_query_of_a_standard_filter_reads_about_two_lines_at_its_best) {
  EXPECT_NEAR(standard_miss_accesses(10 / std::numbers::ln2, 10), 2 - std::pow(0.5, 9), 1e-12);
  EXPECT_NEAR(standard_miss_accesses(8, 1), 1.0, 1e-15);
}

TEST(bloom, block_error_agrees_with_enumeration_for_every_layout) {
  for (const unsigned load : {0u, 1u, 2u, 4u}) {
    EXPECT_NEAR(block_error(4, 2, load), enumerated_block_error(4, 2, load, false), 1e-13);
    EXPECT_NEAR(block_error(6, 3, load), enumerated_block_error(6, 3, load, false), 1e-13);
    EXPECT_NEAR(block_error(6, 3, load, block_layout::distinct),
                enumerated_block_error(6, 3, load, true), 1e-13);
    // Two lanes of three bits: (1 - (2/3)^load)^2.
    EXPECT_NEAR(block_error(6, 2, load, block_layout::lanes),
                std::pow(1 - std::pow(2.0 / 3, load), 2), 1e-14);
  }
}

TEST(bloom, block_error_is_exact_where_the_exponential_is_not) {  // errata 0.4, 0.19
  expect_relative(block_error(252, 28, 10), 1.9925945365084043e-05);
  expect_relative(block_error_approximate(252, 28, 10), 1.3955089505762561e-05);
  expect_relative(block_error(512, 8, 40, block_layout::distinct), 0.002175210216982415);
  expect_relative(block_error(512, 8, 40, block_layout::lanes), 0.0022767241225372594);
}

TEST(bloom, block_errors_lists_what_block_error_says) {
  for (const auto layout :
       {block_layout::independent, block_layout::distinct, block_layout::lanes}) {
    const std::vector<double> errors = block_errors(64, 8, 300, layout);
    ASSERT_EQ(errors.size(), 301u);
    EXPECT_EQ(errors[0], 0.0);
    for (const unsigned load : {1u, 2u, 17u, 300u})
      EXPECT_EQ(errors[load], block_error(64, 8, load, layout)) << load;
  }
  EXPECT_EQ(block_errors(1, 1, 1000).back(), 1.0);
}

TEST(bloom, blocked_error_of_ecb_section_ix_c_is_reproduced_and_was_too_low) {  // printed 2.3e-5;
                                                                                // erratum 0.19
  const blocked_shape shape{.bits_per_element = 40, .block_bits = 256, .bits_set = 28};
  EXPECT_NEAR(blocked_error_approximate(shape), 2.357e-5, 0.0005e-5);
  EXPECT_NEAR(blocked_error(shape), 3.02e-5, 0.005e-5);
}

TEST(bloom, blocked_filter_is_best_with_fewer_bits_than_beta_ln_2) {  // erratum 0.20
  EXPECT_EQ(best_bits_set_blocked(40, 256), 14u);
  expect_relative(blocked_error({40, 256, 14}), 4.53404024281151e-06);
  EXPECT_EQ(best_bits_set_blocked(16, 512), 9u);
  EXPECT_EQ(best_bits_set_blocked(16, 512, block_layout::lanes), 8u);
  EXPECT_EQ(best_bits_set_blocked(0.01, 1), 1u);
}

TEST(bloom, blocked_error_is_the_mixture_of_its_loads) {
  for (const auto& [beta, bits, k] :
       {std::tuple{8.0, 512u, 5u}, {40.0, 64u, 9u}, {300.0, 512u, 20u}}) {
    const double mean = bits / beta;
    const std::vector<double> errors = block_errors(bits, k, 400);
    double sum = 0;
    for (unsigned load = 0; load <= 400; ++load)
      sum += poisson_probability(mean, load) * errors[load];
    expect_relative(blocked_error({beta, bits, k}), sum, 1e-12);
  }
}

TEST(bloom, blocked_error_of_finite_filters_mixes_binomial_loads) {
  expect_relative(blocked_error_finite(1000, 30, 512, 8), 0.001099238060133393);
  expect_relative(blocked_error_finite(10000, 320, 512, 8), 0.0007785525094098705);
  // One block is a standard filter; very many blocks are the limit; a full block always says yes.
  expect_relative(blocked_error_finite(37, 1, 512, 8), block_error(512, 8, 37), 1e-12);
  expect_relative(blocked_error_finite(10'000'000'000'000, 312'500'000'000, 512, 9),
                  blocked_error({16, 512, 9}), 1e-9);
  EXPECT_NEAR(blocked_error_finite(10'000'000'000'000, 1, 512, 8), 1.0, 1e-12);
}

TEST(bloom, perfect_balance_is_a_block_with_the_mean_load) {
  expect_relative(perfectly_balanced_error({8, 512, 6}), block_error(512, 6, 64), 1e-14);
  expect_relative(perfectly_balanced_error({10, 512, 7}), 0.008334034648711517);
  EXPECT_LT(perfectly_balanced_error({10, 512, 7}), blocked_error({10, 512, 7}));
}

TEST(bloom, counters_of_section_xi_b_rarely_reach_thirteen) {  // SSH, Section XI-B
  // The largest counter in a million builds of B_0 was 12: expected are 0.83 such, 0.04 of 13.
  expect_relative(1e6 * expected_counters_at_least(106000, 10000, 7, 12), 0.8283820184755184);
  expect_relative(1e6 * expected_counters_at_least(106000, 10000, 7, 13), 0.04192180757575572);
  EXPECT_EQ(expected_counters_at_least(106000, 10000, 7, 0), 106000.0);
  EXPECT_EQ(counter_bits_for(106000, 10000, 7, 1e-9), 4u);
  EXPECT_EQ(counter_bits_for(100, 1, 1, 1e-9), 2u + 1u);
}

TEST(bloom, bad_parameters_are_named) {
  EXPECT_EQ(refusal([] { standard_error(0, 3); }),
            "bits per element must be from 0.01 to 1e+06; found 0");
  EXPECT_EQ(refusal([] { standard_error(NAN, 3); }),
            "bits per element must be from 0.01 to 1e+06; found nan");
  EXPECT_EQ(refusal([] { standard_error(8, 0); }), "bits set must be from 1 to 256; found 0");
  EXPECT_EQ(refusal([] { block_error(0, 1, 1); }), "block bits must be from 1 to 4096; found 0");
  EXPECT_EQ(refusal([] { block_error(64, 5, 1, block_layout::lanes); }),
            "bits set (lanes) must be a divisor of the block bits; found 5");
  EXPECT_EQ(refusal([] { block_error(4, 5, 1, block_layout::distinct); }),
            "bits set (distinct) must be at most the block bits; found 5");
  EXPECT_EQ(refusal([] { partitioned_error(6, 1, 7); }),
            "bits set (partitioned) must be at most the bits; found 7");
  EXPECT_EQ(refusal([] { standard_error_exact(1000, 10'000'000'000'001, 7); }),
            "elements must be from 1 to 1e+13; found 10000000000001");
  EXPECT_EQ(refusal([] { blocked_error_finite(1, 0, 512, 8); }),
            "blocks must be from 1 to 1e+13; found 0");
  EXPECT_EQ(refusal([] { counter_bits_for(100, 1, 1, 0); }),
            "allowed counters must be above 0 and at most 1e+13; found 0");
  EXPECT_EQ(refusal([] { block_errors(64, 1, 1000001); }),
            "largest load must be from 0 to 1e+06; found 1000001");
}

RC_GTEST_PROP(bloom_properties, block_error_grows_with_the_load_and_stays_a_probability, ()) {
  const auto bits = *rc::gen::inRange(1u, 600u);
  const auto k = *rc::gen::inRange(1u, std::min(bits, 30u) + 1);
  const auto layout = *rc::gen::element(block_layout::independent, block_layout::distinct);
  const std::vector<double> errors = block_errors(bits, k, 60, layout);
  for (std::size_t i = 1; i < errors.size(); ++i) {
    RC_ASSERT(errors[i] >= errors[i - 1] * (1 - 1e-12));
    RC_ASSERT(errors[i] <= 1 + 1e-12);
  }
}

RC_GTEST_PROP(bloom_properties, a_blocked_filter_is_worse_than_a_standard_one, ()) {
  const double beta = *rc::gen::inRange(30, 400) / 10.0;
  const auto bits = *rc::gen::element(64u, 256u, 512u);
  const auto k = *rc::gen::inRange(1u, best_bits_set_standard(beta) + 1);
  // With one bit they are equal: the mean over the blocks is the mean over the bits.
  RC_ASSERT(blocked_error({beta, bits, k}) >= standard_error(beta, k) * (1 - 1e-12));
}

RC_GTEST_PROP(bloom_properties, equal_loads_are_best_from_a_few_bits_on, ()) {
  const double beta = *rc::gen::inRange(80, 400) / 10.0;
  const auto bits = *rc::gen::element(64u, 256u, 512u);
  const auto k = *rc::gen::inRange(3u, best_bits_set_standard(beta) + 1);
  const blocked_shape shape{beta, bits, k};
  RC_ASSERT(perfectly_balanced_error(shape) <= blocked_error(shape));
}

}  // namespace
