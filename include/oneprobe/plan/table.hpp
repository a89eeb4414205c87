// From what a table must do to a plan of it: level sizes, the overflow's reserve, what operations
// will cost, what over-fill would do and which alternatives were beaten; or the reason why not,
// with the nearest need that can be met.
//
//   table_proposal proposal = plan_table({.elements = 20'000'000});
//   if (!proposal.plan) { std::puts(proposal.reason.c_str()); return; }
//   bounded_map<std::uint64_t, flow> flows(*proposal.plan);
//
// What may overflow holds at (1 + overfill) times the elements, and somewhat beyond: a table that
// is cut to fit overflows thousands of times more with a few percent more elements. Predictions are
// for exactly `elements` elements in the levels as they are, and for hashes without a pattern.
//
// Limits: elements from 1 to 2^40, as many buckets. Predictions are limits of many buckets; small
// levels have room for two standard deviations more than they get. A bucket of the tables also
// refuses an element whose tag is in a group of slots without room (detail/map/tagged_buckets.hpp):
// two or three of a thousand that come to a nearly full bucket. Overflow is planned and predicted
// with those (model/grouped_slots.hpp), but for d-random, d-left and sequential placement that only
// fills, which have no such model: measured, d-left overflowed a quarter more where 250 of a
// million did, and the fewer overflow the more of them do so for a tag. Accesses are predicted
// without: they are a thousandth above (docs/table-trials.md).
//
// Pure and thread-safe; nothing is kept between calls. A plan takes milliseconds, with its
// alternatives up to some seconds.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "oneprobe/detail/planning/table_layout.hpp"
#include "oneprobe/map/plan.hpp"
#include "oneprobe/plan/filter.hpp"

namespace oneprobe::inline v0_1 {

/// How a table is cut into levels.
enum class table_partition : std::uint8_t {
  churn,           // fewest accesses for the overflow, by the losses of a churning table
  fill_only,       // the same by those of a table that only fills
  access_optimal,  // the papers': geometric, least overflow for its accesses (OFH Theorem 6)
};

/// "churn", "fill-only", "access-optimal".
constexpr std::string_view name_of(table_partition partition) {
  switch (partition) {
    case table_partition::churn:
      return "churn";
    case table_partition::fill_only:
      return "fill-only";
    case table_partition::access_optimal:
      return "access-optimal";
  }
  return "unknown";
}

/// What a table must do. At most one of `load_factor` and `bytes` is given.
struct table_needs {
  std::uint64_t elements = 0;  // n
  /// Laid out as a struct of both: the key, then the value, each aligned to the largest power of
  /// two up to 8 that divides its size. `slot_bytes`: sizeof the element, where that is known.
  std::uint32_t key_bytes = 8;
  std::uint32_t value_bytes = 8;              // of the value; 0: a set
  std::optional<std::uint32_t> slot_bytes{};  // of the element; none: as above

  table_workload workload = table_workload::churn;
  double overflow_fraction = 1e-6;     // of the elements, at (1 + overfill) times their number
  double exceed_probability = 1e-9;    // that more overflow than are reserved for, likewise
  std::uint32_t largest_choices = 4;   // 1 to 8: buckets that an operation may visit
  std::uint32_t bucket_capacity = 16;  // 1 to 16
  double overfill = 0.02;              // 0 to 0.5

  std::optional<double> load_factor{};   // none: 0.95 of the largest that keeps the overflow
  std::optional<std::uint64_t> bytes{};  // of all memory

  /// What an access and a look into the overflow cost: then, in the same memory, the number of
  /// choices up to `largest_choices` and the overflow up to `overflow_fraction` are those for which
  /// operations cost least. Without a load factor or bytes it is the memory that an overflow of
  /// 1e-6 needs, or less where less is asked for.
  std::optional<access_costs> costs{};
  /// The most that an operation may cost on average, in the unit of `costs`. Without a load factor
  /// or bytes the memory is the least, to a percent, in which that can be had.
  std::optional<double> budget{};

  std::optional<table_partition> partition{};  // multilevel; none: that of the workload
  std::optional<scheme_kind> scheme{};         // none: multilevel. The others are there to compare

  plan_detail detail = plan_detail::full;
};

/// Of the largest load factor that keeps the overflow, so much is used where no memory is given:
/// the last percents cost more accesses than they save memory.
inline constexpr double default_load_share = 0.95;

/// Levels with the fewest accesses of all fall over with a few more elements than they are made
/// for, the sooner the more memory they have. So much more per hit is given away for levels that
/// are made for more elements.
inline constexpr double accesses_for_room = 0.005;

/// The bytes of one element.
std::uint32_t slot_bytes_of(const table_needs& needs);

/// What the planned table does with more elements than it was planned for. With an
/// exceed_probability near 1 it is full before it holds them.
struct table_forecast {
  double factor = 1;             // elements over planned elements
  std::uint64_t elements = 0;    // factor times those planned
  table_prediction predicted{};  // with so many elements
};

/// Another table for the same need.
struct table_alternative {
  std::string name;                  // "3 choices"
  std::optional<table_plan> plan{};  // none: it cannot meet the need
  std::string why;                   // why it is not the answer
};

/// The answer to a need.
struct table_proposal {
  std::optional<table_plan> plan{};      // none: the need cannot be met
  std::string reason;                    // why this plan, or why none
  std::optional<table_needs> nearest{};  // without a plan: the nearest need that can be met

  std::array<table_forecast, 3> overfill{};  // 1 %, 5 % and 20 % more elements
  /// With so many times the planned elements as much overflows on average as is reserved for:
  /// about where the table is full. At most 64.
  double full_factor = 0;
  cam_forecast cam{};                             // the overflow, if hardware keeps it in one
  std::vector<table_alternative> alternatives{};  // other tables for the same need
  std::vector<std::string> warnings{};            // sentences: too small, sensitive to over-fill
};

/// Throws std::invalid_argument where the needs contradict themselves or are out of range; a need
/// that is sound and cannot be met gets a proposal without a plan.
table_proposal plan_table(const table_needs& needs);

/// The levels of such a plan in the limit of many buckets, whatever the number of elements: what
/// map/default_plan.hpp is written from. Multilevel, without a load factor or bytes; throws
/// like plan_table.
table_design design_table(const table_needs& needs);

/// A forecast goes no further than so many times the planned elements.
inline constexpr std::uint64_t most_forecast_factor = 64;

/// What a table of this plan does with `elements` elements of `slot_bytes`, by the model; 0 bytes:
/// of any size for which nothing is refused for a tag. For d-random and d-left, whose lookups the
/// model does not know, the accesses of a miss are the most it can make. Throws
/// std::invalid_argument for a plan with a fault, and for too many elements.
table_forecast forecast(const table_plan& plan, std::uint64_t elements, std::uint32_t slot_bytes);

}  // namespace oneprobe::inline v0_1
