// The parameters of a summary and of the table beside it: plain numbers.
// plan/summary.hpp computes them from needs; the paper's own designs are there by name.
//
// A plan says everything that decides where elements and cells are, except the seed and the
// elements' size. Bytes follow from it exactly.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/detail/planning/cell_packing.hpp"
#include "oneprobe/detail/planning/plan_check.hpp"
#include "oneprobe/one_probe/interpolation_plan.hpp"

namespace oneprobe::inline v0_1 {

/// Which summary a table has.
enum class summary_kind : std::uint8_t {
  single_filter,  // cells that hold the largest level (SSH, Section VIII-A)
  multi_filter,   // a Bloom filter per level threshold (SSH, Section VIII-B)
  interpolation,  // sorted strings with their levels (SSH, Section VII)
  own,            // the caller brings it; the plan is that of the table only
};

/// "single-filter", "multi-filter", "interpolation", "own".
constexpr std::string_view name_of(summary_kind kind) {
  switch (kind) {
    case summary_kind::single_filter:
      return "single-filter";
    case summary_kind::multi_filter:
      return "multi-filter";
    case summary_kind::interpolation:
      return "interpolation";
    case summary_kind::own:
      return "own";
  }
  return "unknown";
}

/// What becomes of elements that are erased (SSH, Section XI).
enum class summary_deletion : std::uint8_t {
  none,         // nothing is erased; what is all the same stays marked for good
  lazy,         // marked; all at once is reconstructed when a share of the elements is
  incremental,  // the same in bounded pieces, one with each change
  counting,     // the summary forgets them (filters count): nothing is ever reconstructed
};

/// "none", "lazy", "incremental", "counting".
constexpr std::string_view name_of(summary_deletion deletion) {
  switch (deletion) {
    case summary_deletion::none:
      return "none";
    case summary_deletion::lazy:
      return "lazy";
    case summary_deletion::incremental:
      return "incremental";
    case summary_deletion::counting:
      return "counting";
  }
  return "unknown";
}

/// Which elements leave, in the long run. It decides how many are beyond the first level.
enum class summary_departures : std::uint8_t {
  any,          // all are as likely to, or the oldest do
  first_level,  // only those of the first level do: the worst there is
};

/// "any", "first-level".
constexpr std::string_view name_of(summary_departures departures) {
  switch (departures) {
    case summary_departures::any:
      return "any";
    case summary_departures::first_level:
      return "first-level";
  }
  return "unknown";
}

/// What was computed when the summary was planned, for exactly `summary_plan::elements` elements:
/// filled once, or with lazy deletion as many more as may be marked; with counting deletion at any
/// moment while elements come and go.
struct summary_prediction {
  double false_positive_probability = 0;  // an absent key is sent to some level
  double absent_read_probability = 0;     // ... where its bucket is not empty: a needless read
  double failure_probability = 0;         // any element would be misdirected: a bound
  double crisis_probability = 0;          // any element finds no room: a bound
  double equal_hash_probability = 0;      // any two elements have the same 64 bits of hash
  double overflow_mean = 0;               // elements that fail or find no room
  double reconstruction_moves = 0;        // lazy: elements that a reconstruction moves

  friend constexpr bool operator==(const summary_prediction&, const summary_prediction&) = default;
};

/// All that decides where the elements of a table with a summary go, and what the summary is,
/// except the seed.
struct summary_plan {
  /// The most that a plan may ask for.
  static constexpr std::uint32_t most_levels = 8;
  static constexpr std::uint32_t most_hashes = 64;
  static constexpr std::uint32_t most_counter_bits = 16;
  static constexpr std::uint32_t most_cell_bits = 56;  // counters of all levels, of a single filter
  static constexpr std::uint32_t most_string_bits = 62;  // of packed strings
  static constexpr std::uint32_t most_bucket_capacity = 16;
  /// Slots and cells are numbered by 32 bits beside the table.
  static constexpr std::uint64_t most_slots = (std::uint64_t{1} << 32) - 2;
  static constexpr std::uint64_t most_cells = most_slots;

  summary_kind kind = summary_kind::multi_filter;  // which summary
  summary_deletion deletion = summary_deletion::none;
  summary_departures departures = summary_departures::any;
  std::uint64_t elements = 0;                              // n
  std::uint32_t bucket_capacity = 1;                       // h
  std::uint32_t levels = 1;                                // d
  std::array<std::uint64_t, most_levels> level_buckets{};  // buckets of each level

