#include "oneprobe/filter/partitioned.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <vector>

#include "oneprobe/model/bloom.hpp"
#include "unit/filter/baseline_checks.hpp"
#include "unit/filter/vast_memory.hpp"

namespace oneprobe {
namespace {

using namespace testing;

filter_plan plan_of(std::uint64_t width, std::uint32_t bits_set) {
  return {.kind = filter_kind::partitioned,
          .elements = 1000,
          .bits_set = bits_set,
          .cells = width * bits_set};
}

bool bit_of(std::span<const std::byte> memory, std::uint64_t bit) {
  return (std::to_integer<unsigned>(memory[bit / 8]) >> (bit % 8) & 1) != 0;
}

TEST(partitioned_filter, bulk_calls_do_what_single_calls_do) {
  for (const std::uint32_t k : {1u, 7u, 64u})
    expect_bulk_calls_do_what_single_calls_do<partitioned_filter>(plan_of(7'001, k));
}

TEST(partitioned_filter, sets_one_bit_in_each_part_where_the_pattern_says) {
  constexpr std::uint64_t width = 1'009;
  constexpr std::uint32_t k = 9;
  partitioned_filter filter(plan_of(width, k), seeded_hash(1));
  const key_hash hash = seeded_hash(1)(std::uint64_t{42});
  filter.insert(hash);
  std::set<std::uint64_t> wanted;
  std::uint64_t x = pattern_bits(hash);
  for (std::uint64_t j = 0; j < k; ++j, x *= 0xf135'7aea'2e62'a9c5)
    wanted.insert(j * width + reduce(x, width));
  ASSERT_EQ(wanted.size(), k);
  for (std::uint64_t i = 0; i < filter.memory().size() * 8; ++i)
    ASSERT_EQ(bit_of(filter.memory(), i), wanted.contains(i)) << "bit " << i;
}

TEST(partitioned_filter, the_stated_error_is_the_product_of_the_parts_fractions_of_ones) {
  constexpr std::uint64_t width = 997;  // parts begin and end within words
  constexpr std::uint32_t k = 6;
  const partitioned_filter filter = filled<partitioned_filter>(plan_of(width, k), 1, 600);
  double expected = 1;
  for (std::uint64_t j = 0; j < k; ++j) {
    double ones = 0;
    for (std::uint64_t i = 0; i < width; ++i)
      ones += bit_of(filter.memory(), j * width + i) ? 1 : 0;
    expected *= ones / static_cast<double>(width);
  }
  EXPECT_NEAR(filter.stats().current_fpr, expected, 1e-12);
}

TEST(partitioned_filter, errs_as_often_as_it_says) {
  for (const std::uint64_t seed : filter_seeds)
    for (const std::uint32_t k : {1u, 4u, 7u, 12u})
      expect_measured_error_as_stated(
          filled<partitioned_filter>(plan_of(100'000 / k, k), seed, 10'000), 200'000);
}

TEST(partitioned_filter, its_error_is_the_models) {
  // As for the standard filter, each part with its own fill: the relative errors of k parts of
  // width m / k add up to the same. 20 comparisons at 4.5 sigma.
  constexpr double tolerance = 4.5;
  constexpr double elements = 10'000;
  for (const std::uint64_t seed : filter_seeds) {
    for (const std::uint32_t k : {1u, 4u, 7u, 12u}) {
      const filter_plan plan = plan_of(100'000 / k, k);
      const auto cells = static_cast<double>(plan.cells);
      const double expected = model::partitioned_error(cells, elements, k);
      const double ones = std::pow(expected, 1.0 / k);
      const double sigma = expected * k * std::sqrt((1 - ones) / ones / cells);
      const partitioned_filter filter = filled<partitioned_filter>(plan, seed, 10'000);
      EXPECT_NEAR(filter.stats().current_fpr, expected, tolerance * sigma);
    }
  }
}

TEST(partitioned_filter, explains_a_query_by_the_bits_it_reads) {
  partitioned_filter filter(plan_of(1'000'000, 6), seeded_hash(1));
  EXPECT_EQ(filter.explain(std::uint64_t{1}).accesses, 1u);
  filter.insert(std::uint64_t{1});
  EXPECT_EQ(filter.explain(std::uint64_t{1}),
            (lookup_path{.stopped = lookup_path::stop::matched, .accesses = 6, .lines = 6}));
}

TEST(partitioned_filter, merging_unites) {
  expect_merge_unites<partitioned_filter>(plan_of(10'000, 5));
}
TEST(partitioned_filter, is_a_value) {
  expect_value_semantics<partitioned_filter>(plan_of(10'000, 5));
}
TEST(partitioned_filter, works_in_lent_memory) {
  expect_to_work_in_lent_memory<partitioned_filter>(plan_of(10'000, 5));
}

TEST(partitioned_filter, refuses_parts_of_unequal_width) {
  filter_plan plan = plan_of(1000, 7);
  plan.cells += 1;
  EXPECT_THROW(partitioned_filter{plan}, std::invalid_argument);
}

TEST(partitioned_filter, reaches_all_of_two_to_the_40_bits) {
  const filter_plan plan = plan_of(filter_plan::most_bits / 8, 8);
  const vast_memory memory(plan.memory().total());
  SKIP_WITHOUT(memory);
  partitioned_filter filter(plan, memory.bytes(), seeded_hash(1));
  for (std::uint64_t key = 0; key < 1000; ++key) {
    EXPECT_EQ(filter.insert(key), insert_outcome::added);
    std::uint64_t x = pattern_bits(seeded_hash(1)(key));
    for (std::uint64_t j = 0; j < 8; ++j, x *= 0xf135'7aea'2e62'a9c5)
      ASSERT_TRUE(bit_of(memory.bytes(), j * (plan.cells / 8) + reduce(x, plan.cells / 8)));
  }
  for (std::uint64_t key = 0; key < 1000; ++key) EXPECT_TRUE(filter.may_contain(key));
  for (std::uint64_t key = 0; key < 1000; ++key)
    EXPECT_FALSE(filter.may_contain(absent_from + key));
}

}  // namespace
}  // namespace oneprobe
