#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "each_scheme.hpp"
#include "oneprobe/detail/placement/load_counters.hpp"
#include "oneprobe/detail/placement/ring.hpp"
#include "oneprobe/detail/placement/walk.hpp"
#include "plain_slots.hpp"

using namespace oneprobe;
using counters = load_counters<std::uint8_t>;

namespace {

TEST(place, takes_the_first_candidate_with_room) {
  const multilevel scheme({1, 1, 1});
  counters store(3);
  placing walk(scheme, store, admission(2));
  std::vector<std::uint32_t> levels, accesses;
  for (std::uint64_t key = 0; key < 6; ++key) {
    const auto placed = walk_to_end(walk, walk.start(hash_of(key)));
    EXPECT_EQ(placed.end, walk_end::placed);
    levels.push_back(placed.at.level);
    accesses.push_back(placed.accesses);
  }
  EXPECT_EQ(levels, (std::vector<std::uint32_t>{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(accesses, (std::vector<std::uint32_t>{1, 1, 2, 2, 3, 3}));
  const auto seventh = walk_to_end(walk, walk.start(hash_of(6)));
  EXPECT_EQ(seventh.end, walk_end::overflowed);
  EXPECT_EQ(seventh.accesses, 3u);
}

TEST(place, takes_the_least_loaded_of_all_and_the_leftmost_of_equals) {
  const d_left scheme(4, 4);  // one bucket in each sub-table: every element has the same candidates
  counters store(4);
  placing walk(scheme, store, admission(2));
  std::vector<std::uint64_t> buckets;
  for (std::uint64_t key = 0; key < 8; ++key) {
    const auto placed = walk_to_end(walk, walk.start(hash_of(key)));
    EXPECT_EQ(placed.end, walk_end::placed);
    EXPECT_EQ(placed.accesses, 4u);
    buckets.push_back(placed.at.bucket);
  }
  EXPECT_EQ(buckets, (std::vector<std::uint64_t>{0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_EQ(walk_to_end(walk, walk.start(hash_of(8))).end, walk_end::overflowed);
}

TEST(place, stops_for_good_when_the_budget_is_spent) {
  const multilevel scheme({1, 1, 1});
  counters store(3);
  placing walk(scheme, store, admission(1), access_budget{4});
  EXPECT_EQ(walk_to_end(walk, walk.start(hash_of(0))).accesses, 1u);
  EXPECT_EQ(walk_to_end(walk, walk.start(hash_of(1))).accesses, 2u);
  const auto third = walk_to_end(walk, walk.start(hash_of(2)));  // one access is left
  EXPECT_EQ(third.accesses, 1u);
  EXPECT_EQ(third.end, walk_end::overflowed);
  const auto fourth = walk_to_end(walk, walk.start(hash_of(3)));
  EXPECT_EQ(fourth.accesses, 0u);
  EXPECT_EQ(fourth.end, walk_end::overflowed);
  EXPECT_EQ(walk.budget().left, 0u);
  EXPECT_EQ(store[2], 0u);
}

TEST(place, admits_at_the_threshold_exactly_those_whose_coin_says_so) {
  const single scheme(1);
  const admission rule(0, 0.5);  // an empty bucket is at the threshold
  int admitted = 0;
  for (std::uint64_t key = 0; key < 1000; ++key) {
    counters store(1);
    placing walk(scheme, store, rule);
    const bool placed = walk_to_end(walk, walk.start(hash_of(key))).end == walk_end::placed;
    EXPECT_EQ(placed, coin_bits(hash_of(key), 0) < (std::uint64_t{1} << 63));
    admitted += placed;
  }
  EXPECT_NEAR(admitted, 500, 5 * 16);  // deviation 15.8; five sigmas
}

TEST(place, says_that_an_element_is_there_already) {
  with_each_scheme(16, [](const auto& scheme) {
    plain_slots store(16);
    placing walk(scheme, store, admission(4));
    EXPECT_EQ(walk_to_end(walk, walk.start(hash_of(7), 7)).end, walk_end::placed);
    if (scheme.choice == order::first_fit) {
      EXPECT_EQ(walk_to_end(walk, walk.start(hash_of(7), 7)).end, walk_end::present);
    }
  });
}

TEST(place, raises_the_notes_of_the_buckets_before_its_own_and_no_others) {
  const multilevel scheme({1, 1, 1, 1});
  plain_slots store(4, 1);
  placing walk(scheme, store, admission(1));
  for (std::uint64_t key = 0; key < 3; ++key) walk_to_end(walk, walk.start(hash_of(key), key));
  EXPECT_TRUE(store.may_be_beyond({0, 0}, hash_of(9)));
  EXPECT_TRUE(store.may_be_beyond({1, 1}, hash_of(9)));
  EXPECT_FALSE(store.may_be_beyond({2, 2}, hash_of(9)));
  EXPECT_FALSE(store.may_be_beyond({3, 3}, hash_of(9)));
}

TEST(place, leaves_no_note_of_an_element_that_went_nowhere) {
  const multilevel scheme({1, 1});
  plain_slots store(2, 1);
  placing walk(scheme, store, admission(0));
  EXPECT_EQ(walk_to_end(walk, walk.start(hash_of(1), 1)).end, walk_end::overflowed);
  EXPECT_TRUE(store.no_notes());
  note_overflowed(scheme, store, hash_of(1));
  EXPECT_TRUE(store.may_be_beyond({0, 0}, hash_of(1)));
  EXPECT_TRUE(store.may_be_beyond({1, 1}, hash_of(1)));
  unnote_overflowed(scheme, store, hash_of(1));
  EXPECT_TRUE(store.no_notes());
}

/// Resources of which some do not answer.
struct partly_deaf {
  struct item {};
  std::vector<std::uint32_t> loads;
  std::set<std::uint64_t> deaf;

  void prefetch(position) const {}
  std::optional<std::uint32_t> load(position at) const {
    if (deaf.contains(at.bucket)) return std::nullopt;
    return loads[at.bucket];
  }
  put_result try_put(position at, item&, std::uint32_t limit) {
    if (deaf.contains(at.bucket)) return put_result::unavailable;
    if (loads[at.bucket] >= limit) return put_result::refused;
    ++loads[at.bucket];
    return put_result::placed;
  }
};

TEST(place, passes_by_a_bucket_that_cannot_be_asked) {
  const multilevel first_fit({1, 1, 1});
  partly_deaf store{.loads = {0, 0, 0}, .deaf = {0}};
  placing walk(first_fit, store, admission(1));
  const auto placed = walk_to_end(walk, walk.start(hash_of(1)));
  EXPECT_EQ(placed.at.bucket, 1u);
  EXPECT_EQ(placed.accesses, 2u);

  const d_left parallel(3, 3);
  partly_deaf loaded{.loads = {0, 5, 4}, .deaf = {0}};
  placing choose(parallel, loaded, admission::always());
  EXPECT_EQ(walk_to_end(choose, choose.start(hash_of(1))).at.bucket, 2u);
  partly_deaf silent{.loads = {0, 0, 0}, .deaf = {0, 1, 2}};
  placing none(parallel, silent, admission::always());
  EXPECT_EQ(walk_to_end(none, none.start(hash_of(1))).end, walk_end::overflowed);
}

/// A bucket keeps its smallest elements and hands the largest back: the law of a prefix filter.
struct keeps_the_smallest {
  using item = key_hash;
  std::vector<std::vector<std::uint64_t>> buckets;

  void prefetch(position) const {}
  std::optional<std::uint32_t> load(position at) const {
    return static_cast<std::uint32_t>(buckets[at.bucket].size());
  }
  put_result try_put(position at, item& element, std::uint32_t limit) {
    auto& bucket = buckets[at.bucket];
    bucket.insert(std::lower_bound(bucket.begin(), bucket.end(), element.value), element.value);
    if (bucket.size() <= limit) return put_result::placed;
    const bool itself = bucket.back() == element.value;
    element.value = bucket.back();
    bucket.pop_back();
    return itself ? put_result::refused : put_result::exchanged;
  }
  key_hash probe_of(const item& element) const { return element; }
};
static_assert(exchanging_store<keeps_the_smallest, multilevel>);

TEST(place, carries_on_with_what_a_bucket_hands_back) {
  const multilevel scheme({20, 8, 4});
  std::vector<std::uint64_t> keys(70);
  std::iota(keys.begin(), keys.end(), 0);
  std::mt19937 random(1);
  std::vector<std::vector<std::uint64_t>> content;
  std::vector<std::uint64_t> overflow;
  for (int round = 0; round < 20; ++round) {
    keeps_the_smallest store{std::vector<std::vector<std::uint64_t>>(32)};
    placing walk(scheme, store, admission(2));
    std::vector<std::uint64_t> left_over;
    for (const std::uint64_t key : keys) {
      const auto ended = walk_to_end(walk, walk.start(hash_of(key), hash_of(key)));
      EXPECT_LE(ended.accesses, 3u);
      if (ended.end == walk_end::overflowed) left_over.push_back(ended.element.value);
    }
    std::sort(left_over.begin(), left_over.end());
    if (round == 0) {
      content = store.buckets;
      overflow = left_over;
      EXPECT_FALSE(overflow.empty());
    }
    // Same set, same content, whatever the order: what makes merging exact later.
    EXPECT_EQ(store.buckets, content);
    EXPECT_EQ(left_over, overflow);
    std::size_t held = left_over.size();
    for (const auto& bucket : store.buckets) held += bucket.size();
    EXPECT_EQ(held, keys.size());
    std::shuffle(keys.begin(), keys.end(), random);
  }
}

TEST(ring, places_exactly_as_one_by_one) {
  with_each_scheme(1000, [](const auto& scheme) {
    for (const std::size_t count : {0u, 1u, 5u, 31u, 32u, 33u, 64u, 5000u}) {
      counters one_by_one(1000), at_once(1000);
      placing walk(scheme, one_by_one, admission(4, 0.25));
      placing rolling(scheme, at_once, admission(4, 0.25));
      std::vector<position> expected, found(count);
      std::vector<std::uint32_t> expected_accesses, found_accesses(count);
      for (std::size_t key = 0; key < count; ++key) {
        const auto ended = walk_to_end(walk, walk.start(hash_of(key)));
        expected.push_back(ended.at);
        expected_accesses.push_back(ended.accesses);
      }
      std::size_t next = 0;
      roll(
          rolling, count,
          [&](std::size_t number) {
            EXPECT_EQ(number, next++);
            return hash_of(number);
          },
          [&](key_hash hash) { return rolling.start(hash); },
          [&](std::size_t number, const auto& ended) {
            found[number] = ended.at;
            found_accesses[number] = ended.accesses;
          });
      EXPECT_EQ(found, expected);
      EXPECT_EQ(found_accesses, expected_accesses);
      EXPECT_TRUE(std::equal(one_by_one.loads().begin(), one_by_one.loads().end(),
                             at_once.loads().begin()));
    }
  });
}

TEST(ring, in_order_ends_walks_as_they_were_started) {
  with_each_scheme(1000, [](const auto& scheme) {
    counters one_by_one(1000), at_once(1000);
    placing walk(scheme, one_by_one, admission(4));
    placing rolling(scheme, at_once, admission(4));
    std::size_t next = 0;
    roll_in_order(
        rolling, 5000, [&](std::size_t number) { return hash_of(number); },
        [&](key_hash hash) { return rolling.start(hash); },
        [&](std::size_t number, const auto& ended) {
          ASSERT_EQ(number, next++);
          ASSERT_EQ(ended.at, walk_to_end(walk, walk.start(hash_of(number))).at);
        });
    EXPECT_EQ(next, 5000u);
  });
}

TEST(ring, spends_a_budget_as_one_by_one) {
  const multilevel scheme({50, 20, 10});
  counters one_by_one(80), at_once(80);
  placing walk(scheme, one_by_one, admission(2), access_budget{150});
  placing rolling(scheme, at_once, admission(2), access_budget{150});
  for (std::uint64_t key = 0; key < 200; ++key) walk_to_end(walk, walk.start(hash_of(key)));
  roll(
      rolling, 200, [&](std::size_t number) { return hash_of(number); },
      [&](key_hash hash) { return rolling.start(hash); }, [](std::size_t, const auto&) {});
  EXPECT_TRUE(
      std::equal(one_by_one.loads().begin(), one_by_one.loads().end(), at_once.loads().begin()));
}

/// Counters for walks by looks. Of what was prepared they only want to see that it was.
class offering_counters : public counters {
 public:
  using counters::counters;
  using prepared = std::uint32_t;

  bucket_look offer(position at, const item&, std::uint32_t limit) noexcept {
    item one;
    return {.beyond = try_put(at, one, limit) == put_result::refused ? 1u : 0u};
  }
  void note_refused(position, item&) noexcept { ++refusals; }
  template <class ItemAt>
  void prepare(std::size_t count, ItemAt&&, prepared* out) const noexcept {
    std::fill_n(out, count, was_prepared);
  }
  bucket_look offer(position at, const prepared& element, std::uint32_t limit) noexcept {
    EXPECT_EQ(element, was_prepared);
    return offer(at, item{}, limit);
  }

  std::size_t refusals = 0;

 private:
  static constexpr prepared was_prepared = 20081;
};
static_assert(preparing_store<offering_counters>);

const multilevel three_levels({50, 20, 10});
constexpr std::size_t most_elements = 400;  // in 320 places

template <class Gate>
std::size_t place_by_looks(std::size_t count, offering_counters& store, std::set<std::size_t>& over,
                           Gate gate) {
  placing walk(three_levels, store, admission(4));
  return roll_looks(
      walk, count, [](std::size_t number) { return hash_of(number); },
      [](const auto& any, key_hash hash) { return any.start(hash); },
      [](std::size_t, bool found) { EXPECT_FALSE(found); },
      [&](std::size_t number, const auto& ended) {
        EXPECT_EQ(ended.end, walk_end::overflowed);
        EXPECT_TRUE(over.insert(number).second);
      },
      gate);
}
void expect_as_one_by_one(std::size_t count, const offering_counters& found,
                          const std::set<std::size_t>& overflowed) {
  counters store(80);
  placing walk(three_levels, store, admission(4));
  std::set<std::size_t> wanted;
  for (std::size_t key = 0; key < count; ++key)
    if (walk_to_end(walk, walk.start(hash_of(key))).end == walk_end::overflowed) wanted.insert(key);
  EXPECT_TRUE(std::equal(store.loads().begin(), store.loads().end(), found.loads().begin()));
  EXPECT_EQ(overflowed, wanted);
}

TEST(ring, looks_place_exactly_as_one_by_one) {
  for (const std::size_t count : {0u, 1u, 31u, 32u, 33u, 64u, 257u, 400u}) {
    offering_counters store(80);
    std::set<std::size_t> overflowed;
    EXPECT_EQ(place_by_looks(count, store, overflowed, always_open()), count);
    expect_as_one_by_one(count, store, overflowed);
  }
}

TEST(ring, looks_let_open_walks_end_when_there_are_too_many_and_go_on) {
  offering_counters store(80);
  std::set<std::size_t> overflowed;
  std::size_t noes = 0;
  EXPECT_EQ(place_by_looks(most_elements, store, overflowed,
                           [&](std::size_t open) {
                             const bool yes = open <= default_ring_width + 2;
                             noes += yes ? 0 : 1;
                             return yes;
                           }),
            most_elements);
  EXPECT_GT(noes, 1u);
  expect_as_one_by_one(most_elements, store, overflowed);
}

TEST(ring, looks_end_between_two_rings_when_no_more_may_overflow) {
  offering_counters store(80);
  std::set<std::size_t> overflowed;
  const std::size_t run = place_by_looks(most_elements, store, overflowed,
                                         [&](std::size_t) { return store.refusals == 0; });
  EXPECT_GT(run, 0u);
  EXPECT_LT(run, most_elements);
  EXPECT_EQ(run % default_ring_width, 0u);
  expect_as_one_by_one(run, store, overflowed);
}

TEST(load_counters, never_wrap) {
  load_counters<std::uint8_t> store(1);
  load_counters<std::uint8_t>::item one;
  for (int i = 0; i < 255; ++i) EXPECT_EQ(store.try_put({0, 0}, one, 1000), put_result::placed);
  EXPECT_EQ(store.try_put({0, 0}, one, 1000), put_result::refused);
  EXPECT_EQ(store[0], 255);
  store.remove_one({0, 0});
  EXPECT_EQ(store[0], 254);
  store.clear();
  EXPECT_EQ(store[0], 0);
}

}  // namespace
