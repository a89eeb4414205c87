// The parameters of a table: plain numbers. plan/table.hpp computes them from needs;
// map/default_plan.hpp has them ready for the common ones; a file carries them.
//
// A plan says everything that decides where elements go, except the seed and the elements' size.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/detail/planning/plan_check.hpp"
#include "oneprobe/scheme_kind.hpp"

namespace oneprobe::inline v0_1 {

/// What becomes of a table after it is filled. The values are written to files.
enum class table_workload : std::uint8_t {
  churn = 0,      // elements leave and others come, at constant size, for ever
  fill_only = 1,  // nothing is erased
};

/// "churn", "fill-only".
constexpr std::string_view name_of(table_workload workload) {
  switch (workload) {
    case table_workload::churn:
      return "churn";
    case table_workload::fill_only:
      return "fill-only";
  }
  return "unknown";
}

/// What was computed when the table was planned, for exactly `table_plan::elements` elements under
/// its workload. Accesses are buckets of the table; an element that ends in the overflow visits up
/// to four more.
struct table_prediction {
  double insert_accesses = 0;     // of a new key
  double hit_accesses = 0;        // of a key that is there
  double miss_accesses = 0;       // of a key that is not
  double overflow_fraction = 0;   // of the elements present
  double overflow_mean = 0;       // elements
  double overflow_deviation = 0;  // standard deviation, elements
  double exceed_probability = 0;  // that at a given moment more overflow than are reserved for

  friend constexpr bool operator==(const table_prediction&, const table_prediction&) = default;
};

/// Memory by part, in bytes. Every part begins on a cache line.
struct table_memory_parts {
  std::uint64_t side = 0;            // tags and notes of the buckets
  std::uint64_t slots = 0;           // their elements
  std::uint64_t overflow_side = 0;   // the same of the overflow buckets
  std::uint64_t overflow_slots = 0;  // the elements of those

  /// The bytes of all parts.
  constexpr std::uint64_t total() const noexcept {
    return side + slots + overflow_side + overflow_slots;
  }
  friend constexpr bool operator==(const table_memory_parts&, const table_memory_parts&) = default;
};

/// All that decides where a table's elements go, except the seed.
struct table_plan {
  /// The most that a plan may ask for, and what all plans have in common.
  static constexpr std::uint32_t most_levels = 8;
  static constexpr std::uint32_t most_bucket_capacity = 16;
  static constexpr std::uint32_t side_bytes = 32;  // per bucket
  static constexpr std::uint64_t most_buckets = std::uint64_t{1} << 40;
  static constexpr std::uint64_t most_slot_bytes = std::uint64_t{1} << 16;
  /// Buckets of the overflow that an element may be in.
  static constexpr std::uint32_t overflow_choices = 4;

  std::uint64_t elements = 0;                    // n
  std::uint32_t bucket_capacity = 16;            // h
  scheme_kind scheme = scheme_kind::multilevel;  // how candidate buckets are drawn
  std::uint32_t choices = 4;                     // d; multilevel and d-left: `levels`
  std::uint32_t levels = 4;                      // `single`, `sequential` and `d_random` have one
  std::array<std::uint64_t, most_levels> level_buckets{};  // buckets of each level
  /// Elements that the overflow is made for, and its buckets, as large as the others.
  std::uint64_t overflow_reserve = 0;
  std::uint64_t overflow_buckets = 1;  // its buckets
  table_workload workload = table_workload::churn;

  table_prediction predicted{};  // of a table with this plan

