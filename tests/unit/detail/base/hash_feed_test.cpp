#include "oneprobe/hash_feed.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <span>
#include <stdexcept>

namespace oneprobe {
namespace {

TEST(hash_feed, a_function_object_is_called_where_it_is) {
  std::size_t made = 0;
  const auto make = [&made](std::size_t first, std::span<key_hash> out) {
    made += out.size();
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = key_hash{7 * (first + i)};
  };
  const hash_feed feed(10, make);
  EXPECT_EQ(feed.size(), 10u);
  std::array<key_hash, 3> hashes;
  feed.fill(7, hashes);
  EXPECT_EQ(made, 3u);
  EXPECT_EQ(hashes[2], key_hash{63});
}

TEST(hash_feed, what_is_thrown_comes_through) {
  const auto fail = [](std::size_t, std::span<key_hash>) { throw std::runtime_error("no hash"); };
  const hash_feed feed(1, fail);
  key_hash hash{};
  EXPECT_THROW(feed.fill(0, {&hash, 1}), std::runtime_error);
}

}  // namespace
}  // namespace oneprobe
