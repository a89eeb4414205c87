// The parameters of a chained table: plain numbers. plan/chain.hpp computes them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/detail/planning/plan_check.hpp"
#include "oneprobe/scheme_kind.hpp"

namespace oneprobe::inline v0_1 {

/// What was computed for exactly `chain_plan::elements` elements, nothing erased.
struct chain_prediction {
  double placement_accesses = 0;  // buckets, up to the one that takes an element that is new
  double overflow_fraction = 0;   // of the elements
  double length_mean = 0;         // elements per chain, those of the overflow left out
  double length_variance = 0;     // of the elements per chain
  double single_variance = 0;     // of the ordinary table: one choice, every element admitted

  friend constexpr bool operator==(const chain_prediction&, const chain_prediction&) = default;
};

/// All that decides in which chain an element is, except the seed.
struct chain_plan {
  /// The most that a plan may ask for.
  static constexpr std::uint32_t most_levels = 8;
  static constexpr std::uint64_t most_buckets = std::uint64_t{1} << 32;

  std::uint64_t elements = 0;                // n
  scheme_kind scheme = scheme_kind::single;  // how candidate chains are drawn
  std::uint32_t choices = 1;                 // d; multilevel and d-left: `levels`
  std::uint32_t levels = 1;                  // `single`, `sequential` and `d_random` have one
  std::array<std::uint64_t, most_levels> level_buckets{};  // chains of each level
  /// h and p: a chain of h elements takes another with probability p, a longer one never. None:
  /// every chain takes every element, which is how d-random and d-left choose.
  std::optional<std::uint32_t> threshold{};
  double admit_probability = 0;        // p
  std::uint64_t overflow_buckets = 1;  // ordinary chains, for elements that no bucket admitted

  chain_prediction predicted{};  // of a map with this plan

  /// The chains of all levels.
  constexpr std::uint64_t buckets() const noexcept {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < levels && i < most_levels; ++i) sum += level_buckets[i];
    return sum;
  }
};

/// The first parameter that is not as it must be, in words.
inline std::optional<std::string> find_fault(const chain_plan& plan) {
  detail::plan_check check;
  check(plan.elements <= chain_plan::most_buckets, "elements", "at most 2^32", plan.elements);
  check(plan.levels >= 1 && plan.levels <= chain_plan::most_levels, "levels", "1 to 8",
        plan.levels);
  if (check.fault) return check.fault;
  const auto sizes = std::span(plan.level_buckets).first(plan.levels);
  detail::check_levels(check, sizes, "level_buckets", chain_plan::most_buckets,
                       "1 and up, 2^32 in all");
  detail::check_scheme(check, plan.scheme, plan.choices, sizes, "level_buckets");
  const bool compares = plan.scheme == scheme_kind::d_random || plan.scheme == scheme_kind::d_left;
  check(!compares || !plan.threshold, "threshold", "absent where loads are compared",
        plan.threshold.value_or(0));
  check(plan.admit_probability >= 0 && plan.admit_probability <= 1, "admit_probability",
        "from 0 to 1", plan.admit_probability);
  check(plan.overflow_buckets >= 1 && plan.overflow_buckets <= chain_plan::most_buckets,
        "overflow_buckets", "1 to 2^32", plan.overflow_buckets);
  return check.fault;
}

/// Refuses a plan that has a fault.
inline void check_plan(const chain_plan& plan) {
  if (const std::optional<std::string> fault = find_fault(plan)) refuse_parameter(*fault);
}

}  // namespace oneprobe::inline v0_1
