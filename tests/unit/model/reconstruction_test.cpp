#include "oneprobe/model/reconstruction.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "oneprobe/model/crisis.hpp"
#include "unit/model/expect.hpp"

namespace {

using namespace oneprobe::model;

const level_sizes ten_thousand{40000, 10000, 5000, 2500, 2500};

TEST(reconstruction, section_xi_a_uniform_deletions_move_100_02) {
  const double moves = expected_moves(ten_thousand, 9090, 0.1, deletion_order::uniform);
  EXPECT_NEAR(moves, 100.02, 5e-3);
  EXPECT_NEAR(moves, 100.01690811358144, 1e-6);
  EXPECT_NEAR(moves / 9090, 0.011, 5e-4);  // "only about 1.1 % of the n items"
  EXPECT_GT(moves, 96.98);                 // above the simulated mean number of moves
}

TEST(reconstruction, section_xi_a_first_sub_table_deletions_move_118_34) {
  const double moves = expected_moves(ten_thousand, 9090, 0.1, deletion_order::first_level);
  EXPECT_NEAR(moves, 118.34, 5e-3);
  EXPECT_NEAR(moves, 118.34167288342206, 1e-6);
  EXPECT_NEAR(moves / 9090, 0.013, 5e-4);
  EXPECT_GT(moves, 114.25);
}

TEST(reconstruction, nothing_deleted_or_one_level_moves_nothing) {
  EXPECT_EQ(expected_moves(ten_thousand, 9090, 0.0, deletion_order::uniform), 0.0);
  EXPECT_EQ(expected_moves(ten_thousand, 4, 0.1, deletion_order::first_level), 0.0);  // 0.4 -> 0
  EXPECT_EQ(expected_moves(level_sizes{100}, 10, 0.5, deletion_order::uniform), 0.0);
  EXPECT_EQ(expected_moves(level_sizes{100}, 1, 1.0, deletion_order::uniform), 0.0);
}

TEST(reconstruction, one_stays_and_one_is_deleted_by_hand) {
  // Levels of m = 4 and 1 bucket: the second element is in level 2 with probability 1/4; it is the
  // one that stays with probability 1/2, and then the other, in its way, is the deleted one.
  EXPECT_NEAR(expected_moves(level_sizes{4, 1}, 1, 1.0, deletion_order::uniform), 0.125, 1e-15);
  EXPECT_NEAR(expected_moves(level_sizes{4, 1}, 1, 1.0, deletion_order::first_level), 0.25, 1e-15);
}

TEST(reconstruction, huge_tables_move_the_same_fraction) {
  level_sizes huge = ten_thousand;
  for (std::uint64_t& size : huge) size *= 10'000'000;
  for (const auto& [order, fraction] :
       {std::pair{deletion_order::uniform, 100.01690811358144 / 9090},
        {deletion_order::first_level, 118.34167288342206 / 9090}})
    EXPECT_NEAR(expected_moves(huge, 90'900'000'000, 0.1, order) / 90.9e9 / fraction, 1.0, 1e-4);
}

TEST(reconstruction, bad_parameters_are_named) {
  EXPECT_EQ(refusal([] { expected_moves(level_sizes{}, 1, 0.1, deletion_order::uniform); }),
            "number of levels must be from 1 to 32; found 0");
  EXPECT_EQ(refusal([] { expected_moves(ten_thousand, 0, 0.1, deletion_order::uniform); }),
            "elements must be from 1 to 1e+13; found 0");
  EXPECT_EQ(refusal([] { expected_moves(ten_thousand, 1, -0.1, deletion_order::uniform); }),
            "deleted fraction must be from 0 to 1; found -0.1");
  EXPECT_EQ(refusal([] { expected_moves(ten_thousand, 1, NAN, deletion_order::uniform); }),
            "deleted fraction must be from 0 to 1; found nan");
  EXPECT_EQ(refusal([] {
              expected_moves(level_sizes{6, 6}, 10, 0.5, deletion_order::uniform);
            }),
            "elements (at most as many as buckets) must be from 1 to 12; found 15");
  EXPECT_EQ(refusal([] {
              expected_moves(level_sizes{4, 20}, 10, 0.5, deletion_order::first_level);
            }),
            "deleted elements must be at most the buckets of the first level; found 5");
}

RC_GTEST_PROP(reconstruction_properties,
              moves_are_fewer_than_the_elements_that_stay_outside_level_one, ()) {
  const auto n = *rc::gen::inRange<std::uint64_t>(1, 500);
  const double fraction = *rc::gen::inRange(0, 101) / 100.0;
  const level_sizes levels{2 * n + 2, n + 1, n + 1};
  const double uniform = expected_moves(levels, n, fraction, deletion_order::uniform);
  const double first = expected_moves(levels, n, fraction, deletion_order::first_level);
  const auto deleted = static_cast<std::uint64_t>(std::round(fraction * static_cast<double>(n)));
  const double outside = crisis(n + deleted, levels).left_after[1].mean();
  RC_ASSERT(uniform >= 0.0);
  RC_ASSERT(uniform <= outside * (1 + 1e-12));
  RC_ASSERT(first <= outside * (1 + 1e-12));
  RC_ASSERT(first <= static_cast<double>(n) * (1 + 1e-12));
}

}  // namespace
