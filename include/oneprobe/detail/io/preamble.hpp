// The first 64 bytes of every file of the library: what it is, and how long its two sections are.
//
//   0   8  magic            89 4f 4e 45 50 0d 0a 1a: a byte above 127, "ONEP", two line ends that
//                           a transfer as text would change, an end-of-file mark
//   8   2  format version
//   10  2  kind             what the file holds
//   12  4  zero
//   16  8  parameter bytes  a multiple of 64
//   24  8  payload bytes    a multiple of 64
//   32  8  checksum of the parameter section
//   40  8  checksum of the payload
//   48  8  zero
//   56  8  checksum of the 56 bytes before it
//
//   | preamble 64 | parameters | payload |      nothing follows
//
// All numbers are little-endian. Magic, version and the preamble's own checksum stay where they are
// in every later version, so that any version can tell damage from progress.
// docs/formats/ has the rest. Pure functions on values, thread-safe, no memory of their own.
#pragma once

#include <algorithm>
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

namespace oneprobe::inline v0_1 {

inline constexpr std::size_t preamble_bytes = 64;
inline constexpr std::size_t section_alignment = 64;
inline constexpr std::uint16_t format_version = 1;
inline constexpr std::array<std::byte, 8> file_magic = {
    std::byte{0x89}, std::byte{'O'},  std::byte{'N'},  std::byte{'E'},
    std::byte{'P'},  std::byte{0x0d}, std::byte{0x0a}, std::byte{0x1a}};

struct preamble {
  std::uint16_t version = format_version;
  std::uint16_t kind = 0;
  std::uint64_t parameter_bytes = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t parameter_checksum = 0;
  std::uint64_t payload_checksum = 0;

  std::uint64_t payload_begin() const noexcept { return preamble_bytes + parameter_bytes; }
  std::uint64_t file_bytes() const noexcept { return payload_begin() + payload_bytes; }
  friend bool operator==(const preamble&, const preamble&) = default;
};

inline std::array<std::byte, preamble_bytes> encode(const preamble& from) noexcept {
  std::array<std::byte, preamble_bytes> bytes{};
  byte_writer out(bytes);
  out.put(file_magic);
  out.put(from.version);
  out.put(from.kind);
  out.put(std::uint32_t{0});
  out.put(from.parameter_bytes);
  out.put(from.payload_bytes);
  out.put(from.parameter_checksum);
  out.put(from.payload_checksum);
  out.put(std::uint64_t{0});
  out.put(checksum_of(std::span<const std::byte>(bytes).first(out.written())));
  return bytes;
}

/// Reads a preamble. `head` is the beginning of a file (or all of it, if it is shorter than 64
/// bytes) of `file_bytes` bytes; `name` is what sentences call it. What is returned is consistent
/// with the length of the file: both sections lie in it, and nothing follows them.
inline loaded<preamble> decode_preamble(std::span<const std::byte> head, std::uint64_t file_bytes,
                                        std::string_view name) {
  const std::size_t compared = std::min(head.size(), file_magic.size());
  if (compared == 0 ||
      !std::equal(file_magic.begin(), file_magic.begin() + static_cast<std::ptrdiff_t>(compared),
                  head.begin()))
    return load_failure{load_error::not_oneprobe_file,
                        std::string(name) + " is not an oneprobe file"};
  const auto truncated = [&](std::uint64_t expected) {
    return load_failure{load_error::truncated, std::string(name) + " is truncated: it has " +
                                                   std::to_string(file_bytes) + " of at least " +
                                                   std::to_string(expected) + " bytes"};
  };
  const auto inconsistent = [&](std::string_view what) {
    return load_failure{load_error::inconsistent_parameters,
                        std::string(name) + " has inconsistent parameters: " + std::string(what)};
  };
  if (head.size() < preamble_bytes || file_bytes < preamble_bytes) return truncated(preamble_bytes);

  byte_reader in(head.first(preamble_bytes));
  in.take(file_magic.size());
  preamble read;
  read.version = in.take<std::uint16_t>();
  read.kind = in.take<std::uint16_t>();
  const std::uint32_t zero = in.take<std::uint32_t>();
  read.parameter_bytes = in.take<std::uint64_t>();
  read.payload_bytes = in.take<std::uint64_t>();
  read.parameter_checksum = in.take<std::uint64_t>();
  read.payload_checksum = in.take<std::uint64_t>();
  const std::uint64_t also_zero = in.take<std::uint64_t>();
  const std::size_t covered = preamble_bytes - in.left();
  if (in.take<std::uint64_t>() != checksum_of(head.first(covered)))
    return load_failure{load_error::checksum_mismatch,
                        std::string(name) + " has a checksum mismatch in its preamble"};
  if (read.version > format_version)
    return load_failure{load_error::newer_format,
                        std::string(name) + " has a newer format: version " +
                            std::to_string(read.version) + ", and this program reads up to " +
                            std::to_string(format_version)};
  if (read.version == 0) return inconsistent("format version 0");
  if (zero != 0 || also_zero != 0) return inconsistent("a reserved byte of the preamble is not 0");
  if (read.parameter_bytes % section_alignment != 0 || read.payload_bytes % section_alignment != 0)
    return inconsistent("a section is not a multiple of 64 bytes");

  // Subtractions only: a sum of lengths from a file may wrap around.
  const std::uint64_t sections = file_bytes - preamble_bytes;
  if (read.parameter_bytes > sections) return truncated(read.parameter_bytes);
  if (read.payload_bytes > sections - read.parameter_bytes)
    return truncated(std::max(read.payload_bytes, read.file_bytes()));
  if (read.file_bytes() != file_bytes)
    return load_failure{load_error::trailing_bytes,
                        std::string(name) + " has trailing bytes: " + std::to_string(file_bytes) +
                            " bytes, and its sections end after " +
                            std::to_string(read.file_bytes())};
  return read;
}

namespace detail {

/// What is wrong with a parameter section of fixed length before its fields are read. It begins
/// with its version, which is looked at before the checksum: of a section with another length only
/// the beginning is here.
inline std::optional<load_failure> find_section_fault(std::span<const std::byte> section,
                                                      const preamble& head,
                                                      std::uint32_t known_version,
                                                      std::size_t known_bytes,
                                                      std::string_view name) {
  const auto newer = [&](std::uint32_t version) {
    return load_failure{load_error::newer_format,
                        std::string(name) + " has a newer format: version " +
                            std::to_string(version) + " of its parameters"};
  };
  const auto wrong_length = [&](std::uint64_t bytes) {
    return inconsistent(name, "the parameter section has " + std::to_string(bytes) + " bytes");
  };
  if (section.size() < sizeof known_version) return wrong_length(section.size());
  const auto version = byte_reader(section).take<std::uint32_t>();
  if (head.parameter_bytes != known_bytes)
    return version > known_version ? newer(version) : wrong_length(head.parameter_bytes);
  if (checksum_of(section) != head.parameter_checksum)
    return load_failure{load_error::checksum_mismatch,
                        std::string(name) + " has a checksum mismatch in its parameters"};
  if (version > known_version) return newer(version);
  if (version == 0) return inconsistent(name, "version 0 of the parameter section");
  return std::nullopt;
}

}  // namespace detail
}  // namespace oneprobe::inline v0_1
