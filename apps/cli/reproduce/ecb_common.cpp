#include "reproduce/ecb_common.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "oneprobe/detail/base/levels.hpp"
#include "reproduce/estimates.hpp"

namespace oneprobe::cli::balancing {
namespace {

/// How far the rounded levels are from the wanted ones, as a fraction of the level that suffers
/// most.
double rounding_error(std::uint64_t buckets, const std::vector<double>& fractions) {
  const std::vector<std::uint64_t> sizes = split_into_levels(buckets, fractions);
  double worst = 0;
  for (std::size_t level = 0; level < sizes.size(); ++level) {
    const double wanted = fractions[level] * static_cast<double>(buckets);
    worst = std::max(worst, std::abs(static_cast<double>(sizes[level]) / wanted - 1));
  }
  return worst;
}

}  // namespace

std::string place::source() const { return fmt::format("{}, {}", text.document, where); }

table_size size_for(effort how_much) {
  return by_effort<table_size>(how_much, {.buckets = 10'000, .trials = 32},
                               {.buckets = 100'000, .trials = 64},
                               {.buckets = 1'000'000, .trials = 128});
}

std::uint64_t total(const std::vector<std::uint64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
}

sim::progress part_of(const sim::progress& whole, std::size_t index, std::size_t count) {
  if (!whole) return {};
  return [whole, index, count](double share) {
    whole((static_cast<double>(index) + share) / static_cast<double>(count));
  };
}

std::vector<std::uint64_t> whole_levels(std::uint64_t buckets,
                                        const std::vector<double>& fractions) {
  std::uint64_t best = buckets;
  double least = std::numeric_limits<double>::infinity();
  for (std::uint64_t tried = buckets; tried <= buckets + buckets / 10; ++tried) {
    const double error = rounding_error(tried, fractions);
    if (error < least) {
      best = tried;
      least = error;
    }
  }
  return split_into_levels(best, fractions);
}

sim::scenario scenario_of(scheme_kind scheme, const model::balance_plan& plan,
                          double elements_per_bucket, unsigned choices, table_size size) {
  sim::scenario table{.scheme = scheme,
                      .buckets = size.buckets,
                      .choices = choices,
                      .admit_probability = plan.admit_probability,
                      .trials = size.trials};
  if (plan.threshold) table.bucket_capacity = *plan.threshold;
  if (scheme == scheme_kind::multilevel) {
    table.level_sizes = whole_levels(size.buckets, plan.level_fractions);
    table.buckets = total(table.level_sizes);
  }
  table.elements = static_cast<std::uint64_t>(
      std::llround(elements_per_bucket * static_cast<double>(table.buckets)));
  return table;
}

row compared(const place& at, std::string what, double model, const sim::estimate& simulated,
             std::string remark) {
  return {.source = at.source(),
          .what = std::move(what),
          .model = model,
          .simulated = simulated,
          .remark = std::move(remark)};
}

}  // namespace oneprobe::cli::balancing
