#include "oneprobe/model/fingerprint.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "oneprobe/model/bloom.hpp"
#include "unit/model/expect.hpp"

namespace {

using namespace oneprobe::model;

TEST(fingerprint, the_block_is_filled_to_the_last_bit) {
  const fingerprint_shape shape{.block_bits = 512, .bucket_capacity = 27, .remainder_bits = 16};
  EXPECT_EQ(shape.quotients(), 52);  // 27 * 16 + 27 + 52 + 1 = 512
  EXPECT_EQ((fingerprint_shape{.block_bits = 512, .bucket_capacity = 47, .remainder_bits = 8}
                 .quotients()),
            88);
  EXPECT_EQ((fingerprint_shape{.block_bits = 512, .bucket_capacity = 34, .remainder_bits = 12}
                 .quotients()),
            69);
}

TEST(fingerprint, errs_less_than_a_standard_filter_of_the_same_memory_from_8_bits_on) {
  // STUDY, conclusion 4, blocks of 512 bits.
  for (const double bits : {8.0, 11.0, 16.0, 20.0, 24.0}) {
    const double standard = standard_error(bits, best_bits_set_standard(bits));
    const fingerprint_point ours = choose_fingerprint({.bits_per_element = bits});
    EXPECT_LT(ours.error.fpr, standard);
    EXPECT_LE(ours.error.miss_accesses, 1.2);
    EXPECT_LE(ours.error.hit_accesses, 1.2);
  }
}

TEST(fingerprint, prefix_order_beats_first_come) {
  for (const double bits : {12.0, 20.0}) {
    const double prefix = choose_fingerprint({.bits_per_element = bits}).error.fpr;
    const double first_come =
        choose_fingerprint({.bits_per_element = bits, .order = overflow_order::first_come})
            .error.fpr;
    EXPECT_LT(prefix, first_come);
  }
}

TEST(fingerprint, a_filter_at_its_rated_fill_without_slack_is_the_plain_model) {
  const fingerprint_shape shape{.block_bits = 512, .bucket_capacity = 47, .remainder_bits = 8};
  const filter_error rated = evaluate(shape, 49.8);
  const overfilled same = overfill(shape, 49.8, 0, 1);
  expect_relative(same.fpr, rated.fpr, 1e-10);
  expect_relative(same.miss_accesses, rated.miss_accesses, 1e-12);
  expect_relative(same.hit_accesses, rated.hit_accesses, 1e-12);
  expect_relative(same.overflow_fraction, rated.overflow_fraction, 1e-9);
}

TEST(fingerprint, slack_absorbs_over_fill) {
  const fingerprint_shape shape{.block_bits = 512, .bucket_capacity = 47, .remainder_bits = 8};
  EXPECT_GT(overfill(shape, 49.8, 0, 1.02).overflow_fraction, 0.01);
  EXPECT_LT(overfill(shape, 49.8, 0.2, 1.02).overflow_fraction, 1e-4);
  EXPECT_EQ(overfill(shape, 49.8, 0.2, 0).overflow_fraction, 0.0);
}

TEST(fingerprint, bad_shapes_are_refused_by_name) {
  expect_refused([] { evaluate(fingerprint_shape{.bucket_capacity = 0}, 10); }, "capacity");
  expect_refused(
      [] { evaluate(fingerprint_shape{.bucket_capacity = 40, .remainder_bits = 16}, 10); },
      "block bits");
  expect_refused([] { evaluate(fingerprint_shape{.note_bits = 0}, 10); }, "note bits");
  expect_refused([] { evaluate(fingerprint_shape{}, -1); }, "arrivals");
  expect_refused([] { overfill(fingerprint_shape{}, 28, -1, 1); }, "slack");
  expect_refused([] { handed_on_fraction(fingerprint_shape{}, 0); }, "arrivals");
  expect_refused([] { evaluate_built(fingerprint_shape{}, 1000, {}); }, "levels");
  expect_refused(
      [] {
        evaluate_built(fingerprint_shape{.order = overflow_order::first_come}, 1000, {{50}, 0, 0});
      },
      "order");
  expect_refused([] { choose_fingerprint({.bits_per_element = std::nan("")}); },
                 "bits per element");
  expect_refused([] { choose_fingerprint({.bits_per_element = 16, .access_limit = 1}); },
                 "fingerprint filter");
}

/// Levels of the sizes that all get the same arrivals, and a list with room for everything.
built_levels geometric_levels(const fingerprint_shape& shape, double elements, double mean) {
  built_levels levels{.blocks = {}, .overflow_slots = elements, .overflow_reserve = elements};
  const double handed_on = handed_on_fraction(shape, mean);
  for (unsigned i = 0; i < shape.choices; ++i)
    levels.blocks.push_back(elements / mean * std::pow(handed_on, i));
  return levels;
}

TEST(fingerprint, geometric_levels_give_the_error_of_the_geometric_filter) {
  constexpr double elements = 1e8;
  for (const double mean : {20.0, 27.0, 30.0}) {
    const fingerprint_shape shape{.bucket_capacity = 27, .remainder_bits = 16};
    const built_error built =
        evaluate_built(shape, elements, geometric_levels(shape, elements, mean));
    const filter_error limit = evaluate(shape, mean);
    // Equal fingerprints, one in a hundred thousand here, are one as built.
    EXPECT_NEAR(built.fpr, limit.fpr, 1e-3 * limit.fpr);
    EXPECT_NEAR(built.miss_accesses, limit.miss_accesses, 1e-4);
    EXPECT_NEAR(built.hit_accesses, limit.hit_accesses, 1e-4);
    EXPECT_NEAR(built.overflow_fraction, limit.overflow_fraction, 0.01 * limit.overflow_fraction);
    EXPECT_EQ(built.forced_fraction, 0);
  }
}

TEST(fingerprint, equal_ones_take_one_slot) {
  const fingerprint_shape narrow{.bucket_capacity = 66, .remainder_bits = 5};
  const fingerprint_shape wide{.bucket_capacity = 27, .remainder_bits = 16};
  const auto as_if_all_differed = [](const fingerprint_shape& shape, double mean) {
    return evaluate(shape, mean).insert_accesses - 1;  // the sum of powers of what is passed on
  };
  EXPECT_LT(handed_on_fraction(narrow, 66), 0.97 * as_if_all_differed(narrow, 66));
  EXPECT_NEAR(handed_on_fraction(wide, 20), as_if_all_differed(wide, 20), 1e-3);
}

TEST(fingerprint, a_list_that_is_full_saturates_the_last_level) {
  const fingerprint_shape shape{.bucket_capacity = 27, .remainder_bits = 16};
  built_levels levels = geometric_levels(shape, 1e6, 28);
  const built_error enough = evaluate_built(shape, 1e6, levels);
  ASSERT_GT(enough.overflow_fraction, 1e-5);
  double before = enough.fpr;
  for (const double part : {0.9, 0.5, 0.1, 0.0}) {
    levels.overflow_reserve = part * enough.overflow_fraction * 1e6;
    const built_error less = evaluate_built(shape, 1e6, levels);
    EXPECT_GT(less.forced_fraction, 0);
    EXPECT_GT(less.fpr, before);
    before = less.fpr;
  }
  // Without a list every bucket that passed something on is saturated: all that reaches one errs.
  EXPECT_EQ(evaluate_built(shape, 1e6, levels).list_queries, 0);
  EXPECT_LE(before, enough.miss_accesses - 1);
}

RC_GTEST_PROP(fingerprint, more_arrivals_err_and_overflow_more, ()) {
  const auto order = *rc::gen::element(overflow_order::prefix, overflow_order::first_come);
  const fingerprint_shape shape{.block_bits = 512,
                                .bucket_capacity = *rc::gen::inRange(10u, 50u),
                                .remainder_bits = *rc::gen::inRange(2u, 9u),
                                .note_bits = *rc::gen::inRange(1u, 17u),
                                .choices = *rc::gen::inRange(1u, 5u),
                                .order = order};
  const double mean = *rc::gen::inRange(100, 60000) / 1000.0;
  const filter_error here = evaluate(shape, mean);
  const filter_error more = evaluate(shape, mean * 1.05);
  RC_ASSERT(here.fpr >= 0 && here.fpr <= shape.choices);
  RC_ASSERT(more.fpr >= here.fpr);
  RC_ASSERT(more.overflow_fraction >= here.overflow_fraction);
  RC_ASSERT(more.miss_accesses >= here.miss_accesses);
}

}  // namespace
