// How long single operations took: counts by duration, fine enough for percentiles.
//
//   latency_histogram h;
//   h.record(ticks);
//   h.quantile(0.999);        // 99.9 % took no longer, to 3 %
//
// Log-linear: durations below 64 have a counter each; above, every power of two is cut into 32
// equal parts, so that a counter is at most 1/32 of its durations wide. 15 KiB, whatever happens.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace oneprobe::cli {

class latency_histogram {
 public:
  void record(std::uint64_t duration) noexcept {
    ++counts_[index_of(duration)];
    ++count_;
    sum_ += duration;
    largest_ = std::max(largest_, duration);
  }

  std::uint64_t count() const noexcept { return count_; }
  std::uint64_t sum() const noexcept { return sum_; }
  /// Exact. 0 if nothing was recorded.
  std::uint64_t largest() const noexcept { return largest_; }

  /// The least duration that a counter can hold which, with those before it, holds the fraction
  /// `share` of all: at most 1/32 below the exact one. 0 if nothing was recorded.
  std::uint64_t quantile(double share) const noexcept;

 private:
  static constexpr unsigned part_bits = 5;  // parts of a power of two
  static constexpr std::uint64_t parts = std::uint64_t{1} << part_bits;
  static constexpr std::size_t counters = (64 - part_bits + 1) * parts;

  static constexpr std::size_t index_of(std::uint64_t duration) noexcept {
    if (duration < 2 * parts) return static_cast<std::size_t>(duration);
    const auto shift = static_cast<unsigned>(std::bit_width(duration)) - 1 - part_bits;
    return static_cast<std::size_t>(shift * parts + (duration >> shift));
  }
  static constexpr std::uint64_t least_of(std::size_t index) noexcept {
    if (index < 2 * parts) return index;
    const std::uint64_t shift = index / parts - 1;
    return (index - shift * parts) << shift;
  }

  std::array<std::uint64_t, counters> counts_{};
  std::uint64_t count_ = 0;
  std::uint64_t sum_ = 0;
  std::uint64_t largest_ = 0;
};

inline std::uint64_t latency_histogram::quantile(double share) const noexcept {
  if (count_ == 0) return 0;
  const double wanted = share * static_cast<double>(count_);
  std::uint64_t passed = 0;
  for (std::size_t i = 0; i < counters; ++i) {
    passed += counts_[i];
    if (passed != 0 && static_cast<double>(passed) >= wanted) return least_of(i);
  }
  return largest_;
}

}  // namespace oneprobe::cli
