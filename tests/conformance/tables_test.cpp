// Tables have all their memory from the start: nothing that is done with them allocates.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "allocations.hpp"
#include "oneprobe/map/bounded_map.hpp"
#include "oneprobe/map/bounded_set.hpp"
#include "oneprobe/map/concurrent_map.hpp"
#include "support/small_plan.hpp"

namespace {

using namespace oneprobe;
using conformance::allocations_so_far;
using number = std::uint64_t;

/// Fails, with the name of the work, if it allocates.
template <class Work>
void expect_no_allocation(const char* name, Work work) {
  const std::uint64_t before = allocations_so_far();
  work();
  EXPECT_EQ(allocations_so_far(), before) << name;
}

/// More keys than there is room for in a table of the small plan.
struct many_keys {
  std::vector<number> keys;
  std::vector<key_hash> hashes;

  explicit many_keys(const seeded_hash& hash) {
    for (number key = 0; key < 600; ++key) {
      keys.push_back(key);
      hashes.push_back(hash(key));
    }
  }
};

std::uint64_t is_full(insertion outcome) { return outcome == insertion::full ? 1 : 0; }
template <class Element>
std::uint64_t is_full(const insert_result<Element>& found) {
  return is_full(found.outcome);
}

/// Past full, down to half of it, and once more. `insert` inserts one key.
template <class Table, class Insert>
void expect_no_allocation_in(Table& table, Insert insert) {
  const many_keys all(table.hash());
  Table larger(1000, seeded_hash(2));
  std::vector<typename Table::value_type*> found(all.keys.size());
  std::uint64_t full = 0, seen = 0, bulk_seen = 0, erased = 0, swept = 0, moved = 0;
  expect_no_allocation("insert", [&] {
    for (const number key : all.keys) full += is_full(insert(key));
  });
  EXPECT_GT(full, 0u);
  EXPECT_GT(table.counts().overflow, 0u);
  expect_no_allocation("find", [&] {
    for (const number key : all.keys) {
      seen += table.find(key) != nullptr ? 1u : 0u;
      seen += table.contains(key) ? 1u : 0u;
      seen += table.visit(key, [](const auto&) {}) ? 1u : 0u;
      seen += table.explain(key).contains() ? 1u : 0u;
    }
  });
  EXPECT_EQ(seen, 4 * table.size());
  expect_no_allocation("bulk_find", [&] {
    bulk_seen += table.bulk_find(all.keys, found);
    bulk_seen += table.bulk_find(all.keys, all.hashes, found);
  });
  EXPECT_EQ(bulk_seen, 2 * table.size());
  expect_no_allocation("erase", [&] {
    for (number key = 0; key < all.keys.size(); key += 3)
      erased += table.erase(key) == erase_outcome::erased ? 1u : 0u;
  });
  EXPECT_GT(erased, 0u);
  expect_no_allocation("drain", [&] { moved += table.drain(2); });
  EXPECT_GT(moved, 0u);
  expect_no_allocation("sweep", [&] {
    swept += table.sweep(100, [](const auto& element) { return element.key % 3 == 1; });
  });
  EXPECT_GT(swept, 0u);
  std::uint64_t without_room = 0;
  expect_no_allocation("copy_into", [&] { without_room = table.copy_into(larger); });
  EXPECT_EQ(without_room, 0u);
  EXPECT_EQ(larger.size(), table.size());
  EXPECT_GT(larger.size(), 0u);
  expect_no_allocation("clear", [&] { table.clear(); });
}

TEST(tables_do_not_allocate, bounded_map) {
  bounded_map<number, number> map(small_plan(16), seeded_hash(1));
  expect_no_allocation_in(map, [&](number key) { return map.insert(key, key); });
  expect_no_allocation_in(map, [&](number key) { return map.insert_or_assign(key, key); });
}

TEST(tables_do_not_allocate, bounded_map_that_evicts) {
  bounded_map<number, number> map(small_plan(16), seeded_hash(1));
  std::uint64_t gave_way = 0;
  const auto first = [&](auto candidates) {
    ++gave_way;
    return candidates.front();
  };
  expect_no_allocation("try_emplace_evicting", [&] {
    for (number key = 0; key < 2000; ++key) map.try_emplace_evicting(key, first, key);
  });
  EXPECT_EQ(gave_way, 2000 - map.size());
  EXPECT_GT(gave_way, 0u);
}

TEST(tables_do_not_allocate, bounded_set) {
  bounded_set<number> set(small_plan(16), seeded_hash(1));
  expect_no_allocation_in(set, [&](number key) { return set.insert(key); });
}

TEST(tables_do_not_allocate, bounded_map_of_text_that_is_asked_by_views) {
  bounded_map<std::string, number> map(1000, seeded_hash(1));
  const std::string text = "a key that needs memory of its own, number 7";
  const std::string_view key = text;
  map.try_emplace(key, 7u);
  std::uint64_t answers = 0;
  expect_no_allocation("a view of a key that is there", [&] {
    answers += map.find(key) != nullptr ? 1u : 0u;
    answers += map.contains(key) ? 1u : 0u;
    answers += map.try_emplace(key, 8u).outcome == insertion::present ? 1u : 0u;
    answers += map.insert(key, 8u).outcome == insertion::present ? 1u : 0u;
    answers += map.erase(key) == erase_outcome::erased ? 1u : 0u;
  });
  EXPECT_EQ(answers, 5u);
}

TEST(tables_do_not_allocate, concurrent_map) {
  concurrent_map<number, number> map(small_plan(16), seeded_hash(1));
  concurrent_map<number, number>::reader reader(map);
  const many_keys all(map.hash());
  std::vector<std::optional<number>> found(all.keys.size());
  std::uint64_t full = 0, seen = 0, bulk_seen = 0, modified = 0, erased = 0;
  expect_no_allocation("insert", [&] {
    for (const number key : all.keys) full += is_full(map.insert(key, key));
    for (const number key : all.keys) full += is_full(map.insert_or_assign(key, key));
  });
  EXPECT_GT(full, 0u);
  EXPECT_GT(map.overflow_size(), 0u);
  expect_no_allocation("find", [&] {
    for (const number key : all.keys) {
      seen += map.find(key) ? 1u : 0u;
      seen += map.contains(key) ? 1u : 0u;
      seen += reader.find(key) ? 1u : 0u;
    }
    map.for_each([&](number, number) { ++seen; });
  });
  EXPECT_EQ(seen, 4 * map.size());
  expect_no_allocation("bulk_find", [&] {
    bulk_seen += map.bulk_find(all.keys, found);
    bulk_seen += map.bulk_find(all.keys, all.hashes, found);
  });
  EXPECT_EQ(bulk_seen, 2 * map.size());
  expect_no_allocation("modify", [&] {
    for (const number key : all.keys)
      modified += map.modify(key, [](number& value) { ++value; }) ? 1u : 0u;
  });
  EXPECT_EQ(modified, map.size());
  expect_no_allocation("erase", [&] {
    for (const number key : all.keys) erased += map.erase(key) == erase_outcome::erased ? 1u : 0u;
  });
  EXPECT_EQ(erased, modified);
  expect_no_allocation("clear", [&] { map.clear(); });
}

}  // namespace
