// That a held_filter does what the filter of its plan does, is held by conformance/. Here: what it
// refuses, and how it is copied, moved, united and brought back.
#include "handles/held_filter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "formats/temporary_folder.hpp"
#include "oneprobe/filter/file.hpp"

using namespace oneprobe;

namespace {

filter_plan plan_of(filter_kind kind, std::uint64_t elements = 100) {
  filter_plan plan;
  plan.kind = kind;
  plan.elements = elements;
  plan.bits_set = 4;
  if (kind == filter_kind::blocked) {
    plan.level_buckets[0] = elements / 32 + 1;
  } else {
    plan.cells = 16 * elements;
    plan.counter_bits = kind == filter_kind::counting ? 4 : 1;
  }
  return plan;
}

constexpr std::uint64_t seed = 7;

held_filter filled(const filter_plan& plan, std::uint64_t first = 0) {
  held_filter filter(plan, seeded_hash(seed));
  for (std::uint64_t key = first; key < first + 50; ++key) filter.insert(key);
  return filter;
}
bool same_bytes(const held_filter& a, const held_filter& b) {
  return std::ranges::equal(a.memory(), b.memory()) && a.counts() == b.counts();
}

std::string refusal_of(const filter_plan& plan) {
  try {
    const held_filter filter(plan, seeded_hash(seed));
  } catch (const std::invalid_argument& refused) {
    return refused.what();
  }
  return "";
}

TEST(held_filter, refuses_a_plan_with_the_sentence_of_its_kind) {
  filter_plan plan = plan_of(filter_kind::counting);
  plan.counter_bits = 3;
  EXPECT_EQ(refusal_of(plan), *find_fault(plan));
  plan = plan_of(filter_kind::blocked);
  plan.level_buckets[0] = 0;
  EXPECT_EQ(refusal_of(plan), *find_fault(plan));
  plan.kind = static_cast<filter_kind>(77);
  EXPECT_EQ(refusal_of(plan), *find_fault(plan));
  EXPECT_EQ(refusal_of(plan_of(filter_kind::blocked)), "");
}

TEST(held_filter, refuses_memory_of_another_size) {
  const filter_plan plan = plan_of(filter_kind::standard);
  line_memory memory(plan.memory().total() + 64);
  EXPECT_THROW(held_filter(plan, memory.bytes(), seeded_hash(seed)), std::invalid_argument);
  EXPECT_THROW(held_reader(plan, std::as_const(memory).bytes(), {}, seeded_hash(seed)),
               std::invalid_argument);
}

TEST(held_filter, tells_what_cannot_be_made_without_an_exception) {
  filter_plan plan = plan_of(filter_kind::standard);
  static_assert(noexcept(detail::held_engine::make(plan, std::declval<line_memory>(), {})));
  plan.bits_set = 0;
  const detail::held_engine::made refused = detail::held_engine::make(plan, line_memory(), {});
  EXPECT_EQ(refused.engine, nullptr);
  EXPECT_EQ(refused.refusal, *find_fault(plan));

  // A view of more memory than there is: a copy must have memory of its own.
  plan = plan_of(filter_kind::standard);
  std::byte* const nowhere = nullptr;
  const detail::held_engine::made view = detail::held_engine::make(
      plan,
      line_memory::lend_read_only({nowhere, std::numeric_limits<std::size_t>::max() / 64 * 64}),
      {});
  ASSERT_NE(view.engine, nullptr);
  EXPECT_EQ(view.engine->copy(), nullptr);
}

TEST(held_filter, is_copied_with_memory_of_its_own) {
  for (const filter_kind kind :
       {filter_kind::standard, filter_kind::counting, filter_kind::blocked}) {
    held_filter one = filled(plan_of(kind));
    held_filter copy = one;
    EXPECT_TRUE(same_bytes(one, copy));
    EXPECT_NE(one.memory().data(), copy.memory().data());
    copy.insert("another");
    EXPECT_FALSE(same_bytes(one, copy));
    one = copy;
    EXPECT_TRUE(same_bytes(one, copy));
    one = *&one;
    EXPECT_TRUE(same_bytes(one, copy));
  }
}

TEST(held_filter, takes_another_kind_by_assignment) {
  held_filter one = filled(plan_of(filter_kind::standard));
  const held_filter other = filled(plan_of(filter_kind::blocked));
  one = other;
  EXPECT_EQ(one.plan().kind, filter_kind::blocked);
  EXPECT_TRUE(same_bytes(one, other));
  held_filter third = filled(plan_of(filter_kind::counting));
  swap(one, third);
  EXPECT_EQ(one.plan().kind, filter_kind::counting);
  EXPECT_TRUE(same_bytes(third, other));
  static_assert(std::is_nothrow_move_constructible_v<held_filter>);
  static_assert(std::is_nothrow_move_assignable_v<held_filter>);
}

TEST(held_filter, is_united_with_its_own_kind_and_seed_only) {
  held_filter one = filled(plan_of(filter_kind::standard));
  filter_plan other_plan = plan_of(filter_kind::partitioned);
  EXPECT_EQ(one.merge(filled(other_plan)), merge_outcome::different_plan);
  EXPECT_EQ(one.merge(held_filter(one.plan(), seeded_hash(seed + 1))),
            merge_outcome::different_seed);
  EXPECT_TRUE(same_bytes(one, filled(one.plan())));
  EXPECT_EQ(one.merge(filled(one.plan(), 1000)), merge_outcome::merged);
  for (std::uint64_t key = 1000; key < 1050; ++key) EXPECT_TRUE(one.may_contain(key));
}

TEST(held_filter, can_erase_if_it_counts) {
  held_filter counts = filled(plan_of(filter_kind::counting));
  ASSERT_TRUE(can_erase(counts.plan()));
  EXPECT_EQ(counts.erase(3), erase_outcome::erased);
  EXPECT_FALSE(counts.may_contain(3));
  EXPECT_FALSE(can_erase(plan_of(filter_kind::standard)));
  EXPECT_FALSE(can_erase(plan_of(filter_kind::blocked)));
}

TEST(held_filter, of_any_kind_comes_back_from_a_file_and_from_memory) {
  const temporary_folder folder;
  const std::string path = folder.file("f.filter");
  for (const filter_kind kind : {filter_kind::standard, filter_kind::partitioned,
                                 filter_kind::counting, filter_kind::blocked}) {
    const held_filter filter = filled(plan_of(kind));
    ASSERT_FALSE(save(filter, path));
    const auto whole = load<held_filter>(path);
    ASSERT_TRUE(whole) << whole.failure().sentence;
    EXPECT_TRUE(same_bytes(*whole, filter));
    EXPECT_EQ(whole->hash(), filter.hash());
    const auto from = load_from<held_filter>(bytes_of_file(path));
    ASSERT_TRUE(from) << from.failure().sentence;
    EXPECT_TRUE(same_bytes(*from, filter));
    const auto mapped = mapped_filter<held_filter>::map(path);
    ASSERT_TRUE(mapped) << mapped.failure().sentence;
    EXPECT_EQ((*mapped)->plan().kind, kind);
    EXPECT_TRUE(std::ranges::equal((*mapped)->memory(), filter.memory()));
    EXPECT_FALSE(mapped->verify_payload());
  }
}

TEST(held_filter, of_hashes_that_fail_keeps_what_it_has) {
  held_filter filter = filled(plan_of(filter_kind::blocked));
  const auto fail = [](std::size_t, std::span<key_hash>) { throw std::runtime_error("no hash"); };
  EXPECT_THROW(filter.bulk_insert(hash_feed(10, fail)), std::runtime_error);
  EXPECT_TRUE(same_bytes(filter, filled(filter.plan())));
}

}  // namespace
