#include "oneprobe/detail/simd/isa.hpp"

#include <gtest/gtest.h>

namespace oneprobe {
namespace {

TEST(simd, a_limit_holds_until_it_is_lifted) {
  limit_simd(isa::plain);
  EXPECT_EQ(simd_in_use(), isa::plain);
  limit_simd(most_simd);
  EXPECT_EQ(simd_in_use(), simd_supported());
}

TEST(simd, a_limit_gives_nothing_that_the_processor_lacks) {
  EXPECT_LE(simd_in_use(), simd_supported());
#if !ONEPROBE_HAS_SIMD
  EXPECT_EQ(simd_supported(), isa::plain);
#endif
}

TEST(simd, levels_have_names) {
  EXPECT_EQ(name_of(isa::plain), "plain");
  EXPECT_EQ(name_of(isa::avx2), "avx2");
  EXPECT_EQ(name_of(isa::avx512), "avx512");
}

int twice(int number) { return 2 * number; }

template <isa Level>
int twice_at() {
  return compiled_for<Level, twice, int>::call(21);
}

TEST(simd, a_function_compiled_for_a_level_does_the_same) {
  EXPECT_EQ(twice_at<isa::plain>(), 42);
  if (simd_supported() >= isa::avx2) {
    EXPECT_EQ(twice_at<isa::avx2>(), 42);
  }
  if (simd_supported() >= isa::avx512) {
    EXPECT_EQ(twice_at<isa::avx512>(), 42);
  }
}

}  // namespace
}  // namespace oneprobe
