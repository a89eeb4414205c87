#include "oneprobe/detail/filter/fingerprint_list.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <thread>
#include <vector>

#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/memory.hpp"

using namespace oneprobe;

namespace {

/// A list with memory of its own.
template <list_order Order>
struct owned_entries {
  list_size size;
  line_memory memory;
  std::uint64_t entries = 0;

  explicit owned_entries(list_size wanted)
      : size(wanted), memory((wanted.slots * list_size::slot_bytes + 63) / 64 * 64) {}
  fingerprint_list<plain_words, Order> list() { return {memory.data(), size, entries}; }
};
using owned_list = owned_entries<list_order::first_come>;
using owned_order = owned_entries<list_order::ascending>;

std::uint64_t bits_of(std::uint64_t key) { return overflow_bits({mix_bits(key)}); }

/// Bits with a chosen first slot and fingerprint, so that runs and wraps can be made at will.
std::uint64_t bits_for(std::uint64_t slot, std::uint64_t slots, std::uint32_t fingerprint) {
  const auto high = static_cast<std::uint64_t>((static_cast<long double>(slot) + 0.5L) /
                                               static_cast<long double>(slots) * 4294967296.0L);
  return (high << 32) | fingerprint;
}

TEST(fingerprint_list, contains_what_was_added_until_it_says_full) {
  owned_list owned({.slots = 1000, .reserve = 750});
  fingerprint_list list = owned.list();
  std::uint64_t key = 0;
  while (owned.entries < 750) EXPECT_EQ(list.insert(bits_of(key++)), list_outcome::added);
  const line_memory before = owned.memory;
  EXPECT_EQ(list.insert(bits_of(key)), list_outcome::full);
  EXPECT_EQ(owned.entries, 750);
  EXPECT_TRUE(std::ranges::equal(before.bytes(), owned.memory.bytes()));
  for (std::uint64_t i = 0; i < key; ++i) {
    EXPECT_TRUE(list.contains(bits_of(i)));
    EXPECT_EQ(list.insert(bits_of(i)), list_outcome::present);
  }
  EXPECT_FALSE(list.contains(bits_of(key)));
}

TEST(fingerprint_list, lies_in_memory_as_the_format_says) {
  owned_list owned({.slots = 4, .reserve = 3});
  fingerprint_list list = owned.list();
  list.insert(bits_for(3, 4, 0x04030201));
  list.insert(bits_for(3, 4, 0));  // 0 would be a free slot: 1 stands for it
  const auto bytes = owned.memory.bytes();
  const std::vector<std::byte> slots(bytes.begin(), bytes.begin() + 16);
  std::vector<std::byte> expected(16);
  expected[0] = std::byte{1};  // round the end
  for (unsigned i = 0; i < 4; ++i) expected[12 + i] = static_cast<std::byte>(i + 1);
  EXPECT_EQ(slots, expected);
}

TEST(fingerprint_list, without_slots_takes_nothing_and_holds_nothing) {
  owned_list owned({});
  fingerprint_list list = owned.list();
  EXPECT_EQ(list.insert(bits_of(1)), list_outcome::full);
  EXPECT_FALSE(list.contains(bits_of(1)));
  EXPECT_EQ(list.match_probability(), 0);
}

TEST(fingerprint_list, search_ends_where_no_slot_is_free) {
  owned_list owned({.slots = 16, .reserve = 15});
  std::fill(owned.memory.bytes().begin(), owned.memory.bytes().end(), std::byte{0xff});
  fingerprint_list list = owned.list();
  EXPECT_FALSE(list.contains(bits_for(5, 16, 7)));
  EXPECT_EQ(list.insert(bits_for(5, 16, 7)), list_outcome::full);
  EXPECT_NEAR(list.match_probability(), 16 * std::exp2(-32), 1e-15);
  owned_list other({.slots = 16, .reserve = 0});
  EXPECT_EQ(other.list().unite(list), 16);
}

TEST(fingerprint_list, match_probability_is_that_of_the_runs_as_they_are) {
  // Of 8 slots 2, 3 and 4 are taken: a search from there makes 3, 2 and 1 comparisons.
  owned_list owned({.slots = 8, .reserve = 7});
  fingerprint_list list = owned.list();
  for (const std::uint32_t fingerprint : {11u, 12u, 13u}) list.insert(bits_for(2, 8, fingerprint));
  EXPECT_EQ(list.lines_searched(bits_for(2, 8, 99)), 1);
  EXPECT_NEAR(list.match_probability() / (6.0 / 8 * std::exp2(-32)), 1, 1e-9);
}

// Few slots and few fingerprints, so that runs are long, wrap, and hold equal fingerprints with
// different first slots.
RC_GTEST_PROP(fingerprint_list, union_contains_what_either_did_or_says_how_many_it_dropped, ()) {
  const auto slots = *rc::gen::inRange<std::uint64_t>(2, 24);
  const auto reserve = *rc::gen::inRange<std::uint64_t>(1, slots);
  const auto draw = [&] {
    return *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::exec([&] {
      return bits_for(*rc::gen::inRange<std::uint64_t>(0, slots), slots,
                      *rc::gen::inRange<std::uint32_t>(0, 6));
    }));
  };
  owned_list a({slots, reserve}), b({slots, reserve});
  std::vector<std::uint64_t> taken;
  for (owned_list* owned : {&a, &b})
    for (const std::uint64_t bits : draw())
      if (owned->list().insert(bits) != list_outcome::full) taken.push_back(bits);
  const std::uint64_t dropped = a.list().unite(b.list());
  RC_ASSERT(a.entries <= reserve);
  if (dropped == 0)
    for (const std::uint64_t bits : taken) RC_ASSERT(a.list().contains(bits));
  else
    RC_ASSERT(a.entries == reserve);
  // What is put in later is found as well.
  const std::uint64_t later = bits_for(*rc::gen::inRange<std::uint64_t>(0, slots), slots, 99);
  if (a.list().insert(later) == list_outcome::added) RC_ASSERT(a.list().contains(later));
}

