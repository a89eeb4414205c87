#include "oneprobe/model/balanced_levels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <stdexcept>

#include "oneprobe/model/bloom.hpp"
#include "unit/model/expect.hpp"

namespace {

using namespace oneprobe::model;
using oneprobe::scheme_kind;

balanced_shape popcount_shape() {
  return {.block_bits = 512,
          .bits_set = 13,
          .scheme = scheme_kind::multilevel,
          .choices = 3,
          .rule = lookup_rule::popcount,
          .threshold = 252,
          .tracking_bits = 8};
}

TEST(balanced_levels, geometric_levels_give_the_error_of_the_geometric_filter) {
  for (const lookup_rule rule : {lookup_rule::popcount, lookup_rule::tracking, lookup_rule::flag}) {
    balanced_shape shape = popcount_shape();
    shape.rule = rule;
    if (rule != lookup_rule::popcount) shape.threshold = 28;
    const double mean = 27, n = 1e8;
    const built_filter filter(shape);
    const double refused = filter.refused_fraction(mean);
    built_levels levels{{n / mean, n / mean * refused, n / mean * refused * refused}, n, n};
    const built_error built = filter.at(n, levels);
    const filter_error limit = evaluate(shape, mean);
    expect_relative(built.miss_accesses, limit.miss_accesses, 1e-9);
    expect_relative(built.insert_accesses, limit.insert_accesses, 1e-9);
    expect_relative(built.overflow_fraction, limit.overflow_fraction, 1e-9);
    expect_relative(built.fpr, limit.fpr, 1e-4);  // the lists differ in load
    EXPECT_EQ(built.forced_fraction, 0);
  }
}

TEST(balanced_levels, sequential_placement_in_one_level_gives_the_same_as_its_limit) {
  balanced_shape shape = popcount_shape();
  shape.scheme = scheme_kind::sequential;
  const double mean = 27;
  const filter_error limit = evaluate(shape, mean);
  const double blocks = 1e6;
  const built_error built =
      built_filter(shape).at(blocks * limit.elements_per_block, {{blocks}, 1e8, 1e8});
  expect_relative(built.arrivals_mean.front(), mean, 1e-6);
  expect_relative(built.overflow_fraction, limit.overflow_fraction, 1e-5);
  expect_relative(built.miss_accesses, limit.miss_accesses, 1e-6);
}

TEST(balanced_levels, larger_later_levels_overflow_less_and_read_less) {
  const built_filter filter(popcount_shape());
  const double n = 1e7, mean = 27, refused = filter.refused_fraction(mean);
  double overflow = 1, accesses = 10;
  for (const double slack : {1.0, 1.1, 1.2, 1.4}) {
    const double second = n / mean * refused * slack;
    const built_error error = filter.at(n, {{n / mean, second, second * refused}, n, n});
    EXPECT_LT(error.overflow_fraction, overflow);
    EXPECT_LT(error.miss_accesses, accesses);
    overflow = error.overflow_fraction;
    accesses = error.miss_accesses;
  }
}

TEST(balanced_levels, elements_beyond_the_reserve_are_forced_and_raise_the_error) {
  const built_filter filter(popcount_shape());
  const double n = 1e6, mean = 27, refused = filter.refused_fraction(mean);
  const built_levels levels{
      {n / mean, 1.2 * n / mean * refused, 1.2 * n / mean * refused * refused}, 64, 40};
  const built_error planned = filter.at(n, levels);
  EXPECT_EQ(planned.forced_fraction, 0);
  double before = planned.fpr;
  for (const double factor : {1.03, 1.05, 1.1, 1.3}) {
    const built_error over_full = filter.at(factor * n, levels);
    EXPECT_GT(over_full.forced_fraction, 0);
    expect_relative(over_full.forced_fraction, over_full.overflow_fraction - 40 / (factor * n),
                    1e-9);
    EXPECT_GT(over_full.fpr, before);
    EXPECT_LE(over_full.fpr, 1);
    before = over_full.fpr;
  }
}

TEST(balanced_levels, a_block_that_everything_is_forced_into_is_a_blocked_filter) {
  balanced_shape shape = popcount_shape();
  shape.scheme = scheme_kind::single;
  shape.choices = 1;
  shape.tracking_bits = 1;
  shape.threshold = 200;
  // No list at all: whatever a block refuses is forced into it.
  const double blocks = 1e5, mean = 25;
  const built_error error = built_filter(shape).at(blocks * mean, {{blocks}, 0, 0});
  const double blocked = blocked_error({511 / mean, 511, shape.bits_set});
  // A query that did not match goes on to a list that is empty: the same answer.
  expect_relative(error.fpr, blocked, 1e-3);
}

// Filters of counters, filled element by element: the number that overflows, and how it varies.
TEST(balanced_levels, overflow_varies_as_predicted) {
  constexpr unsigned capacity = 10;
  const std::vector<double> blocks{400, 60, 20};
  constexpr double elements = 4500;
  constexpr int trials = 2000;
  balanced_shape shape = popcount_shape();
  shape.rule = lookup_rule::tracking;
  shape.threshold = capacity;
  const built_error predicted = built_filter(shape).at(elements, {blocks, 1e6, 1e6});
  const double mean = elements * predicted.overflow_fraction;

  std::mt19937_64 random(20081);
  double sum = 0, squares = 0;
  for (int trial = 0; trial < trials; ++trial) {
    std::vector<std::vector<unsigned>> loads;
    for (const double size : blocks) loads.emplace_back(static_cast<std::size_t>(size), 0u);
    double overflow = 0;
    for (int i = 0; i < static_cast<int>(elements); ++i) {
      bool placed = false;
      for (auto& level : loads) {
        unsigned& load = level[random() % level.size()];
        if (load == capacity) continue;
        ++load;
        placed = true;
        break;
      }
      overflow += placed ? 0 : 1;
    }
    sum += overflow;
    squares += overflow * overflow;
  }
  const double found_mean = sum / trials;
  const double found_deviation = std::sqrt(squares / trials - found_mean * found_mean);
  ASSERT_GT(mean, 20);
  // Five standard errors, and what 20 blocks differ from many: a part in a hundred.
  EXPECT_NEAR(found_mean, mean, 5 * predicted.overflow_deviation / std::sqrt(trials) + 0.02 * mean);
  EXPECT_NEAR(found_deviation, predicted.overflow_deviation, 0.08 * predicted.overflow_deviation);
}

TEST(balanced_levels, a_miss_compares_entries_until_a_free_slot) {
  EXPECT_EQ(overflow_list_match(32, 0), 0);
  expect_relative(overflow_list_match(32, 0.75), 7.5 * std::exp2(-32), 1e-12);
  EXPECT_THROW(overflow_list_match(32, 1), std::invalid_argument);
}

TEST(balanced_levels, nonsense_is_refused) {
  const built_filter filter(popcount_shape());
  EXPECT_THROW(filter.at(0, {{1}, 0, 0}), std::invalid_argument);
  EXPECT_THROW(filter.at(10, {{}, 0, 0}), std::invalid_argument);
  EXPECT_THROW(filter.at(10, {{1, 0}, 0, 0}), std::invalid_argument);
  EXPECT_THROW(filter.at(10, {{1}, 5, 9}), std::invalid_argument);
  EXPECT_THROW(filter.refused_fraction(0), std::invalid_argument);
  balanced_shape shape = popcount_shape();
  shape.threshold = 600;
  EXPECT_THROW(built_filter{shape}, std::invalid_argument);
}

}  // namespace
