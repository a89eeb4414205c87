#include "oneprobe/detail/planning/table_layout.hpp"

#include <gtest/gtest.h>

namespace {

using oneprobe::level_buckets_for;
using oneprobe::table_design;

TEST(table_layout, later_levels_have_room_beyond_their_mean) {
  const table_design design{.levels = 2, .entering = {1, 0.01}, .offered = {10, 4}};
  const auto sizes = level_buckets_for(design, 1'000'000);
  EXPECT_EQ(sizes[0], 100'000);
  EXPECT_EQ(sizes[1], 2550);  // (10,000 + 2 * 100) / 4
}

TEST(table_layout, a_level_that_nothing_reaches_has_one_bucket) {
  const table_design design{.levels = 4, .entering = {1, 0.1, 5e-324, 0}, .offered = {8, 1, 0, 0}};
  const auto sizes = level_buckets_for(design, 1'000'000);
  EXPECT_EQ(sizes[0], 125'000);
  EXPECT_EQ(sizes[2], 1);
  EXPECT_EQ(sizes[3], 1);
}

}  // namespace
