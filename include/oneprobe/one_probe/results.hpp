// What a one_probe_map counts.
#pragma once

#include <cstdint>

#include "oneprobe/map/results.hpp"

namespace oneprobe::inline v0_1 {

/// How a map is now, and what has happened to it.
struct one_probe_stats {
  table_counts counts{};             // elements, by place
  std::uint64_t fast_bytes = 0;      // summary and bits of taken slots
  std::uint64_t slow_bytes = 0;      // slots, and what lies beside them
  std::uint64_t overflow_bytes = 0;  // of the overflow
  std::uint64_t failures = 0;        // insertions that would have made the summary mislead
  std::uint64_t crises = 0;          // insertions for which no level had room
  double planned_failure = 0;        // the probability that the plan gives to any failure
  double planned_crisis = 0;         // the same of a crisis

  // Lazy deletion.
  std::uint64_t marked = 0;           // deleted elements that keep their slots
  std::uint64_t reconstructions = 0;  // that ended
  std::uint64_t given_up = 0;         // that did not, because the overflow was full
  std::uint64_t moved = 0;            // elements that all of them moved to a lower level
  std::uint64_t moved_last = 0;       // ... and the last one
  std::uint64_t most_work = 0;        // steps of a reconstruction that one change has taken
};

}  // namespace oneprobe::inline v0_1
