// The parameters of a filter: plain numbers. plan/filter.hpp computes them from
// needs; filter/default_plan.hpp has them ready for the common ones; a file carries them.
//
// A plan says everything that decides where a filter's bits go, except the seed: two filters of one
// plan and one seed that saw the same elements in the same order have the same bytes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/detail/planning/fingerprint_bucket_shape.hpp"
#include "oneprobe/detail/planning/plan_check.hpp"
#include "oneprobe/filter/block_rules.hpp"
#include "oneprobe/scheme_kind.hpp"

namespace oneprobe::inline v0_1 {

/// Where a filter keeps what of its elements. The values are written to files.
enum class filter_kind : std::uint8_t {
  standard = 1,     // k bits anywhere
  partitioned = 2,  // one bit in each of k parts
  blocked = 3,      // k bits in one block
  counting = 4,     // k counters anywhere; elements can be erased
  balanced = 5,     // k bits in the first of d blocks that admits the element
  fingerprint = 6,  // a fingerprint in the first of d buckets that keeps it
};

/// "standard", "partitioned", "blocked", "counting", "balanced", "fingerprint".
constexpr std::string_view name_of(filter_kind kind) {
  switch (kind) {
    case filter_kind::standard:
      return "standard";
    case filter_kind::partitioned:
      return "partitioned";
    case filter_kind::blocked:
      return "blocked";
    case filter_kind::counting:
      return "counting";
    case filter_kind::balanced:
      return "balanced";
    case filter_kind::fingerprint:
      return "fingerprint";
  }
  return "unknown";
}

/// What was computed when the filter was planned, for exactly `filter_plan::elements` elements.
/// Accesses count the probe of the overflow list.
struct filter_prediction {
  double fpr = 0;                // false positives, of absent keys asked for
  double insert_accesses = 0;    // mean accesses of an insert
  double hit_accesses = 0;       // mean accesses of a query for a key that is there
  double miss_accesses = 0;      // mean accesses of a query for one that is not
  double overflow_fraction = 0;  // of the elements, those in the overflow list

  friend constexpr bool operator==(const filter_prediction&, const filter_prediction&) = default;
};

/// Memory by part, in bytes. Every part begins on a cache line.
struct filter_memory_parts {
  std::uint64_t cells = 0;     // bits, counters or blocks, notes included
  std::uint64_t overflow = 0;  // fingerprints of overflowed elements

  /// The bytes of all parts.
  constexpr std::uint64_t total() const noexcept { return cells + overflow; }
  friend constexpr bool operator==(const filter_memory_parts&,
                                   const filter_memory_parts&) = default;
};

/// All that decides where a filter's bits go, except the seed.
struct filter_plan {
  /// The most that a plan may ask for.
  static constexpr std::uint32_t most_levels = 8;
  static constexpr std::uint32_t most_bits_set = 64;
  static constexpr std::uint32_t most_bits_set_in_block = 32;
  static constexpr std::uint64_t most_bits = std::uint64_t{1} << 40;
  static constexpr std::uint32_t most_tracking_bits = 32;

  filter_kind kind = filter_kind::blocked;  // which filter it is for
  std::uint64_t elements = 0;               // n
  std::uint32_t bits_set = 1;               // k

  // standard, partitioned, counting
  std::uint64_t cells = 0;         // bits or counters; partitioned: a multiple of k
  std::uint32_t counter_bits = 1;  // counting: 2, 4, 8 or 16. Others: 1

  // blocked, balanced, fingerprint
  std::uint32_t block_bits = 512;  // B: 512, or 256 unless it holds fingerprints; everything in it
  block_layout layout = block_layout::independent;
  /// Blocks of each level; `single`, `sequential`, `d_random` and the blocked filter have one
  /// level.
  std::array<std::uint64_t, most_levels> level_buckets{};
  std::uint32_t levels = 1;  // of `level_buckets`, those in use

  // balanced, fingerprint
  scheme_kind scheme = scheme_kind::multilevel;   // how candidate blocks are drawn
  std::uint32_t choices = 1;                      // d; multilevel and d-left: `levels`
  block_state state{};                            // balanced
  fingerprint_bucket_shape fingerprint_bucket{};  // fingerprint
  /// 32-bit slots of the overflow list, reserved from the start.
  std::uint64_t overflow_slots = 0;
  std::uint64_t overflow_reserve = 0;  // so many of them may be taken

  filter_prediction predicted{};  // of a filter with this plan