  /// Multi-filter: one filter for each level. Single filter: the first entries are its cells and
  /// hashes.
  std::array<std::uint64_t, most_levels> filter_cells{};
  std::array<std::uint32_t, most_levels> filter_hashes{};  // of an element
  /// Counting: the width of the counters of each filter, or of each level in every cell.
  std::array<std::uint32_t, most_levels> counter_bits{};
  /// Counting multi-filter: from this filter on an element counts once for a cell that several of
  /// its hashes meet (SSH, Section XI-B).
  std::uint32_t counted_once_from = most_levels;

  /// Interpolation: blocks of strings, and what a block keeps of each
  /// (one_probe/interpolation_plan.hpp). Without blocks strings are packed
  /// (one_probe/packed_strings.hpp), and all of their bits are kept.
  std::uint64_t string_blocks = 0;
  std::uint32_t remainder_bits = 0;  // what is kept of a string

  /// Elements that the overflow is made for.
  std::uint64_t overflow_reserve = 16;
  /// Lazy: so many elements may be marked deleted.
  std::uint64_t deleted_limit = 0;
  /// Incremental: slots and the like that one change of the table may look at.
  std::uint64_t work_per_change = 0;

  summary_prediction predicted{};  // of a table with this plan

  /// The buckets of all levels.
  constexpr std::uint64_t buckets() const noexcept {
    return std::accumulate(level_buckets.begin(), level_buckets.begin() + levels, std::uint64_t{0});
  }
  /// The slots of all levels.
  constexpr std::uint64_t slots() const noexcept { return buckets() * bucket_capacity; }
  /// How many filters the summary has.
  constexpr std::uint32_t filters() const noexcept {
    return kind == summary_kind::single_filter  ? 1
           : kind == summary_kind::multi_filter ? levels
                                                : 0;
  }
  /// Whether strings lie without gaps.
  constexpr bool packs_strings() const noexcept {
    return kind == summary_kind::interpolation && string_blocks == 0;
  }
  /// Interpolation: its strings, as if in one block where they are packed.
  constexpr interpolation_plan strings() const noexcept {
    interpolation_plan plan;
    plan.elements = elements;
    plan.levels = levels;
    plan.blocks = packs_strings() ? 1 : string_blocks;
    plan.remainder_bits = remainder_bits;
    return plan;
  }
  /// Whether erased elements are marked first, and keep their slots until a reconstruction.
  constexpr bool is_lazy() const noexcept {
    return deletion == summary_deletion::lazy || deletion == summary_deletion::incremental;
  }
  /// Bits of one cell of a counting single filter.
  constexpr std::uint32_t cell_bits() const noexcept {
    return std::accumulate(counter_bits.begin(), counter_bits.begin() + levels, std::uint32_t{0});
  }

