// Small tables with keys and seed that never change: what the files in tests/golden/tables/ hold.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>

#include "oneprobe/map/bounded_map.hpp"
#include "oneprobe/map/bounded_set.hpp"
#include "oneprobe/map/file.hpp"

inline constexpr std::uint64_t golden_table_seed = 20081;
inline constexpr std::uint64_t golden_table_schema = 2008;

using golden_map = oneprobe::bounded_map<std::uint64_t, std::uint64_t, oneprobe::seeded_hash,
                                         std::equal_to<>, oneprobe::multilevel, 4>;
using golden_set = oneprobe::bounded_set<std::uint32_t>;
using golden_sequential_map =
    oneprobe::bounded_map<std::uint64_t, std::uint64_t, oneprobe::seeded_hash, std::equal_to<>,
                          oneprobe::sequential, 3>;

inline oneprobe::table_plan golden_table_plan(oneprobe::scheme_kind scheme,
                                              std::uint32_t bucket_capacity) {
  const bool levelled = scheme == oneprobe::scheme_kind::multilevel;
  oneprobe::table_plan plan;
  plan.elements = 7 * bucket_capacity;
  plan.bucket_capacity = bucket_capacity;
  plan.scheme = scheme;
  plan.choices = 3;
  plan.levels = levelled ? 3 : 1;
  plan.level_buckets = {5, 2, 1};
  if (!levelled) plan.level_buckets = {8};
  plan.overflow_buckets = 3;
  plan.overflow_reserve = bucket_capacity;
  // Not what a planner would say, but exact numbers that all machines write alike.
  plan.predicted = {.insert_accesses = 1.5,
                    .hit_accesses = 1.25,
                    .miss_accesses = 1.125,
                    .overflow_fraction = 0.0625,
                    .overflow_mean = 1.75,
                    .overflow_deviation = 1.375,
                    .exceed_probability = 0.03125};
  return plan;
}

/// As many keys as have room, and every third of them erased again.
template <class Table, class Insert>
Table build_golden_table(oneprobe::scheme_kind scheme, Insert insert) {
  using key_type = typename Table::key_type;
  Table table(golden_table_plan(scheme, Table::bucket_capacity),
              oneprobe::seeded_hash(golden_table_seed));
  const auto keys = static_cast<key_type>(9 * Table::bucket_capacity);
  for (key_type key = 0; key < keys; ++key) insert(table, key);
  for (key_type key = 0; key < keys; key += 3) table.erase(key);
  return table;
}

/// Calls `visit(name, table)` for each of them.
template <class Visit>
void for_each_golden_table(Visit visit) {
  using oneprobe::scheme_kind;
  const auto with_value = [](auto& map, std::uint64_t key) { map.insert(key, key * key); };
  visit(std::string("map"), build_golden_table<golden_map>(scheme_kind::multilevel, with_value));
  visit(std::string("map-sequential"),
        build_golden_table<golden_sequential_map>(scheme_kind::sequential, with_value));
  visit(std::string("set"),
        build_golden_table<golden_set>(scheme_kind::multilevel,
                                       [](auto& set, std::uint32_t key) { set.insert(key); }));
}
