// Every filter is a value: it is cleared, copied, moved, swapped and united with others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "configurations.hpp"
#include "keys.hpp"

namespace {

using namespace conformance;

template <class Filter>
class every_filter_is_a_value : public testing::Test {};
TYPED_TEST_SUITE(every_filter_is_a_value, every_filter, filter_names);

template <class Filter>
void insert_range(Filter& filter, std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t key = first; key < last; ++key) filter.insert(random_key(key));
}

template <class Filter>
bool equal(const Filter& a, const Filter& b) {
  return a.counts() == b.counts() && std::ranges::equal(a.memory(), b.memory());
}

TYPED_TEST(every_filter_is_a_value, that_forgets_everything_when_it_is_cleared) {
  for_each_plan<TypeParam>(few_elements, [](const filter_plan& plan) {
    const TypeParam empty(plan, seeded_hash(31));
    TypeParam filter(plan, seeded_hash(31));
    insert_range(filter, 0, 3 * few_elements);
    filter.clear();
    EXPECT_TRUE(equal(filter, empty));
    EXPECT_EQ(filter.condition(), filter_condition::as_planned);
    // And is as good as new.
    TypeParam fresh(plan, seeded_hash(31));
    insert_range(filter, 5, few_elements);
    insert_range(fresh, 5, few_elements);
    EXPECT_TRUE(equal(filter, fresh));
  });
}

TYPED_TEST(every_filter_is_a_value, that_is_copied_and_moved) {
  for_each_plan<TypeParam>(few_elements, [](const filter_plan& plan) {
    TypeParam filter(plan, seeded_hash(32));
    insert_range(filter, 0, few_elements);
    TypeParam copy = filter;
    EXPECT_TRUE(equal(copy, filter));
    EXPECT_EQ(copy.hash(), filter.hash());
    insert_range(copy, few_elements, 2 * few_elements);
    EXPECT_FALSE(equal(copy, filter));
    EXPECT_TRUE(copy.may_contain(random_key(0)));

    TypeParam expected(plan, seeded_hash(32));
    insert_range(expected, 0, 2 * few_elements);
    EXPECT_TRUE(equal(copy, expected));

    const std::byte* const memory = copy.memory().data();
    TypeParam moved = std::move(copy);
    EXPECT_EQ(moved.memory().data(), memory);
    EXPECT_TRUE(equal(moved, expected));

    filter = moved;
    EXPECT_TRUE(equal(filter, expected));
    EXPECT_NE(filter.memory().data(), moved.memory().data());
    TypeParam other(plan, seeded_hash(33));
    other = std::move(moved);
    EXPECT_EQ(other.memory().data(), memory);
    EXPECT_TRUE(equal(other, expected));
    EXPECT_EQ(other.hash(), expected.hash());
    TypeParam& itself = other;
    other = itself;
    EXPECT_TRUE(equal(other, expected));
  });
}

TYPED_TEST(every_filter_is_a_value, that_is_swapped_with_one_of_another_plan) {
  const std::vector<configuration> plans = plans_of<TypeParam>(few_elements);
  for (std::size_t i = 0; i + 1 < plans.size(); ++i) {
    SCOPED_TRACE(plans[i].name + " and " + plans[i + 1].name);
    TypeParam a(plans[i].plan, seeded_hash(34)), b(plans[i + 1].plan, seeded_hash(35));
    insert_range(a, 0, few_elements);
    insert_range(b, few_elements, 3 * few_elements);
    const TypeParam was_a = a, was_b = b;
    a.swap(b);
    EXPECT_TRUE(equal(a, was_b));
    EXPECT_TRUE(equal(b, was_a));
    for (std::uint64_t key = few_elements; key < 3 * few_elements; ++key)
      ASSERT_TRUE(a.may_contain(random_key(key)));
    for (std::uint64_t key = 0; key < few_elements; ++key)
      ASSERT_TRUE(b.may_contain(random_key(key)));
    using std::swap;
    swap(a, b);
    EXPECT_TRUE(equal(a, was_a));
    EXPECT_TRUE(equal(b, was_b));
  }
}

