#include "oneprobe/model/balanced.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "oneprobe/model/bloom.hpp"
#include "unit/model/expect.hpp"

namespace {

using namespace oneprobe::model;

balanced_shape counted(lookup_rule rule) {
  return {.block_bits = 512,
          .bits_set = 12,
          .choices = 3,
          .rule = rule,
          .threshold = 28,
          .admit_probability = rule == lookup_rule::tracking ? 0.0 : 0.4};
}

TEST(balanced, a_better_rule_reads_fewer_blocks_and_errs_less) {  // errata 0.22-0.24
  const double mean = 27;
  const filter_error counter = evaluate(counted(lookup_rule::counter), mean);
  const filter_error coin = evaluate(counted(lookup_rule::coin), mean);
  const filter_error flag = evaluate(counted(lookup_rule::flag), mean);
  const filter_error both = evaluate(counted(lookup_rule::coin_flag), mean);
  EXPECT_LT(coin.miss_accesses, counter.miss_accesses);
  EXPECT_LT(flag.miss_accesses, coin.miss_accesses);
  EXPECT_LT(both.miss_accesses, flag.miss_accesses);
  EXPECT_LT(coin.fpr, counter.fpr);
  EXPECT_LT(both.fpr, flag.fpr);
  // All place alike.
  expect_relative(both.insert_accesses, counter.insert_accesses, 1e-14);
  expect_relative(both.overflow_fraction, counter.overflow_fraction, 1e-14);
}

TEST(balanced, state_bits_count_the_states) {  // errata 0.24, 0.25
  balanced_shape shape{.rule = lookup_rule::counter, .threshold = 3, .admit_probability = 0};
  EXPECT_EQ(shape.state_bits(), 2u);  // BBF, Fig. 1: h = 3, two bits
  shape.admit_probability = 0.5;
  EXPECT_EQ(shape.state_bits(), 3u);  // loads 0 .. 4
  shape = {.rule = lookup_rule::flag, .threshold = 6, .admit_probability = 0};
  EXPECT_EQ(shape.state_bits(), 3u);  // 0 .. 6 and "6, has refused"
  shape = {.rule = lookup_rule::popcount, .threshold = 250, .tracking_bits = 8};
  EXPECT_EQ(shape.state_bits(), 8u);
}

TEST(balanced, without_refusals_it_is_the_blocked_filter) {
  const balanced_shape shape{.block_bits = 512,
                             .bits_set = 8,
                             .scheme = scheme_kind::single,
                             .choices = 1,
                             .rule = lookup_rule::popcount,
                             .threshold = 511,
                             .tracking_bits = 1};
  const double mean = 32;
  const filter_error error = evaluate(shape, mean);
  EXPECT_NEAR(error.overflow_fraction, 0, 1e-30);
  expect_relative(
      error.fpr,
      blocked_error({.bits_per_element = 511.0 / mean, .block_bits = 511, .bits_set = 8}), 1e-10);
}

TEST(balanced, a_search_meets_its_memory_and_access_limits) {
  for (const double bits : {10.0, 18.0, 26.0})
    for (const double limit : {1.05, 1.2, 1.5}) {
      const balanced_point found =
          choose_balanced({.bits_per_element = bits, .access_limit = limit});
      expect_relative(found.error.bits_per_element, bits, 1e-9);
      EXPECT_LE(found.error.miss_accesses, limit);
      EXPECT_LE(found.error.hit_accesses, limit);
      const filter_error again = evaluate(found.shape, found.arrivals_mean);
      expect_relative(again.fpr, found.error.fpr, 1e-12);
    }
}

TEST(balanced, from_20_bits_on_it_beats_the_best_blocked_filter_and_below_16_it_ties) {
  // STUDY, conclusions 1 and 3, for blocks of 512 bits.
  const auto gain = [](double bits) {
    const double blocked = blocked_error({.bits_per_element = bits,
                                          .block_bits = 512,
                                          .bits_set = best_bits_set_blocked(bits, 512)});
    return blocked / choose_balanced({.bits_per_element = bits}).error.fpr;
  };
  EXPECT_NEAR(gain(10), 1, 0.02);
  EXPECT_NEAR(gain(14), 1, 0.02);
  EXPECT_GT(gain(20), 1.4);
  EXPECT_GT(gain(32), 7);
}

TEST(balanced, stopping_at_the_threshold_would_lose_elements) {  // erratum 0.22
  EXPECT_GT(missed_if_query_stops_at_threshold(7.68, {7, 0.1128}, 3), 0.125);
  EXPECT_LT(missed_if_query_stops_at_threshold(1e-9, {7, 0.1128}, 3), 1e-60);
}

TEST(balanced, bad_shapes_are_refused_by_name) {
  const auto with = [](auto change) {
    return [change] {
      balanced_shape shape = counted(lookup_rule::counter);
      change(shape);
      evaluate(shape, 27);
    };
  };
  expect_refused(with([](auto& s) { s.block_bits = 0; }), "block bits");
  expect_refused(with([](auto& s) { s.bits_set = 0; }), "bits set");
  expect_refused(with([](auto& s) { s.choices = 0; }), "choices");
  expect_refused(with([](auto& s) { s.threshold = 0; }), "threshold");
  expect_refused(with([](auto& s) { s.admit_probability = -0.1; }), "admit probability");
  expect_refused(with([](auto& s) { s.scheme = scheme_kind::d_left; }), "scheme");
  expect_refused(with([](auto& s) { s.scheme = scheme_kind::single; }), "choices");
  expect_refused(with([](auto& s) { s.rule = lookup_rule::tracking; }), "admit probability");
  expect_refused([] { evaluate(counted(lookup_rule::counter), 0); }, "arrivals");
  expect_refused([] { evaluate(counted(lookup_rule::counter), std::nan("")); }, "arrivals");
  expect_refused([] { choose_balanced({.bits_per_element = 0.5}); }, "bits per element");
  expect_refused([] { choose_balanced({.bits_per_element = 16, .access_limit = 0.9}); },
                 "access limit");
  expect_refused([] { balanced_at_budget(20, 512, 12, 1.2, 3, lookup_rule::popcount); }, "rule");
  expect_refused([] { balanced_as_printed(40, 256, 28, 0.9, 3); }, "accesses");
}

RC_GTEST_PROP(balanced, probabilities_are_probabilities_and_accesses_are_counted, ()) {
  const auto rule =
      *rc::gen::element(lookup_rule::counter, lookup_rule::coin, lookup_rule::flag,
                        lookup_rule::coin_flag, lookup_rule::tracking, lookup_rule::popcount);
  balanced_shape shape{.block_bits = *rc::gen::element(256u, 512u),
                       .bits_set = *rc::gen::inRange(1u, 25u),
                       .choices = *rc::gen::inRange(1u, 5u),
                       .rule = rule};
  const bool popcount = rule == lookup_rule::popcount;
  shape.threshold = popcount ? *rc::gen::inRange(60u, 200u) : *rc::gen::inRange(2u, 60u);
  shape.tracking_bits = *rc::gen::inRange(1u, 20u);
  if (!popcount && rule != lookup_rule::tracking)
    shape.admit_probability = *rc::gen::inRange(0, 1001) / 1000.0;
  const double mean = *rc::gen::inRange(100, 80000) / 1000.0;
  const filter_error error = evaluate(shape, mean);
  RC_ASSERT(error.fpr >= 0 && error.fpr <= shape.choices);
  RC_ASSERT(error.overflow_fraction >= 0 && error.overflow_fraction <= 1);
  RC_ASSERT(error.miss_accesses >= 1 && error.miss_accesses <= shape.choices + 1 + 1e-9);
  RC_ASSERT(error.hit_accesses >= 1 && error.hit_accesses <= shape.choices + 1 + 1e-9);
  RC_ASSERT(error.insert_accesses <= error.hit_accesses);
  RC_ASSERT(std::abs(error.elements_per_block * error.insert_accesses - mean) <= 1e-9 * mean);
}

}  // namespace
