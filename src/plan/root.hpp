// A root to planning precision: the model is smooth, and memory comes in whole blocks anyway.
// Private to src/plan.
#pragma once

#include <cmath>
#include <optional>
#include <utility>

namespace oneprobe::inline v0_1::planning {

/// Where a continuous function crosses from below 0 to above 0 between `low` and `high`, both
/// positive, to `precision` of its place; none unless it does. Regula falsi with halved ends
/// (Illinois) on the logarithm of the place.
template <class Function>
std::optional<double> find_crossing(Function&& function, double low, double high,
                                    double precision) {
  double a = std::log(low), b = std::log(high);
  double at_a = function(low), at_b = function(high);
  if (!(at_a <= 0) || !(at_b >= 0)) return std::nullopt;
  int side = 0;
  for (int step = 0; step < 100 && b - a > precision; ++step) {
    // A step that hardly moves is replaced by the middle.
    double middle = at_b > at_a ? (a * at_b - b * at_a) / (at_b - at_a) : 0.5 * (a + b);
    if (!(middle > a && middle < b) || step % 8 == 7) middle = 0.5 * (a + b);
    const double value = function(std::exp(middle));
    if (value <= 0) {
      a = middle, at_a = value;
      if (side == -1) at_b /= 2;
      side = -1;
    } else {
      b = middle, at_b = value;
      if (side == 1) at_a /= 2;
      side = 1;
    }
    if (std::abs(value) <= precision) return std::exp(middle);
  }
  return std::exp(a);
}

}  // namespace oneprobe::inline v0_1::planning
