#include "oneprobe/detail/filter/bloom_blocks.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/memory.hpp"

using namespace oneprobe;

namespace {

filter_plan plan_of(block_state state, std::uint32_t block_bits = 512) {
  filter_plan plan;
  plan.kind = filter_kind::balanced;
  plan.elements = 1000;
  plan.bits_set = 8;
  plan.block_bits = block_bits;
  plan.scheme = scheme_kind::single;
  plan.level_buckets = {4};
  plan.state = state;
  return plan;
}

/// Blocks with memory of their own.
template <unsigned BlockBits = 512>
struct owned_blocks {
  using store = bloom_blocks<BlockBits>;
  using item = typename store::item;

  line_memory memory{256};
  block_frame frame;
  store blocks;

  explicit owned_blocks(block_state state)
      : frame(plan_of(state, BlockBits)), blocks(memory.data(), frame) {}

  static item element(std::uint64_t key) {
    const key_hash hash{mix_bits(key + 1)};
    return {.pattern = pattern_bits(hash), .mark = static_cast<std::uint16_t>(hash.value)};
  }
  put_result put(std::uint64_t key, std::uint32_t limit) {
    item put = element(key);
    return blocks.try_put(at, put, limit);
  }
  std::uint64_t last_word() const {
    return plain_words::load(memory.data() + BlockBits / 8 * at.bucket + BlockBits / 8 - 8);
  }

