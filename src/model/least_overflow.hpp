// The partition of a table into levels that overflows least, for any law of refusal. Private to
// src/model.
//
// Level j has x_j buckets (of 1 in total) and n_j elements per bucket of the table enter it, so
// each of its buckets sees y_j = n_j / x_j arrivals and n_{j+1} = x_j R(y_j) go on, R the mean
// number a bucket refuses. Minimise n_{d+1} subject to sum x_j = 1. With p_j = d n_{d+1} / d n_j =
// R'(y_j) p_{j+1}, the derivative with respect to x_j is -p_{j+1} G(y_j), G(y) = y R'(y) - R(y),
// and must be the same for all levels:
//
//     p_{j+1} G(y_j) = p_{j+2} G(y_{j+1})   that is   G(y_j) = G(y_{j+1}) / R'(y_{j+1}).
//
// So y_1 fixes y_2, y_2 fixes y_3, ...; the only unknown is y_1, found from sum x_j = 1.
#pragma once

#include <cmath>
#include <vector>

#include "check.hpp"
#include "numeric.hpp"
#include "oneprobe/model/partition.hpp"

namespace oneprobe::inline v0_1::model::detail {

/// y_{j+1} from y_j. Since R' <= 1, G / R' at y_j is at least G there: the solution lies below y_j.
/// 0 if it is too small to matter.
template <class Bucket>
double next_mean(const Bucket& bucket, double mean) {
  const double target = bucket.gain(mean);
  const auto distance = [&](double y) { return bucket.gain_over_slope(y) - target; };
  double high = mean, low = mean;
  while (distance(low) > 0) {
    high = low;
    low *= 0.5;
    if (low < 1e-300) return 0;
  }
  return find_root(distance, low, high);
}

/// Buckets, of 1 for each `elements_per_bucket` elements, that the levels need if those of the
/// first see `first_mean` arrivals each.
template <class Bucket>
std::vector<double> space_of_levels(const Bucket& bucket, double elements_per_bucket,
                                    unsigned choices, double first_mean) {
  std::vector<double> space;
  double mean = first_mean;
  double entering = elements_per_bucket;
  for (unsigned level = 0; level < choices; ++level) {
    if (level > 0) mean = next_mean(bucket, mean);
    space.push_back(mean > 0 ? entering / mean : 0);
    entering = space.back() * bucket.refused(mean);
  }
  return space;
}

template <class Bucket>
partition least_overflow(const Bucket& bucket, double elements_per_bucket, unsigned choices) {
  const auto total_space = [&](double first_mean) {
    double total = 0;
    for (const double space : space_of_levels(bucket, elements_per_bucket, choices, first_mean))
      total += space;
    return total;
  };
  double first_mean = elements_per_bucket;  // one level: that is all there is
  if (choices > 1) {
    // There the first level alone would take all buckets; more arrivals at each mean fewer of them.
    double low = elements_per_bucket, high = elements_per_bucket * 2;
    while (total_space(high) > 1) {
      low = high;
      high *= 2;
    }
    first_mean = find_root([&](double mean) { return total_space(mean) - 1; }, low, high);
  }
  partition result;
  result.level_fractions = space_of_levels(bucket, elements_per_bucket, choices, first_mean);
  double sum = 0;
  for (const double share : result.level_fractions) sum += share;
  // What the partition does is computed from its fractions as they are returned.
  double entering = elements_per_bucket;
  for (double& share : result.level_fractions) {
    share /= sum;
    result.mean_accesses += entering / elements_per_bucket;
    if (share > 0) entering = share * bucket.refused(entering / share);
  }
  result.overflow_fraction = entering / elements_per_bucket;
  return result;
}

/// The load factor at which an increasing overflow reaches the wanted fraction.
template <class Overflow>
double largest_load(double overflow_fraction, Overflow&& overflow_at) {
  check_range("overflow fraction", overflow_fraction, 1e-30, 0.99);
  // In logarithms: the overflow falls by many orders of magnitude per halving of the load.
  const auto distance = [&](double load_factor) {
    return std::log(std::max(overflow_at(load_factor), 1e-320)) - std::log(overflow_fraction);
  };
  double low = 1, high = 1;
  for (; distance(low) > 0; low *= 0.5)
    if (low < 2 * smallest_mean)
      refuse("overflow fraction", "reachable at a load factor of at least " + show(smallest_mean),
             overflow_fraction);
  while (distance(high) < 0) high *= 2;
  return find_root(distance, low, high);
}

}  // namespace oneprobe::inline v0_1::model::detail
