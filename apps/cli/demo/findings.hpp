// What `oneprobe demo` finds out: a filter of names and a table of flows, planned, built and
// measured, each beside what people use today. Data and seeds are fixed: all but the times is the
// same in every run.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "oneprobe/plan/filter.hpp"
#include "oneprobe/plan/table.hpp"

namespace oneprobe::cli::demo {

/// Called with the share of the work that is done, from 0 to 1.
using teller = std::function<void(double done)>;

inline constexpr std::uint64_t name_count = 1'000'000;
inline constexpr double wanted_fpr = 1e-4;
inline constexpr std::uint64_t flow_count = 400'000;  // at any moment
inline constexpr double wanted_overflow = 1e-3;
inline constexpr unsigned turnovers = 10;  // of all flows in a day

/// A filter that holds all names.
struct filter_measure {
  double fpr = 0;  // of so many names that are not there
  std::uint64_t asked = 0;
  double miss_lines = 0;
  double hit_lines = 0;
  std::uint64_t overflow = 0;
  std::uint64_t memory_bytes = 0;
  double bulk_query_ns = 0;
};

/// Filters with more or fewer names than planned.
struct fill_look {
  double factor = 1;  // names over planned names
  double predicted_fpr = 0;
  double fpr = 0;  // of so many names that are not there
  double blocked_fpr = 0;
  std::uint64_t asked = 0;
};

struct filter_findings {
  filter_proposal proposal;
  filter_plan blocked;  // of the same memory
  filter_measure ours;
  filter_measure beside;
  std::vector<fill_look> looks;
};

struct insert_times {
  double median_ns = 0;
  double p999_ns = 0;
  double worst_ns = 0;
  struct slower {
    double share;  // of the insertions take longer
    double ns;
  };
  std::vector<slower> curve{};
};

struct table_measure {
  double hit_accesses = 0;
  double miss_accesses = 0;
  std::uint64_t most_accesses = 0;  // of any lookup that was counted, the overflow's included
  double overflow = 0;              // elements, mean over the second half of the day
  std::uint64_t refused = 0;
  std::uint64_t moves = 0;  // times its memory was found to be elsewhere or of another size
  std::uint64_t memory_bytes = 0;
  insert_times times{};
};

struct table_findings {
  table_proposal proposal;
  std::uint32_t slot_bytes = 0;  // of a flow and its value
  std::uint64_t bound = 0;       // accesses of any lookup
  table_measure ours;
  insert_times beside;
  std::uint64_t beside_rehashes = 0;
  std::uint64_t beside_memory_bytes = 0;  // as it asked for it, at the end of the day
};

/// Throws std::runtime_error if an answer is wrong: a demo that lies is worse than none.
filter_findings try_filter(const teller& tell);
table_findings try_table(const teller& tell);

}  // namespace oneprobe::cli::demo
