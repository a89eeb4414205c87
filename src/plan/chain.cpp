#include "oneprobe/plan/chain.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "needs_check.hpp"
#include "oneprobe/detail/base/levels.hpp"
#include "oneprobe/model/balance.hpp"

namespace oneprobe::inline v0_1 {
namespace {

void check(const chain_needs& needs) {
  using planning::check_range;
  check_range("elements", static_cast<double>(needs.elements), 1, 4294967296);
  check_range("elements_per_chain", needs.elements_per_chain, 0.001, 1000);
  check_range("choices", needs.choices, 1, chain_plan::most_levels);
  check_range("accesses", needs.accesses, 1, needs.choices);
}

/// The ordinary table: one choice, every element admitted.
chain_plan plan_single(std::uint64_t elements, std::uint64_t buckets) {
  chain_plan plan;
  plan.elements = elements;
  plan.level_buckets[0] = buckets;
  const double mean = static_cast<double>(elements) / static_cast<double>(buckets);
  // Binomial: each element is in this chain with probability 1 / buckets.
  const double variance = mean * (1 - 1 / static_cast<double>(buckets));
  plan.predicted = {.placement_accesses = 1,
                    .length_mean = mean,
                    .length_variance = variance,
                    .single_variance = variance};
  return plan;
}

}  // namespace

chain_plan plan_chains(const chain_needs& needs) {
  check(needs);
  const double n = static_cast<double>(needs.elements);
  const auto buckets = std::max<std::uint64_t>(
      needs.choices, static_cast<std::uint64_t>(std::llround(n / needs.elements_per_chain)));
  const chain_plan ordinary = plan_single(needs.elements, buckets);
  if (needs.choices == 1 || needs.accesses == 1) return ordinary;

  const model::balance_plan best =
      model::multilevel_balance({.elements_per_bucket = n / static_cast<double>(buckets),
                                 .choices = needs.choices,
                                 .accesses = needs.accesses});
  chain_plan plan;
  plan.elements = needs.elements;
  plan.scheme = scheme_kind::multilevel;
  plan.choices = plan.levels = needs.choices;
  const std::vector<std::uint64_t> sizes = split_into_levels(buckets, best.level_fractions);
  std::copy(sizes.begin(), sizes.end(), plan.level_buckets.begin());
  plan.threshold = best.threshold;
  plan.admit_probability = best.admit_probability;
  // As long as the others on average.
  plan.overflow_buckets = static_cast<std::uint64_t>(
      std::ceil(std::max(1.0, best.overflow_fraction * static_cast<double>(buckets))));
  plan.predicted = {.placement_accesses = best.mean_accesses,
                    .overflow_fraction = best.overflow_fraction,
                    .length_mean = best.loads.mean(),
                    .length_variance = best.loads.variance(),
                    .single_variance = ordinary.predicted.length_variance};
  check_plan(plan);
  return plan;
}

}  // namespace oneprobe::inline v0_1
