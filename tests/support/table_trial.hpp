// One design of a table, lived through with several seeds, beside what the models say of it.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "oneprobe/map/results.hpp"
#include "support/with_map.hpp"

namespace tables {

struct design {
  table_plan plan{};
  unsigned slot_bytes = 16;
  std::uint64_t elements = 0;  // as many as the table is given, whatever it was planned for

  bool churns() const { return plan.workload == table_workload::churn; }
  bool first_fit() const {
    return plan.scheme != scheme_kind::d_random && plan.scheme != scheme_kind::d_left;
  }
  unsigned groups() const {
    return plan.bucket_capacity / group_slots_of(slot_bytes, plan.bucket_capacity);
  }
  /// Whether the models know what its buckets refuse for a tag.
  bool tags_are_modelled() const {
    return first_fit() && (churns() || plan.scheme != scheme_kind::sequential);
  }
  std::string name() const {
    return std::string(name_of(plan.scheme)) + " d=" + std::to_string(plan.choices) +
           " h=" + std::to_string(plan.bucket_capacity) + ", " + std::to_string(slot_bytes) +
           " bytes, " + std::string(name_of(plan.workload));
  }
};

/// A planned table with so many more elements that `overflow` of them are expected to overflow.
inline design over_full(table_needs needs, unsigned slot_bytes, double overflow) {
  needs.slot_bytes = slot_bytes;
  const table_proposal proposal = plan_table(needs);
  if (!proposal.plan) throw std::invalid_argument(proposal.reason);
  design made{.plan = *proposal.plan, .slot_bytes = slot_bytes};
  made.elements = elements_that_overflow(made.plan, slot_bytes, overflow);
  made.plan = with_wide_overflow(made.plan, overflow);
  return made;
}

/// Operations of a churning table, in turnovers: as many as there are elements.
inline constexpr unsigned settled_turnovers = 5;
inline constexpr unsigned all_turnovers = 20;
inline constexpr unsigned looks_per_turnover = 10;

/// What was seen of one table.
struct seen {
  double overflow = 0;  // elements; under churn the mean over the turnovers after the settled ones
  std::array<double, table_plan::most_levels> levels{};  // in the end
  double insert_accesses = 0;                            // churn, first fit
  double hit_accesses = 0;
  double miss_accesses = 0;
  double settled_miss_accesses = 0;  // churn: when it had settled, from all notes
  double last_miss_accesses = 0;     // in the end, likewise
  double stuck_note_fraction = 0;
};

/// Mean accesses of `samples` calls.
template <class Accesses>
double mean_accesses(unsigned samples, Accesses accesses) {
  double sum = 0;
  for (unsigned i = 0; i < samples; ++i) sum += accesses(i);
  return sum / samples;
}

/// Accesses are means over so many operations of each kind.
inline seen live_through(const design& what, std::uint64_t seed, unsigned samples) {
  const auto live = [&](auto& map) {
    life lived(map, seed);
    lived.fill(what.elements);
    seen found;
    if (what.churns()) {
      lived.churn(settled_turnovers * what.elements);
      found.settled_miss_accesses = map.stats().miss_accesses;
      constexpr unsigned looks = (all_turnovers - settled_turnovers) * looks_per_turnover;
      for (unsigned look = 0; look < looks; ++look) {
        lived.churn(what.elements / looks_per_turnover);
        found.overflow += static_cast<double>(map.counts().overflow) / looks;
      }
    } else {
      found.overflow = static_cast<double>(map.counts().overflow);
    }
    const table_stats stats = map.stats();
    found.last_miss_accesses = stats.miss_accesses;
    found.stuck_note_fraction = stats.stuck_note_fraction;
    for (std::uint32_t level = 0; level < what.plan.choices; ++level)
      found.levels[level] = static_cast<double>(map.counts().levels[level]);
    found.hit_accesses = mean_accesses(samples, [&](unsigned i) {
      return map.explain(lived.present()[i * 7919ull % what.elements]).accesses;
    });
    found.miss_accesses = mean_accesses(
        samples, [&](unsigned i) { return map.explain(lived.next_key() + i).accesses; });
    if (what.churns() && what.first_fit())
      found.insert_accesses =
          mean_accesses(samples, [&](unsigned) { return lived.insert_accesses(); });
    return found;
  };
  return what.plan.scheme == scheme_kind::multilevel
             ? with_map_of<multilevel, 4, 8, 16>(what.plan, what.slot_bytes, seed, live)
             : with_map<16>(what.plan, what.slot_bytes, seed, live);
}

/// What the models say of it.
struct expected {
  table_prediction table{};
  double plain_overflow = 0;                             // if none were refused for a tag
  std::array<double, table_plan::most_levels> levels{};  // 0: not known
  /// Of the overflow that live_through finds in one table. Under churn a mean over T turnovers; an
  /// overflow is forgotten in one, since that is how long an element stays, so that the mean over
  /// them varies as that of T / 2 moments.
  double overflow_deviation = 0;
};

inline double mean_load(const std::vector<double>& occupancy) {
  double mean = 0;
  for (std::size_t load = 0; load < occupancy.size(); ++load)
    mean += static_cast<double>(load) * occupancy[load];
  return mean;
}

inline expected expect(const design& what) {
  expected result{.table = forecast(what.plan, what.elements, what.slot_bytes).predicted,
                  .plain_overflow = forecast(what.plan, what.elements, 0).predicted.overflow_mean};
  constexpr double turnovers = all_turnovers - settled_turnovers;
  result.overflow_deviation =
      result.table.overflow_deviation * (what.churns() ? std::sqrt(2 / turnovers) : 1);
  const auto occupancies = what.churns()
                               ? model::churn_limit(churning(what.plan, what.elements)).levels
                               : model::fluid_limit(filling(what.plan, what.elements)).levels;
  for (std::size_t level = 0; level < occupancies.size(); ++level)
    result.levels[level] =
        mean_load(occupancies[level]) * static_cast<double>(what.plan.level_buckets[level]);
  return result;
}

}  // namespace tables
