// The parameter section of a file of several filters: a growing or a rotating one.
//
//   0    4   version of this section, 1       56   8   error that is left for parts to come
//   4    4   hash: 1 seeded_hash, 0 another   64   8   elements of the newest part when it grows
//   8    8   seed                             72   4   growth: 0 planned, 1 no memory, 2 no plan
//   16   8   stated error (fpr)               76   52  zero
//   24   8   number of parts                  128  8   bytes of part 1, the oldest
//   32   8   elements of the first part       136  8   bytes of part 2, and so on
//   40   8   growth                                    zeros to a multiple of 64
//   48   8   tightening
//
// Bytes 32 to 127 are zero in a rotating filter. The payload is the parts, oldest first, each a
// whole filter file of its own: since these are multiples of 64 bytes long, every part is aligned
// as it would be in its own file. docs/formats/parts.md has the rest.
// Pure functions on values, thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oneprobe/detail/filter/parameters.hpp"
#include "oneprobe/detail/io/bytes.hpp"
#include "oneprobe/detail/io/checksum.hpp"
#include "oneprobe/detail/io/preamble.hpp"
#include "oneprobe/files.hpp"

namespace oneprobe::inline v0_1 {

struct parts_parameters {
  static constexpr std::uint32_t version = 1;
  static constexpr std::size_t fixed_bytes = 128;  // before the lengths of the parts
  static constexpr std::uint32_t largest_growth_state = 2;
  /// A filter file without a payload is none.
  static constexpr std::uint64_t least_part_bytes =
      preamble_bytes + filter_parameters::bytes + section_alignment;

  parts_kind kind = parts_kind::growing;
  file_hash hash = file_hash::seeded;
  std::uint64_t seed = 0;
  double fpr = 0;

  // growing only
  std::uint64_t first_elements = 0;
  double growth = 0;
  double tightening = 0;
  double left = 0;
  std::uint64_t grow_at = 0;
  std::uint32_t growth_state = 0;

  std::vector<std::uint64_t> part_bytes{};

  /// REQUIRES: fewer parts than 2^60.
  static constexpr std::uint64_t section_bytes(std::uint64_t parts) noexcept {
    return (fixed_bytes + 8 * parts + section_alignment - 1) / section_alignment *
           section_alignment;
  }
  friend bool operator==(const parts_parameters&, const parts_parameters&) = default;
};

/// The checksum of bytes that lie in several places: that of all of them in a row.
class running_checksum {
 public:
  running_checksum() noexcept { XXH3_64bits_reset(&state_); }
  void add(std::span<const std::byte> bytes) noexcept {
    if (!bytes.empty()) XXH3_64bits_update(&state_, bytes.data(), bytes.size());
  }
  std::uint64_t value() const noexcept { return XXH3_64bits_digest(&state_); }

