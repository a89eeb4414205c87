// Watches single operations: how long each took, and the worst without what other programs took.
//
//   latency_watch watch(clock);
//   watch.begin_part();                              // now and then
//   const std::uint64_t begin = begin_ticks();
//   ...
//   watch.record(begin, end_ticks());
//
// Wall-clock time has other programs in it: on a machine with more work than cores the worst of a
// million operations is a time slice of another program. After a slow one the CPU time of this
// thread tells for how long it did not run since the part began, and that is taken off the slow
// one. (If it was before, the slow one looks faster than it was; slow ones are too rare for that to
// matter.) What the host takes from a virtual machine stays in it: the system counts that as
// running.
#pragma once

#include <algorithm>
#include <cstdint>

#include "bench/latency_histogram.hpp"
#include "bench/measuring.hpp"
#include "bench/tick_clock.hpp"

namespace oneprobe::cli {

/// Of a filling, at its end, whose single insertions are watched.
inline constexpr double watched_share = 0.02;

class latency_watch {
 public:
  explicit latency_watch(const tick_clock& clock)
      : clock_(clock), slow_ticks_(clock.ticks(slow_ns)) {}

  void begin_part() noexcept {
    part_cpu_ns_ = cpu_ns();
    part_begin_ = begin_ticks();
  }
  void record(std::uint64_t begin, std::uint64_t end) noexcept {
    times_.record(end - begin);
    if (end - begin > slow_ticks_) [[unlikely]]
      look_closer(begin, end);
  }

  const latency_histogram& times() const noexcept { return times_; }
  double quantile_ns(double share) const noexcept { return clock_.ns(times_.quantile(share)); }
  double largest_ns() const noexcept { return clock_.ns(times_.largest()); }
  /// The largest without the time in which this thread did not run.
  double largest_running_ns() const noexcept {
    return std::max(largest_running_ns_, std::min(largest_ns(), slow_ns));
  }

 private:
  static constexpr double slow_ns = 20'000;

  [[gnu::noinline]] void look_closer(std::uint64_t begin, std::uint64_t end) noexcept {
    const double ran_ns = cpu_ns() - part_cpu_ns_;
    const double passed_ns = clock_.ns(end - part_begin_);
    const double waited_ns = std::max(0.0, passed_ns - ran_ns);
    largest_running_ns_ = std::max(largest_running_ns_, clock_.ns(end - begin) - waited_ns);
    begin_part();
  }

  const tick_clock& clock_;
  std::uint64_t slow_ticks_;
  latency_histogram times_{};
  double part_cpu_ns_ = 0;
  std::uint64_t part_begin_ = 0;
  double largest_running_ns_ = 0;
};

}  // namespace oneprobe::cli
