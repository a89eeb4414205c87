// Which vector instructions the kernels use: asked once, at run time.
//
//   if (simd_in_use() >= isa::avx2) ...
//   limit_simd(isa::plain);       // filters made from now on use none
//
// A kernel with vector instructions is a function marked ONEPROBE_TARGET_AVX2 or ..._AVX512. Its
// caller is compiled for any machine, so it cannot be inlined there; what calls it often is
// compiled once more by `compiled_for`, and there everything is inlined. Filters ask when they are
// made and keep the answer. Every level gives the same answers and the same bytes.
//
// With ONEPROBE_NO_SIMD defined, for all of a program and what is compiled of the library, or on
// other machines, there is only `plain`. Thread-safe.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <string_view>
#include <type_traits>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(ONEPROBE_NO_SIMD)
#define ONEPROBE_HAS_SIMD 1
#define ONEPROBE_TARGET_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))
// With VPOPCNTDQ, VBMI and GFNI, hence from Ice Lake and Zen 4 on: processors before them slow down
// for these registers.
#define ONEPROBE_TARGET_AVX512                                                \
  __attribute__((                                                             \
      target("avx512f,avx512bw,avx512dq,avx512vl,avx512vpopcntdq,avx512vbmi," \
             "gfni,avx2,bmi,bmi2,popcnt")))
#else
#define ONEPROBE_HAS_SIMD 0
#endif

namespace oneprobe::inline v0_1 {

/// From the least to the most.
enum class isa : std::uint8_t { plain, avx2, avx512 };
inline constexpr isa most_simd = isa::avx512;

constexpr std::string_view name_of(isa level) {
  switch (level) {
    case isa::plain:
      return "plain";
    case isa::avx2:
      return "avx2";
    case isa::avx512:
      return "avx512";
  }
  return "unknown";
}

/// What the whole program is compiled for, by -march or the like: calls for it may be inlined.
#if ONEPROBE_HAS_SIMD && defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && \
    defined(__AVX512VL__) && defined(__AVX512VPOPCNTDQ__) && defined(__AVX512VBMI__) &&            \
    defined(__GFNI__) && defined(__BMI2__)
inline constexpr isa simd_compiled = isa::avx512;
#elif ONEPROBE_HAS_SIMD && defined(__AVX2__) && defined(__BMI__) && defined(__BMI2__)
inline constexpr isa simd_compiled = isa::avx2;
#else
inline constexpr isa simd_compiled = isa::plain;
#endif

/// `Function` compiled for a level, with all that it calls inlined unless that is marked otherwise.
/// `call` takes the arguments as listed, and is a function like any other, never inlined itself: it
/// may be pointed to.
template <isa Level, auto Function, class... Args>
struct compiled_for {
  [[gnu::noinline]] static std::invoke_result_t<decltype(Function), Args...> call(Args... args) {
    return Function(args...);
  }
};
#if ONEPROBE_HAS_SIMD
template <auto Function, class... Args>
struct compiled_for<isa::avx2, Function, Args...> {
  [[gnu::flatten,
    gnu::noinline]] ONEPROBE_TARGET_AVX2 static std::invoke_result_t<decltype(Function), Args...>
  call(Args... args) {
    return Function(args...);
  }
};
template <auto Function, class... Args>
struct compiled_for<isa::avx512, Function, Args...> {
  [[gnu::flatten,
    gnu::noinline]] ONEPROBE_TARGET_AVX512 static std::invoke_result_t<decltype(Function), Args...>
  call(Args... args) {
    return Function(args...);
  }
};
#endif

namespace detail {

inline isa ask_processor() noexcept {
#if ONEPROBE_HAS_SIMD
  // Also asks whether the operating system keeps the wide registers.
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi") ||
      !__builtin_cpu_supports("bmi2") || !__builtin_cpu_supports("popcnt"))
    return isa::plain;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512vbmi") &&
      __builtin_cpu_supports("gfni"))
    return isa::avx512;
  return isa::avx2;
#else
  return isa::plain;
#endif
}

inline std::atomic<isa> simd_limit{most_simd};

}  // namespace detail

/// The most that this program and this processor can do.
inline isa simd_supported() noexcept {
  static const isa level = detail::ask_processor();
  return level;
}

/// What filters made now will use.
inline isa simd_in_use() noexcept {
  return std::min(simd_supported(), detail::simd_limit.load(std::memory_order_relaxed));
}

/// Uses no more than `most` from now on: for tests, and for debugging.
inline void limit_simd(isa most) noexcept {
  detail::simd_limit.store(most, std::memory_order_relaxed);
}

}  // namespace oneprobe::inline v0_1
