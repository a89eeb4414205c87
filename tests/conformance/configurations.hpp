// One list of filters and plans, to which every behaviour is held.
//
// A behaviour is a typed test over `every_filter`, and inside it runs over all plans of that
// filter. A new filter joins by a line in the list; a new shape by a line in plans_of().
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "oneprobe/detail/base/levels.hpp"
#include "oneprobe/detail/placement/schemes.hpp"
#include "oneprobe/detail/planning/fingerprint_bucket_shape.hpp"
#include "oneprobe/filter/balanced.hpp"
#include "oneprobe/filter/blocked.hpp"
#include "oneprobe/filter/concurrent.hpp"
#include "oneprobe/filter/counting.hpp"
#include "oneprobe/filter/fingerprint.hpp"
#include "oneprobe/filter/partitioned.hpp"
#include "oneprobe/filter/plan.hpp"
#include "oneprobe/filter/standard.hpp"
#include "oneprobe/hash.hpp"

namespace conformance {

using namespace oneprobe;

struct configuration {
  std::string name;
  filter_plan plan;
};

/// What is known of a filter by its type: whether threads may insert together, and the scheme that
/// it places with, `single` for those that do not balance.
template <class Engine>
struct engine_facts {
  static constexpr bool concurrent = std::is_same_v<Engine, concurrent_blocked_engine>;
  using scheme = single;
};
template <class Scheme>
struct engine_facts<balanced_engine<Scheme>> {
  static constexpr bool concurrent = false;
  using scheme = Scheme;
};
template <class Scheme>
struct engine_facts<concurrent_balanced_engine<Scheme>> {
  static constexpr bool concurrent = true;
  using scheme = Scheme;
};

template <class Filter>
inline constexpr bool is_concurrent = engine_facts<typename Filter::engine_type>::concurrent;

template <class Filter>
constexpr scheme_kind scheme_of() {
  using scheme = typename engine_facts<typename Filter::engine_type>::scheme;
  if constexpr (std::is_same_v<scheme, single>)
    return scheme_kind::single;
  else if constexpr (std::is_same_v<scheme, sequential>)
    return scheme_kind::sequential;
  else if constexpr (std::is_same_v<scheme, multilevel>)
    return scheme_kind::multilevel;
  else if constexpr (std::is_same_v<scheme, d_random>)
    return scheme_kind::d_random;
  else
    return scheme_kind::d_left;
}

/// Bits of memory per planned element: enough that a few thousand elements make no false positive
/// where a test wants none, few enough that a block fills up when too many come.
inline constexpr std::uint64_t bits_per_element = 20;

inline filter_plan plan_in_cells(filter_kind kind, std::uint64_t elements, std::uint32_t bits_set,
                                 std::uint64_t cells, std::uint32_t counter_bits = 1) {
  filter_plan plan;
  plan.kind = kind;
  plan.elements = elements;
  plan.bits_set = bits_set;
  plan.cells = kind == filter_kind::partitioned ? (cells / bits_set + 1) * bits_set : cells;
  plan.counter_bits = counter_bits;
  return plan;
}

inline filter_plan plan_in_blocks(std::uint64_t elements, std::uint32_t bits_set,
                                  std::uint32_t block_bits, block_layout layout) {
  filter_plan plan;
  plan.kind = filter_kind::blocked;
  plan.elements = elements;
  plan.bits_set = bits_set;
  plan.block_bits = block_bits;
  plan.layout = layout;
  plan.level_buckets[0] = elements * bits_per_element / block_bits + 1;
  return plan;
}

/// A balanced plan whose blocks do turn elements away, at the planned number already.
inline filter_plan plan_balanced(scheme_kind scheme, std::uint64_t elements,
                                 std::uint32_t block_bits, const block_state& state) {
  filter_plan plan;
  plan.kind = filter_kind::balanced;
  plan.elements = elements;
  plan.bits_set = 13;
  plan.block_bits = block_bits;
  plan.scheme = scheme;
  plan.state = state;
  const std::uint64_t blocks = elements * bits_per_element / block_bits + 8;
  std::vector<std::uint64_t> levels{blocks};
  if (scheme == scheme_kind::multilevel)
    levels = split_into_levels(blocks, std::array{0.85, 0.12, 0.03});
  if (scheme == scheme_kind::d_left)  // equal parts; the first ones have what is left over
    levels = {(blocks + 2) / 3, (blocks + 1) / 3, blocks / 3};
  std::ranges::copy(levels, plan.level_buckets.begin());
  plan.levels = static_cast<std::uint32_t>(levels.size());
  plan.choices = plan.levels > 1 ? plan.levels : scheme == scheme_kind::single ? 1 : 3;
  plan.overflow_slots = elements / 8 + 16;
  plan.overflow_reserve = plan.overflow_slots * 3 / 4;
  return plan;
}

inline void add_balanced(std::vector<configuration>& list, scheme_kind scheme,
                         std::uint64_t elements, std::uint32_t block_bits) {
  // A block holds as many elements as memory allows on the mean: about half are full in the end.
  const auto mean = static_cast<std::uint32_t>(block_bits / bits_per_element);
  const auto add = [&](std::string_view name, const block_state& state) {
    list.push_back({std::to_string(block_bits) + " " + std::string(name),
                    plan_balanced(scheme, elements, block_bits, state)});
  };
  add("counter", {lookup_rule::counter, mean + 1, 0.4, 1});
  add("counter p=0", {lookup_rule::counter, mean + 2, 0, 1});
  add("coin", {lookup_rule::coin, mean + 1, 0.4, 1});
  add("flag", {lookup_rule::flag, mean + 1, 0.4, 1});
  add("flag p=0", {lookup_rule::flag, mean + 1, 0, 1});
  add("coin-flag", {lookup_rule::coin_flag, mean, 0.7, 1});
  add("tracking w=1", {lookup_rule::tracking, mean + 1, 0, 1});
  add("tracking w=12", {lookup_rule::tracking, mean + 1, 0, 12});
  add("popcount w=1", {lookup_rule::popcount, block_bits / 2, 0, 1});
  add("popcount w=12", {lookup_rule::popcount, block_bits / 2 - 6, 0, 12});
  add("popcount w=32", {lookup_rule::popcount, block_bits / 2 - 16, 0, 32});
}

/// A fingerprint plan whose buckets do hand elements on, at the planned number already.
inline filter_plan plan_fingerprints(std::uint64_t elements,
                                     const fingerprint_bucket_shape& fingerprint_bucket,
                                     std::uint32_t levels) {
  filter_plan plan;
  plan.kind = filter_kind::fingerprint;
  plan.elements = elements;
  plan.fingerprint_bucket = fingerprint_bucket;
  plan.levels = plan.choices = levels;
  const std::uint64_t buckets = elements / fingerprint_bucket.bucket_capacity + 1;
  plan.level_buckets[0] = buckets;
  for (std::uint32_t i = 1; i < levels; ++i) plan.level_buckets[i] = buckets / (4 * i) + 1;
  plan.overflow_slots = elements / 8 + 16;
  plan.overflow_reserve = plan.overflow_slots * 3 / 4;
  return plan;
}

/// All plans of one filter, for so many elements.
template <class Filter>
std::vector<configuration> plans_of(std::uint64_t elements) {
  std::vector<configuration> list;
  const std::uint64_t cells = elements * bits_per_element;
  if constexpr (Filter::kind == filter_kind::standard || Filter::kind == filter_kind::partitioned) {
    for (const std::uint32_t k : {1u, 2u, 7u, 8u, 14u, 33u, 64u})
      list.push_back({"k=" + std::to_string(k), plan_in_cells(Filter::kind, elements, k, cells)});
    list.push_back(
        {"odd size", plan_in_cells(Filter::kind, elements, 9, cells + 8 - cells % 8 + 3)});
  } else if constexpr (Filter::kind == filter_kind::counting) {
    for (const std::uint32_t width : {2u, 4u, 8u, 16u})
      list.push_back({"width " + std::to_string(width),
                      plan_in_cells(Filter::kind, elements, 7, cells, width)});
    list.push_back({"k=1", plan_in_cells(Filter::kind, elements, 1, cells + 5, 4)});
    list.push_back({"k=20", plan_in_cells(Filter::kind, elements, 20, 2 * cells + 1, 4)});
  } else if constexpr (Filter::kind == filter_kind::blocked) {
    for (const std::uint32_t bits : {512u, 256u}) {
      const std::string block = std::to_string(bits);
      for (const std::uint32_t k : {1u, 2u, 5u, 8u, 9u, 12u, 16u, 17u, 25u, 32u})
        list.push_back({block + " independent k=" + std::to_string(k),
                        plan_in_blocks(elements, k, bits, block_layout::independent)});
      for (const std::uint32_t lane : {64u, 32u})
        list.push_back({block + " lanes of " + std::to_string(lane),
                        plan_in_blocks(elements, bits / lane, bits, block_layout::lanes)});
    }
  } else if constexpr (Filter::kind == filter_kind::fingerprint) {
    // Every way of looking at a bucket; remainders so wide that a few thousand elements err rarely.
    for (const fingerprint_bucket_shape& fingerprint_bucket :
         {fingerprint_bucket_shape{47, 8}, {40, 10}, {34, 12}, {27, 16}, {23, 20}})
      list.push_back({std::to_string(fingerprint_bucket.remainder_bits) + "-bit remainders",
                      plan_fingerprints(elements, fingerprint_bucket, 3)});
    list.push_back({"6-bit remainders, 2 levels", plan_fingerprints(elements, {58, 6}, 2)});
    list.push_back({"12-bit remainders, 1 level", plan_fingerprints(elements, {34, 12}, 1)});
    list.push_back({"16-bit remainders, 8 levels", plan_fingerprints(elements, {27, 16}, 8)});
  } else {
    constexpr scheme_kind scheme = scheme_of<Filter>();
    add_balanced(list, scheme, elements, 512);
    add_balanced(list, scheme, elements, 256);
    if (is_concurrent<Filter>)  // a counter could not be changed together with the bits
      std::erase_if(list,
                    [](const configuration& one) { return one.plan.state.counts_elements(); });
  }
  return list;
}

using every_filter = testing::Types<
    standard_filter, partitioned_filter, blocked_filter, counting_filter,
    basic_balanced_filter<single, seeded_hash>, basic_balanced_filter<sequential, seeded_hash>,
    basic_balanced_filter<multilevel, seeded_hash>, basic_balanced_filter<d_random, seeded_hash>,
    basic_balanced_filter<d_left, seeded_hash>, fingerprint_filter, concurrent_blocked_filter,
    concurrent_balanced_filter, basic_concurrent_balanced_filter<sequential, seeded_hash>>;

/// What a filter is called in the name of a test.
struct filter_names {
  template <class Filter>
  static std::string GetName(int) {
    std::string name = is_concurrent<Filter> ? "concurrent_" : "";
    name += name_of(Filter::kind);
    if constexpr (Filter::kind == filter_kind::balanced) {
      name += "_";
      name += name_of(scheme_of<Filter>());
    }
    std::ranges::replace(name, '-', '_');
    return name;
  }
};

/// The same filter with another hash.
template <class Filter, class Hash>
using with_hash = basic_filter<typename Filter::engine_type, Hash>;

/// Where elements are many, a test takes few; under a sanitizer everything is slower.
inline constexpr std::uint64_t few_elements = 1000;

/// Calls `use` with every plan of the filter and says which one it was if a test fails.
template <class Filter, class Use>
void for_each_plan(std::uint64_t elements, Use use) {
  for (const configuration& one : plans_of<Filter>(elements)) {
    SCOPED_TRACE(one.name);
    use(one.plan);
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace conformance
