// Tags, notes and groups of slots.
#include "oneprobe/detail/map/tagged_buckets.hpp"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <random>

#include "oneprobe/memory.hpp"

using namespace oneprobe;
using detail::bucket_entry;
using detail::bucket_tag;
using detail::slot_choice;

namespace {

struct pair {
  std::uint64_t key;
  std::uint64_t value;
};
using pairs = tagged_buckets<pair, 16>;

/// A few buckets with their memory.
template <class Buckets>
struct with_memory {
  line_memory side{8 * Buckets::side_bytes};
  line_memory slots{8 * 16 * 64};
  Buckets buckets{side.data(), slots.data(), 8};
};

/// A hash with these parts: tag, kind of note, and something else.
key_hash hash_of(std::uint64_t low, std::uint64_t high, std::uint64_t kind,
                 std::uint64_t rest = 0) {
  return {rest << 16 | kind << 12 | high << 8 | low};
}

template <class Buckets>
put_result put(Buckets& buckets, position at, key_hash hash, std::uint32_t limit = 16) {
  typename Buckets::item item{.hash = hash, .element = {hash.value, 0}};
  return buckets.try_put(at, item, limit);
}

TEST(a_bucket_entry, finds_tags_as_a_plain_loop_does) {
  std::mt19937_64 random(1);
  alignas(32) std::array<std::byte, bucket_entry::bytes> bytes{};
  bucket_entry entry(bytes.data());
  std::array<bucket_tag, 16> tags{};
  std::array<bool, 16> taken{};
  for (int i = 0; i < 20'000; ++i) {
    const auto slot = static_cast<std::uint32_t>(random() % 16);
    const auto tag = bucket_tag::of({random() & 0x303});  // few, so that many are equal
    if (random() % 3 == 0) {
      entry.free(slot);
      taken[slot] = false;
    } else {
      entry.take(slot, tag);
      tags[slot] = tag;
      taken[slot] = true;
    }
    const auto wanted = bucket_tag::of({random() & 0x303});
    std::uint32_t occupied = 0;
    std::uint32_t equal = 0;
    for (std::uint32_t j = 0; j < 16; ++j) {
      occupied |= taken[j] ? 1u << j : 0;
      equal |= taken[j] && tags[j].low == wanted.low && tags[j].high == wanted.high ? 1u << j : 0;
    }
    ASSERT_EQ(entry.tags().occupied(), occupied);
    ASSERT_EQ(entry.tags().equal(wanted), equal);
  }
}

TEST(a_bucket_entry, counts_notes_until_one_sticks) {
  alignas(32) std::array<std::byte, bucket_entry::bytes> bytes{};
  bucket_entry entry(bytes.data());
  for (std::uint32_t kind = 0; kind < 16; ++kind) {
    for (std::uint32_t count = 0; count < 14; ++count) {
      ASSERT_EQ(entry.note(kind), count);
      entry.raise_note(kind);
    }
    for (std::uint32_t count = 14; count > 0; --count) {
      ASSERT_EQ(entry.note(kind), count);
      entry.lower_note(kind);
    }
    ASSERT_EQ(entry.note(kind), 0u);
    for (int i = 0; i < 20; ++i) entry.raise_note(kind);
    for (int i = 0; i < 20; ++i) entry.lower_note(kind);
    ASSERT_EQ(entry.note(kind), bucket_entry::stuck_note);
  }
  EXPECT_EQ(entry.tags().occupied(), 0u) << "notes are no tags";
}

TEST(a_bucket_entry, lowers_no_note_that_nobody_raised) {
  alignas(32) std::array<std::byte, bucket_entry::bytes> bytes{};
  bucket_entry entry(bytes.data());
  for (std::uint32_t kind = 0; kind < 16; ++kind) entry.lower_note(kind);
  for (const std::byte byte : bytes) ASSERT_EQ(byte, std::byte{0});
}

TEST(a_bucket_entry, knows_and_clears_tags_beyond_a_capacity) {
  for (std::uint32_t capacity = 1; capacity <= 16; ++capacity)
    for (std::uint32_t slot = 0; slot < 16; ++slot)
      for (const bucket_tag tag : {bucket_tag{1, 0}, bucket_tag{0, 8}, bucket_tag{255, 15}}) {
        alignas(32) std::array<std::byte, bucket_entry::bytes> bytes{};
        bucket_entry entry(bytes.data());
        entry.take(slot, tag);
        ASSERT_EQ(entry.only_uses(capacity), slot < capacity) << slot << " of " << capacity;
        entry.clear_from(capacity);
        ASSERT_TRUE(entry.only_uses(capacity)) << slot << " of " << capacity;
        ASSERT_EQ(entry.only_uses(0), slot >= capacity) << "what is within the capacity stays";
      }
}

TEST(groups_of_slots, are_lines_where_at_least_four_slots_fit_exactly) {
  EXPECT_EQ((slot_choice<16, 16>::groups), 4u);
  EXPECT_EQ((slot_choice<16, 8>::groups), 2u);
  EXPECT_EQ((slot_choice<16, 4>::groups), 1u);
  EXPECT_EQ((slot_choice<16, 6>::groups), 1u);
  EXPECT_EQ((slot_choice<8, 16>::groups), 2u);
  EXPECT_EQ((slot_choice<24, 16>::groups), 1u);
  EXPECT_EQ((slot_choice<200, 16>::groups), 1u);
}

TEST(tagged_buckets, keep_elements_of_one_tag_in_one_line) {
  with_memory<pairs> memory;
  pairs& buckets = memory.buckets;
  const position at{3, 0};
  for (std::uint64_t i = 0; i < 4; ++i)
    EXPECT_EQ(put(buckets, at, hash_of(7, 1, 0, i)), put_result::placed);
  // Its line is full, the bucket is not.
  EXPECT_EQ(buckets.free_slots(at, hash_of(7, 1, 0, 9), 16), 0u);
  EXPECT_EQ(put(buckets, at, hash_of(7, 1, 0, 9)), put_result::refused);
  EXPECT_EQ(*buckets.load(at), 4u);
  const std::uint32_t equal = buckets.equal_tags(at, hash_of(7, 1, 0));
  EXPECT_EQ(std::popcount(equal), 4);
  EXPECT_EQ(equal % 15u, 0u) << "four neighbours from a multiple of four";
  // Another tag of the same home goes elsewhere.
  EXPECT_EQ(put(buckets, at, hash_of(8, 1, 0, 9)), put_result::placed);
  // If one of them leaves there is room again.
  buckets.erase(at, static_cast<std::uint32_t>(std::countr_zero(equal)));
  EXPECT_EQ(put(buckets, at, hash_of(7, 1, 0, 9)), put_result::placed);
}

TEST(tagged_buckets, refuse_at_the_limit_and_when_they_are_full) {
  with_memory<pairs> memory;
  pairs& buckets = memory.buckets;
  const position at{0, 0};
  for (std::uint64_t i = 0; i < 16; ++i) {
    EXPECT_EQ(put(buckets, at, hash_of(i + 1, i, 0), static_cast<std::uint32_t>(i)),
              put_result::refused);
    EXPECT_EQ(put(buckets, at, hash_of(i + 1, i, 0)), put_result::placed);
  }
  EXPECT_EQ(put(buckets, at, hash_of(99, 3, 0)), put_result::refused);
  EXPECT_EQ(put(buckets, at, hash_of(99, 3, 0), 100), put_result::refused);
  EXPECT_EQ(*buckets.load({1, 0}), 0u);
}

TEST(tagged_buckets, know_who_is_in_the_way) {
  with_memory<pairs> memory;
  pairs& buckets = memory.buckets;
  const position at{0, 0};
  for (std::uint64_t i = 0; i < 16; ++i) put(buckets, at, hash_of(i + 1, i, 0));
  EXPECT_EQ(std::popcount(buckets.in_the_way(at, hash_of(200, 5, 0))), 16);
  const std::uint32_t same = buckets.in_the_way(at, hash_of(4, 3, 0));
  EXPECT_EQ(std::popcount(same), 4) << "its tag is there: only that line would do";
  EXPECT_NE(same & buckets.equal_tags(at, hash_of(4, 3, 0)), 0u);
}

TEST(tagged_buckets, of_large_elements_are_one_group) {
  struct large {
    std::uint64_t key;
    std::array<std::uint64_t, 6> value;
  };
  using buckets = tagged_buckets<large, 16>;
  with_memory<buckets> memory;
  for (std::uint64_t i = 0; i < 16; ++i) {
    typename buckets::item item{.hash = hash_of(7, 1, 0, i), .element = {i, {}}};
    EXPECT_EQ(memory.buckets.try_put({0, 0}, item, 16), put_result::placed);
  }
}

}  // namespace
