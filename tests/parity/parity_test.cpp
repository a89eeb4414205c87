// Every store that counts elements places a stream exactly as the load counters do.
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <thread>
#include <vector>

#include "oneprobe/detail/filter/bloom_blocks.hpp"
#include "oneprobe/detail/map/tagged_buckets.hpp"
#include "oneprobe/detail/placement/load_counters.hpp"
#include "oneprobe/memory.hpp"
#include "stream.hpp"
#include "unit/detail/placement/plain_slots.hpp"

using namespace oneprobe;

namespace {

constexpr std::uint64_t keys = 16'000;

/// Counters of any width.
template <class Counter>
struct counters_of {
  using store = load_counters<Counter>;
  static typename store::item item_of(std::uint64_t) { return {}; }
};
/// Keys in slots, with notes.
struct slots {
  using store = plain_slots;
  static std::uint64_t item_of(std::uint64_t key) { return key; }
};

/// Blocks of a balanced filter that count their elements. So many bits are set for each, and so few
/// elements are in a block, that none of the stream matches by chance.
template <unsigned BlockBits, lookup_rule Rule>
struct blocks_of {
  class store {
    using blocks = bloom_blocks<BlockBits>;

   public:
    using item = typename blocks::item;

    explicit store(std::uint64_t buckets)
        : memory_((buckets + 1) / 2 * 2 * BlockBits / 8),
          frame_(plan()),
          blocks_(memory_.data(), frame_) {}
    store(const store&) = delete;
    store& operator=(const store&) = delete;

    void prefetch(position at) const { blocks_.prefetch(at); }
    std::optional<std::uint32_t> load(position at) const { return blocks_.load(at); }
    put_result try_put(position at, item& element, std::uint32_t limit) {
      return blocks_.try_put(at, element, limit);
    }

   private:
    static filter_plan plan() {
      filter_plan plan;
      plan.kind = filter_kind::balanced;
      plan.block_bits = BlockBits;
      plan.bits_set = 16;
      plan.state = {.rule = Rule, .threshold = 4, .tracking_bits = 8};
      return plan;
    }

    line_memory memory_;
    block_frame frame_;
    blocks blocks_;
  };
  static typename store::item item_of(std::uint64_t key) {
    const key_hash hash = stream_hash(key);
    return {.pattern = pattern_bits(hash), .mark = static_cast<std::uint16_t>(hash.value)};
  }
};

/// The buckets of a table. They also refuse an element whose tag is in a full group of slots, which
/// has four: with these rules a bucket is full before that.
template <std::uint32_t Capacity>
struct buckets_of {
  struct element {
    std::uint64_t key;
    std::uint64_t value;
  };
  class store {
    using buckets = tagged_buckets<element, Capacity>;

   public:
    using item = typename buckets::item;

    explicit store(std::uint64_t count)
        : side_(count * buckets::side_bytes),
          slots_(count * Capacity * sizeof(element)),
          buckets_(side_.data(), slots_.data(), count) {}
    store(const store&) = delete;
    store& operator=(const store&) = delete;

    void prefetch(position at) const { buckets_.prefetch(at); }
    std::optional<std::uint32_t> load(position at) const { return buckets_.load(at); }
    put_result try_put(position at, item& element, std::uint32_t limit) {
      return buckets_.try_put(at, element, limit);
    }
    void note_passed(position at, key_hash hash) { buckets_.note_passed(at, hash); }

   private:
    line_memory side_;
    line_memory slots_;
    buckets buckets_;
  };
  static typename store::item item_of(std::uint64_t key) {
    return {.hash = stream_hash(key), .element = {key, key}};
  }
};

/// The stores that have joined.
using stores =
    testing::Types<counters_of<std::uint8_t>, counters_of<std::uint16_t>,
                   counters_of<std::uint32_t>, slots, blocks_of<512, lookup_rule::counter>,
                   blocks_of<256, lookup_rule::tracking>, blocks_of<512, lookup_rule::coin>,
                   buckets_of<4>, buckets_of<16>>;

template <class Scheme>
std::vector<placed_element> by_counters(const Scheme& scheme, admission rule) {
  load_counters<std::uint8_t> counters(scheme.buckets());
  return place_stream(scheme, counters, rule, keys, driver::one_by_one,
                      counters_of<std::uint8_t>::item_of);
}

template <class Kind>
class parity : public testing::Test {};
TYPED_TEST_SUITE(parity, stores);

TYPED_TEST(parity, a_store_places_as_the_counters_do) {
  with_parity_schemes([](const char* name, const auto& scheme) {
    for (const auto& [rule_name, rule] : parity_rules()) {
      SCOPED_TRACE(std::string(name) + ", " + rule_name);
      const auto expected = by_counters(scheme, rule);
      for (const driver how : {driver::one_by_one, driver::ring}) {
        typename TypeParam::store store(scheme.buckets());
        EXPECT_EQ(place_stream(scheme, store, rule, keys, how, TypeParam::item_of), expected);
      }
    }
  });
}

TEST(placement, is_the_same_in_every_thread) {
  with_parity_schemes([](const char*, const auto& scheme) {
    const admission rule(4);
    const auto expected = by_counters(scheme, rule);
    std::vector<std::vector<placed_element>> found(4);
    {
      std::vector<std::jthread> threads;
      for (auto& result : found) threads.emplace_back([&] { result = by_counters(scheme, rule); });
    }
    for (const auto& result : found) EXPECT_EQ(result, expected);
  });
}

}  // namespace
