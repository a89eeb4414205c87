// What can be said about a filter's bytes once all of them have been read.
//
//   | cells, to a whole line | overflow list, to a whole line |
//
// The checksum finds damage. The rest holds bytes whose checksum fits to what every filter keeps
// true: unused bits are zero, no load counter is beyond what a block can reach, and the overflow
// list has the entries that were counted, so that at least one slot is free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "oneprobe/core/filter_answers.hpp"
#include "oneprobe/core/filter_plan.hpp"
#include "oneprobe/format/bytes.hpp"
#include "oneprobe/format/checksum.hpp"
#include "oneprobe/format/load_failure.hpp"

namespace oneprobe {
namespace detail {

/// Whether all bits from `first_bit` on are zero.
inline bool zero_from(std::span<const std::byte> bytes, std::uint64_t first_bit) noexcept {
  auto at = static_cast<std::size_t>(first_bit / 8);
  if (first_bit % 8 != 0 &&
      std::to_integer<unsigned>(bytes[at++]) >> static_cast<unsigned>(first_bit % 8) != 0)
    return false;
  return byte_reader(bytes.subspan(at)).only_zeros_left();
}

/// Whether every block's load counter has a value that a filter can give it.
inline bool counters_are_possible(std::span<const std::byte> blocks,
                                  const filter_plan& plan) noexcept {
  const block_state& state = plan.state;
  const unsigned width = state.counter_bits();
  if (plan.kind != filter_kind::balanced || width == 0) return true;
  // The counter, and the tracking bits after it, are the last bits of a block's last word.
  constexpr unsigned word_bits = 64;
  const unsigned first_bit = word_bits - (state.tracks() ? state.tracking_bits : 0) - width;
  const std::uint32_t flagged = state.flags() ? (state.admit_probability > 0 ? 2 : 1) : 0;
  const std::size_t block_bytes = plan.block_bits / 8;
  for (std::uint64_t block = 1; block <= plan.blocks(); ++block) {
    const auto word = blocks.subspan(static_cast<std::size_t>(block * block_bytes) - 8, 8);
    const std::uint64_t counter =
        byte_reader(word).take<std::uint64_t>() >> first_bit & ((std::uint64_t{1} << width) - 1);
    if (counter > state.largest_load() + flagged) return false;
  }
  return true;
}

}  // namespace detail

/// None if the payload is one that a filter of this plan can have, with these counts and this
/// checksum. REQUIRES: as many bytes as plan.memory(), and a plan without a fault.
[[nodiscard]] inline std::optional<load_failure> verify_payload(std::span<const std::byte> payload,
                                                                std::uint64_t checksum,
                                                                const filter_plan& plan,
                                                                const filter_counts& counts,
                                                                std::string_view name) {
  if (checksum_of(payload) != checksum)
    return load_failure{load_error::checksum_mismatch,
                        std::string(name) + " has a checksum mismatch in its payload"};
  const auto inconsistent = [&](std::string_view what) {
    return load_failure{load_error::inconsistent_parameters,
                        std::string(name) + " has inconsistent parameters: " + std::string(what)};
  };
  const auto cells = payload.first(static_cast<std::size_t>(plan.memory().cells));
  const auto overflow = payload.subspan(cells.size());
  const std::uint64_t cell_bits =
      plan.in_blocks() ? plan.blocks() * plan.block_bits : plan.cells * plan.counter_bits;
  if (!detail::zero_from(cells, cell_bits)) return inconsistent("a bit after the last cell is set");
  if (!detail::counters_are_possible(cells, plan))
    return inconsistent("a load counter is beyond what a block can reach");

  constexpr std::uint64_t slot_bits = 32;
  if (!detail::zero_from(overflow, plan.overflow_slots * slot_bits))
    return inconsistent("a bit after the last slot of the overflow list is set");
  std::uint64_t entries = 0;
  byte_reader slots(overflow);
  for (std::uint64_t i = 0; i < plan.overflow_slots; ++i)
    if (slots.take<std::uint32_t>() != 0) ++entries;
  if (entries != counts.overflow)
    return inconsistent("the overflow list must have " + std::to_string(counts.overflow) +
                        " entries; found " + std::to_string(entries));
  return std::nullopt;
}

}  // namespace oneprobe
