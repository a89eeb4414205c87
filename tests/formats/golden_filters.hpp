// One small filter of every kind, layout, scheme and lookup rule, a growing and a rotating one,
// with keys and seed that never change: what the files in tests/golden/filters/ hold.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "handles/held_filter.hpp"
#include "oneprobe/filter/balanced.hpp"
#include "oneprobe/filter/blocked.hpp"
#include "oneprobe/filter/file.hpp"
#include "oneprobe/filter/parts_file.hpp"

struct golden_filter {
  std::string name;
  oneprobe::filter_plan plan;
  /// So many text keys, and as many integers; in counting filters every second text key is erased.
  std::uint64_t keys_of_each_sort = 100;
};

inline constexpr std::uint64_t golden_seed = 20081;
inline constexpr std::uint64_t golden_probes_of_each_sort = 1000;
inline constexpr std::uint64_t first_absent_integer = 1'000'000;

inline std::string golden_text_key(std::uint64_t i) { return "key " + std::to_string(i); }
inline std::string absent_text_key(std::uint64_t i) { return "absent " + std::to_string(i); }

inline std::vector<golden_filter> golden_filters() {
  using namespace oneprobe;
  // Not what a planner would say, but exact numbers that all machines write alike.
  constexpr filter_prediction predicted{.fpr = 0.0625,
                                        .insert_accesses = 1.25,
                                        .hit_accesses = 1.125,
                                        .miss_accesses = 1.5,
                                        .overflow_fraction = 0.03125};
  std::vector<golden_filter> all;
  const auto add_cells = [&](std::string name, filter_kind kind, std::uint64_t cells,
                             std::uint32_t bits_set, std::uint32_t counter_bits) {
    all.push_back({name,
                   {.kind = kind,
                    .elements = 200,
                    .bits_set = bits_set,
                    .cells = cells,
                    .counter_bits = counter_bits,
                    .predicted = predicted}});
  };
  add_cells("standard", filter_kind::standard, 1003, 4, 1);
  add_cells("partitioned", filter_kind::partitioned, 5 * 199, 5, 1);
  for (const std::uint32_t counter_bits : {2U, 4U, 8U, 16U})
    add_cells("counting-" + std::to_string(counter_bits), filter_kind::counting, 501, 2,
              counter_bits);

  const auto add_blocked = [&](std::string name, std::uint32_t block_bits, std::uint32_t bits_set,
                               block_layout layout, std::uint64_t blocks) {
    all.push_back({name,
                   {.kind = filter_kind::blocked,
                    .elements = 200,
                    .bits_set = bits_set,
                    .block_bits = block_bits,
                    .layout = layout,
                    .level_buckets = {blocks},
                    .predicted = predicted}});
  };
  add_blocked("blocked-512-independent", 512, 5, block_layout::independent, 3);
  add_blocked("blocked-256-independent", 256, 19, block_layout::independent, 31);
  add_blocked("blocked-512-lanes-64", 512, 8, block_layout::lanes, 5);
  add_blocked("blocked-512-lanes-32", 512, 16, block_layout::lanes, 11);
  add_blocked("blocked-256-lanes-64", 256, 4, block_layout::lanes, 5);
  add_blocked("blocked-256-lanes-32", 256, 8, block_layout::lanes, 9);

  constexpr std::array<std::uint64_t, filter_plan::most_levels> one_level{14};
  constexpr std::array<std::uint64_t, filter_plan::most_levels> three_levels{14, 1, 1};
  constexpr std::array<std::uint64_t, filter_plan::most_levels> equal_levels{5, 5, 4};
  const auto add_balanced = [&](std::string name, std::uint32_t block_bits, scheme_kind scheme,
                                const auto& level_buckets, std::uint32_t choices,
                                block_state state) {
    const bool levelled = scheme == scheme_kind::multilevel || scheme == scheme_kind::d_left;
    all.push_back({name,
                   {.kind = filter_kind::balanced,
                    .elements = 600,
                    .bits_set = 4,
                    .block_bits = block_bits,
                    .level_buckets = level_buckets,
                    .levels = levelled ? choices : 1,
                    .scheme = scheme,
                    .choices = choices,
                    .state = state,
                    .overflow_slots = 23,
                    .overflow_reserve = 17,
                    .predicted = predicted},
                   300});
  };
  const auto counted = [](lookup_rule rule, double probability) {
    return block_state{.rule = rule, .threshold = 36, .admit_probability = probability};
  };
  using enum scheme_kind;
  const auto tracked = [](std::uint32_t threshold) {
    return block_state{.rule = lookup_rule::tracking, .threshold = threshold, .tracking_bits = 5};
  };
  const auto by_ones = [](std::uint32_t threshold) {
    return block_state{.rule = lookup_rule::popcount, .threshold = threshold, .tracking_bits = 3};
  };
  add_balanced("balanced-counter", 256, multilevel, three_levels, 3,
               counted(lookup_rule::counter, 0.5));
  add_balanced("balanced-coin", 256, multilevel, three_levels, 3, counted(lookup_rule::coin, 0.5));
  add_balanced("balanced-flag", 256, multilevel, three_levels, 3, counted(lookup_rule::flag, 0));
  add_balanced("balanced-flag-probability", 256, multilevel, three_levels, 3,
               counted(lookup_rule::flag, 0.25));
  add_balanced("balanced-coin-flag", 256, multilevel, three_levels, 3,
               counted(lookup_rule::coin_flag, 0.75));
  add_balanced("balanced-tracking", 256, multilevel, three_levels, 3, tracked(36));
  add_balanced("balanced-popcount", 256, multilevel, three_levels, 3, by_ones(112));
  add_balanced("balanced-512", 512, multilevel, three_levels, 3, by_ones(128));
  add_balanced("balanced-single", 256, single, one_level, 1, by_ones(120));
  add_balanced("balanced-sequential", 256, sequential, one_level, 3, by_ones(120));
  add_balanced("balanced-d-random", 256, d_random, one_level, 3, tracked(42));
  add_balanced("balanced-d-left", 256, d_left, equal_levels, 3, tracked(42));

  // So few buckets that the list is in use; and fewer, so that a bucket is saturated.
  constexpr std::size_t most_levels = filter_plan::most_levels;
  const auto add_fingerprint = [&](std::string name, fingerprint_bucket_shape fingerprint_bucket,
                                   std::uint32_t levels,
                                   const std::array<std::uint64_t, most_levels>& level_buckets) {
    all.push_back({name,
                   {.kind = filter_kind::fingerprint,
                    .elements = 600,
                    .level_buckets = level_buckets,
                    .levels = levels,
                    .choices = levels,
                    .fingerprint_bucket = fingerprint_bucket,
                    .overflow_slots = 61,
                    .overflow_reserve = 50,
                    .predicted = predicted},
                   300});
  };
  add_fingerprint("fingerprint-6", {58, 6}, 2, {9, 1});
  add_fingerprint("fingerprint-8", {47, 8}, 2, {12, 1});
  add_fingerprint("fingerprint-12", {34, 12}, 3, {16, 1, 1});
  add_fingerprint("fingerprint-16", {27, 16}, 3, {19, 2, 1});
  add_fingerprint("fingerprint-saturated", {27, 16}, 3, {16, 2, 2});
  return all;
}

