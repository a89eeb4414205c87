// What can be erased is gone afterwards, but for chance, and everything else stays.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "configurations.hpp"
#include "keys.hpp"

namespace {

using namespace conformance;

using erasing_filters = testing::Types<counting_filter>;

template <class Filter>
class erasing_filter : public testing::Test {};
TYPED_TEST_SUITE(erasing_filter, erasing_filters, filter_names);

static_assert(erasing_engine<counting_filter::engine_type>);

TYPED_TEST(erasing_filter, keeps_what_was_not_erased) {
  for_each_plan<TypeParam>(few_elements, [](const filter_plan& plan) {
    TypeParam filter(plan, seeded_hash(41));
    for (std::uint64_t key = 0; key < 2 * few_elements; ++key) filter.insert(random_key(key));
    for (std::uint64_t key = 0; key < 2 * few_elements; key += 2) {
      ASSERT_EQ(filter.erase(random_key(key)), erase_outcome::erased);
    }
    std::uint64_t lost = 0, left = 0;
    for (std::uint64_t key = 0; key < 2 * few_elements; ++key) {
      const bool answer = filter.may_contain(random_key(key));
      if (key % 2 == 1 && !answer) ++lost;
      if (key % 2 == 0 && answer) ++left;
    }
    EXPECT_EQ(lost, 0u);
    // As many as planned are in it now: those erased are as rare as any other false positive.
    EXPECT_LT(left, few_elements / 8);
  });
}

TYPED_TEST(erasing_filter, is_empty_once_all_are_erased) {
  filter_plan plan = plans_of<TypeParam>(few_elements).front().plan;
  plan.counter_bits = 16;  // none saturates
  TypeParam filter(plan, seeded_hash(42));
  for (std::uint64_t key = 0; key < few_elements; ++key) filter.insert(random_key(key));
  for (std::uint64_t key = 0; key < few_elements; ++key) filter.erase(random_key(key));
  EXPECT_TRUE(std::ranges::all_of(filter.memory(), [](std::byte b) { return b == std::byte{0}; }));
  EXPECT_EQ(filter.counts(), filter_counts{});
}

TYPED_TEST(erasing_filter, does_not_change_for_what_is_surely_absent) {
  for_each_plan<TypeParam>(few_elements, [](const filter_plan& plan) {
    TypeParam filter(plan, seeded_hash(43));
    for (std::uint64_t key = 0; key < few_elements; ++key) filter.insert(random_key(key));
    const TypeParam before = filter;
    std::uint64_t absent = 0;
    for (std::uint64_t key = few_elements; key < 2 * few_elements; ++key) {
      if (filter.may_contain(random_key(key))) continue;
      ASSERT_EQ(filter.erase(random_key(key)), erase_outcome::absent);
      ++absent;
    }
    EXPECT_GT(absent, few_elements / 2);
    EXPECT_TRUE(std::ranges::equal(filter.memory(), before.memory()));
    EXPECT_EQ(filter.counts(), before.counts());
  });
}

TYPED_TEST(erasing_filter, keeps_a_key_that_was_inserted_more_often_than_erased) {
  for_each_plan<TypeParam>(few_elements, [](const filter_plan& plan) {
    TypeParam filter(plan, seeded_hash(44));
    // More often than a counter of eight bits can tell.
    constexpr int times = 300;
    for (int i = 0; i < times; ++i) filter.insert("often");
    for (int i = 1; i < times; ++i) {
      ASSERT_EQ(filter.erase("often"), erase_outcome::erased);
      ASSERT_TRUE(filter.may_contain("often")) << i;
    }
    filter.erase("often");
    // Counters of up to eight bits have saturated and stay.
    EXPECT_EQ(filter.may_contain("often"), plan.counter_bits <= 8);
  });
}

}  // namespace