  /// Whether an element may go to another block than its first, and to an overflow list.
  constexpr bool has_candidates() const noexcept {
    return kind == filter_kind::balanced || kind == filter_kind::fingerprint;
  }
  /// Whether its memory is blocks; else it is cells.
  constexpr bool in_blocks() const noexcept {
    return kind == filter_kind::blocked || has_candidates();
  }
  /// Whether elements set bits; else they leave fingerprints.
  constexpr bool sets_bits() const noexcept { return kind != filter_kind::fingerprint; }
  /// The blocks of all levels.
  constexpr std::uint64_t blocks() const noexcept {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < levels && i < most_levels; ++i) sum += level_buckets[i];
    return sum;
  }
  /// Bits of a block that elements set.
  constexpr std::uint32_t bloom_bits() const noexcept {
    return block_bits - (kind == filter_kind::balanced ? state.bits() : 0);
  }
  /// The memory of a filter with this plan.
  constexpr filter_memory_parts memory() const noexcept {
    constexpr std::uint64_t line_bytes = 64;
    const auto whole_lines = [](std::uint64_t bytes) {
      return (bytes + line_bytes - 1) / line_bytes * line_bytes;
    };
    const std::uint64_t bits = in_blocks() ? blocks() * block_bits : cells * counter_bits;
    return {.cells = whole_lines((bits + 7) / 8), .overflow = whole_lines(overflow_slots * 4)};
  }
  /// Of all memory, for each planned element.
  constexpr double bits_per_element() const noexcept {
    return elements == 0
               ? 0
               : 8 * static_cast<double>(memory().total()) / static_cast<double>(elements);
  }
};

/// Whether filters of the two plans put an element's bits in the same places: only then can they be
/// merged. Predictions do not matter.
constexpr bool same_shape(const filter_plan& a, const filter_plan& b) noexcept {
  if (a.kind != b.kind || (a.sets_bits() && a.bits_set != b.bits_set)) return false;
  if (!a.in_blocks()) return a.cells == b.cells && a.counter_bits == b.counter_bits;
  if (a.block_bits != b.block_bits || a.layout != b.layout || a.levels != b.levels ||
      a.level_buckets != b.level_buckets)
    return false;
  if (a.kind == filter_kind::blocked) return true;
  const bool same_blocks = a.kind == filter_kind::balanced
                               ? a.state == b.state
                               : a.fingerprint_bucket == b.fingerprint_bucket;
  return same_blocks && a.scheme == b.scheme && a.choices == b.choices &&
         a.overflow_slots == b.overflow_slots && a.overflow_reserve == b.overflow_reserve;
}

