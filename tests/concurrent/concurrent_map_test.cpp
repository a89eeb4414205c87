// concurrent_map: alone like any map, and with threads of every kind.
#include "oneprobe/map/concurrent_map.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "concurrent/map_stress.hpp"

using namespace oneprobe;

namespace {

using number = std::uint64_t;

/// Soon full: levels of 12, 4 and 2 buckets, and two of overflow.
table_plan small_plan() {
  table_plan plan;
  plan.elements = 200;
  plan.levels = plan.choices = 3;
  plan.level_buckets = {12, 4, 2};
  plan.overflow_buckets = 2;
  plan.overflow_reserve = 16;
  return plan;
}

TEST(concurrent_map, agrees_with_its_twin) {
  for (const std::uint64_t seed : {1u, 2u, 3u}) {
    concurrent_map<number, number> map(small_plan(), seeded_hash(seed));
    concurrent_map<number, number>::reader reader(map);
    std::unordered_map<number, number> twin;
    std::mt19937_64 random(seed);
    std::uint64_t refused = 0;
    std::uint64_t overflowed = 0;
    for (int i = 0; i < 200'000; ++i) {
      const number key = random() % 600;
      const number value = random();
      // Every other call goes by a hash that was made before.
      const bool by_hash = i % 2 == 0;
      const key_hash hash = map.hash()(key);
      switch (random() % 6) {
        case 0:
        case 1: {
          const insertion outcome = by_hash ? map.insert(key, value, hash) : map.insert(key, value);
          ASSERT_EQ(outcome == insertion::present, twin.contains(key));
          refused += outcome == insertion::full ? 1 : 0;
          overflowed += outcome == insertion::overflowed ? 1 : 0;
          if (outcome != insertion::full) twin.emplace(key, value);
          break;
        }
        case 2: {
          const insertion outcome =
              by_hash ? map.insert_or_assign(key, value, hash) : map.insert_or_assign(key, value);
          ASSERT_EQ(outcome == insertion::present, twin.contains(key));
          if (outcome != insertion::full) twin[key] = value;
          break;
        }
        case 3:
          ASSERT_EQ((by_hash ? map.erase(key, hash) : map.erase(key)) == erase_outcome::erased,
                    twin.erase(key) == 1);
          break;
        case 4: {
          const auto add_seven = [](number& old) { old += 7; };
          const bool there =
              by_hash ? map.modify(key, hash, add_seven) : map.modify(key, add_seven);
          ASSERT_EQ(there, twin.contains(key));
          if (there) twin[key] += 7;
          break;
        }
        default: {
          const auto found = by_hash ? map.find(key, hash) : map.find(key);
          ASSERT_EQ(found.has_value(), twin.contains(key));
          ASSERT_EQ(by_hash ? map.contains(key, hash) : map.contains(key), found.has_value());
          ASSERT_EQ(by_hash ? reader.find(key, hash) : reader.find(key), found);
          ASSERT_EQ(by_hash ? reader.contains(key, hash) : reader.contains(key), found.has_value());
          if (found) {
            ASSERT_EQ(*found, twin[key]);
          }
        }
      }
      ASSERT_EQ(map.size(), twin.size());
    }
    EXPECT_GT(refused, 0u);
    EXPECT_GT(overflowed, 0u);
    EXPECT_EQ(reader.retries(), 0u);
    std::vector<number> keys(600);
    std::vector<key_hash> hashes(600);
    for (number key = 0; key < 600; ++key) {
      keys[key] = key;
      hashes[key] = map.hash()(key);
    }
    std::vector<std::optional<number>> found(600);
    EXPECT_EQ(map.bulk_find(keys, found), twin.size());
    for (const number key : keys) ASSERT_EQ(found[key].has_value(), twin.contains(key));
    std::vector<std::optional<number>> found_by_hash(600);
    EXPECT_EQ(map.bulk_find(keys, hashes, found_by_hash), twin.size());
    EXPECT_EQ(found_by_hash, found);
    std::vector<std::optional<number>> found_by_reader(600);
    EXPECT_EQ(reader.bulk_find(keys, found_by_reader), twin.size());
    EXPECT_EQ(found_by_reader, found);
    EXPECT_EQ(reader.bulk_find(keys, hashes, found_by_reader), twin.size());
    EXPECT_EQ(found_by_reader, found);
    std::size_t seen = 0;
    map.for_each([&](number key, number value) {
      ++seen;
      EXPECT_EQ(twin.at(key), value);
    });
    EXPECT_EQ(seen, twin.size());
  }
}

/// Does something, once, while a lookup is inside the bucket.
struct meddling_equal {
  std::function<void()>* meanwhile;