  /// The buckets of all levels.
  constexpr std::uint64_t buckets() const noexcept {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < levels && i < most_levels; ++i) sum += level_buckets[i];
    return sum;
  }
  /// Whether each candidate is drawn from a level of its own, so that its number says which.
  constexpr bool is_levelled() const noexcept { return levels == choices; }
  /// c: elements over slots, without those of the overflow.
  constexpr double load_factor() const noexcept {
    return static_cast<double>(elements) / (static_cast<double>(buckets()) * bucket_capacity);
  }
  /// The memory of a table with elements of so many bytes.
  constexpr table_memory_parts memory(std::uint64_t slot_bytes) const noexcept {
    constexpr std::uint64_t line_bytes = 64;
    const auto whole_lines = [](std::uint64_t bytes) {
      return (bytes + line_bytes - 1) / line_bytes * line_bytes;
    };
    return {.side = whole_lines(buckets() * side_bytes),
            .slots = whole_lines(buckets() * bucket_capacity * slot_bytes),
            .overflow_side = whole_lines(overflow_buckets * side_bytes),
            .overflow_slots = whole_lines(overflow_buckets * bucket_capacity * slot_bytes)};
  }
  /// Of all memory, for each planned element, when an element has so many bytes.
  constexpr double bytes_per_element(std::uint64_t slot_bytes) const noexcept {
    return elements == 0
               ? 0
               : static_cast<double>(memory(slot_bytes).total()) / static_cast<double>(elements);
  }
};

/// Slots of a bucket that are one *group*: elements of one tag are in one
/// (detail/map/bucket_tags.hpp). A line of slots, where four or more fill it exactly and a bucket
/// is made of such lines; with fewer, too many elements would be refused for their tag, and the
/// whole bucket is one group.
constexpr std::uint32_t group_slots_of(std::uint64_t slot_bytes,
                                       std::uint32_t bucket_capacity) noexcept {
  constexpr std::uint64_t line_bytes = 64;
  if (slot_bytes == 0 || line_bytes % slot_bytes != 0) return bucket_capacity;
  const auto in_line = static_cast<std::uint32_t>(line_bytes / slot_bytes);
  return in_line >= 4 && bucket_capacity % in_line == 0 ? in_line : bucket_capacity;
}

/// The first parameter that is not as it must be, in words. Also limits what a plan from outside
/// can ask for before anything is allocated.
inline std::optional<std::string> find_fault(const table_plan& plan) {
  detail::plan_check check;
  check(plan.bucket_capacity >= 1 && plan.bucket_capacity <= table_plan::most_bucket_capacity,
        "bucket_capacity", "1 to 16", plan.bucket_capacity);
  check(plan.workload <= table_workload::fill_only, "workload", "0 (churn) or 1 (fill-only)",
        static_cast<unsigned>(plan.workload));
  check(plan.elements >= 1 && plan.elements <= table_plan::most_buckets, "elements", "1 to 2^40",
        plan.elements);
  check(plan.levels >= 1 && plan.levels <= table_plan::most_levels, "levels", "1 to 8",
        plan.levels);
  if (check.fault) return check.fault;
  const auto sizes = std::span(plan.level_buckets).first(plan.levels);
  detail::check_levels(check, sizes, "level_buckets", table_plan::most_buckets,
                       "1 and up, 2^40 in all");
  detail::check_scheme(check, plan.scheme, plan.choices, sizes, "level_buckets");
  check(plan.overflow_buckets >= 1 && plan.overflow_buckets <= table_plan::most_buckets,
        "overflow_buckets", "1 to 2^40", plan.overflow_buckets);
  if (check.fault) return check.fault;
  check(plan.overflow_reserve <= plan.overflow_buckets * plan.bucket_capacity, "overflow_reserve",
        "no more than the overflow has slots", plan.overflow_reserve);
  const table_prediction& predicted = plan.predicted;
  for (const double value :
       {predicted.insert_accesses, predicted.hit_accesses, predicted.miss_accesses,
        predicted.overflow_fraction, predicted.overflow_mean, predicted.overflow_deviation,
        predicted.exceed_probability})
    check(value >= 0 && value < 1e15, "a prediction", "from 0 to 1e15", value);
  return check.fault;
}

/// Refuses a plan that has a fault.
inline void check_plan(const table_plan& plan) {
  if (const std::optional<std::string> fault = find_fault(plan)) refuse_parameter(*fault);
}

}  // namespace oneprobe::inline v0_1
