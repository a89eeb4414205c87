// Find, upsert and erase, held to a std::set over long random histories.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "each_scheme.hpp"
#include "oneprobe/detail/placement/ring.hpp"
#include "oneprobe/detail/placement/walk.hpp"
#include "plain_slots.hpp"

using namespace oneprobe;

namespace {

/// A set on the walks, with an overflow of its own; the smallest thing a table is.
template <class Scheme>
class walked_set {
 public:
  walked_set(const Scheme& scheme, admission rule)
      : scheme_(scheme), store_(scheme.buckets()), rule_(rule) {}

  bool insert(std::uint64_t key) {
    upserting walk(scheme_, store_, rule_);
    auto search = walk_to_end(walk, walk.start(hash_of(key), key));
    EXPECT_LE(search.accesses, scheme_.choices());
    if (search.end == walk_end::present) return false;
    if (search.end == walk_end::overflowed && overflow_.contains(key)) return false;
    if (walk.commit(search, key) == walk_end::placed) return true;
    overflow_.insert(key);
    note_overflowed(scheme_, store_, hash_of(key));
    return true;
  }

  bool erase(std::uint64_t key) {
    erasing walk(scheme_, store_);
    const auto ended = walk_to_end(walk, walk.start(hash_of(key), key));
    if (ended.end == walk_end::present) return true;
    if (ended.end == walk_end::absent || overflow_.erase(key) == 0) return false;
    unnote_overflowed(scheme_, store_, hash_of(key));
    return true;
  }

  bool contains(std::uint64_t key) const {
    const finding walk(scheme_, store_);
    const auto ended = walk_to_end(walk, walk.start(hash_of(key), key));
    EXPECT_LE(ended.accesses, scheme_.choices());
    if (ended.end == walk_end::overflowed) return overflow_.contains(key);
    return ended.end == walk_end::present;
  }

  std::vector<bool> contains_all(std::uint64_t keys) const {
    const finding walk(scheme_, store_);
    std::vector<bool> answers(keys);
    roll(
        walk, keys, [](std::size_t key) { return key; },
        [&](std::uint64_t key) { return walk.start(hash_of(key), key); },
        [&](std::size_t key, const auto& ended) {
          answers[key] = ended.end == walk_end::present ||
                         (ended.end == walk_end::overflowed && overflow_.contains(key));
        });
    return answers;
  }

  const plain_slots& store() const { return store_; }
  std::size_t overflowed() const { return overflow_.size(); }

 private:
  const Scheme& scheme_;
  plain_slots store_;
  admission rule_;
  std::set<std::uint64_t> overflow_;
};

template <class Scheme>
void live(const Scheme& scheme, admission rule, std::uint64_t seed, std::uint64_t keys, int steps) {
  walked_set set(scheme, rule);
  std::set<std::uint64_t> expected;
  std::mt19937_64 random(seed);
  std::size_t most_overflowed = 0;
  for (int step = 0; step < steps; ++step) {
    const std::uint64_t key = random() % keys;
    switch (random() % 3) {
      case 0:
        ASSERT_EQ(set.insert(key), expected.insert(key).second);
        break;
      case 1:
        ASSERT_EQ(set.erase(key), expected.erase(key) == 1);
        break;
      default:
        ASSERT_EQ(set.contains(key), expected.contains(key));
    }
    most_overflowed = std::max(most_overflowed, set.overflowed());
  }
  const std::vector<bool> answers = set.contains_all(keys);
  for (std::uint64_t key = 0; key < keys; ++key) ASSERT_EQ(answers[key], expected.contains(key));
  EXPECT_GT(most_overflowed, 0u) << "the overflow was never used";
  EXPECT_FALSE(set.store().notes_below_zero());
  for (const auto& bucket : set.store().buckets()) EXPECT_LE(bucket.size(), rule.largest_load());
  for (std::uint64_t key = 0; key < keys; ++key) set.erase(key);
  EXPECT_TRUE(set.store().no_notes()) << "an erased element left a note";
}

TEST(walks, behave_like_a_set_under_every_scheme) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    with_each_scheme(16, [&](const auto& scheme) {
      live(scheme, admission(2), seed, 100, 5000);
      live(scheme, admission(1, 0.5), seed, 100, 5000);
    });
  }
}

