#include "oneprobe/filter/counting.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <stdexcept>
#include <vector>

#include "oneprobe/filter/standard.hpp"
#include "oneprobe/model/bloom.hpp"
#include "unit/filter/baseline_checks.hpp"
#include "unit/filter/vast_memory.hpp"

namespace oneprobe {
namespace {

using namespace testing;

constexpr std::uint32_t widths[] = {2, 4, 8, 16};

filter_plan plan_of(std::uint64_t cells, std::uint32_t bits_set, std::uint32_t counter_bits) {
  return {.kind = filter_kind::counting,
          .elements = 1000,
          .bits_set = bits_set,
          .cells = cells,
          .counter_bits = counter_bits};
}

std::uint64_t counter(const counting_filter& filter, std::uint64_t cell) {
  const std::uint64_t width = filter.plan().counter_bits;
  std::uint64_t value = 0;
  for (std::uint64_t i = 0; i < width; ++i) {
    const std::uint64_t bit = cell * width + i;
    value |= (std::to_integer<std::uint64_t>(filter.memory()[bit / 8]) >> (bit % 8) & 1) << i;
  }
  return value;
}

/// How often each counter is raised by one insert of a key.
std::map<std::uint64_t, std::uint64_t> cells_of(const counting_filter& filter, std::uint64_t key) {
  std::map<std::uint64_t, std::uint64_t> cells;
  std::uint64_t x = pattern_bits(filter.hash()(key));
  for (std::uint32_t j = 0; j < filter.plan().bits_set; ++j, x *= 0xf135'7aea'2e62'a9c5)
    ++cells[reduce(x, filter.plan().cells)];
  return cells;
}

TEST(counting_filter, bulk_calls_do_what_single_calls_do) {
  for (const std::uint32_t width : widths)
    expect_bulk_calls_do_what_single_calls_do<counting_filter>(plan_of(50'001, 7, width));
}

TEST(counting_filter, counts_exactly_until_a_counter_is_full) {
  for (const std::uint32_t width : widths) {
    counting_filter filter(plan_of(301, 5, width), seeded_hash(1));
    const std::uint64_t largest = (std::uint64_t{1} << width) - 1;
    std::vector<std::uint64_t> wanted(301);
    for (std::uint64_t key = 0; key < 200; ++key) {
      filter.insert(key);
      for (const auto& [cell, times] : cells_of(filter, key))
        wanted[cell] = std::min(wanted[cell] + times, largest);
    }
    for (std::uint64_t cell = 0; cell < wanted.size(); ++cell)
      ASSERT_EQ(counter(filter, cell), wanted[cell]) << "width " << width << ", cell " << cell;
  }
}

TEST(counting_filter, what_is_erased_is_gone_and_the_rest_remains) {
  for (const std::uint32_t width : {8u, 16u}) {  // wide enough that no counter fills
    counting_filter filter = filled<counting_filter>(plan_of(100'000, 6, width), 1, 10'000);
    for (std::uint64_t key = 0; key < 5'000; ++key)
      ASSERT_EQ(filter.erase(key), erase_outcome::erased);
    counting_filter rest(filter.plan(), seeded_hash(1));
    for (std::uint64_t key = 5'000; key < 10'000; ++key) rest.insert(key);
    EXPECT_TRUE(std::ranges::equal(filter.memory(), rest.memory()));
    for (std::uint64_t key = 5'000; key < 10'000; ++key) filter.erase(key);
    EXPECT_TRUE(
        std::ranges::all_of(filter.memory(), [](std::byte byte) { return byte == std::byte{0}; }));
  }
}

TEST(counting_filter, a_full_counter_stays_full_so_that_nothing_is_lost) {
  counting_filter filter(plan_of(1, 1, 2), seeded_hash(1));  // one counter, up to 3
  for (std::uint64_t key = 0; key < 4; ++key) filter.insert(key);
  for (std::uint64_t key = 0; key < 3; ++key) EXPECT_EQ(filter.erase(key), erase_outcome::erased);
  EXPECT_TRUE(filter.may_contain(std::uint64_t{3}));
  EXPECT_EQ(counter(filter, 0), 3u);
}

TEST(counting_filter, an_element_inserted_twice_is_erased_twice) {
  counting_filter filter(plan_of(10'000, 6, 8), seeded_hash(1));
  EXPECT_EQ(filter.insert(std::uint64_t{1}), insert_outcome::added);
  EXPECT_EQ(filter.insert(std::uint64_t{1}), insert_outcome::possibly_present);
  EXPECT_EQ(filter.insert(std::uint64_t{2}), insert_outcome::added);
  EXPECT_EQ(filter.counts().size, 2u);
  EXPECT_EQ(filter.erase(std::uint64_t{1}), erase_outcome::erased);
  EXPECT_TRUE(filter.may_contain(std::uint64_t{1}));
  EXPECT_EQ(filter.counts().size, 2u);
  EXPECT_EQ(filter.erase(std::uint64_t{1}), erase_outcome::erased);
  EXPECT_FALSE(filter.may_contain(std::uint64_t{1}));
  EXPECT_EQ(filter.counts().size, 1u);
}

TEST(counting_filter, erasing_what_is_surely_absent_changes_nothing) {
  counting_filter filter = filled<counting_filter>(plan_of(10'000, 6, 4), 1, 500);
  const counting_filter before = filter;
  for (std::uint64_t key = absent_from; key < absent_from + 1000; ++key)
    if (!filter.may_contain(key)) {
      EXPECT_EQ(filter.erase(key), erase_outcome::absent);
    }
  expect_same_bytes(filter, before);
}

RC_GTEST_PROP(counting_filter, never_loses_an_element_that_is_in_it, ()) {
  const auto width = *rc::gen::element(2u, 4u, 8u, 16u);
  const auto cells = *rc::gen::inRange<std::uint64_t>(1, 300);
  const auto k = *rc::gen::inRange(1u, 9u);
  counting_filter filter(plan_of(cells, k, width), seeded_hash(*rc::gen::arbitrary<unsigned>()));
  std::map<std::uint64_t, int> inside;
  for (const auto& [key, insert] : *rc::gen::container<std::vector<std::pair<std::uint8_t, bool>>>(
           rc::gen::pair(rc::gen::arbitrary<std::uint8_t>(), rc::gen::arbitrary<bool>()))) {
    if (insert) {
      filter.insert(key);
      ++inside[key];
    } else if (inside[key] > 0) {
      RC_ASSERT(filter.erase(key) == erase_outcome::erased);
      --inside[key];
    }
    for (const auto& [held, times] : inside) RC_ASSERT(times == 0 || filter.may_contain(held));
  }
}

TEST(counting_filter, answers_as_a_standard_filter_of_as_many_bits) {
  const counting_filter counting = filled<counting_filter>(plan_of(20'000, 5, 4), 1, 2'500);
  filter_plan plan = counting.plan();
  plan.kind = filter_kind::standard;
  plan.counter_bits = 1;
  const standard_filter bits = filled<standard_filter>(plan, 1, 2'500);
  for (std::uint64_t key = absent_from; key < absent_from + 20'000; ++key)
    ASSERT_EQ(counting.may_contain(key), bits.may_contain(key));
  EXPECT_DOUBLE_EQ(counting.stats().current_fpr, bits.stats().current_fpr);
  EXPECT_DOUBLE_EQ(counting.stats().fill_fraction, bits.stats().fill_fraction);
}

TEST(counting_filter, errs_as_often_as_it_says) {
  for (const std::uint64_t seed : filter_seeds)
    for (const std::uint32_t width : widths)
      expect_measured_error_as_stated(
          filled<counting_filter>(plan_of(100'000, 6, width), seed, 10'000), 200'000);
}

TEST(counting_filter, as_many_counters_reach_a_value_as_the_model_says) {
  constexpr double tolerance = 4.5;
  constexpr std::uint64_t cells = 100'000;
  for (const std::uint64_t seed : filter_seeds) {
    const counting_filter filter = filled<counting_filter>(plan_of(cells, 7, 8), seed, 10'000);
    std::uint64_t reached = 0;
    for (std::uint64_t cell = 0; cell < cells; ++cell)
      reached += counter(filter, cell) >= 3 ? 1u : 0u;
    const double expected = model::expected_counters_at_least(cells, 10'000, 7, 3);
    EXPECT_NEAR(static_cast<double>(reached), expected, tolerance * std::sqrt(expected));
  }
}

TEST(counting_filter, merging_adds_and_saturates) {
  for (const std::uint32_t width : widths) {
    const filter_plan plan = plan_of(301, 5, width);
    const std::uint64_t largest = (std::uint64_t{1} << width) - 1;
    counting_filter a = filled<counting_filter>(plan, 1, 150);
    counting_filter b(plan, seeded_hash(1));
    b.bulk_insert(keys_from(1000, 150));
    const counting_filter before = a;
    EXPECT_EQ(a.merge(b), merge_outcome::merged);
    for (std::uint64_t cell = 0; cell < plan.cells; ++cell)
      ASSERT_EQ(counter(a, cell), std::min(counter(before, cell) + counter(b, cell), largest));
    EXPECT_EQ(a.counts().size, before.counts().size + b.counts().size);
  }
  expect_merge_unites<counting_filter>(plan_of(50'000, 5, 16));
}

TEST(counting_filter, explains_a_query_by_the_counters_it_reads) {
  counting_filter filter(plan_of(1'000'000, 6, 4), seeded_hash(1));
  EXPECT_EQ(filter.explain(std::uint64_t{1}).accesses, 1u);
  filter.insert(std::uint64_t{1});
  EXPECT_EQ(filter.explain(std::uint64_t{1}),
            (lookup_path{.stopped = lookup_path::stop::matched, .accesses = 6, .lines = 6}));
}

TEST(counting_filter, is_a_value) {
  expect_value_semantics<counting_filter>(plan_of(50'000, 5, 4));
}
TEST(counting_filter, works_in_lent_memory) {
  expect_to_work_in_lent_memory<counting_filter>(plan_of(50'000, 5, 4));
}

TEST(counting_filter, refuses_other_counter_widths) {
  for (const std::uint32_t width : {0u, 1u, 3u, 5u, 32u})
    EXPECT_THROW(counting_filter(plan_of(1000, 5, width)), std::invalid_argument) << width;
}

TEST(counting_filter, reaches_all_of_two_to_the_40_bits) {
  const filter_plan plan = plan_of(filter_plan::most_bits / 4, 8, 4);
  const vast_memory memory(plan.memory().total());
  SKIP_WITHOUT(memory);
  counting_filter filter(plan, memory.bytes(), seeded_hash(1));
  for (std::uint64_t key = 0; key < 1000; ++key)
    EXPECT_EQ(filter.insert(key), insert_outcome::added);
  for (std::uint64_t key = 0; key < 1000; ++key)
    for (const auto& [cell, times] : cells_of(filter, key)) ASSERT_GE(counter(filter, cell), times);
  for (std::uint64_t key = 0; key < 1000; ++key)
    EXPECT_EQ(filter.erase(key), erase_outcome::erased);
  for (std::uint64_t key = 0; key < 1000; ++key) EXPECT_FALSE(filter.may_contain(key));
  EXPECT_EQ(filter.counts().size, 0u);
}

}  // namespace
}  // namespace oneprobe