TEST(fingerprint_list, threads_add_together_and_none_is_lost) {
  constexpr std::uint64_t threads = 4, keys = 500;
  const list_size size{.slots = 1024, .reserve = 800};
  line_memory memory(size.slots * list_size::slot_bytes);
  atomic_count entries = 0;
  fingerprint_list<atomic_words> list(memory.data(), size, entries);
  std::vector<std::vector<std::uint64_t>> kept(threads);
  {
    std::vector<std::jthread> running;
    for (std::uint64_t t = 0; t < threads; ++t)
      running.emplace_back([&, t] {
        // Every thread's keys overlap with its neighbour's by a half.
        for (std::uint64_t i = 0; i < keys; ++i) {
          const std::uint64_t bits = bits_of(t * keys / 2 + i);
          if (fingerprint_list(list).insert(bits) != list_outcome::full) kept[t].push_back(bits);
        }
      });
  }
  std::set<std::uint64_t> distinct;
  for (const auto& mine : kept) {
    for (const std::uint64_t bits : mine) EXPECT_TRUE(list.contains(bits));
    distinct.insert(mine.begin(), mine.end());
  }
  EXPECT_EQ(entries, size.reserve);
  EXPECT_EQ(distinct.size(), size.reserve);
}

TEST(ascending_list, contains_what_was_added_until_it_says_full) {
  owned_order owned({.slots = 1000, .reserve = 750});
  auto list = owned.list();
  std::uint64_t key = 0;
  while (owned.entries < 750) EXPECT_EQ(list.insert(bits_of(key++)), list_outcome::added);
  const line_memory before = owned.memory;
  EXPECT_EQ(list.insert(bits_of(key)), list_outcome::full);
  EXPECT_TRUE(std::ranges::equal(before.bytes(), owned.memory.bytes()));
  std::uint64_t others = 0;
  for (std::uint64_t i = 0; i < 100 * key; ++i) {
    if (i < key) {
      ASSERT_TRUE(list.contains(bits_of(i))) << i;
      EXPECT_EQ(list.insert(bits_of(i)), list_outcome::present);
    } else if (list.contains(bits_of(i))) {
      ++others;
    }
  }
  EXPECT_EQ(others, 0u);
}

