// Fills a filter and looks up all that was inserted; or asks for what was not.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "oneprobe/core/filter_answers.hpp"
#include "oneprobe/core/filter_plan.hpp"
#include "support/with_filter.hpp"

namespace trials {

using namespace oneprobe;

/// Elements over planned elements.
inline constexpr double overfills[] = {1, 1.5, 2, 3};

struct kept {
  std::uint64_t lookups = 0;
  std::uint64_t keys = 0;  // different keys of each fill
  std::uint64_t lost = 0;
  double largest_overfill = 0;
  std::map<std::string, int> conditions{};  // how many fills ended in each

  kept& operator+=(const kept& other) {
    lookups += other.lookups;
    keys = std::max(keys, other.keys);
    lost += other.lost;
    largest_overfill = std::max(largest_overfill, other.largest_overfill);
    for (const auto& [name, times] : other.conditions) conditions[name] += times;
    return *this;
  }
};

/// Inserts `keys` keys, every second chunk one by one, and looks all of them up `passes` times, the
/// last time one by one.
inline kept fill_and_look_up(const filter_plan& plan, std::uint64_t keys, std::uint64_t passes,
                             double overfill, key_pattern pattern, std::uint64_t seed) {
  return with_filter(plan, seed, [&](auto filter) {
    kept found{.lookups = keys * passes, .keys = keys, .largest_overfill = overfill};
    std::uint64_t chunk = 0;
    with_hashes(filter.hash(), pattern, 0, keys, [&](std::span<const key_hash> hashes) {
      if (chunk++ % 2 == 0)
        filter.bulk_insert(hashes);
      else
        for (const key_hash hash : hashes) filter.insert(hash);
    });
    for (std::uint64_t pass = 1; pass < passes; ++pass)
      found.lost += keys - count_yes(filter, pattern, 0, keys);
    with_hashes(filter.hash(), pattern, 0, keys, [&](std::span<const key_hash> hashes) {
      for (const key_hash hash : hashes)
        if (!filter.may_contain(hash)) ++found.lost;
    });
    found.conditions[std::string(name_of(filter.condition()))] = 1;
    return found;
  });
}

struct errors {
  double queries = 0;
  double false_positives = 0;
  double stated_mean = 0;      // current_fpr, over the filters
  double stated_variance = 0;  // of that mean
  double negative_accesses = 0;

  double fpr() const { return false_positives / queries; }
  /// Of fpr(), if the questions are answered yes at the rate `expected`.
  double standard_error(double expected) const {
    return std::sqrt(expected / queries + stated_variance);
  }
};

inline errors count_errors(const filter_plan& plan, unsigned filters, std::uint64_t queries_of_each,
                           std::uint64_t seed) {
  constexpr std::uint64_t explained = 100'000;
  errors found;
  std::vector<double> stated;
  for (unsigned i = 0; i < filters; ++i)
    with_filter(plan, seed + i, [&](auto filter) {
      constexpr auto pattern = key_pattern::random;
      insert_keys(filter, pattern, 0, plan.elements);
      found.false_positives +=
          static_cast<double>(count_yes(filter, pattern, plan.elements, queries_of_each));
      found.queries += static_cast<double>(queries_of_each);
      std::uint64_t accesses = 0;
      for (std::uint64_t key = 0; key < explained; ++key)
        accesses += filter.explain(patterned_key<pattern>(plan.elements + key)).accesses;
      found.negative_accesses +=
          static_cast<double>(accesses) / static_cast<double>(explained) / filters;
      stated.push_back(filter.stats().current_fpr);
    });
  for (const double fpr : stated) found.stated_mean += fpr / filters;
  for (const double fpr : stated)
    found.stated_variance +=
        (fpr - found.stated_mean) * (fpr - found.stated_mean) / (filters - 1) / filters;
  return found;
}

}  // namespace trials
