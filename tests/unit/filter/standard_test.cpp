#include "oneprobe/filter/standard.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

#include "oneprobe/model/bloom.hpp"
#include "unit/filter/baseline_checks.hpp"
#include "unit/filter/vast_memory.hpp"

namespace oneprobe {
namespace {

using namespace testing;

filter_plan plan_of(std::uint64_t cells, std::uint32_t bits_set) {
  return {.kind = filter_kind::standard, .elements = 1000, .bits_set = bits_set, .cells = cells};
}

TEST(standard_filter, bulk_calls_do_what_single_calls_do) {
  for (const std::uint32_t k : {1u, 7u, 64u})
    expect_bulk_calls_do_what_single_calls_do<standard_filter>(plan_of(50'001, k));
}

TEST(standard_filter, bits_lie_where_the_pattern_multiplied_on_and_on_says) {
  const filter_plan plan = plan_of(10'007, 13);
  standard_filter filter(plan, seeded_hash(1));
  const key_hash hash = seeded_hash(1)(std::uint64_t{42});
  filter.insert(hash);
  std::set<std::uint64_t> wanted;
  std::uint64_t x = pattern_bits(hash);
  for (int j = 0; j < 13; ++j, x *= 0xf135'7aea'2e62'a9c5) wanted.insert(reduce(x, 10'007));
  for (std::uint64_t i = 0; i < filter.memory().size() * 8; ++i)
    ASSERT_EQ(std::to_integer<unsigned>(filter.memory()[i / 8]) >> (i % 8) & 1,
              wanted.contains(i) ? 1u : 0u)
        << "bit " << i;
}

TEST(standard_filter, errs_as_often_as_it_says) {
  for (const std::uint64_t seed : filter_seeds)
    for (const std::uint32_t k : {1u, 4u, 7u, 12u})
      expect_measured_error_as_stated(filled<standard_filter>(plan_of(100'000, k), seed, 10'000),
                                      200'000);
}

TEST(standard_filter, its_error_is_the_models) {
  // The fill of m bits by n k balls has a standard deviation below sqrt(q (1 - q) / m), q the
  // fraction of zeros (balls in bins are negatively correlated); to the power k, k times that,
  // relatively. 20 comparisons at 4.5 sigma.
  constexpr double tolerance = 4.5;
  constexpr std::uint64_t cells = 100'000, elements = 10'000;
  for (const std::uint64_t seed : filter_seeds) {
    for (const std::uint32_t k : {1u, 4u, 7u, 12u}) {
      const double expected = model::standard_error_exact(cells, elements, k);
      const double ones = std::pow(expected, 1.0 / k);
      const double sigma = expected * k * std::sqrt((1 - ones) / ones / cells);
      const standard_filter filter = filled<standard_filter>(plan_of(cells, k), seed, elements);
      EXPECT_NEAR(filter.stats().current_fpr, expected, tolerance * sigma);
    }
  }
}

TEST(standard_filter, the_stated_error_is_the_fraction_of_ones_to_the_power_k) {
  const standard_filter filter = filled<standard_filter>(plan_of(9'999, 5), 1, 1500);
  unsigned ones = 0;
  for (const std::byte byte : filter.memory())
    ones += static_cast<unsigned>(std::popcount(std::to_integer<unsigned>(byte)));
  EXPECT_DOUBLE_EQ(filter.stats().fill_fraction, ones / 9'999.0);
  EXPECT_NEAR(filter.stats().current_fpr, std::pow(ones / 9'999.0, 5), 1e-12);
}

TEST(standard_filter, bits_beyond_the_last_cell_do_not_count) {
  filter_plan plan = plan_of(100, 3);  // 100 bits in a line of 512
  line_memory memory(plan.memory().total());
  std::ranges::fill(memory.bytes(), std::byte{0xff});
  const standard_filter filter(plan, memory.bytes(), seeded_hash(1));
  EXPECT_EQ(filter.stats().fill_fraction, 1);
  EXPECT_EQ(filter.stats().current_fpr, 1);
}

TEST(standard_filter, explains_a_query_by_the_bits_it_reads) {
  const filter_plan plan = plan_of(4'000'000, 6);
  standard_filter filter(plan, seeded_hash(1));
  const lookup_path nothing = filter.explain(std::uint64_t{1});
  EXPECT_EQ(nothing,
            (lookup_path{.stopped = lookup_path::stop::ruled_out, .accesses = 1, .lines = 1}));
  filter.insert(std::uint64_t{1});
  const lookup_path all = filter.explain(std::uint64_t{1});
  EXPECT_EQ(all.stopped, lookup_path::stop::matched);
  EXPECT_EQ(all.accesses, 6u);
  // Two of six bits in one of 7813 lines: not for this key.
  EXPECT_EQ(all.lines, 6u);
  standard_filter small(plan_of(512, 6), seeded_hash(1));
  small.insert(std::uint64_t{1});
  EXPECT_EQ(small.explain(std::uint64_t{1}).lines, 1u);
}

TEST(standard_filter, reads_as_many_bits_for_an_absent_key_as_the_model_says) {
  const standard_filter filter = filled<standard_filter>(plan_of(1'000'000, 7), 1, 100'000);
  const double ones = filter.stats().fill_fraction;
  constexpr int queries = 100'000;
  double sum = 0, squares = 0;
  for (std::uint64_t i = 0; i < queries; ++i) {
    const double accesses = filter.explain(absent_from + i).accesses;
    sum += accesses;
    squares += accesses * accesses;
  }
  const double mean = sum / queries;
  const double sigma = std::sqrt((squares / queries - mean * mean) / queries);
  EXPECT_NEAR(mean, (1 - std::pow(ones, 7)) / (1 - ones), 4.5 * sigma);
}

TEST(standard_filter, merging_unites) { expect_merge_unites<standard_filter>(plan_of(50'000, 5)); }
TEST(standard_filter, is_a_value) { expect_value_semantics<standard_filter>(plan_of(50'000, 5)); }
TEST(standard_filter, works_in_lent_memory) {
  expect_to_work_in_lent_memory<standard_filter>(plan_of(50'000, 5));
}

TEST(standard_filter, text_is_one_key_in_all_its_forms) {
  standard_filter filter(1000, 1e-3);
  filter.insert("a key");
  EXPECT_TRUE(filter.may_contain(std::string("a key")));
  EXPECT_TRUE(filter.may_contain(std::string_view("a key")));
}

TEST(standard_filter, refuses_plans_it_cannot_follow) {
  EXPECT_THROW(standard_filter(plan_of(0, 5)), std::invalid_argument);
  EXPECT_THROW(standard_filter(plan_of(1000, 0)), std::invalid_argument);
  EXPECT_THROW(standard_filter(plan_of(1000, 65)), std::invalid_argument);
  EXPECT_THROW(standard_filter(plan_of((std::uint64_t{1} << 40) + 1, 5)), std::invalid_argument);
  filter_plan other = plan_of(1000, 5);
  other.kind = filter_kind::partitioned;
  EXPECT_THROW(standard_filter{other}, std::invalid_argument);
}

TEST(standard_filter, reaches_all_of_two_to_the_40_bits) {
  const filter_plan plan = plan_of(filter_plan::most_bits, 8);
  const vast_memory memory(plan.memory().total());
  SKIP_WITHOUT(memory);
  standard_filter filter(plan, memory.bytes(), seeded_hash(1));
  std::uint64_t beyond = 0;
  for (std::uint64_t key = 0; key < 1000; ++key) {
    EXPECT_EQ(filter.insert(key), insert_outcome::added);
    std::uint64_t x = pattern_bits(seeded_hash(1)(key));
    for (int j = 0; j < 8; ++j, x *= 0xf135'7aea'2e62'a9c5) {
      const std::uint64_t bit = reduce(x, plan.cells);
      ASSERT_TRUE((std::to_integer<unsigned>(memory.bytes()[bit / 8]) >> (bit % 8) & 1) != 0);
      beyond += bit / 8 > 0xffff'ffff ? 1 : 0;
    }
  }
  for (std::uint64_t key = 0; key < 1000; ++key) EXPECT_TRUE(filter.may_contain(key));
  for (std::uint64_t key = 0; key < 1000; ++key)
    EXPECT_FALSE(filter.may_contain(absent_from + key));
  EXPECT_GT(beyond, 7000u);  // 31 of 32 parts of the memory lie beyond 2^32 bytes
}

}  // namespace
}  // namespace oneprobe