/// Builds the filter as its file has it.
template <class Filter = oneprobe::held_filter>
Filter build_golden(const golden_filter& golden) {
  Filter filter(golden.plan, oneprobe::seeded_hash(golden_seed));
  for (std::uint64_t i = 0; i < golden.keys_of_each_sort; ++i) {
    filter.insert(golden_text_key(i));
    filter.insert(i);
  }
  if constexpr (requires { filter.erase(std::uint64_t{}); })
    for (std::uint64_t i = 0; oneprobe::can_erase(golden.plan) && i < golden.keys_of_each_sort;
         i += 2)
      filter.erase(golden_text_key(i));
  return filter;
}

/// Whether a filter says yes to every key that is in it.
template <class Reader>
bool contains_all_golden_keys(const golden_filter& golden, const Reader& filter) {
  const bool erased = golden.plan.kind == oneprobe::filter_kind::counting;
  for (std::uint64_t i = 0; i < golden.keys_of_each_sort; ++i) {
    if (!filter.may_contain(i)) return false;
    if (!(erased && i % 2 == 0) && !filter.may_contain(golden_text_key(i))) return false;
  }
  return true;
}

/// The answers to keys that are not in it, text first, as hexadecimal digits: digit i / 4 has the
/// answer to probe i as its bit i % 4.
template <class Reader>
std::string golden_answers(const Reader& filter) {
  std::string digits;
  unsigned digit = 0;
  const auto note = [&](std::uint64_t i, bool answer) {
    digit |= (answer ? 1U : 0U) << i % 4;
    if (i % 4 != 3) return;
    digits += "0123456789abcdef"[digit];
    digit = 0;
  };
  for (std::uint64_t i = 0; i < golden_probes_of_each_sort; ++i)
    note(i, filter.may_contain(absent_text_key(i)));
  for (std::uint64_t i = 0; i < golden_probes_of_each_sort; ++i)
    note(i, filter.may_contain(first_absent_integer + i));
  return digits;
}

