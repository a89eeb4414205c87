#include "oneprobe/core/simd.hpp"

#include <gtest/gtest.h>

namespace oneprobe {
namespace {

TEST(simd, a_limit_holds_until_it_is_lifted) {
  limit_simd(simd_level::plain);
  EXPECT_EQ(simd_in_use(), simd_level::plain);
  limit_simd(simd_level::avx2);
  EXPECT_EQ(simd_in_use(), simd_supported());
}

TEST(simd, a_limit_gives_nothing_that_the_processor_lacks) {
  EXPECT_LE(simd_in_use(), simd_supported());
#if !ONEPROBE_HAS_AVX2
  EXPECT_EQ(simd_supported(), simd_level::plain);
#endif
}

TEST(simd, levels_have_names) {
  EXPECT_EQ(name_of(simd_level::plain), "plain");
  EXPECT_EQ(name_of(simd_level::avx2), "avx2");
}

}  // namespace
}  // namespace oneprobe
