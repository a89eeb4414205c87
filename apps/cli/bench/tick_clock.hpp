// A clock for single operations.
//
//   const std::uint64_t begin = begin_ticks();
//   ...
//   histogram.record(end_ticks() - begin);
//   double ns = clock.ns(histogram.quantile(0.99));      // less the cost of the clock itself
//
// On x86 with a time stamp counter of constant rate: that counter, fenced, so that what came before
// has ended when an operation begins, and the operation has ended when it is read again (its stores
// may still be on their way). Elsewhere: clock_gettime. Either is wall-clock time: an interrupt or
// another program on this core counts as well.
#pragma once

#include <time.h>

#include <cstdint>
#include <string_view>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace oneprobe::cli {

namespace detail {

inline std::uint64_t monotonic_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

bool find_constant_counter() noexcept;
/// Const and known before main: a branch that is always predicted.
inline const bool constant_counter = find_constant_counter();

}  // namespace detail

inline std::uint64_t begin_ticks() noexcept {
#if defined(__x86_64__)
  if (detail::constant_counter) {
    _mm_lfence();
    const std::uint64_t now = __builtin_ia32_rdtsc();
    _mm_lfence();
    return now;
  }
#endif
  return detail::monotonic_ns();
}

inline std::uint64_t end_ticks() noexcept {
#if defined(__x86_64__)
  if (detail::constant_counter) {
    unsigned processor;
    const std::uint64_t now = __builtin_ia32_rdtscp(&processor);
    _mm_lfence();
    return now;
  }
#endif
  return detail::monotonic_ns();
}

/// What ticks are worth on this machine. Measured once, in some ten milliseconds.
class tick_clock {
 public:
  tick_clock();

  /// A duration without what the two calls themselves take.
  double ns(std::uint64_t ticks) const noexcept;
  std::uint64_t ticks(double ns) const noexcept {
    return static_cast<std::uint64_t>(ns / ns_per_tick_);
  }
  double cost_ns() const noexcept { return static_cast<double>(cost_) * ns_per_tick_; }
  std::string_view name() const noexcept;

 private:
  double ns_per_tick_ = 1;
  std::uint64_t cost_ = 0;  // of begin_ticks() and end_ticks() with nothing between: the median
};

}  // namespace oneprobe::cli
