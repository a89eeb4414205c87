// Sequential placement as a single-choice process with a faster clock (OFH Theorem 4, ECB Theorem
// 4): a refused element comes back as a new arrival, up to d times. Private to src/model.
//
// With u(x) the refusal probability after x arrivals per bucket, an element makes
// g = 1 + u + ... + u^(d-1) accesses, so elements(x) = integral of dx / g and the overflowed ones
// are the integral of u^d dx / g. Everything is per bucket.
#pragma once

#include <algorithm>
#include <cmath>

#include "numeric.hpp"
#include "oneprobe/model/bucket.hpp"

namespace oneprobe::inline v0_1::model::detail {

class sequential_process {
 public:
  sequential_process(threshold rule, unsigned choices) : rule_(rule), choices_(choices) {}

  /// Elements handled once `arrivals` accesses (per bucket) have been made.
  double elements_at(double arrivals) const {
    return integrate_over([this](double x) { return 1 / accesses_per_element(x); }, arrivals);
  }

  /// Elements overflowed by then.
  double overflowed_at(double arrivals) const {
    return integrate_over(
        [this](double x) {
          const double refused = refusal_probability(x, rule_);
          return power(refused, choices_) / geometric_sum(refused, choices_);
        },
        arrivals);
  }

  /// Inverse of elements_at: accesses made when `elements` have been handled.
  double arrivals_at(double elements) const {
    if (elements == 0 || choices_ == 1) return elements;
    // Newton's method; the slope dx / d elements = g is known. After a step of relative size 1e-9
    // the remaining error is its square.
    double arrivals = elements;
    for (int step = 0; step < 100; ++step) {
      const double missing = elements - elements_at(arrivals);
      const double next = arrivals + missing * accesses_per_element(arrivals);
      if (std::abs(next - arrivals) <= 1e-9 * next) return next;
      arrivals = next;
    }
    return arrivals;
  }

 private:
  /// From 0 to `arrivals`, in three parts: buckets change from open to full within a few deviations
  /// of the threshold, a feature that a rule over the whole range could miss.
  template <class Function>
  double integrate_over(Function&& function, double arrivals) const {
    const double width = 10 * std::sqrt(rule_.bucket_capacity + 1.0);
    const double opens = std::clamp(rule_.bucket_capacity - width, 0.0, arrivals);
    const double closes = std::clamp(rule_.bucket_capacity + 2 * width + 10, 0.0, arrivals);
    return integrate(function, 0.0, opens) + integrate(function, opens, closes) +
           integrate(function, closes, arrivals);
  }

  double accesses_per_element(double arrivals) const {
    return geometric_sum(refusal_probability(arrivals, rule_), choices_);
  }

  threshold rule_;
  unsigned choices_;
};

}  // namespace oneprobe::inline v0_1::model::detail