TEST(ascending_list, puts_the_smaller_first_and_moves_the_larger_on) {
  owned_order owned({.slots = 5, .reserve = 4});
  auto list = owned.list();
  list.insert(bits_for(3, 5, 9));
  list.insert(bits_for(3, 5, 7));  // takes slot 3
  list.insert(bits_for(4, 5, 8));  // takes slot 4, and 9 goes round the end
  const std::vector<std::byte> bytes(owned.memory.data(), owned.memory.data() + 20);
  const auto slot = [&](int i) {
    return std::to_integer<int>(bytes[static_cast<std::size_t>(4 * i)]);
  };
  EXPECT_EQ((std::vector{slot(0), slot(1), slot(2), slot(3), slot(4)}),
            (std::vector{9, 0, 0, 7, 8}));
  EXPECT_TRUE(list.contains(bits_for(3, 5, 9)));
  EXPECT_FALSE(list.contains(bits_for(4, 5, 7)));
  EXPECT_FALSE(list.contains(bits_for(3, 5, 10)));
}

/// Few slots and few fingerprints, so that runs are long and different elements look alike.
std::vector<std::uint64_t> crowded_elements(std::uint64_t slots) {
  const auto count = *rc::gen::inRange<std::size_t>(0, 2 * slots);
  std::vector<std::uint64_t> all;
  for (std::size_t i = 0; i < count; ++i)
    all.push_back(bits_for(*rc::gen::inRange<std::uint64_t>(0, slots), slots,
                           *rc::gen::inRange<std::uint32_t>(1, 12)));
  return all;
}

RC_GTEST_PROP(ascending_list, has_the_same_bytes_whatever_the_order, ()) {
  const auto slots = *rc::gen::inRange<std::uint64_t>(2, 40);
  std::vector<std::uint64_t> all = crowded_elements(slots);
  owned_order one({.slots = slots, .reserve = slots - 1});
  owned_order two({.slots = slots, .reserve = slots - 1});
  bool full = false;
  const auto put = [&](owned_order& owned, std::uint64_t bits) {
    if (owned.list().insert(bits) == list_outcome::full) full = true;
  };
  for (const std::uint64_t bits : all) put(one, bits);
  std::ranges::shuffle(all, std::mt19937_64(*rc::gen::arbitrary<std::uint64_t>()));
  for (const std::uint64_t bits : all) put(two, bits);
  RC_PRE(!full);
  RC_ASSERT(one.entries == two.entries);
  RC_ASSERT(std::ranges::equal(one.memory.bytes(), two.memory.bytes()));
  std::uint64_t taken = 0;
  for (std::uint64_t i = 0; i < slots; ++i)
    for (int byte = 0; byte < 4; ++byte)
      if (one.memory.data()[4 * i + static_cast<unsigned>(byte)] != std::byte{0}) {
        ++taken;
        break;
      }
  RC_ASSERT(taken == one.entries);
  for (const std::uint64_t bits : all) RC_ASSERT(one.list().contains(bits));
}

RC_GTEST_PROP(ascending_list, united_with_another_is_the_list_of_all, ()) {
  const auto slots = *rc::gen::inRange<std::uint64_t>(2, 40);
  const std::vector<std::uint64_t> first = crowded_elements(slots);
  const std::vector<std::uint64_t> second = crowded_elements(slots);
  const list_size size{.slots = slots, .reserve = slots - 1};
  owned_order one(size), two(size), both(size);
  bool full = false;
  const auto put = [&](owned_order& owned, std::uint64_t bits) {
    if (owned.list().insert(bits) == list_outcome::full) full = true;
  };
  for (const std::uint64_t bits : first) put(one, bits), put(both, bits);
  for (const std::uint64_t bits : second) put(two, bits), put(both, bits);
  RC_PRE(!full);
  RC_ASSERT(one.list().unite(two.list()) == 0u);
  RC_ASSERT(one.entries == both.entries);
  RC_ASSERT(std::ranges::equal(one.memory.bytes(), both.memory.bytes()));
}

}  // namespace
