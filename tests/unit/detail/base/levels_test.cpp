#include "oneprobe/detail/base/levels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

using namespace oneprobe;

namespace {

TEST(levels, sum_to_the_buckets_and_keep_to_their_shares) {
  for (const std::vector<double>& fractions :
       {std::vector<double>{1.0}, {0.589, 0.254, 0.110, 0.047}, {0.5, 0.5}, {0.9, 0.1}}) {
    for (const std::uint64_t buckets : {4U, 5U, 10U, 1000U, 99'999U}) {
      const auto sizes = split_into_levels(buckets, fractions);
      ASSERT_EQ(sizes.size(), fractions.size());
      EXPECT_EQ(std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0}), buckets);
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        EXPECT_GE(sizes[i], 1U);
        if (buckets >= 1000) {
          EXPECT_NEAR(static_cast<double>(sizes[i]), fractions[i] * static_cast<double>(buckets),
                      1);
        }
      }
    }
  }
}

TEST(levels, give_every_level_a_bucket) {
  const auto sizes = split_into_levels(4, std::vector{0.97, 0.01, 0.01, 0.01});
  EXPECT_EQ(sizes, (std::vector<std::uint64_t>{1, 1, 1, 1}));
}

TEST(levels, refuse_what_is_no_partition) {
  using fractions = std::vector<double>;
  EXPECT_THROW(split_into_levels(100, fractions{}), std::invalid_argument);
  EXPECT_THROW(split_into_levels(100, fractions(33, 1.0 / 33)), std::invalid_argument);
  EXPECT_THROW(split_into_levels(100, fractions{0.5, 0.4}), std::invalid_argument);
  EXPECT_THROW(split_into_levels(100, fractions{1.2, -0.2}), std::invalid_argument);
  EXPECT_THROW(split_into_levels(100, fractions{std::nan("")}), std::invalid_argument);
  EXPECT_THROW(split_into_levels(1, fractions{0.5, 0.5}), std::invalid_argument);
}

}  // namespace
