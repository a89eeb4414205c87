#include "bench/tick_clock.hpp"

#include <algorithm>
#include <array>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace oneprobe::cli {

bool detail::find_constant_counter() noexcept {
#if defined(__x86_64__)
  // "Invariant TSC": the same rate in all states of the processor.
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x8000'0007, &a, &b, &c, &d) != 0 && (d & (1u << 8)) != 0;
#else
  return false;
#endif
}

namespace {

struct both_clocks {
  std::uint64_t ns;
  std::uint64_t ticks;
};

/// Both at one moment: the closest of several readings, since anything may come between two.
both_clocks read_both() noexcept {
  constexpr int readings = 100;
  both_clocks closest{};
  std::uint64_t least_gap = ~std::uint64_t{0};
  for (int i = 0; i < readings; ++i) {
    const std::uint64_t before = detail::monotonic_ns();
    const std::uint64_t ticks = begin_ticks();
    const std::uint64_t gap = detail::monotonic_ns() - before;
    if (gap >= least_gap) continue;
    least_gap = gap;
    closest = {before + gap / 2, ticks};
  }
  return closest;
}

}  // namespace

tick_clock::tick_clock() {
  std::array<std::uint64_t, 1001> empty{};
  for (std::uint64_t& each : empty) {
    const std::uint64_t begin = begin_ticks();
    each = end_ticks() - begin;
  }
  std::nth_element(empty.begin(), empty.begin() + empty.size() / 2, empty.end());
  cost_ = empty[empty.size() / 2];
  if (!detail::constant_counter) return;
  constexpr std::uint64_t watched_ns = 20'000'000;
  const both_clocks first = read_both();
  while (detail::monotonic_ns() - first.ns < watched_ns) {
  }
  const both_clocks last = read_both();
  ns_per_tick_ =
      static_cast<double>(last.ns - first.ns) / static_cast<double>(last.ticks - first.ticks);
}

double tick_clock::ns(std::uint64_t ticks) const noexcept {
  return static_cast<double>(ticks - std::min(ticks, cost_)) * ns_per_tick_;
}

std::string_view tick_clock::name() const noexcept {
  return detail::constant_counter ? "rdtsc" : "clock_gettime";
}

}  // namespace oneprobe::cli
