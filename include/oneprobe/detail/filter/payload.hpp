// What can be said about a filter's bytes once all of them have been read.
//
//   | cells, to a whole line | overflow list, to a whole line |
//
// The checksum finds damage. The rest holds bytes whose checksum fits to what every filter keeps
// true: unused bits are zero, no load counter is beyond what a block can reach, a bucket of
// fingerprints has them in ascending order and is full if it handed one on, no more buckets are
// saturated than elements were counted for which one was, and the overflow list has the entries
// that were counted, so that at least one slot is free.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "oneprobe/detail/io/bytes.hpp"
#include "oneprobe/detail/io/checksum.hpp"
#include "oneprobe/files.hpp"
#include "oneprobe/filter/plan.hpp"
#include "oneprobe/filter/results.hpp"

namespace oneprobe::inline v0_1 {
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

/// What the bits of one bucket of fingerprints make it.
enum class bucket_state { keeps, saturated, impossible };

/// A bucket that a filter can fill keeps no more fingerprints than fit, ascending, nothing in free
/// slots, and has passed on only what a full one had to; or it is saturated.
inline bucket_state state_of_bucket(std::span<const std::byte> bucket,
                                    const fingerprint_bucket_shape& shape) noexcept {
  std::array<std::uint64_t, fingerprint_bucket_shape::bits / 64 + 1>
      words{};  // and one that is zero
  byte_reader in(bucket);
  for (std::size_t i = 0; i + 1 < words.size(); ++i) words[i] = in.take<std::uint64_t>();
  const auto bits = [&](unsigned first, unsigned count) {
    const unsigned shift = first % 64;
    const std::uint64_t low = words[first / 64] >> shift;
    const std::uint64_t high = shift == 0 ? 0 : words[first / 64 + 1] << (64 - shift);
    return (low | high) & ((std::uint64_t{1} << count) - 1);
  };
  const unsigned header = shape.header_bits();
  unsigned count = 0;
  std::uint64_t last = 0;
  for (unsigned bit = 0; bit < header; ++bit) {
    if ((words[bit / 64] >> bit % 64 & 1) == 0) continue;
    const unsigned quotient = bit - count;
    if (count == shape.bucket_capacity || quotient >= shape.quotients())
      return bucket_state::impossible;
    const std::uint64_t fingerprint =
        std::uint64_t{quotient} << shape.remainder_bits |
        bits(header + 1 + count * shape.remainder_bits, shape.remainder_bits);
    if (count > 0 && fingerprint <= last) return bucket_state::impossible;
    last = fingerprint;
    ++count;
  }
  for (unsigned slot = count; slot < shape.bucket_capacity; ++slot)
    if (bits(header + 1 + slot * shape.remainder_bits, shape.remainder_bits) != 0)
      return bucket_state::impossible;
  const bool passed_on = bits(header, 1) != 0;
  if (!passed_on || count == shape.bucket_capacity) return bucket_state::keeps;
  return count == 0 ? bucket_state::saturated : bucket_state::impossible;
}

/// What is wrong with the buckets of a fingerprint filter, or nothing.
inline std::optional<std::string> find_fault_in_buckets(std::span<const std::byte> buckets,
                                                        const filter_plan& plan,
                                                        const filter_counts& counts) {
  constexpr std::size_t bucket_bytes = fingerprint_bucket_shape::bits / 8;
  if (plan.kind != filter_kind::fingerprint) return std::nullopt;
  const std::uint64_t last_level = plan.blocks() - plan.level_buckets[plan.levels - 1];
  std::uint64_t saturated = 0;
  for (std::uint64_t i = 0; i < plan.blocks(); ++i) {
    const bucket_state state =
        state_of_bucket(buckets.subspan(static_cast<std::size_t>(i) * bucket_bytes, bucket_bytes),
                        plan.fingerprint_bucket);
    if (state == bucket_state::impossible || (state == bucket_state::saturated && i < last_level))
      return "a bucket of fingerprints is none that a filter fills";
    if (state == bucket_state::saturated) ++saturated;
  }
  // Every bucket is saturated for an element of its own.
  if (saturated > counts.forced)
    return "forced must be at least the number of saturated buckets, " + std::to_string(saturated) +
           "; found " + std::to_string(counts.forced);
  return std::nullopt;
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
  if (const auto fault = detail::find_fault_in_buckets(cells, plan, counts))
    return inconsistent(*fault);

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

}  // namespace oneprobe::inline v0_1