  bool operator()(number there, number wanted) const {
    if (const auto change = std::exchange(*meanwhile, nullptr)) change();
    return there == wanted;
  }
};

TEST(concurrent_map, counts_what_a_reader_reads_again) {
  std::function<void()> meanwhile;
  concurrent_map<number, number, seeded_hash, meddling_equal> map(small_plan(), seeded_hash(1),
                                                                  meddling_equal{&meanwhile});
  decltype(map)::reader reader(map);
  number key = 0;
  // The last of them is in the overflow.
  while (map.overflow_size() == 0) map.insert(key++, 0);
  for (const number wanted : {number{0}, key - 1}) {
    const auto changed_inside = [&] {
      meanwhile = [&] { map.modify(wanted, [](number& value) { ++value; }); };
      return reader.retries();
    };
    const number value = *map.find(wanted);
    std::uint64_t before = changed_inside();
    EXPECT_EQ(reader.find(wanted), value + 1);
    EXPECT_EQ(reader.retries(), before + 1);
    before = changed_inside();
    EXPECT_TRUE(reader.contains(wanted));
    EXPECT_EQ(reader.retries(), before + 1);
    before = changed_inside();
    std::array<std::optional<number>, 1> found;
    EXPECT_EQ(reader.bulk_find(std::array{wanted}, found), 1u);
    EXPECT_EQ(found[0], value + 3);
    EXPECT_EQ(reader.retries(), before + 1);
  }
}

TEST(concurrent_map, inserts_a_key_once_whoever_comes_first) {
  constexpr number keys = 4000;
  concurrent_map<number, number> map(keys, seeded_hash(1));
  std::array<std::atomic<int>, 4> inserted{};
  {
    std::vector<std::jthread> writers;
    for (std::size_t writer = 0; writer < 4; ++writer)
      writers.emplace_back([&, writer] {
        for (number key = 0; key < keys; ++key) {
          const insertion outcome = map.insert(key, writer);
          if (outcome == insertion::inserted || outcome == insertion::overflowed)
            inserted[writer].fetch_add(1, std::memory_order_relaxed);
          else
            EXPECT_EQ(outcome, insertion::present);
        }
      });
  }
  EXPECT_EQ(map.size(), keys);
  std::array<int, 4> owned{};
  std::size_t seen = 0;
  map.for_each([&](number, number writer) {
    ++owned[writer];
    ++seen;
  });
  EXPECT_EQ(seen, keys);
  for (std::size_t writer = 0; writer < 4; ++writer) EXPECT_EQ(owned[writer], inserted[writer]);
}

TEST(concurrent_map, adds_up_what_threads_add) {
  concurrent_map<number, number> map(small_plan(), seeded_hash(1));
  for (number key = 0; key < 50; ++key) map.insert(key, 0);
  {
    std::vector<std::jthread> writers;
    for (int writer = 0; writer < 4; ++writer)
      writers.emplace_back([&] {
        for (number i = 0; i < 20'000; ++i) map.modify(i % 50, [](number& count) { ++count; });
      });
  }
  for (number key = 0; key < 50; ++key) EXPECT_EQ(map.find(key), 4 * 20'000 / 50);
}

TEST(concurrent_map, never_shows_a_torn_or_lost_element) {
  const map_stress::result found = map_stress::run({.operations = 150'000});
  EXPECT_EQ(found.torn, 0u);
  EXPECT_EQ(found.lost, 0u);
  EXPECT_EQ(found.unexpected, 0u);
  EXPECT_GT(found.reads, 0u);
  EXPECT_GT(found.refused, 0u);
}

TEST(concurrent_map, refuses_plans_that_are_not_for_it) {
  table_plan plan = small_plan();
  plan.scheme = scheme_kind::sequential;
  plan.levels = 1;
  plan.choices = 3;
  plan.level_buckets = {18};
  EXPECT_THROW((concurrent_map<number, number>(plan)), std::invalid_argument);
  plan = small_plan();
  plan.bucket_capacity = 8;
  EXPECT_THROW((concurrent_map<number, number>(plan)), std::invalid_argument);
}

}  // namespace
