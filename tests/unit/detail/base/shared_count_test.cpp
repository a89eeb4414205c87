#include "oneprobe/detail/base/shared_count.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

namespace oneprobe {
namespace {

TEST(shared_count, adds_what_all_threads_added) {
  constexpr std::uint64_t threads = 20;  // more than it has cells
  constexpr std::uint64_t each = 10'000;
  shared_count count(5);
  std::vector<std::thread> adding;
  for (std::uint64_t t = 0; t < threads; ++t)
    adding.emplace_back([&count] {
      for (std::uint64_t i = 0; i < each; ++i) count.add(1);
    });
  for (std::thread& thread : adding) thread.join();
  EXPECT_EQ(count.value(), 5 + threads * each);
}

TEST(shared_count, a_copy_takes_the_value_and_goes_its_own_way) {
  shared_count a(7);
  shared_count b(a);
  b.add(1);
  EXPECT_EQ(a.value(), 7u);
  EXPECT_EQ(b.value(), 8u);
  a = b;
  EXPECT_EQ(a.value(), 8u);
  a.clear();
  EXPECT_EQ(a.value(), 0u);
}

}  // namespace
}  // namespace oneprobe
