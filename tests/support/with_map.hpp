// From a plan to the map that follows it, its life, and what the models say of it: for tests and
// trials that run over plans of tables.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "oneprobe/detail/placement/schemes.hpp"
#include "oneprobe/detail/planning/table_layout.hpp"
#include "oneprobe/hash.hpp"
#include "oneprobe/map/bounded_map.hpp"
#include "oneprobe/map/plan.hpp"
#include "oneprobe/model/churn.hpp"
#include "oneprobe/model/fluid.hpp"
#include "oneprobe/plan/table.hpp"

namespace tables {

using namespace oneprobe;

template <class Value, class Scheme, std::uint32_t Capacity>
using map_of = bounded_map<std::uint64_t, Value, seeded_hash, std::equal_to<>, Scheme, Capacity>;

/// Calls `use` with the type of a scheme.
template <class Use>
auto with_scheme(scheme_kind kind, Use use) {
  switch (kind) {
    case scheme_kind::single:
      return use(std::type_identity<single>{});
    case scheme_kind::sequential:
      return use(std::type_identity<sequential>{});
    case scheme_kind::multilevel:
      return use(std::type_identity<multilevel>{});
    case scheme_kind::d_random:
      return use(std::type_identity<d_random>{});
    case scheme_kind::d_left:
      return use(std::type_identity<d_left>{});
  }
  throw std::invalid_argument("unknown scheme");
}

namespace detail {

template <class Value, class Scheme, std::uint32_t Capacity, std::uint32_t... Others, class Use>
auto with_capacity(const table_plan& plan, std::uint64_t seed, Use& use) {
  if (plan.bucket_capacity == Capacity) {
    map_of<Value, Scheme, Capacity> map(plan, seeded_hash(seed));
    return use(map);
  }
  if constexpr (sizeof...(Others) > 0)
    return with_capacity<Value, Scheme, Others...>(plan, seed, use);
  else
    throw std::invalid_argument("no map is compiled for buckets of " +
                                std::to_string(plan.bucket_capacity));
}

}  // namespace detail

/// Calls `use` with an empty map of the plan and returns what it returns: this scheme, buckets of
/// one of these capacities, elements of 16 or 24 bytes.
template <class Scheme, std::uint32_t... Capacities, class Use>
auto with_map_of(const table_plan& plan, unsigned slot_bytes, std::uint64_t seed, Use use) {
  if (slot_bytes == 16)
    return detail::with_capacity<std::uint64_t, Scheme, Capacities...>(plan, seed, use);
  if (slot_bytes == 24)
    return detail::with_capacity<std::array<std::uint64_t, 2>, Scheme, Capacities...>(plan, seed,
                                                                                      use);
  throw std::invalid_argument("no map is compiled for elements of " + std::to_string(slot_bytes));
}

/// The same for any scheme.
template <std::uint32_t... Capacities, class Use>
auto with_map(const table_plan& plan, unsigned slot_bytes, std::uint64_t seed, Use use) {
  return with_scheme(plan.scheme, [&]<class Scheme>(std::type_identity<Scheme>) {
    return with_map_of<Scheme, Capacities...>(plan, slot_bytes, seed, use);
  });
}

/// A map with elements that come and go, one for one, any of them as likely as another. Keys are
/// numbered on and on.
template <class Map>
class life {
 public:
  life(Map& map, std::uint64_t seed) : map_(map), random_(seed) {}

  void fill(std::uint64_t elements) {
    present_.reserve(elements);
    while (present_.size() < elements) present_.push_back(insert_next());
  }
  /// One operation is an erasure and an insertion.
  void churn(std::uint64_t operations) {
    for (std::uint64_t i = 0; i < operations; ++i) {
      std::uint64_t& key = present_[random_() % present_.size()];
      if (map_.erase(key) != erase_outcome::erased) throw std::logic_error("an element was lost");
      key = insert_next();
    }
  }

  std::span<const std::uint64_t> present() const { return present_; }
  std::uint64_t next_key() const { return next_; }

  /// Buckets read by the next insertion, which is made: it looks for the key until that is ruled
  /// out, and for room.
  std::uint32_t insert_accesses() {
    std::uint64_t& key = present_[random_() % present_.size()];
    map_.erase(key);
    const std::uint32_t looked = map_.explain(next_).accesses;
    key = insert_next();
    return std::max(looked, map_.explain(key).accesses);
  }

 private:
  std::uint64_t insert_next() {
    if (map_.try_emplace(next_).outcome == insertion::full)
      throw std::logic_error("the overflow is too small for the trial");
    return next_++;
  }

  Map& map_;
  std::mt19937_64 random_;
  std::vector<std::uint64_t> present_;
  std::uint64_t next_ = 0;
};

/// A plan with room in its overflow for whatever the trial brings.
inline table_plan with_wide_overflow(table_plan plan, double expected) {
  plan.overflow_reserve = static_cast<std::uint64_t>(4 * expected) + 200;
  plan.overflow_buckets = overflow_buckets_for(plan.overflow_reserve, plan.bucket_capacity);
  return plan;
}

/// Elements of so many bytes with which so many are expected to overflow.
inline std::uint64_t elements_that_overflow(const table_plan& plan, unsigned slot_bytes,
                                            double overflow) {
  const auto mean = [&](std::uint64_t elements) {
    return forecast(plan, elements, slot_bytes).predicted.overflow_mean;
  };
  std::uint64_t low = 1, high = plan.elements;
  while (mean(high) < overflow) high += high / 4 + 1;
  while (high - low > 1 + plan.elements / 10'000) {
    const std::uint64_t middle = low + (high - low) / 2;
    (mean(middle) < overflow ? low : high) = middle;
  }
  return high;
}

inline model::churn_parameters churning(const table_plan& plan, std::uint64_t elements) {
  const auto buckets = static_cast<double>(plan.buckets());
  model::churn_parameters table{
      .scheme = plan.scheme,
      .load_factor = static_cast<double>(elements) / (buckets * plan.bucket_capacity),
      .bucket_capacity = plan.bucket_capacity,
      .choices = plan.choices};
  if (plan.scheme == scheme_kind::multilevel)
    for (std::uint32_t level = 0; level < plan.levels; ++level)
      table.level_fractions.push_back(static_cast<double>(plan.level_buckets[level]) / buckets);
  return table;
}

inline model::fluid_parameters filling(const table_plan& plan, std::uint64_t elements) {
  const model::churn_parameters table = churning(plan, elements);
  return {.scheme = table.scheme,
          .load_factor = table.load_factor,
          .bucket_capacity = table.bucket_capacity,
          .choices = table.choices,
          .level_fractions = table.level_fractions};
}

}  // namespace tables