RC_GTEST_PROP(walks, behave_like_a_set_whatever_the_levels, ()) {
  const auto sizes = *rc::gen::suchThat(
      rc::gen::container<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(1, 9)),
      [](const auto& list) { return !list.empty() && list.size() <= 6; });
  const multilevel scheme(sizes);
  live(scheme, admission(*rc::gen::inRange(0u, 4u)), *rc::gen::arbitrary<std::uint64_t>(),
       4 * scheme.buckets() + 20, 1500);
}

TEST(find, stops_at_a_bucket_that_never_turned_anyone_away) {
  const multilevel scheme({4, 2, 2});
  plain_slots store(8);
  const finding walk(scheme, store);
  const auto ended = walk_to_end(walk, walk.start(hash_of(1), 1));
  EXPECT_EQ(ended.end, walk_end::absent);
  EXPECT_EQ(ended.accesses, 1u);
}

TEST(find, in_a_ring_finds_what_one_by_one_finds) {
  with_each_scheme(64, [](const auto& scheme) {
    plain_slots store(64);
    placing place(scheme, store, admission(2));
    for (std::uint64_t key = 0; key < 110; ++key)
      if (walk_to_end(place, place.start(hash_of(key), key)).end == walk_end::overflowed)
        note_overflowed(scheme, store, hash_of(key));
    const finding walk(scheme, store);
    for (const std::size_t count : {0u, 1u, 31u, 32u, 33u, 300u}) {
      std::vector<int> times(count);
      roll(
          walk, count, [](std::size_t key) { return key; },
          [&](std::uint64_t key) { return walk.start(hash_of(key), key); },
          [&](std::size_t key, const auto& ended) {
            ++times[key];
            const auto expected = walk_to_end(walk, walk.start(hash_of(key), key));
            EXPECT_EQ(ended.end, expected.end);
            EXPECT_EQ(ended.at, expected.at);
            EXPECT_EQ(ended.accesses, expected.accesses);
          });
      EXPECT_EQ(times, std::vector<int>(count, 1));
    }
  });
}

TEST(upsert, puts_an_element_where_place_puts_it) {
  with_each_scheme(64, [](const auto& scheme) {
    plain_slots placed(64), upserted(64);
    placing place(scheme, placed, admission(2, 0.3));
    upserting upsert(scheme, upserted, admission(2, 0.3));
    for (std::uint64_t key = 0; key < 150; ++key) {
      const auto one = walk_to_end(place, place.start(hash_of(key), key));
      auto other = walk_to_end(upsert, upsert.start(hash_of(key), key));
      ASSERT_NE(other.end, walk_end::present);
      ASSERT_EQ(upsert.commit(other, key), one.end);
    }
    EXPECT_EQ(upserted.buckets(), placed.buckets());
  });
}

TEST(upsert, in_a_ring_never_inserts_a_key_twice) {
  with_each_scheme(16, [](const auto& scheme) {
    plain_slots store(16);
    upserting walk(scheme, store, admission(8));
    constexpr std::size_t count = 400;  // every key several times, also within one ring
    const auto key_of = [](std::size_t i) -> std::uint64_t { return (i * i + i / 3) % 60; };
    std::multiset<std::uint64_t> inserted;
    roll(
        walk, count, key_of, [&](std::uint64_t key) { return walk.start(hash_of(key), key); },
        [&](std::size_t i, const auto& ended) {
          if (ended.end == walk_end::present) return;
          auto search = ended;
          std::uint64_t key = key_of(i);
          ASSERT_EQ(walk.commit(search, key), walk_end::placed);
          inserted.insert(key);
        });
    for (const std::uint64_t key : inserted) EXPECT_EQ(inserted.count(key), 1u);
    EXPECT_GT(inserted.size(), 30u);
  });
}

}  // namespace
