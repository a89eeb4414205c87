// A held_filter beside the filter that its plan is for: the same answers, the same counts, the same
// bytes, call by call.
#include "handles/held_filter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "configurations.hpp"
#include "keys.hpp"
#include "oneprobe/filter/file.hpp"

namespace {

using namespace conformance;

template <class Filter>
class held_filter_is : public testing::Test {};

using every_kind = testing::Types<
    standard_filter, partitioned_filter, blocked_filter, counting_filter,
    basic_balanced_filter<single, seeded_hash>, basic_balanced_filter<sequential, seeded_hash>,
    basic_balanced_filter<multilevel, seeded_hash>, basic_balanced_filter<d_random, seeded_hash>,
    basic_balanced_filter<d_left, seeded_hash>, fingerprint_filter>;
TYPED_TEST_SUITE(held_filter_is, every_kind, filter_names);

constexpr std::uint64_t seed = 41;

template <class Reader>
std::vector<std::byte> saved(const Reader& filter) {
  std::vector<std::byte> bytes;
  save_to(filter, bytes);
  return bytes;
}

/// Both are asked for keys that are there and for others, one by one and in bulk.
template <class Reader>
void expect_same(const held_reader& held, const Reader& filter) {
  constexpr std::uint64_t asked = 3 * few_elements;
  const auto keys = make_keys<std::uint64_t>(asked, random_key);
  std::array<bool, asked> held_answers{}, answers{};
  EXPECT_EQ(held.bulk_may_contain(keys, held_answers), filter.bulk_may_contain(keys, answers));
  EXPECT_EQ(held_answers, answers);
  std::uint64_t differ = 0;
  for (const std::uint64_t key : keys)
    if (held.may_contain(key) != filter.may_contain(key) ||
        held.explain(key) != filter.explain(key))
      ++differ;
  EXPECT_EQ(differ, 0u);
  EXPECT_EQ(held.counts(), filter.counts());
  EXPECT_EQ(held.condition(), filter.condition());
  EXPECT_EQ(held.stats().current_fpr, filter.stats().current_fpr);
  EXPECT_EQ(held.stats().fill_fraction, filter.stats().fill_fraction);
  EXPECT_EQ(saved(held), saved(filter));
}

TYPED_TEST(held_filter_is, the_filter_of_its_plan_in_every_call) {
  for_each_plan<TypeParam>(few_elements, [](const filter_plan& plan) {
    held_filter held(plan, seeded_hash(seed));
    TypeParam filter(plan, seeded_hash(seed));
    expect_same(held, filter);

    // Beyond the plan in the end, so that elements are forced, too.
    const auto keys = make_keys<std::uint64_t>(2 * few_elements, random_key);
    const auto first = std::span(keys).first(few_elements),
               rest = std::span(keys).last(few_elements);
    EXPECT_EQ(held.bulk_insert(first), filter.bulk_insert(first));
    expect_same(held, filter);
    held_filter held_other(plan, seeded_hash(seed));
    TypeParam other(plan, seeded_hash(seed));
    std::uint64_t differ = 0;
    for (const std::uint64_t key : rest)
      if (held_other.insert(key) != other.insert(key)) ++differ;
    EXPECT_EQ(differ, 0u);

    if constexpr (requires { filter.erase(std::uint64_t{}); }) {
      ASSERT_TRUE(can_erase(plan));
      for (std::uint64_t i = 0; i < few_elements; i += 3)
        if (held.erase(keys[i]) != filter.erase(keys[i])) ++differ;
      for (std::uint64_t i = 0; i < few_elements; ++i)
        if (held.erase(~i) != filter.erase(~i)) ++differ;
      EXPECT_EQ(differ, 0u);
      expect_same(held, filter);
    } else {
      EXPECT_FALSE(can_erase(plan));
    }
    EXPECT_EQ(held.merge(held_other), merge_outcome::merged);
    EXPECT_EQ(filter.merge(other), merge_outcome::merged);
    expect_same(held, filter);

    // A view of the bytes, a copy, and what is loaded from the bytes.
    expect_same(held_reader(plan, held.memory(), held.counts(), held.hash()), filter);
    held_filter copy = held;
    held.clear();
    expect_same(copy, filter);
    expect_same(held, TypeParam(plan, seeded_hash(seed)));
    const auto loaded_held = load_from<held_filter>(saved(filter));
    ASSERT_TRUE(loaded_held) << loaded_held.failure().sentence;
    expect_same(*loaded_held, filter);
    held = *loaded_held;
    expect_same(held, filter);
  });
}

}  // namespace
