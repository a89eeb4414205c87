// The schemes that OFH compares in Fig. 7 (d = h = 4, c = 1) as tables, and the same elements in
// counters of loads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "oneprobe/detail/base/levels.hpp"
#include "oneprobe/detail/placement/load_counters.hpp"
#include "oneprobe/detail/placement/of_levels.hpp"
#include "oneprobe/detail/placement/walk.hpp"
#include "oneprobe/model/partition.hpp"
#include "oneprobe/sim/simulate.hpp"
#include "support/with_map.hpp"

namespace tables {

struct figure_seven_row {
  std::string name;              // the paper's
  const char* printed_accesses;  // as in OFH, Section VII
  const char* printed_overflow;  // percent
  scheme_kind scheme;
};

inline std::vector<figure_seven_row> figure_seven_rows() {
  return {{"SIMPLE", "1", "19.5", scheme_kind::single},
          {"GREEDY", "1.488", "6.00", scheme_kind::sequential},
          {"MHT", "1.697", "3.45", scheme_kind::multilevel},
          {"d-left", "4", "3.17", scheme_kind::d_left}};
}

/// A table of the figure's setting that only fills; MHT has the levels of its cut-off.
inline table_plan figure_seven_plan(scheme_kind scheme, std::uint64_t buckets) {
  table_plan plan;
  plan.bucket_capacity = 4;
  plan.elements = buckets * plan.bucket_capacity;
  plan.workload = table_workload::fill_only;
  plan.scheme = scheme;
  plan.choices = scheme == scheme_kind::single ? 1 : 4;
  plan.levels = 1;
  plan.level_buckets = {buckets};
  if (scheme == scheme_kind::multilevel || scheme == scheme_kind::d_left) {
    plan.levels = plan.choices;
    const std::vector<double> fractions = scheme == scheme_kind::d_left
                                              ? std::vector<double>(4, 0.25)
                                              : model::multilevel_cutoff(1, 4, 4).level_fractions;
    const std::vector<std::uint64_t> sizes = split_into_levels(buckets, fractions);
    std::copy(sizes.begin(), sizes.end(), plan.level_buckets.begin());
  }
  return with_wide_overflow(plan, static_cast<double>(plan.elements) / 10);
}

/// The same table for the simulator.
inline sim::scenario figure_seven_scenario(const table_plan& plan) {
  sim::scenario what{.scheme = plan.scheme,
                     .buckets = plan.buckets(),
                     .choices = plan.choices,
                     .bucket_capacity = plan.bucket_capacity,
                     .elements = plan.elements};
  if (plan.scheme == scheme_kind::multilevel)
    what.level_sizes.assign(plan.level_buckets.begin(), plan.level_buckets.begin() + plan.levels);
  return what;
}

struct placed_counts {
  table_counts counts{};
  std::uint64_t accesses = 0;  // of all insertions
};

/// Keys 0, 1, ... with these hashes, placed in the simulator's store.
inline placed_counts place_in_counters(const table_plan& plan, const seeded_hash& hash) {
  return with_scheme(plan.scheme, [&]<class Scheme>(std::type_identity<Scheme>) {
    const auto scheme = oneprobe::detail::scheme_over<Scheme>(
        std::span(plan.level_buckets).first(plan.levels), plan.choices);
    load_counters<std::uint8_t> counters(scheme.buckets());
    placing walk(scheme, counters, admission(plan.bucket_capacity));
    placed_counts found;
    for (std::uint64_t key = 0; key < plan.elements; ++key) {
      const auto placed = walk_to_end(walk, walk.start(hash(key)));
      found.accesses += placed.accesses;
      ++found.counts.size;
      ++(placed.end == walk_end::placed ? found.counts.levels[placed.at.level]
                                        : found.counts.overflow);
    }
    return found;
  });
}

/// The same in a map, with elements of so many bytes. Accesses of insertions are those by which the
/// elements are found again; d-left reads all its candidates.
inline placed_counts place_in_map(const table_plan& plan, unsigned slot_bytes, std::uint64_t seed) {
  return with_map<4>(plan, slot_bytes, seed, [&](auto& map) {
    life lived(map, seed);
    lived.fill(plan.elements);
    placed_counts found{.counts = map.counts()};
    for (const std::uint64_t key : lived.present())
      found.accesses +=
          plan.scheme == scheme_kind::d_left ? plan.choices : map.explain(key).accesses;
    return found;
  });
}

}  // namespace tables