  /// The summary itself, without the bits below.
  constexpr std::uint64_t filter_bytes() const noexcept {
    const bool counting = deletion == summary_deletion::counting;
    if (kind == summary_kind::single_filter)
      return counting ? (filter_cells[0] * cell_bits() + 7) / 8
                      : cell_packing{levels + 1}.bytes(filter_cells[0]);
    if (packs_strings()) return (elements * strings().cell_bits() + 7) / 8;
    if (kind == summary_kind::interpolation) return strings().memory_bytes();
    std::uint64_t bits = 0;
    for (std::uint32_t i = 0; i < filters(); ++i)
      bits += filter_cells[i] * (counting ? counter_bits[i] : 1);
    return (bits + 7) / 8;
  }
  /// One bit for each slot that says whether it is taken (SSH, Section V).
  constexpr std::uint64_t occupancy_bytes() const noexcept { return (slots() + 7) / 8; }
  /// All of the fast memory. Lazy deletion has a second summary that is built while the first is in
  /// use.
  constexpr std::uint64_t summary_bytes() const noexcept {
    return (is_lazy() ? 2 : 1) * filter_bytes() + occupancy_bytes();
  }
  /// Slow memory: slots, and lists beside them that keep the summary from ever misleading (20 bytes
  /// for each slot, 4 for each planned element; twice with lazy deletion, and a bit per slot). An
  /// interpolation summary needs no lists and no marks: a hash of 8 bytes for each slot.
  constexpr std::uint64_t guard_bytes() const noexcept {
    if (kind == summary_kind::interpolation) return slots() * 8;
    return (is_lazy() ? 2 : 1) * (slots() * 20 + elements * 4) +
           (deletion == summary_deletion::counting ? 0 : occupancy_bytes());
  }
  /// Memory of the slots, when an element has so many bytes.
  constexpr std::uint64_t slot_bytes(std::uint64_t element_bytes) const noexcept {
    return slots() * element_bytes;
  }
};

/// The first parameter that is not as it must be, in words.
inline std::optional<std::string> find_fault(const summary_plan& plan) {
  detail::plan_check check;
  check(plan.kind <= summary_kind::own, "kind",
        "0 (single-filter), 1 (multi-filter), 2 (interpolation) or 3 (own)",
        static_cast<unsigned>(plan.kind));
  check(plan.deletion <= summary_deletion::counting, "deletion", "one of the four",
        static_cast<unsigned>(plan.deletion));
  check(plan.departures <= summary_departures::first_level, "departures",
        "0 (any) or 1 (first-level)", static_cast<unsigned>(plan.departures));
  check(plan.elements >= 1 && plan.elements <= summary_plan::most_slots, "elements",
        "1 to 2^32 - 2", plan.elements);
  check(plan.bucket_capacity >= 1 && plan.bucket_capacity <= summary_plan::most_bucket_capacity,
        "bucket_capacity", "1 to 16", plan.bucket_capacity);
  check(plan.levels >= 1 && plan.levels <= summary_plan::most_levels, "levels", "1 to 8",
        plan.levels);
  if (check.fault) return check.fault;
  detail::check_levels(check, std::span(plan.level_buckets).first(plan.levels), "level_buckets",
                       summary_plan::most_slots / plan.bucket_capacity,
                       "1 and up, 2^32 - 2 slots in all");
  std::uint64_t cells = 0;
  for (std::uint32_t i = 0; i < plan.filters() && !check.fault; ++i) {
    const std::uint64_t size = plan.filter_cells[i];
    check(size >= 1 && size <= summary_plan::most_cells - cells, "filter_cells",
          "1 and up, 2^32 - 2 in all", size);
    cells += size;
    check(plan.filter_hashes[i] >= 1 && plan.filter_hashes[i] <= summary_plan::most_hashes,
          "filter_hashes", "1 to 64", plan.filter_hashes[i]);
    check(plan.filter_hashes[i] <= size, "filter_hashes", "no more than the filter has cells",
          plan.filter_hashes[i]);
  }
  if (plan.kind == summary_kind::interpolation) {
    check(!plan.is_lazy(), "deletion", "none or counting where strings are sorted",
          static_cast<unsigned>(plan.deletion));
    if (plan.packs_strings())
      check(plan.remainder_bits >= 4 && plan.remainder_bits <= summary_plan::most_string_bits &&
                plan.strings().cell_bits() <= 64,
            "remainder_bits", "4 to 62, up to 64 with those of the level", plan.remainder_bits);
    else if (!check.fault)
      check.fault = find_fault(plan.strings());
  }
  if (plan.deletion == summary_deletion::counting && plan.filters() != 0) {
    for (std::uint32_t i = 0; i < plan.levels; ++i)
      check(plan.counter_bits[i] >= 1 && plan.counter_bits[i] <= summary_plan::most_counter_bits,
            "counter_bits", "1 to 16", plan.counter_bits[i]);
    check(
        plan.kind == summary_kind::multi_filter || plan.cell_bits() <= summary_plan::most_cell_bits,
        "counter_bits", "56 in all, in a single filter", plan.cell_bits());
  }
  check(plan.overflow_reserve >= 1 && plan.overflow_reserve <= summary_plan::most_slots,
        "overflow_reserve", "1 to 2^32 - 2", plan.overflow_reserve);
  check(!plan.is_lazy() || plan.deleted_limit >= 1, "deleted_limit",
        "at least 1 where deletion is lazy", plan.deleted_limit);
  check(plan.deletion != summary_deletion::incremental || plan.work_per_change >= 1,
        "work_per_change", "at least 1 where reconstruction is incremental", plan.work_per_change);
  return check.fault;
}

/// Refuses a plan that has a fault.
inline void check_plan(const summary_plan& plan) {
  if (const std::optional<std::string> fault = find_fault(plan)) refuse_parameter(*fault);
}

}  // namespace oneprobe::inline v0_1
