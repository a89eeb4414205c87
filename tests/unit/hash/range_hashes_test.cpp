#include "oneprobe/detail/hash/range_hashes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <numeric>
#include <string>
#include <vector>

namespace oneprobe {
namespace {

std::vector<key_hash> from_feed(const hash_feed& feed, std::size_t together) {
  std::vector<key_hash> hashes(feed.size());
  for (std::size_t first = 0; first < hashes.size(); first += together)
    feed.fill(first, std::span(hashes).subspan(first, std::min(together, hashes.size() - first)));
  return hashes;
}

/// The hashes of `keys`, one by one and through a feed, in pieces of any size, at every level.
template <class Keys>
void expect_the_same(const Keys& keys) {
  const seeded_hash hash(20081);
  std::vector<key_hash> expected;
  for (const auto& key : keys) expected.push_back(hash_with(hash, key));
  for (const isa level : {isa::plain, isa::avx2, isa::avx512}) {
    limit_simd(level);
    const range_hashes hashes(hash, keys);
    for (const std::size_t together : {1u, 2u, 7u, 16u, 32u, 33u, 1000u})
      EXPECT_EQ(from_feed(hashes.feed(), together), expected) << together << name_of(level);
  }
  limit_simd(most_simd);
}

template <class Integer>
std::vector<Integer> integers(std::size_t count) {
  std::vector<Integer> all(count);
  std::iota(all.begin(), all.end(), static_cast<Integer>(-3));
  return all;
}

TEST(range_hashes, integers_have_the_hashes_they_have_alone) {
  for (const std::size_t count : {0u, 1u, 31u, 32u, 100u, 1000u}) {
    expect_the_same(integers<std::uint64_t>(count));
    expect_the_same(integers<std::int32_t>(count));
    expect_the_same(integers<std::uint8_t>(count));
  }
}

TEST(range_hashes, text_has_the_hashes_it_has_alone) {
  std::vector<std::string> keys;
  for (int i = 0; i < 300; ++i) keys.push_back(std::string(static_cast<std::size_t>(i), 'x'));
  expect_the_same(keys);
}

TEST(range_hashes, keys_need_not_lie_together) {
  const auto keys = integers<std::uint64_t>(500);
  expect_the_same(std::deque<std::uint64_t>(keys.begin(), keys.end()));
}

TEST(range_hashes, hashes_are_what_they_are) {
  std::vector<key_hash> hashes;
  for (std::uint64_t i = 0; i < 100; ++i) hashes.push_back(seeded_hash(1)(i));
  EXPECT_EQ(from_feed(range_hashes(seeded_hash(2), hashes).feed(), 32), hashes);
}

}  // namespace
}  // namespace oneprobe
