// A minute of readers and writers on one map, with more threads than cores.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>

#include "concurrent/map_stress.hpp"

TEST(concurrent_map_at_length, never_shows_a_torn_or_lost_element) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  std::uint64_t reads = 0;
  for (std::uint64_t seed = 1; std::chrono::steady_clock::now() < end; ++seed) {
    const map_stress::result found =
        map_stress::run({.operations = 200'000, .readers = 4, .writers = 4, .seed = seed});
    ASSERT_EQ(found.torn, 0u) << "seed " << seed;
    ASSERT_EQ(found.lost, 0u) << "seed " << seed;
    ASSERT_EQ(found.unexpected, 0u) << "seed " << seed;
    reads += found.reads;
  }
  EXPECT_GT(reads, 1'000'000u);
}
