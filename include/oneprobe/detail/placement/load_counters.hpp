// The plainest store: a bucket is the number of its elements.
//
// The simulator runs on it, and every other store that counts elements is held to its placements
// (tests/parity).
//
//   load_counters<std::uint8_t> loads(buckets);
//   loads[at.bucket];
//
// Memory: one counter per bucket, zeroed. A counter never wraps: it refuses at its largest value.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "oneprobe/detail/base/huge_pages.hpp"
#include "oneprobe/detail/base/prefetch.hpp"
#include "oneprobe/detail/placement/concepts.hpp"

namespace oneprobe::inline v0_1 {

template <class Counter>
class load_counters {
  static_assert(std::is_unsigned_v<Counter>, "loads are counts");

 public:
  /// An element is nothing but one more.
  struct item {};

  explicit load_counters(std::uint64_t buckets) : loads_(static_cast<std::size_t>(buckets)) {}

  put_result try_put(position at, item&, std::uint32_t limit) noexcept {
    Counter& load = loads_[at.bucket];
    if (load >= limit || load == std::numeric_limits<Counter>::max()) return put_result::refused;
    ++load;
    return put_result::placed;
  }
  /// REQUIRES: the bucket is not empty.
  void remove_one(position at) noexcept { --loads_[at.bucket]; }
  void clear() noexcept { std::fill(loads_.begin(), loads_.end(), Counter{0}); }

  std::optional<std::uint32_t> load(position at) const noexcept { return loads_[at.bucket]; }
  void prefetch(position at) const noexcept { prefetch_line_ahead(&loads_[at.bucket]); }

  Counter operator[](std::uint64_t bucket) const noexcept { return loads_[bucket]; }
  std::span<const Counter> loads() const noexcept { return loads_; }

 private:
  std::vector<Counter, huge_page_allocator<Counter>> loads_;
};

static_assert(placement_store<load_counters<std::uint8_t>>);

}  // namespace oneprobe::inline v0_1