 private:
  XXH3_state_t state_{};
};

namespace detail {

inline load_failure inconsistent_file(std::string_view name, std::string_view what) {
  return {load_error::inconsistent_parameters,
          std::string(name) + " has inconsistent parameters: " + std::string(what)};
}

}  // namespace detail

inline std::vector<std::byte> encode(const parts_parameters& from) {
  std::vector<std::byte> bytes(
      static_cast<std::size_t>(parts_parameters::section_bytes(from.part_bytes.size())));
  byte_writer out(std::span<std::byte>(bytes).first(parts_parameters::fixed_bytes));
  out.put(parts_parameters::version);
  out.put(static_cast<std::uint32_t>(from.hash));
  out.put(from.seed);
  out.put(from.fpr);
  out.put(std::uint64_t{from.part_bytes.size()});
  if (from.kind == parts_kind::growing) {
    out.put(from.first_elements);
    out.put(from.growth);
    out.put(from.tightening);
    out.put(from.left);
    out.put(from.grow_at);
    out.put(from.growth_state);
  }
  byte_writer lengths(std::span<std::byte>(bytes).subspan(parts_parameters::fixed_bytes));
  for (const std::uint64_t part : from.part_bytes) lengths.put(part);
  return bytes;
}

/// Reads the parameter section of a file with this preamble. What is returned has parts that fill
/// the payload, each long enough to be a filter file; whether the numbers are those of a filter,
/// the filter says. REQUIRES: a preamble of one of these kinds.
inline loaded<parts_parameters> decode_parts_parameters(std::span<const std::byte> section,
                                                        const preamble& head,
                                                        std::string_view name) {
  const auto inconsistent = [&](std::string_view what) {
    return detail::inconsistent_file(name, what);
  };
  if (checksum_of(section) != head.parameter_checksum)
    return load_failure{load_error::checksum_mismatch,
                        std::string(name) + " has a checksum mismatch in its parameters"};
  byte_reader in(section);
  const auto its_version = in.take<std::uint32_t>();
  if (its_version > parts_parameters::version)
    return load_failure{load_error::newer_format,
                        std::string(name) + " has a newer format: version " +
                            std::to_string(its_version) + " of its parameters"};
  if (its_version == 0 || section.size() < parts_parameters::fixed_bytes)
    return inconsistent("the parameter section has " + std::to_string(section.size()) + " bytes");

  parts_parameters read;
  read.kind = static_cast<parts_kind>(head.kind);
  read.hash = static_cast<file_hash>(in.take<std::uint32_t>());
  read.seed = in.take<std::uint64_t>();
  read.fpr = in.take<double>();
  const auto parts = in.take<std::uint64_t>();
  if (read.kind == parts_kind::growing) {
    read.first_elements = in.take<std::uint64_t>();
    read.growth = in.take<double>();
    read.tightening = in.take<double>();
    read.left = in.take<double>();
    read.grow_at = in.take<std::uint64_t>();
    read.growth_state = in.take<std::uint32_t>();
  }
  if (read.hash != file_hash::own && read.hash != file_hash::seeded)
    return inconsistent("hash must be 0 or 1; found " +
                        std::to_string(static_cast<std::uint32_t>(read.hash)));
  if (read.growth_state > parts_parameters::largest_growth_state)
    return inconsistent("growth state must be 0 to 2; found " + std::to_string(read.growth_state));
  // Growth has no largest number of parts: a planner may make them as small as it likes. What there
  // is room for bounds them.
  if (parts == 0 || parts > (section.size() - parts_parameters::fixed_bytes) / 8 ||
      parts_parameters::section_bytes(parts) != section.size())
    return inconsistent("the number of parts must be that of the lengths in a section of " +
                        std::to_string(section.size()) + " bytes; found " + std::to_string(parts));

  byte_reader lengths(section.subspan(parts_parameters::fixed_bytes));
  read.part_bytes.resize(static_cast<std::size_t>(parts));
  std::uint64_t left = head.payload_bytes;
  for (std::size_t i = 0; i < read.part_bytes.size(); ++i) {
    const auto bytes = lengths.take<std::uint64_t>();
    // Subtractions only: a sum of lengths from a file may wrap around.
    if (bytes < parts_parameters::least_part_bytes || bytes % section_alignment != 0 ||
        bytes > left)
      return inconsistent("part " + std::to_string(i + 1) + " of " + std::to_string(parts) +
                          " must have " + std::to_string(parts_parameters::least_part_bytes) +
                          " bytes or more, a multiple of 64, and at most the " +
                          std::to_string(left) + " that are left; found " + std::to_string(bytes));
    read.part_bytes[i] = bytes;
    left -= bytes;
  }
  if (left != 0)
    return inconsistent("the parts must fill the payload; " + std::to_string(left) +
                        " bytes are left over");
  // Whatever was not read above is seen here.
  if (!std::ranges::equal(encode(read), section))
    return inconsistent("a byte that means nothing in a " + std::string(name_of(read.kind)) +
                        " filter is not 0");
  return read;
}

}  // namespace oneprobe::inline v0_1
