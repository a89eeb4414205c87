// Fills a filter and looks up all that was inserted; or asks for what was not.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "oneprobe/filter/plan.hpp"
#include "oneprobe/filter/results.hpp"
#include "support/with_filter.hpp"

namespace trials {

using namespace oneprobe;

/// Elements over planned elements.
inline constexpr std::array overfills{1.0, 1.5, 2.0, 3.0};
/// Of fingerprint filters, which saturate within a few percent.
inline constexpr std::array fine_overfills{0.5, 1.0, 1.01, 1.02, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0};

/// How the keys come into the filter.
enum class filling : std::uint8_t {
  once,
  many_times,  // all of them, and all of them again
  united,      // each half into a filter of its own
};
inline constexpr int times_each = 10;

constexpr std::string_view name_of(filling how) {
  switch (how) {
    case filling::once:
      return "each key once";
    case filling::many_times:
      return "each key ten times";
    case filling::united:
      return "two halves, united";
  }
  return "unknown";
}

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

/// Inserts so many keys, every second chunk one by one.
template <class Filter>
void insert_both_ways(Filter& filter, key_pattern pattern, std::uint64_t first,
                      std::uint64_t keys) {
  std::uint64_t chunk = 0;
  with_hashes(filter.hash(), pattern, first, keys, [&](std::span<const key_hash> hashes) {
    if (chunk++ % 2 == 0)
      filter.bulk_insert(hashes);
    else
      for (const key_hash hash : hashes) filter.insert(hash);
  });
}

template <class Filter>
void fill(Filter& filter, filling how, key_pattern pattern, std::uint64_t keys) {
  if (how != filling::united) {
    const int times = how == filling::many_times ? times_each : 1;
    for (int i = 0; i < times; ++i) insert_both_ways(filter, pattern, 0, keys);
  } else if constexpr (mergeable_engine<typename Filter::engine_type>) {
    Filter other(filter.plan(), filter.hash());
    insert_both_ways(filter, pattern, 0, keys / 2);
    insert_both_ways(other, pattern, keys / 2, keys - keys / 2);
    if (filter.merge(other) != merge_outcome::merged) throw std::logic_error("no union");
  } else {
    throw std::logic_error("a filter that has no union");
  }
}

/// Inserts `keys` keys and looks all of them up `passes` times, the last time one by one.
inline kept fill_and_look_up(const filter_plan& plan, filling how, std::uint64_t keys,
                             std::uint64_t passes, double overfill, key_pattern pattern,
                             std::uint64_t seed) {
  return with_filter(plan, seed, [&](auto filter) {
    kept found{.lookups = keys * passes, .keys = keys, .largest_overfill = overfill};
    fill(filter, how, pattern, keys);
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
  double miss_accesses = 0;
  double hit_accesses = 0;

  double fpr() const { return false_positives / queries; }
  /// Of fpr(), if the questions are answered yes at the rate `expected`.
  double standard_error(double expected) const {
    return std::sqrt(expected / queries + stated_variance);
  }
};

/// Mean accesses of queries for keys number first, first + step, ...
template <class Filter>
double mean_accesses(const Filter& filter, std::uint64_t first, std::uint64_t step,
                     std::uint64_t count) {
  std::uint64_t accesses = 0;
  for (std::uint64_t i = 0; i < count; ++i)
    accesses += filter.explain(patterned_key<key_pattern::random>(first + i * step)).accesses;
  return static_cast<double>(accesses) / static_cast<double>(count);
}

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
      found.miss_accesses += mean_accesses(filter, plan.elements, 1, explained) / filters;
      // Early elements and late ones.
      const std::uint64_t asked = std::min(explained, plan.elements);
      found.hit_accesses += mean_accesses(filter, 0, plan.elements / asked, asked) / filters;
      stated.push_back(filter.stats().current_fpr);
    });
  for (const double fpr : stated) found.stated_mean += fpr / filters;
  for (const double fpr : stated)
    found.stated_variance +=
        (fpr - found.stated_mean) * (fpr - found.stated_mean) / (filters - 1) / filters;
  return found;
}

}  // namespace trials