  static constexpr position at{1, 0};
};

constexpr block_state with_tracking{
    .rule = lookup_rule::tracking, .threshold = 5, .tracking_bits = 12};
constexpr block_state with_popcount{
    .rule = lookup_rule::popcount, .threshold = 40, .tracking_bits = 12};
constexpr block_state with_flag{.rule = lookup_rule::flag, .threshold = 5};
constexpr block_state with_coin_flag{
    .rule = lookup_rule::coin_flag, .threshold = 5, .admit_probability = 0.5};

TEST(bloom_blocks, refuse_at_the_limit_and_leave_the_bits_alone) {
  owned_blocks<> owned(with_tracking);
  for (std::uint64_t key = 0; key < 5; ++key) EXPECT_EQ(owned.put(key, 5), put_result::placed);
  EXPECT_EQ(owned.blocks.load(owned.at), 5u);
  const std::uint32_t ones = owned.blocks.ones(owned.at.bucket);
  EXPECT_EQ(owned.put(5, 5), put_result::refused);
  EXPECT_EQ(owned.blocks.ones(owned.at.bucket), ones);
  EXPECT_EQ(owned.blocks.load(owned.at), 5u);
  EXPECT_FALSE(owned.blocks.all_set(owned.at, owned.element(5).pattern));
  for (std::uint64_t key = 0; key < 5; ++key)
    EXPECT_TRUE(owned.blocks.all_set(owned.at, owned.element(key).pattern));
}

TEST(bloom_blocks, by_popcount_the_load_is_the_bits_that_are_set) {
  owned_blocks<> owned(with_popcount);
  std::uint64_t key = 0;
  while (*owned.blocks.load(owned.at) < 40) {
    EXPECT_EQ(owned.put(key++, 40), put_result::placed);
    EXPECT_EQ(owned.blocks.load(owned.at), owned.blocks.ones(owned.at.bucket));
  }
  EXPECT_EQ(owned.put(key, 40), put_result::refused);
  // Notes are no Bloom bits.
  EXPECT_EQ(owned.blocks.load(owned.at), owned.blocks.ones(owned.at.bucket));
  EXPECT_EQ(owned.blocks.read(owned.at).tracking_ones, 1);
}

TEST(bloom_blocks, an_element_whose_bits_are_set_is_present_and_changes_nothing) {
  owned_blocks<> owned(with_tracking);
  for (std::uint64_t key = 0; key < 5; ++key) owned.put(key, 5);
  const line_memory before = owned.memory;
  auto again = owned.element(3);
  EXPECT_EQ(owned.blocks.try_put(owned.at, again, 5), put_result::present);
  EXPECT_TRUE(std::ranges::equal(before.bytes(), owned.memory.bytes()));
}

TEST(bloom_blocks, the_counter_lies_below_the_tracking_bits_at_the_top_of_the_block) {
  owned_blocks<> owned(with_tracking);  // loads to 5: 3 bits, below 12
  for (std::uint64_t key = 0; key < 5; ++key) owned.put(key, 5);
  EXPECT_EQ(owned.last_word() >> (64 - 12 - 3), 5u);
  auto refused = owned.element(7);
  refused.mark = 0xffff;  // the last tracking bit
  EXPECT_EQ(owned.blocks.try_put(owned.at, refused, 5), put_result::refused);
  EXPECT_EQ(owned.last_word() >> (64 - 12 - 3), 5u | 1u << (11 + 3));
  refused.mark = 0;  // and the first
  owned.blocks.try_put(owned.at, refused, 5);
  EXPECT_EQ(owned.last_word() >> (64 - 12 - 3), 5u | 1u << (11 + 3) | 1u << 3);
  EXPECT_EQ(owned.frame.shape.bloom_bits, 512 - 12 - 3);
}

TEST(bloom_blocks, the_tracking_bit_follows_from_the_low_bits_of_the_hash) {
  for (const std::uint32_t w : {1u, 5u, 12u, 32u}) {
    const block_frame frame(
        plan_of({.rule = lookup_rule::popcount, .threshold = 40, .tracking_bits = w}));
    for (std::uint64_t mark = 0; mark < 0x10000; mark += 251)
      EXPECT_EQ(frame.tracking_bit(static_cast<std::uint16_t>(mark)),
                std::uint64_t{1} << (64 - w + mark * w / 0x10000));
  }
}

TEST(bloom_blocks, refusal_says_whether_the_note_was_there) {
  for (const block_state& state : {with_tracking, with_popcount, with_flag, with_coin_flag}) {
    owned_blocks<> owned(state);
    std::uint64_t key = 0;
    while (*owned.blocks.load(owned.at) < state.threshold) owned.put(key++, state.threshold);
    auto first = owned.element(key);
    EXPECT_EQ(owned.blocks.try_put(owned.at, first, state.threshold), put_result::refused);
    EXPECT_FALSE(first.was_noted) << name_of(state.rule);
    auto second = owned.element(key);
    EXPECT_EQ(owned.blocks.try_put(owned.at, second, state.threshold), put_result::refused);
    EXPECT_TRUE(second.was_noted) << name_of(state.rule);
  }
}

TEST(bloom_blocks, by_their_load_alone_blocks_need_no_note) {
  owned_blocks<> owned({.rule = lookup_rule::counter, .threshold = 3});
  for (std::uint64_t key = 0; key < 3; ++key) owned.put(key, 3);
  const line_memory before = owned.memory;
  auto refused = owned.element(3);
  EXPECT_EQ(owned.blocks.try_put(owned.at, refused, 3), put_result::refused);
  EXPECT_TRUE(refused.was_noted);
  EXPECT_TRUE(std::ranges::equal(before.bytes(), owned.memory.bytes()));
}

TEST(bloom_blocks, a_flag_is_a_second_set_of_values_of_the_counter) {
  owned_blocks<> owned(with_coin_flag);  // loads 0..6, then 5 and 6 with the flag: 4 bits
  const auto counter = [&] { return owned.last_word() >> 60; };
  for (std::uint64_t key = 0; key < 5; ++key) owned.put(key, 5);
  EXPECT_EQ(counter(), 5);
  EXPECT_FALSE(owned.blocks.read(owned.at).flagged);
  owned.put(5, 5);  // the coin says no
  EXPECT_EQ(counter(), 7);
  EXPECT_EQ(owned.blocks.load(owned.at), 5u);
  EXPECT_TRUE(owned.blocks.read(owned.at).flagged);
  EXPECT_EQ(owned.put(6, 6), put_result::placed);  // the coin says yes
  EXPECT_EQ(counter(), 8);
  EXPECT_EQ(owned.blocks.load(owned.at), 6u);
  EXPECT_TRUE(owned.blocks.read(owned.at).flagged);
  EXPECT_EQ(owned.put(7, 6), put_result::refused);
  EXPECT_EQ(counter(), 8);
}

TEST(bloom_blocks, what_is_forced_in_is_found_and_the_load_stays) {
  owned_blocks<> owned(with_tracking);
  for (std::uint64_t key = 0; key < 5; ++key) owned.put(key, 5);
  owned.blocks.force(owned.at, owned.element(9));
  EXPECT_TRUE(owned.blocks.all_set(owned.at, owned.element(9).pattern));
  EXPECT_EQ(owned.blocks.load(owned.at), 5u);
}

TEST(bloom_blocks, neighbours_are_not_touched) {
  owned_blocks<256> owned(with_tracking);
  for (std::uint64_t key = 0; key < 20; ++key) owned.put(key, 5);
  for (const std::size_t begin : {0u, 64u})
    for (std::size_t i = begin; i < begin + 32; ++i)
      EXPECT_EQ(owned.memory.bytes()[i], std::byte{0});
}

/// Any block of a rule: elements and refusals in any number.
void fill_at_will(owned_blocks<>& owned, std::uint64_t first_key, std::uint64_t keys) {
  for (std::uint64_t key = first_key; key < first_key + keys; ++key) {
    const block_state& state = owned.frame.state;
    const bool admitted = state.admit_probability > 0 && key % 2 == 0;
    owned.put(key, state.threshold + (admitted ? 1 : 0));
  }
}

RC_GTEST_PROP(bloom_blocks, union_keeps_bits_notes_and_loads_of_both, ()) {
  const block_state state =
      *rc::gen::element(with_tracking, with_popcount, with_flag, with_coin_flag);
  owned_blocks<> a(state), b(state);
  fill_at_will(a, 0, *rc::gen::inRange<std::uint64_t>(0, 12));
  fill_at_will(b, 100, *rc::gen::inRange<std::uint64_t>(0, 12));
  const block_reading in_a = a.blocks.read(a.at), in_b = b.blocks.read(b.at);
  std::vector<std::uint64_t> held;
  for (std::uint64_t key = 0; key < 112; ++key)
    if (a.blocks.all_set(a.at, a.element(key).pattern) ||
        b.blocks.all_set(b.at, b.element(key).pattern))
      held.push_back(key);
  std::vector<std::uint16_t> tracked;
  for (std::uint32_t mark = 0; state.tracks() && mark < 0x10000; mark += 1024) {
    const auto m = static_cast<std::uint16_t>(mark);
    if (a.blocks.is_tracked(a.at, m) || b.blocks.is_tracked(b.at, m)) tracked.push_back(m);
  }
  a.blocks.unite(a.at.bucket, b.blocks);
  for (const std::uint64_t key : held) RC_ASSERT(a.blocks.all_set(a.at, a.element(key).pattern));
  for (const std::uint16_t mark : tracked) RC_ASSERT(a.blocks.is_tracked(a.at, mark));
  const block_reading united = a.blocks.read(a.at);
  RC_ASSERT(united.flagged == (in_a.flagged || in_b.flagged));
  if (state.counts_elements())
    RC_ASSERT(united.load == std::min(in_a.load + in_b.load, state.largest_load()));
  else
    RC_ASSERT(united.load >= std::max(in_a.load, in_b.load));
}

}  // namespace
