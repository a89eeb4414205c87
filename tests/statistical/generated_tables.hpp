// Tables drawn at random for the comparison of simulation and model: nobody picked them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "oneprobe/detail/base/levels.hpp"
#include "oneprobe/model/churn.hpp"
#include "oneprobe/model/fluid.hpp"
#include "oneprobe/model/partition.hpp"
#include "oneprobe/sim/simulate.hpp"

namespace generated {

using oneprobe::scheme_kind;
namespace model = oneprobe::model;
namespace sim = oneprobe::sim;

/// A sanitizer makes placement some twenty times slower. Fewer trials then: it is memory and
/// arithmetic that are looked at, and the comparison stays as strict as their number allows.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
#else
inline constexpr bool sanitized = false;
#endif

class tables {
 public:
  explicit tables(std::uint64_t seed) : random_(seed) {}

  /// Load 0.5 to 1.2, capacity 1 to 32 (small ones as likely as large ones), 1 to 4 choices,
  /// 100,000 to 150,000 buckets. Multilevel: levels of the cut-off or of least overflow, half of
  /// them distorted.
  sim::scenario next(scheme_kind scheme) {
    sim::scenario what;
    what.scheme = scheme;
    const double load_factor = between(0.5, 1.2);
    const auto h = static_cast<unsigned>(std::exp2(between(0, 5)) + 0.5);
    const std::uint64_t buckets = 100'000 + random_() % 50'000;
    what.choices = scheme == scheme_kind::single ? 1 : 1 + static_cast<unsigned>(random_() % 4);
    what.bucket_capacity = h;
    what.elements =
        static_cast<std::uint64_t>(std::llround(load_factor * static_cast<double>(buckets * h)));
    if (scheme == scheme_kind::multilevel)
      what.level_sizes =
          oneprobe::split_into_levels(buckets, fractions(load_factor, h, what.choices));
    else
      what.buckets = buckets;
    what.seed = random_();
    return what;
  }

  double between(double low, double high) {
    return low + (high - low) * static_cast<double>(random_() >> 11) * 0x1p-53;
  }

 private:
  std::vector<double> fractions(double load_factor, unsigned h, unsigned d) {
    auto shares = between(0, 1) < 0.5
                      ? model::multilevel_cutoff(load_factor, h, d).level_fractions
                      : model::least_overflow_partition(load_factor, h, d).level_fractions;
    const bool distort = between(0, 1) < 0.5;
    // Levels of a few buckets are beyond the models: finite_size.hpp says so.
    constexpr double smallest = 0.005;
    double sum = 0;
    for (double& share : shares) {
      if (distort) share *= between(0.5, 1.5);
      share = std::max(share, smallest);
      sum += share;
    }
    for (double& share : shares) share /= sum;
    return shares;
  }

  std::mt19937_64 random_;
};

inline double buckets_of(const sim::scenario& what) {
  double sum = static_cast<double>(what.buckets);
  for (const std::uint64_t size : what.level_sizes) sum += static_cast<double>(size);
  return sum;
}

/// The table as the models see it, levels in whole buckets as they are simulated.
inline model::fluid_parameters fluid_of(const sim::scenario& what) {
  model::fluid_parameters table{.scheme = what.scheme,
                                .load_factor = static_cast<double>(what.elements) /
                                               (buckets_of(what) * *what.bucket_capacity),
                                .bucket_capacity = *what.bucket_capacity,
                                .choices = what.choices,
                                .admit_probability = what.admit_probability,
                                .access_budget = what.access_budget};
  for (const std::uint64_t size : what.level_sizes)
    table.level_fractions.push_back(static_cast<double>(size) / buckets_of(what));
  return table;
}

inline model::churn_parameters churn_of(const sim::scenario& what) {
  const model::fluid_parameters table = fluid_of(what);
  return {.scheme = table.scheme,
          .load_factor = table.load_factor,
          .bucket_capacity = table.bucket_capacity,
          .choices = table.choices,
          .level_fractions = table.level_fractions};
}

inline std::string name_of(const sim::scenario& what) {
  std::string text(oneprobe::name_of(what.scheme));
  text += " c=" + std::to_string(fluid_of(what).load_factor) +
          " h=" + std::to_string(*what.bucket_capacity) + " d=" + std::to_string(what.choices);
  if (what.admit_probability > 0) text += " p=" + std::to_string(what.admit_probability);
  if (what.access_budget) text += " a=" + std::to_string(*what.access_budget);
  for (const std::uint64_t size : what.level_sizes) text += " +" + std::to_string(size);
  return text + " seed=" + std::to_string(what.seed);
}

}  // namespace generated
