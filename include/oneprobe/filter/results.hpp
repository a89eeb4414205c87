// What filters answer: one vocabulary for all of them.
#pragma once

#include <cstdint>
#include <string_view>

#include "oneprobe/erase_outcome.hpp"
#include "oneprobe/filter/plan.hpp"

namespace oneprobe::inline v0_1 {

/// What an insert found.
enum class insert_outcome : std::uint8_t {
  added,             // it was surely not there before
  possibly_present,  // may_contain would have said yes
};

/// How a merge ended.
enum class merge_outcome : std::uint8_t {
  merged,          // it has the elements of both
  different_plan,  // nothing was changed
  different_seed,  // nothing was changed
};

/// How much a filter holds of what it was planned for.
enum class filter_condition : std::uint8_t {
  as_planned,  // no more elements than planned
  over_full,   // more elements, all of them placed or in the overflow list
  degraded,    // elements were forced into blocks that had no room, or buckets were saturated: the
               // error grows faster
};

/// "as planned", "over-full", "degraded".
constexpr std::string_view name_of(filter_condition condition) {
  switch (condition) {
    case filter_condition::as_planned:
      return "as planned";
    case filter_condition::over_full:
      return "over-full";
    case filter_condition::degraded:
      return "degraded";
  }
  return "unknown";
}

/// Where a query went. The answer is the same as that of may_contain.
struct lookup_path {
  /// Why a query ended where it did.
  enum class stop : std::uint8_t {
    matched,          // all bits of a block (or of the filter) are set, or the fingerprint is there
    ruled_out,        // it is not, and no other place may hold the key
    overflow,         // the overflow list had the last word: it holds the fingerprint
    not_in_overflow,  // ... it does not hold it
  };
  stop stopped = stop::ruled_out;  // why it ended
  std::uint32_t accesses =
      0;                    // blocks read, and the overflow list as one; bits where there are none
  std::uint32_t lines = 0;  // cache lines touched
  std::uint32_t level = 0;  // the candidate it stopped at

  /// What may_contain answered.
  constexpr bool may_contain() const noexcept {
    return stopped == stop::matched || stopped == stop::overflow;
  }
  friend constexpr bool operator==(const lookup_path&, const lookup_path&) = default;
};

/// What a filter counts while it is filled; saved with it.
struct filter_counts {
  std::uint64_t size = 0;      // inserts that answered `added`; fingerprints held, where those are
  std::uint64_t overflow = 0;  // entries of the overflow list
  std::uint64_t forced = 0;    // elements forced into a block that had refused them, or for which
                               // a bucket of fingerprints was saturated
  std::uint64_t dropped = 0;   // entries a merge had no slot for: the list then answers yes to all

  friend constexpr bool operator==(const filter_counts&, const filter_counts&) = default;
};

/// A sum of such counts that does not wrap: they may come from a file, and one that came to 0 again
/// would deny that something is missing.
constexpr std::uint64_t added_up(std::uint64_t a, std::uint64_t b) noexcept {
  return b > ~a ? ~std::uint64_t{0} : a + b;
}

/// How a filter is now, and what it was planned for.
struct filter_stats {
  filter_counts counts{};                                     // of what happened to it
  filter_condition condition = filter_condition::as_planned;  // what follows from the counts
  filter_memory_parts memory{};                               // by part
  std::uint64_t planned_elements = 0;                         // n of the plan
  double planned_fpr = 0;                                     // at planned_elements
  double current_fpr = 0;                                     // from the bits as they are
  double bits_per_element = 0;                                // all memory over planned elements
  double fill_fraction = 0;  // set bits of all bits that elements can set, or taken slots of all
};

}  // namespace oneprobe::inline v0_1
