// The buckets of fingerprint filters by their error, so that a part is planned in a millisecond and
// not in a fifth of a second. Written by oneprobe_part_buckets (apps/default_plans) from the
// planner; not by hand. A test holds plans with these buckets to the planner's own.
#pragma once

#include <array>

#include "oneprobe/detail/planning/fingerprint_bucket_shape.hpp"

namespace oneprobe::redis {

/// Row i is the best for an error of 10^(first_exponent + i / rows_per_decade).
inline constexpr double part_buckets_first_exponent = -12;
inline constexpr double part_buckets_per_decade = 10;

// clang-format off
inline constexpr std::array<fingerprint_bucket_shape, 118> part_buckets{{
    {12, 40}, {12, 40}, {12, 38}, {12, 38}, {12, 40}, {12, 37}, {12, 38}, {12, 40}, {13, 37}, {13, 37},
    {13, 36}, {13, 37}, {13, 37}, {13, 37}, {13, 36}, {13, 35}, {13, 37}, {14, 34}, {14, 34}, {14, 34},
    {14, 33}, {14, 35}, {14, 34}, {14, 33}, {15, 32}, {15, 32}, {15, 31}, {15, 30}, {15, 29}, {15, 31},
    {15, 29}, {16, 29}, {16, 29}, {16, 28}, {16, 28}, {16, 27}, {17, 28}, {17, 28}, {17, 28}, {17, 26},
    {17, 26}, {18, 26}, {18, 26}, {18, 25}, {18, 24}, {18, 27}, {19, 24}, {19, 25}, {19, 23}, {19, 25},
    {20, 23}, {20, 23}, {20, 24}, {21, 22}, {21, 22}, {21, 21}, {21, 22}, {22, 21}, {22, 20}, {22, 20},
    {23, 20}, {23, 19}, {23, 19}, {24, 19}, {24, 18}, {25, 18}, {25, 18}, {25, 17}, {26, 17}, {26, 17},
    {27, 16}, {27, 17}, {28, 16}, {28, 15}, {29, 15}, {29, 15}, {30, 15}, {31, 14}, {31, 14}, {32, 13},
    {33, 13}, {33, 13}, {34, 13}, {35, 12}, {36, 12}, {37, 11}, {38, 11}, {39, 11}, {40, 10}, {41, 10},
    {42, 10}, {43, 9}, {45, 9}, {46, 9}, {47, 8}, {49, 8}, {50, 8}, {52, 7}, {54, 7}, {56, 7},
    {58, 6}, {61, 6}, {63, 6}, {66, 5}, {69, 5}, {72, 5}, {76, 4}, {80, 4}, {84, 4}, {87, 4},
    {89, 4}, {92, 4}, {93, 4}, {95, 4}, {96, 4}, {97, 4}, {98, 4}, {99, 4},
}};
// clang-format on

}  // namespace oneprobe::redis
