// What tables answer: one vocabulary for all of them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "oneprobe/erase_outcome.hpp"
#include "oneprobe/map/plan.hpp"

namespace oneprobe::inline v0_1 {

/// How an insertion ended.
enum class insertion : std::uint8_t {
  inserted,    // it is in one of its buckets
  present,     // the key was there; nothing was changed, or its value was assigned
  overflowed,  // it is in the overflow, and stays until it is erased
  full,        // neither had room; nothing was changed
};

/// "inserted", "present", "overflowed", "full".
constexpr std::string_view name_of(insertion outcome) {
  switch (outcome) {
    case insertion::inserted:
      return "inserted";
    case insertion::present:
      return "present";
    case insertion::overflowed:
      return "overflowed";
    case insertion::full:
      return "full";
  }
  return "unknown";
}

/// An insertion's end, and the element with that key: none if the table was full.
template <class Element>
struct insert_result {
  insertion outcome;  // how it ended
  Element* element;   // the one that was inserted or found
};

/// Where a lookup went. The answer is the same as that of find.
struct table_path {
  /// Why a lookup ended where it did.
  enum class stop : std::uint8_t {
    found,              // in a bucket
    absent,             // a bucket that never turned away such a key
    found_in_overflow,  // all candidates turned such keys away; a bucket of the overflow has it
    not_in_overflow,    // ... none of the overflow has it
  };
  stop stopped = stop::absent;          // why it ended
  std::uint32_t accesses = 0;           // buckets of the table
  std::uint32_t overflow_accesses = 0;  // buckets of the overflow
  std::uint32_t lines = 0;              // cache lines of both: tags and notes, and slots compared
  std::uint32_t unread_lines = 0;       // lines of slots asked for ahead, and then not compared
  std::uint32_t level = 0;              // the candidate it stopped at

  /// Whether the key was found.
  constexpr bool contains() const noexcept {
    return stopped == stop::found || stopped == stop::found_in_overflow;
  }
  friend constexpr bool operator==(const table_path&, const table_path&) = default;
};

/// What a table counts; saved with it.
struct table_counts {
  std::uint64_t size = 0;      // elements, those in the overflow included
  std::uint64_t overflow = 0;  // of them in the overflow
  std::array<std::uint64_t, table_plan::most_levels> levels{};  // the others, by level

  friend constexpr bool operator==(const table_counts&, const table_counts&) = default;
};

/// How a table is now, and what it was planned for.
struct table_stats {
  table_counts counts{};               // elements, by place
  table_memory_parts memory{};         // by part
  std::uint64_t planned_elements = 0;  // n of the plan
  std::uint64_t overflow_reserve = 0;  // elements that the overflow is made for
  double load_factor = 0;              // elements over slots, the overflow's left out
  double pressure = 0;                 // elements over planned elements: above 1 it is over-full
  double overflow_pressure = 0;        // elements in the overflow over those reserved for
  std::array<double, table_plan::most_levels> level_load_factors{};  // the same of each level
  double hit_accesses = 0;         // buckets read per element found, the overflow's left out
  double miss_accesses = 0;        // per key that is not there, from the notes as they are
  std::uint64_t stuck_notes = 0;   // notes that counted too many and stay up for good
  double stuck_note_fraction = 0;  // of all notes
  double bytes_per_element = 0;    // all memory over planned elements
};

}  // namespace oneprobe::inline v0_1