namespace detail {

inline void check_cells(const filter_plan& plan, plan_check& check) {
  const bool counting = plan.kind == filter_kind::counting;
  const std::uint32_t width = plan.counter_bits;
  check(counting ? width == 2 || width == 4 || width == 8 || width == 16 : width == 1,
        "counter_bits", counting ? "2, 4, 8 or 16" : "1", width);
  if (check.fault) return;
  check(plan.cells >= 1 && plan.cells <= filter_plan::most_bits / width, "cells",
        "1 to 2^40 bits in all", plan.cells);
  check(plan.bits_set >= 1 && plan.bits_set <= filter_plan::most_bits_set, "bits_set", "1 to 64",
        plan.bits_set);
  if (check.fault || plan.kind != filter_kind::partitioned) return;
  check(plan.cells % plan.bits_set == 0, "cells", "a multiple of bits_set", plan.cells);
}

inline void check_blocks(const filter_plan& plan, plan_check& check) {
  const std::uint32_t bits = plan.block_bits;
  check(bits == 256 || bits == 512, "block_bits", "256 or 512", bits);
  check(plan.levels >= 1 && plan.levels <= filter_plan::most_levels, "levels", "1 to 8",
        plan.levels);
  if (check.fault) return;
  check_levels(check, std::span(plan.level_buckets).first(plan.levels), "level_buckets",
               filter_plan::most_bits / bits, "1 and up, 2^40 bits in all");
}

inline void check_bits_in_block(const filter_plan& plan, plan_check& check) {
  const std::uint32_t bits = plan.block_bits;
  check(plan.layout == block_layout::independent || plan.layout == block_layout::lanes, "layout",
        "0 (independent) or 2 (lanes)", static_cast<unsigned>(plan.layout));
  if (plan.layout == block_layout::lanes)
    check(plan.bits_set == bits / 64 || plan.bits_set == bits / 32, "bits_set",
          "one per lane of 64 or 32 bits", plan.bits_set);
  else
    check(plan.bits_set >= 1 && plan.bits_set <= filter_plan::most_bits_set_in_block, "bits_set",
          "1 to 32", plan.bits_set);
}

inline void check_overflow(const filter_plan& plan, plan_check& check) {
  // 32-bit slots up to the same 2^40 bits, never all of them taken: a search ends at a free one.
  check(plan.overflow_slots <= filter_plan::most_bits / 32, "overflow_slots", "at most 2^35",
        plan.overflow_slots);
  check(plan.overflow_reserve == 0 || plan.overflow_reserve < plan.overflow_slots,
        "overflow_reserve", "fewer than overflow_slots", plan.overflow_reserve);
}

inline void check_balance(const filter_plan& plan, plan_check& check) {
  const block_state& state = plan.state;
  check(plan.layout == block_layout::independent, "layout", "0 (independent) in a balanced filter",
        static_cast<unsigned>(plan.layout));
  check(state.rule <= lookup_rule::popcount, "rule", "one of the six",
        static_cast<unsigned>(state.rule));
  if (check.fault) return;
  check_scheme(check, plan.scheme, plan.choices, std::span(plan.level_buckets).first(plan.levels),
               "level_buckets");
  check(state.admit_probability >= 0 && state.admit_probability < 1, "admit_probability",
        "from 0 to below 1", state.admit_probability);
  check(!state.tracks() || state.admit_probability == 0, "admit_probability",
        "0 where a block tracks what it refused", state.admit_probability);
  check(!state.tracks() ||
            (state.tracking_bits >= 1 && state.tracking_bits <= filter_plan::most_tracking_bits),
        "tracking_bits", "1 to 32", state.tracking_bits);
  // Elements in a block are far fewer than its bits: 16 bits count them.
  const std::uint32_t most = state.counts_elements() ? 1024 : plan.block_bits - state.tracking_bits;
  if (check.fault) return;
  check(state.threshold >= 1 && state.threshold <= most, "threshold",
        state.counts_elements() ? "1 to 1024 elements" : "1 to the Bloom bits of a block",
        state.threshold);
  check_overflow(plan, check);
}

inline void check_fingerprint_buckets(const filter_plan& plan, plan_check& check) {
  const fingerprint_bucket_shape& fingerprint_bucket = plan.fingerprint_bucket;
  check(plan.block_bits == fingerprint_bucket_shape::bits, "block_bits",
        "512 in a fingerprint filter", plan.block_bits);
  check(plan.layout == block_layout::independent, "layout",
        "0 (independent) in a fingerprint filter", static_cast<unsigned>(plan.layout));
  check(plan.scheme == scheme_kind::multilevel, "scheme", "2 (multilevel) in a fingerprint filter",
        static_cast<unsigned>(plan.scheme));
  check(plan.choices == plan.levels, "choices", "one per level", plan.choices);
  check(fingerprint_bucket.remainder_bits >= fingerprint_bucket_shape::least_remainder_bits &&
            fingerprint_bucket.remainder_bits <= fingerprint_bucket_shape::most_remainder_bits,
        "remainder_bits", "4 to 40", fingerprint_bucket.remainder_bits);
  check(fingerprint_bucket.fits(), "bucket_capacity",
        "1 to 102, with a header of at most 256 bits and one quotient at least",
        fingerprint_bucket.bucket_capacity);
  check_overflow(plan, check);
}

}  // namespace detail

/// The first thing about a plan that no filter can be built from, as a sentence that names the
/// parameter, what is allowed and what was found; or none. Plans from files pass through here.
inline std::optional<std::string> find_fault(const filter_plan& plan) {
  detail::plan_check check;
  check(plan.elements >= 1 && plan.elements <= filter_plan::most_bits, "elements", "1 to 2^40",
        plan.elements);
  switch (plan.kind) {
    case filter_kind::standard:
    case filter_kind::partitioned:
    case filter_kind::counting:
      detail::check_cells(plan, check);
      break;
    case filter_kind::blocked:
      detail::check_blocks(plan, check);
      detail::check_bits_in_block(plan, check);
      check(plan.levels == 1, "levels", "1 in a blocked filter", plan.levels);
      break;
    case filter_kind::balanced:
      detail::check_blocks(plan, check);
      detail::check_bits_in_block(plan, check);
      detail::check_balance(plan, check);
      break;
    case filter_kind::fingerprint:
      detail::check_blocks(plan, check);
      detail::check_fingerprint_buckets(plan, check);
      break;
    default:
      check(false, "kind", "1 to 6", static_cast<unsigned>(plan.kind));
  }
  const filter_prediction& predicted = plan.predicted;
  for (const double value : {predicted.fpr, predicted.insert_accesses, predicted.hit_accesses,
                             predicted.miss_accesses, predicted.overflow_fraction})
    check(value >= 0 && value < 1e9, "a prediction", "from 0 to 1e9", value);
  return check.fault;
}

/// Refuses a plan that has a fault, or is for another kind of filter.
inline void check_plan(const filter_plan& plan, filter_kind wanted) {
  if (plan.kind != wanted)
    refuse_parameter("kind must be " + std::string(name_of(wanted)) + "; found " +
                     std::string(name_of(plan.kind)));
  if (const std::optional<std::string> fault = find_fault(plan)) refuse_parameter(*fault);
}

}  // namespace oneprobe::inline v0_1
