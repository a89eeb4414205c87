// Sizing a filter to a memory budget, and remembering the best of many candidates. Private to
// src/model.
#pragma once

#include <optional>

#include "check.hpp"
#include "numeric.hpp"
#include "oneprobe/model/balanced.hpp"

namespace oneprobe::inline v0_1::model::detail {

inline void check_bits_per_element(double value) {
  check_range("bits per element", value, 1.0, 4096.0);
}

inline void check_overflow_list(const overflow_list_cost& list) {
  check_range("fingerprint bits of the overflow list", list.fingerprint_bits, 1.0, 1024.0);
  check_range("load of the overflow list", list.list_load, 0.01, 0.99);
}

/// The smallest number of arrivals per block at which the memory per element, B / r plus the
/// overflow list, falls to the budget. Few arrivals waste blocks and too many overflow, so the
/// memory falls first and rises later; none if its least is above the budget.
template <class Bits>
std::optional<double> arrivals_for_memory(Bits&& bits_at, double bits_per_element,
                                          double block_bits, double largest_ratio = 4) {
  const double fewest = block_bits / bits_per_element;  // without any refusal
  const auto surplus = [&](double arrivals) { return bits_at(arrivals) - bits_per_element; };
  double low = fewest;
  double at_low = surplus(low);
  if (at_low <= 0) return low;
  for (double high = low * 1.02; high <= fewest * largest_ratio; high *= 1.02) {
    const double at_high = surplus(high);
    if (at_high <= 0) return find_root(surplus, low, high);
    if (at_high > at_low * 1.5) return std::nullopt;
    low = high;
    at_low = at_high;
  }
  return std::nullopt;
}

/// Both kinds of query within the limit.
inline bool within(const filter_error& error, double access_limit) {
  return error.miss_accesses <= access_limit && error.hit_accesses <= access_limit;
}

/// Keeps the point with the least false positive rate of those within the access limit.
template <class Point>
class best_point {
 public:
  explicit best_point(double access_limit) : access_limit_(access_limit) {}

  /// True if the point is the best so far.
  bool offer(const Point& point) {
    if (!within(point.error, access_limit_)) return false;
    if (best_ && !(point.error.fpr < best_->error.fpr)) return false;
    best_ = point;
    return true;
  }
  const std::optional<Point>& best() const { return best_; }

 private:
  double access_limit_;
  std::optional<Point> best_;
};

}  // namespace oneprobe::inline v0_1::model::detail
