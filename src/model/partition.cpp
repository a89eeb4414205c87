#include "oneprobe/model/partition.hpp"

#include <algorithm>
#include <cmath>

#include "check.hpp"
#include "least_overflow.hpp"
#include "numeric.hpp"
#include "oneprobe/model/bucket.hpp"
#include "oneprobe/model/overflow_bound.hpp"
#include "oneprobe/model/poisson.hpp"
#include "sequential.hpp"

namespace oneprobe::inline v0_1::model {
namespace {

void check(double load_factor, unsigned bucket_capacity, unsigned choices) {
  detail::check_load_factor(load_factor);
  detail::check_capacity(bucket_capacity);
  detail::check_choices(choices);
}

/// p(a) of OFH Theorem 6: the fraction a single-choice table refuses of a n elements.
double refused_at(double accesses, double load_factor, unsigned bucket_capacity) {
  return refused_fraction(accesses * load_factor * bucket_capacity, {bucket_capacity, 0.0});
}

/// alpha_j proportional to ratio^(j-1), OFH eq. (19).
std::vector<double> geometric_partition(double ratio, unsigned levels) {
  const double sum = detail::geometric_sum(ratio, levels);
  std::vector<double> fractions;
  fractions.reserve(levels);
  double share = 1 / sum;
  for (unsigned level = 0; level < levels; ++level, share *= ratio) fractions.push_back(share);
  return fractions;
}

/// A bucket of a table that only fills: refuses E[(X - h)+] of X ~ Poisson(mean).
class filling_bucket {
 public:
  explicit filling_bucket(unsigned capacity) : capacity_(capacity) {}
  double refused(double mean) const { return poisson_excess(mean, capacity_); }
  /// mean R' - R = h P(X > h), with R the refused mean and R' = P(X >= h) its derivative.
  double gain(double mean) const { return capacity_ * poisson_at_least(mean, capacity_ + 1ull); }
  double gain_over_slope(double mean) const {
    const double slope = poisson_at_least(mean, capacity_);
    return slope > 0 ? gain(mean) / slope : 0;
  }

 private:
  unsigned capacity_;
};

}  // namespace

cutoff sequential_cutoff(double load_factor, unsigned bucket_capacity, unsigned choices) {
  check(load_factor, bucket_capacity, choices);
  const double per_bucket = load_factor * bucket_capacity;
  const detail::sequential_process process({bucket_capacity, 0.0}, choices);
  const double arrivals = process.arrivals_at(per_bucket);
  return {.mean_accesses = arrivals / per_bucket,
          .overflow_fraction = process.overflowed_at(arrivals) / per_bucket,
          .level_fractions = {}};
}

cutoff multilevel_cutoff(double load_factor, unsigned bucket_capacity, unsigned choices) {
  check(load_factor, bucket_capacity, choices);
  // a - (1 + p + ... + p^(d-1)) rises from below 0 at a = 1 to above 0 at a = d.
  const auto distance = [&](double accesses) {
    return accesses -
           detail::geometric_sum(refused_at(accesses, load_factor, bucket_capacity), choices);
  };
  const double accesses =
      choices == 1 ? 1.0 : detail::find_root(distance, 1.0, static_cast<double>(choices));
  const double ratio = refused_at(accesses, load_factor, bucket_capacity);
  return {.mean_accesses = accesses,
          .overflow_fraction = detail::power(ratio, choices),
          .level_fractions = geometric_partition(ratio, choices)};
}

partition access_optimal_partition(double accesses, double load_factor, unsigned bucket_capacity,
                                   unsigned choices) {
  const double largest = multilevel_cutoff(load_factor, bucket_capacity, choices).mean_accesses;
  // The cut-off itself, as printed by us with all its digits, must be accepted.
  detail::check_above("accesses (up to the cut-off)", accesses, 0.0, largest * (1 + 1e-12));
  const double ratio = refused_at(accesses, load_factor, bucket_capacity);
  return {.level_fractions = geometric_partition(ratio, choices),
          .mean_accesses = accesses,
          .overflow_fraction = overflow_bound(accesses, load_factor, bucket_capacity),
          .end_time = std::min(1.0, accesses / detail::geometric_sum(ratio, choices))};
}

partition least_overflow_partition(double load_factor, unsigned bucket_capacity, unsigned choices) {
  check(load_factor, bucket_capacity, choices);
  return detail::least_overflow(filling_bucket(bucket_capacity), load_factor * bucket_capacity,
                                choices);
}

double largest_load_factor(double overflow_fraction, unsigned bucket_capacity, unsigned choices) {
  check(1.0, bucket_capacity, choices);
  return detail::largest_load(overflow_fraction, [&](double load_factor) {
    return least_overflow_partition(load_factor, bucket_capacity, choices).overflow_fraction;
  });
}

}  // namespace oneprobe::inline v0_1::model
