// Every store that counts elements places a stream exactly as the load counters do.
#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

#include "oneprobe/store/load_counters.hpp"
#include "stream.hpp"
#include "unit/scheme/plain_slots.hpp"

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

/// The stores that have joined.
using stores = testing::Types<counters_of<std::uint8_t>, counters_of<std::uint16_t>,
                              counters_of<std::uint32_t>, slots>;

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
