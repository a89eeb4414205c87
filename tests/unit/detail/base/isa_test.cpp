#include "oneprobe/detail/simd/isa.hpp"

#include <gtest/gtest.h>

namespace oneprobe {
namespace {

TEST(simd, a_limit_holds_until_it_is_lifted) {
  limit_simd(simd_level::plain);
  EXPECT_EQ(simd_in_use(), simd_level::plain);
  limit_simd(most_simd);
  EXPECT_EQ(simd_in_use(), simd_supported());
}

TEST(simd, a_limit_gives_nothing_that_the_processor_lacks) {
  EXPECT_LE(simd_in_use(), simd_supported());
#if !ONEPROBE_HAS_SIMD
  EXPECT_EQ(simd_supported(), simd_level::plain);
#endif
}

TEST(simd, levels_have_names) {
  EXPECT_EQ(name_of(simd_level::plain), "plain");
  EXPECT_EQ(name_of(simd_level::avx2), "avx2");
  EXPECT_EQ(name_of(simd_level::avx512), "avx512");
}

int twice(int number) { return 2 * number; }

template <simd_level Level>
int twice_at() {
  return compiled_for<Level, twice, int>::call(21);
}

TEST(simd, a_function_compiled_for_a_level_does_the_same) {
  EXPECT_EQ(twice_at<simd_level::plain>(), 42);
  if (simd_supported() >= simd_level::avx2) {
    EXPECT_EQ(twice_at<simd_level::avx2>(), 42);
  }
  if (simd_supported() >= simd_level::avx512) {
    EXPECT_EQ(twice_at<simd_level::avx512>(), 42);
  }
}

}  // namespace
}  // namespace oneprobe
