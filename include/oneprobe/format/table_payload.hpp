// What can be said about a table's bytes without knowing its elements.
//
//   | side array | slots | side array of the overflow | slots of the overflow |   each a whole line
//
//   entry of the side array: | low tags, 16 x 8 | high tags, 16 x 4 | notes, 16 x 4 |   32 bytes
//
// The checksum finds damage. The rest holds the side arrays to what every table keeps true, so that
// whatever bytes the slots have, no operation leaves the memory: a slot beyond the bucket capacity
// is free, and the slots that are taken are as many as were counted.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "oneprobe/core/table_answers.hpp"
#include "oneprobe/core/table_plan.hpp"
#include "oneprobe/core/word_access.hpp"
#include "oneprobe/format/bytes.hpp"
#include "oneprobe/format/checksum.hpp"
#include "oneprobe/format/load_failure.hpp"
#include "oneprobe/format/table_parameters.hpp"

namespace oneprobe {
namespace detail {

/// The parts of a payload that has the size of its plan.
struct table_sections {
  std::span<const std::byte> side;
  std::span<const std::byte> slots;
  std::span<const std::byte> overflow_side;
  std::span<const std::byte> overflow_slots;

  table_sections(std::span<const std::byte> payload, const table_memory_parts& parts) noexcept
      : side(payload.first(static_cast<std::size_t>(parts.side))),
        slots(payload.subspan(side.size(), static_cast<std::size_t>(parts.slots))),
        overflow_side(payload.subspan(side.size() + slots.size(),
                                      static_cast<std::size_t>(parts.overflow_side))),
        overflow_slots(payload.last(static_cast<std::size_t>(parts.overflow_slots))) {}
};

/// The tags of one bucket in a side array.
class side_entry {
 public:
  static constexpr std::size_t bytes = table_plan::side_bytes;
  static constexpr std::size_t notes_at = 24;
  static constexpr std::size_t notes_bytes = 8;

  explicit side_entry(const std::byte* entry) noexcept
      : words_{plain_words::load(entry), plain_words::load(entry + 8),
               plain_words::load(entry + 16)} {}

  std::uint32_t taken_slots() const noexcept {
    return used_bytes(words_[0]) + used_bytes(words_[1]);
  }
  bool only_uses(std::uint32_t bucket_capacity) const noexcept {
    constexpr std::uint32_t half = 8;  // of the low tags in each of two words
    const std::uint32_t last = bucket_capacity > half ? bucket_capacity - half : 0;
    return only_low_bits(words_[0], 8 * std::min(bucket_capacity, half)) &&
           only_low_bits(words_[1], 8 * last) && only_low_bits(words_[2], 4 * bucket_capacity);
  }

 private:
  static constexpr bool only_low_bits(std::uint64_t word, std::uint32_t bits) noexcept {
    return bits >= word_bits || word >> bits == 0;
  }
  static constexpr std::uint32_t used_bytes(std::uint64_t word) noexcept {
    constexpr std::uint64_t sevens = 0x7f7f'7f7f'7f7f'7f7f;
    return static_cast<std::uint32_t>(std::popcount((((word & sevens) + sevens) | word) & ~sevens));
  }

  std::array<std::uint64_t, 3> words_;
};

/// The taken slots of `buckets` buckets from `first` on; none if a slot beyond the capacity is.
inline std::optional<std::uint64_t> taken_slots(std::span<const std::byte> side,
                                                std::uint64_t first, std::uint64_t buckets,
                                                std::uint32_t bucket_capacity) noexcept {
  std::uint64_t taken = 0;
  for (std::uint64_t bucket = first; bucket < first + buckets; ++bucket) {
    const side_entry entry(side.data() + bucket * side_entry::bytes);
    if (!entry.only_uses(bucket_capacity)) return std::nullopt;
    taken += entry.taken_slots();
  }
  return taken;
}

inline bool only_zeros_from(std::span<const std::byte> bytes, std::uint64_t at) noexcept {
  return byte_reader(bytes.subspan(static_cast<std::size_t>(at))).only_zeros_left();
}

/// Whether the counts are those of this very payload.
enum class counted : std::uint8_t { yes, not_yet };

/// What no table of these parameters has in its side arrays and around them.
inline std::optional<std::string> find_payload_fault(std::span<const std::byte> payload,
                                                     const table_parameters& from,
                                                     counted counts_are_known) {
  const table_plan& plan = from.plan;
  const std::uint64_t bucket_slot_bytes =
      std::uint64_t{plan.bucket_capacity} * from.shape.slot_bytes;
  const table_sections parts(payload, plan.memory(from.shape.slot_bytes));
  if (!only_zeros_from(parts.side, plan.buckets() * side_entry::bytes) ||
      !only_zeros_from(parts.slots, plan.buckets() * bucket_slot_bytes) ||
      !only_zeros_from(parts.overflow_side, plan.overflow_buckets * side_entry::bytes) ||
      !only_zeros_from(parts.overflow_slots, plan.overflow_buckets * bucket_slot_bytes))
    return "a byte after the last bucket is not 0";

  std::optional<std::string> fault;
  const auto check = [&](std::string_view where, std::span<const std::byte> side,
                         std::uint64_t first, std::uint64_t buckets, std::uint64_t expected) {
    if (fault) return;
    const auto taken = taken_slots(side, first, buckets, plan.bucket_capacity);
    if (!taken)
      fault = "a slot beyond the bucket capacity is taken";
    else if (counts_are_known == counted::yes && *taken != expected)
      fault = std::string(where) + " must have " + std::to_string(expected) + " elements; found " +
              std::to_string(*taken);
  };
  check("the overflow", parts.overflow_side, 0, plan.overflow_buckets, from.counts.overflow);
  if (!is_levelled(plan)) {
    check("all levels", parts.side, 0, plan.buckets(), from.counts.size - from.counts.overflow);
    return fault;
  }
  std::uint64_t first = 0;
  for (std::uint32_t level = 0; level < plan.levels; ++level) {
    check("level " + std::to_string(level), parts.side, first, plan.level_buckets[level],
          from.counts.levels[level]);
    first += plan.level_buckets[level];
  }
  return fault;
}

}  // namespace detail

/// None if the payload has this checksum. Reads all of it.
[[nodiscard]] inline std::optional<load_failure> verify_checksum(std::span<const std::byte> payload,
                                                                 std::uint64_t checksum,
                                                                 std::string_view name) {
  if (checksum_of(payload) == checksum) return std::nullopt;
  return load_failure{load_error::checksum_mismatch,
                      std::string(name) + " has a checksum mismatch in its payload"};
}

/// None if the side arrays are those of a table with these parameters. Reads only them.
/// REQUIRES: as many bytes as the plan says, and parameters as decode_table_parameters gives them.
[[nodiscard]] inline std::optional<load_failure> verify_side_arrays(
    std::span<const std::byte> payload, const table_parameters& parameters, std::string_view name) {
  if (const auto fault = detail::find_payload_fault(payload, parameters, detail::counted::yes))
    return detail::inconsistent(name, *fault);
  return std::nullopt;
}

}  // namespace oneprobe
