#include "oneprobe/model/overflow_bound.hpp"

#include <algorithm>
#include <cmath>

#include "check.hpp"
#include "numeric.hpp"
#include "oneprobe/model/fluid.hpp"
#include "oneprobe/model/poisson.hpp"

namespace oneprobe::inline v0_1::model {
namespace {

void check_accesses(double accesses) { detail::check_range("accesses", accesses, 0.0, 1e6); }

/// 1 - E[min(X, h)] / r for X ~ Poisson(a r), r = c h: the bound before clamping. Of its two forms,
/// (1 - a) + E[(X-h)+]/r and (1 - 1/c) + E[(h-X)+]/r, takes the one that cancels less.
double raw_bound(double accesses, double load_factor, unsigned bucket_capacity) {
  const double per_bucket = load_factor * bucket_capacity;
  const double arrivals = accesses * per_bucket;
  const double by_excess = 1 - accesses;
  const double by_room = 1 - 1 / load_factor;
  if (by_excess >= 0 || (by_room < 0 && by_excess > by_room))
    return by_excess + poisson_excess(arrivals, bucket_capacity) / per_bucket;
  return by_room + poisson_shortfall(arrivals, bucket_capacity) / per_bucket;
}

void check_mixture(std::span<const double> group_fractions,
                   std::span<const access_distribution> mixture) {
  detail::check_fractions("group fractions", group_fractions);
  if (mixture.empty())
    detail::refuse("number of distributions", "at least 1", static_cast<double>(mixture.size()));
  double accesses = 0;
  for (const access_distribution& part : mixture) {
    detail::check_probability("access fraction", part.access_fraction);
    accesses += part.access_fraction;
    if (part.relative_density.size() != group_fractions.size())
      detail::refuse("number of densities", "one for each group of buckets",
                     static_cast<double>(part.relative_density.size()));
    double average = 0;
    for (std::size_t group = 0; group < group_fractions.size(); ++group) {
      detail::check_range("relative density", part.relative_density[group], 0.0, 1e6);
      average += group_fractions[group] * part.relative_density[group];
    }
    if (std::abs(average - 1) > 1e-6)
      detail::refuse("average relative density", "1 (within 1e-6)", average);
  }
  if (std::abs(accesses - 1) > 1e-6)
    detail::refuse("sum of access fractions", "1 (within 1e-6)", accesses);
}

/// m sum_p k_p f_p(i) for a bucket i of the group.
double mixture_density(std::size_t group, std::span<const access_distribution> mixture) {
  double density = 0;
  for (const access_distribution& part : mixture)
    density += part.access_fraction * part.relative_density[group];
  return density;
}

}  // namespace

double overflow_bound(double accesses, double load_factor, unsigned bucket_capacity) {
  check_accesses(accesses);
  detail::check_load_factor(load_factor);
  detail::check_capacity(bucket_capacity);
  detail::check_range("accesses x load factor x bucket capacity",
                      accesses * load_factor * bucket_capacity, 0.0, largest_mean);
  return std::clamp(raw_bound(accesses, load_factor, bucket_capacity), 0.0, 1.0);
}

double accesses_for_overflow(double overflow_fraction, double load_factor,
                             unsigned bucket_capacity) {
  detail::check_probability("overflow fraction", overflow_fraction);
  detail::check_load_factor(load_factor);
  detail::check_capacity(bucket_capacity);
  const double never_below = 1 - 1 / load_factor;
  if (overflow_fraction <= never_below)
    detail::refuse("overflow fraction",
                   "above " + detail::show(never_below) + " (1 - 1 / load factor) to be reachable",
                   overflow_fraction);
  const auto beyond = [&](double accesses) {
    return raw_bound(accesses, load_factor, bucket_capacity) - overflow_fraction;
  };
  double high = 1;
  while (beyond(high) > 0) {
    high *= 2;
    if (high > 1e6)
      detail::refuse("overflow fraction", "reachable with at most 1e+06 accesses per element",
                     overflow_fraction);
  }
  return detail::find_root(beyond, 0.0, high);
}

double poisson_error_bound(double distributions, double buckets) {
  detail::check_range("distributions", distributions, 1.0, largest_choices);
  detail::check_elements("buckets", buckets);
  return 2 * distributions / buckets;
}

double lookup_accesses_bound(double stored_fraction, double mean_accesses, unsigned choices) {
  detail::check_probability("stored fraction", stored_fraction);
  detail::check_choices(choices);
  detail::check_range("mean accesses (0 to choices)", mean_accesses, 0.0, choices);
  return stored_fraction * mean_accesses + (1 - stored_fraction) * choices;
}

double mixture_imbalance(std::span<const double> group_fractions,
                         std::span<const access_distribution> mixture) {
  check_mixture(group_fractions, mixture);
  double worst = 0;
  for (std::size_t group = 0; group < group_fractions.size(); ++group)
    worst = std::max(worst, std::abs(mixture_density(group, mixture) - 1));
  return worst;
}

double mixture_overflow(double accesses, double load_factor, unsigned bucket_capacity,
                        std::span<const double> group_fractions,
                        std::span<const access_distribution> mixture) {
  check_accesses(accesses);
  detail::check_load_factor(load_factor);
  detail::check_capacity(bucket_capacity);
  check_mixture(group_fractions, mixture);
  const double per_bucket = load_factor * bucket_capacity;
  double kept = 0;
  for (std::size_t group = 0; group < group_fractions.size(); ++group)
    kept += group_fractions[group] *
            poisson_kept(accesses * per_bucket * mixture_density(group, mixture), bucket_capacity);
  return std::max(0.0, 1 - kept / per_bucket);
}

}  // namespace oneprobe::inline v0_1::model
