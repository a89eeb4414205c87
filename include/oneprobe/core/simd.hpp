// Which vector instructions the kernels use: asked once, at run time.
//
//   if (simd_in_use() == simd_level::avx2) ...
//   limit_simd(simd_level::plain);       // filters made from now on use none
//
// A kernel with vector instructions is a function marked ONEPROBE_TARGET_AVX2. Its caller is
// compiled for any machine, so it cannot be inlined there; a loop that calls it often is compiled a
// second time, in a function marked ONEPROBE_LOOP_AVX2, and there everything is inlined. Filters
// ask when they are made and keep the answer. Every level gives the same answers and the same
// bytes.
//
// With ONEPROBE_NO_SIMD defined, or on other machines, there is only `plain`. Thread-safe.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string_view>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(ONEPROBE_NO_SIMD)
#define ONEPROBE_HAS_AVX2 1
#define ONEPROBE_TARGET_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define ONEPROBE_LOOP_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt"), flatten))
#else
#define ONEPROBE_HAS_AVX2 0
#endif

namespace oneprobe {

/// From the least to the most.
enum class simd_level : std::uint8_t { plain, avx2 };

constexpr std::string_view name_of(simd_level level) {
  return level == simd_level::avx2 ? "avx2" : "plain";
}

namespace detail {

inline simd_level ask_processor() noexcept {
#if ONEPROBE_HAS_AVX2
  // Also asks whether the operating system keeps the wide registers.
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
      __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt"))
    return simd_level::avx2;
#endif
  return simd_level::plain;
}

inline std::atomic<simd_level> simd_limit{simd_level::avx2};

}  // namespace detail

/// The most that this program and this processor can do.
inline simd_level simd_supported() noexcept {
  static const simd_level level = detail::ask_processor();
  return level;
}

/// What filters made now will use.
inline simd_level simd_in_use() noexcept {
  return std::min(simd_supported(), detail::simd_limit.load(std::memory_order_relaxed));
}

/// Uses no more than `most` from now on: for tests, and for whoever looks for a fault.
inline void limit_simd(simd_level most) noexcept {
  detail::simd_limit.store(most, std::memory_order_relaxed);
}

}  // namespace oneprobe
