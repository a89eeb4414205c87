// What can be said about a table's bytes without knowing its elements or its tags.
//
//   | side array | slots | side array of the overflow | slots of the overflow |   each a whole line
//
// The checksum finds damage; detail/map/audit.hpp holds the side arrays to what tables keep true.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "oneprobe/detail/io/checksum.hpp"
#include "oneprobe/files.hpp"
#include "oneprobe/map/plan.hpp"

namespace oneprobe::inline v0_1 {
namespace detail {

/// The bytes after the last bucket of each part, up to a whole line.
/// REQUIRES: as many bytes as the plan says.
template <class Byte>
std::array<std::span<Byte>, 4> paddings_of(std::span<Byte> payload, const table_plan& plan,
                                           std::uint64_t slot_bytes) noexcept {
  const table_memory_parts parts = plan.memory(slot_bytes);
  const std::uint64_t bucket_bytes = plan.bucket_capacity * slot_bytes;
  std::uint64_t end = 0;
  const auto padding_after = [&](std::uint64_t used, std::uint64_t part) {
    end += part;
    return payload.subspan(static_cast<std::size_t>(end - part + used),
                           static_cast<std::size_t>(part - used));
  };
  // In this order: an initialiser's parts are evaluated from left to right.
  return {padding_after(plan.buckets() * table_plan::side_bytes, parts.side),
          padding_after(plan.buckets() * bucket_bytes, parts.slots),
          padding_after(plan.overflow_buckets * table_plan::side_bytes, parts.overflow_side),
          padding_after(plan.overflow_buckets * bucket_bytes, parts.overflow_slots)};
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

}  // namespace oneprobe::inline v0_1