// ------------------------------------------------------------------------------------- several
// filters in one file

inline constexpr std::uint64_t golden_keys_in_parts = 100;  // of each sort

using golden_growing_filter = oneprobe::growing_filter<oneprobe::balanced_filter>;
using golden_rotating_filter = oneprobe::rotating_filter<oneprobe::blocked_filter>;

/// Errors that a double has exactly, so that every machine is left with the same.
inline oneprobe::filter_plan golden_part_plan(std::uint64_t elements, double) {
  using namespace oneprobe;
  return {.kind = filter_kind::balanced,
          .elements = elements,
          .bits_set = 4,
          .block_bits = 256,
          .level_buckets = {elements / 32, 1},
          .levels = 2,
          .scheme = scheme_kind::multilevel,
          .choices = 2,
          .state = {.rule = lookup_rule::popcount, .threshold = 112, .tracking_bits = 3},
          .overflow_slots = 23,
          .overflow_reserve = 17,
          .predicted = {.fpr = 2.5 / static_cast<double>(elements), .insert_accesses = 1.25}};
}

/// Three parts, for 40, 80 and 160 elements.
inline golden_growing_filter build_golden_growing() {
  golden_growing_filter filter({.first_elements = 40, .fpr = 0.25, .growth = 2, .tightening = 0.5},
                               golden_part_plan, oneprobe::seeded_hash(golden_seed));
  for (std::uint64_t i = 0; i < golden_keys_in_parts; ++i) {
    filter.insert(golden_text_key(i));
    filter.insert(i);
  }
  return filter;
}

/// Three generations after four windows of 25 keys of each sort: the first keys are gone.
inline golden_rotating_filter build_golden_rotating() {
  using namespace oneprobe;
  constexpr std::uint64_t keys_per_window = 25;
  golden_rotating_filter filter({.kind = filter_kind::blocked,
                                 .elements = 2 * keys_per_window,
                                 .bits_set = 5,
                                 .level_buckets = {1},
                                 .predicted = {.fpr = 0.0625, .insert_accesses = 1}},
                                3, seeded_hash(golden_seed));
  for (std::uint64_t i = 0; i < golden_keys_in_parts; ++i) {
    if (i != 0 && i % keys_per_window == 0) filter.rotate();
    filter.insert(golden_text_key(i));
    filter.insert(i);
  }
  return filter;
}

/// Calls `visit(name, filter, number of the first key in it)` for each of them.
template <class Visit>
void for_each_golden_parts(Visit visit) {
  visit(std::string("growing"), build_golden_growing(), std::uint64_t{0});
  visit(std::string("rotating"), build_golden_rotating(), std::uint64_t{25});
}
inline constexpr std::size_t golden_parts_files = 2;

template <class Reader>
bool contains_golden_keys_from(std::uint64_t first, const Reader& filter) {
  for (std::uint64_t i = first; i < golden_keys_in_parts; ++i)
    if (!filter.may_contain(i) || !filter.may_contain(golden_text_key(i))) return false;
  return true;
}
