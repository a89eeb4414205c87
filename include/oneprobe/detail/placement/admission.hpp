// When a bucket says yes, and when placement as a whole must stop.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/detail/placement/concepts.hpp"

namespace oneprobe::inline v0_1 {

/// Load below h: yes. Load h: yes with probability p, by the element's coin for this level, so that
/// a lookup can replay it (errata 0.22, 0.23). Above: no.
class admission {
 public:
  static constexpr std::uint32_t largest_threshold = std::numeric_limits<std::uint32_t>::max() - 1;

  /// Hard capacity: p = 0.
  constexpr explicit admission(std::uint32_t threshold) : threshold_(threshold) {
    if (threshold > largest_threshold) refuse_parameter("threshold must be at most 4294967294");
  }
  /// Threshold h and probability p from 0 to 1. (h, 1) is (h + 1, 0).
  admission(std::uint32_t threshold, double probability)
      : admission(probability < 1 || threshold == largest_threshold ? threshold : threshold + 1) {
    if (!(probability >= 0 && probability <= 1))
      refuse_parameter("admit_probability must be from 0 to 1; found " + in_words(probability));
    if (probability < 1) coin_limit_ = static_cast<std::uint64_t>(std::ldexp(probability, 64));
  }
  /// Everything is admitted.
  static constexpr admission always() { return admission(largest_threshold); }

  constexpr std::uint32_t threshold() const noexcept { return threshold_; }
  /// The largest load a bucket can reach.
  constexpr std::uint32_t largest_load() const noexcept {
    return threshold_ + (coin_limit_ != 0 ? 1 : 0);
  }

  /// The element is admitted where the load is below this.
  template <placement_scheme Scheme>
  constexpr std::uint32_t limit(const Scheme& scheme, const typename Scheme::probe& probe,
                                std::uint32_t level) const noexcept {
    if (coin_limit_ == 0) return threshold_;
    return threshold_ + (scheme.coin(probe, level) < coin_limit_ ? 1 : 0);
  }

 private:
  std::uint32_t threshold_;
  std::uint64_t coin_limit_ = 0;  // p * 2^64
};

/// No limit on the accesses of all placements together.
struct unlimited_accesses {
  static constexpr bool spend() noexcept { return true; }
};

/// A total: once it is used up nothing is looked at any more, and everything overflows (the papers'
/// definition of optimality; OFH, Section II).
struct access_budget {
  std::uint64_t left = 0;

  constexpr bool spend() noexcept {
    if (left == 0) return false;
    --left;
    return true;
  }
};

}  // namespace oneprobe::inline v0_1