TYPED_TEST(every_filter_is_a_value, whose_union_contains_what_either_did) {
  if constexpr (mergeable_engine<typename TypeParam::engine_type>)
    for (const std::uint64_t keys : {few_elements / 2, few_elements, 3 * few_elements})
      for_each_plan<TypeParam>(few_elements, [&](const filter_plan& plan) {
        TypeParam a(plan, seeded_hash(36)), b(plan, seeded_hash(36));
        insert_range(a, 0, keys);
        insert_range(b, keys * 3 / 4, 2 * keys);
        const TypeParam was_a = a, was_b = b;
        ASSERT_EQ(a.merge(b), merge_outcome::merged);
        EXPECT_TRUE(equal(b, was_b));
        std::uint64_t lost = 0, forgotten = 0;
        for (std::uint64_t key = 0; key < 2 * keys; ++key)
          if (!a.may_contain(random_key(key))) ++lost;
        for (std::uint64_t i = 2 * keys; i < 20 * keys; ++i) {
          const std::uint64_t key = random_key(i);
          if ((was_a.may_contain(key) || was_b.may_contain(key)) && !a.may_contain(key))
            ++forgotten;
        }
        EXPECT_EQ(lost, 0u) << keys;
        EXPECT_EQ(forgotten, 0u) << keys;
        const std::uint64_t sizes = was_a.counts().size + was_b.counts().size;
        if (plan.kind != filter_kind::fingerprint || a.condition() == filter_condition::degraded) {
          EXPECT_EQ(a.counts().size, sizes);
        } else {
          // It knows what they have in common.
          TypeParam all(plan, seeded_hash(36));
          insert_range(all, 0, 2 * keys);
          EXPECT_EQ(a.counts(), all.counts());
          EXPECT_LT(a.counts().size, sizes);
        }
        EXPECT_EQ(a.condition() == filter_condition::degraded,
                  a.counts().forced + a.counts().dropped != 0);
        // Still a filter: what comes later is kept.
        insert_range(a, 20 * keys, 21 * keys);
        for (std::uint64_t key = 20 * keys; key < 21 * keys; ++key)
          ASSERT_TRUE(a.may_contain(random_key(key)));
        if (plan.kind != filter_kind::balanced && plan.kind != filter_kind::counting) {
          // The filter of the union of both sets, unless buckets had to forget what they held.
          TypeParam both(plan, seeded_hash(36)), merged = was_a;
          ASSERT_EQ(merged.merge(was_b), merge_outcome::merged);
          insert_range(both, 0, 2 * keys);
          if (both.condition() != filter_condition::degraded) {
            EXPECT_TRUE(std::ranges::equal(merged.memory(), both.memory()));
          }
        }
      });
}

TYPED_TEST(every_filter_is_a_value, that_is_united_only_with_its_like) {
  if constexpr (mergeable_engine<typename TypeParam::engine_type>)
    for_each_plan<TypeParam>(few_elements, [](const filter_plan& plan) {
      TypeParam filter(plan, seeded_hash(37));
      insert_range(filter, 0, few_elements);
      const TypeParam before = filter;
      TypeParam other_seed(plan, seeded_hash(38));
      insert_range(other_seed, few_elements, 2 * few_elements);
      EXPECT_EQ(filter.merge(other_seed), merge_outcome::different_seed);
      EXPECT_TRUE(equal(filter, before));

      filter_plan larger = plan;
      if (plan.in_blocks())
        for (std::uint32_t i = 0; i < plan.levels; ++i) ++larger.level_buckets[i];
      else
        larger.cells += plan.bits_set;
      TypeParam other_plan(larger, seeded_hash(37));
      insert_range(other_plan, few_elements, 2 * few_elements);
      EXPECT_EQ(filter.merge(other_plan), merge_outcome::different_plan);
      EXPECT_TRUE(equal(filter, before));
      // What was predicted, and for how many, does not matter.
      filter_plan same = plan;
      same.predicted.fpr = 0.5;
      same.elements = plan.elements + 1;
      TypeParam like(same, seeded_hash(37));
      insert_range(like, few_elements, 2 * few_elements);
      EXPECT_EQ(filter.merge(like), merge_outcome::merged);
    });
}

TYPED_TEST(every_filter_is_a_value, that_may_be_united_with_itself) {
  if constexpr (mergeable_engine<typename TypeParam::engine_type>)
    for_each_plan<TypeParam>(few_elements, [](const filter_plan& plan) {
      TypeParam filter(plan, seeded_hash(39));
      insert_range(filter, 0, 2 * few_elements);
      ASSERT_EQ(filter.merge(filter), merge_outcome::merged);
      for (std::uint64_t key = 0; key < 2 * few_elements; ++key)
        ASSERT_TRUE(filter.may_contain(random_key(key)));
    });
}

}  // namespace
