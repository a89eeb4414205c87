// Threads that insert and ask together. Also run under ThreadSanitizer.
#include "oneprobe/filter/concurrent.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

using namespace oneprobe;

namespace {

filter_plan blocked_plan() {
  filter_plan plan;
  plan.kind = filter_kind::blocked;
  plan.elements = 20'000;
  plan.bits_set = 8;
  plan.level_buckets = {plan.elements / 32};
  return plan;
}

/// So few blocks that all levels, the list and what comes after it are used.
filter_plan balanced_plan() {
  filter_plan plan;
  plan.kind = filter_kind::balanced;
  plan.elements = 20'000;
  plan.bits_set = 8;
  plan.levels = 3;
  plan.choices = 3;
  plan.level_buckets = {plan.elements / 40, plan.elements / 300, plan.elements / 2000};
  plan.state = {.rule = lookup_rule::popcount, .threshold = 230, .tracking_bits = 12};
  plan.overflow_reserve = 1000;
  plan.overflow_slots = 1400;
  return plan;
}

struct blocked_case {
  using filter = concurrent_blocked_filter;
  using plain = blocked_filter;
  static filter_plan plan() { return blocked_plan(); }
};
struct balanced_case {
  using filter = concurrent_balanced_filter;
  using plain = balanced_filter;
  static filter_plan plan() { return balanced_plan(); }
};

template <class Case>
class concurrent_filter : public testing::Test {};
using cases = testing::Types<blocked_case, balanced_case>;
TYPED_TEST_SUITE(concurrent_filter, cases);

constexpr std::uint64_t writers = 3;

TYPED_TEST(concurrent_filter, an_insert_that_returned_is_seen_by_all_later_queries) {
  typename TypeParam::filter filter(TypeParam::plan(), seeded_hash(1));
  const std::uint64_t keys_each = TypeParam::plan().elements / writers;
  // What each writer has inserted so far, told to the readers.
  std::vector<std::atomic<std::uint64_t>> done(writers);
  std::atomic<std::uint64_t> lost = 0, asked = 0;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t w = 0; w < writers; ++w)
      threads.emplace_back([&, w] {
        for (std::uint64_t i = 0; i < keys_each; ++i) {
          filter.insert(w * keys_each + i);
          done[w].store(i + 1, std::memory_order_release);
        }
      });
    for (std::uint64_t reader = 0; reader < 2; ++reader)
      threads.emplace_back([&, reader] {
        std::uint64_t state = reader + 1;
        for (bool all_done = false; !all_done;) {
          all_done = true;
          for (std::uint64_t w = 0; w < writers; ++w) {
            const std::uint64_t known = done[w].load(std::memory_order_acquire);
            all_done = all_done && known == keys_each;
            if (known == 0) continue;
            state = state * 6364136223846793005u + 1442695040888963407u;
            const std::uint64_t latest = known - 1, any = (state >> 33) % known;
            for (const std::uint64_t i : {latest, any}) {
              if (!filter.may_contain(w * keys_each + i)) ++lost;
              ++asked;
            }
          }
        }
      });
  }
  EXPECT_EQ(lost, 0);
  EXPECT_GT(asked, 0);
  for (std::uint64_t key = 0; key < writers * keys_each; ++key)
    ASSERT_TRUE(filter.may_contain(key)) << key;
}

TYPED_TEST(concurrent_filter, loses_nothing_over_full_with_bulk_inserts_of_the_same_keys) {
  const filter_plan plan = TypeParam::plan();
  typename TypeParam::filter filter(plan, seeded_hash(2));
  std::vector<std::uint64_t> keys(2 * plan.elements);
  for (std::uint64_t i = 0; i < keys.size(); ++i) keys[i] = i;
  std::atomic<std::uint64_t> added = 0;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t t = 0; t < writers; ++t)
      threads.emplace_back([&, t] {
        // All threads insert the same, each from a place of its own.
        std::vector<std::uint64_t> mine = keys;
        std::rotate(mine.begin(), mine.begin() + static_cast<std::ptrdiff_t>(t * 1000), mine.end());
        added += filter.bulk_insert(mine);
      });
  }
  const auto answers = std::make_unique<bool[]>(keys.size());
  EXPECT_EQ(filter.bulk_may_contain(keys, std::span(answers.get(), keys.size())), keys.size());
  EXPECT_EQ(filter.counts().size, added);
  EXPECT_LE(filter.counts().overflow, plan.overflow_reserve);
}

TYPED_TEST(concurrent_filter, in_one_thread_has_the_bytes_of_the_plain_filter) {
  const filter_plan plan = TypeParam::plan();
  typename TypeParam::filter filter(plan, seeded_hash(3));
  typename TypeParam::plain plain(plan, seeded_hash(3));
  std::vector<std::uint64_t> keys(2 * plan.elements);
  for (std::uint64_t i = 0; i < keys.size(); ++i) keys[i] = i % 7 == 0 ? i / 2 : i;
  EXPECT_EQ(filter.bulk_insert(keys), plain.bulk_insert(keys));
  for (std::uint64_t key = 0; key < 5000; ++key)
    EXPECT_EQ(filter.insert(3 * key), plain.insert(3 * key));
  EXPECT_TRUE(std::ranges::equal(filter.memory(), plain.memory()));
  EXPECT_EQ(filter.counts(), plain.counts());
  EXPECT_EQ(filter.stats().current_fpr, plain.stats().current_fpr);
  typename TypeParam::filter other = filter;
  EXPECT_EQ(filter.merge(other), merge_outcome::merged);
  filter.clear();
  EXPECT_EQ(filter.counts(), filter_counts{});
  EXPECT_TRUE(std::ranges::equal(other.memory(), plain.memory()));
}

TEST(concurrent_balanced_filter, refuses_rules_that_count_elements) {
  filter_plan plan = balanced_plan();
  plan.state = {.rule = lookup_rule::tracking, .threshold = 30, .tracking_bits = 12};
  try {
    concurrent_balanced_filter filter(plan, seeded_hash(1));
    FAIL();
  } catch (const std::invalid_argument& refusal) {
    EXPECT_STREQ(refusal.what(), "rule must be popcount in a concurrent filter; found tracking");
  }
}

}  // namespace
