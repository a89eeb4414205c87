// The parameter section of a table file: everything a table is, but its bytes.
//
//   0    4   version of this section, 1       56   4   levels
//   4    4   hash: 1 seeded_hash, 0 another   60   4   zero
//   8    8   seed                             64   8   elements it was planned for
//   16   8   schema                           72   64  buckets of levels 0 to 7
//   24   4   state: 0 closed, 1 open          136  8   overflow buckets
//   28   1   byte order of the elements       144  8   overflow reserve
//   29   1   workload                         152  56  seven predictions
//   30   1   scheme                           208  8   elements
//   31   1   zero                             216  8   of them in the overflow
//   32   4   key bytes                        224  64  the others, by candidate number 0 to 7
//   36   4   value bytes                      288  160 zero
//   40   4   slot bytes
//   44   4   slot alignment
//   48   4   bucket capacity
//   52   4   choices
//
// With the preamble that is 512 bytes: a writer that changes a table in its file replaces them by
// one write, and disks write 512 bytes as a whole. docs/formats/table.md has the rest.
// Pure functions on values, thread-safe.
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

#include "oneprobe/detail/io/bytes.hpp"
#include "oneprobe/detail/io/file_hash.hpp"
#include "oneprobe/detail/io/file_kind.hpp"
#include "oneprobe/detail/io/preamble.hpp"
#include "oneprobe/detail/planning/plan_check.hpp"
#include "oneprobe/files.hpp"
#include "oneprobe/map/plan.hpp"
#include "oneprobe/map/results.hpp"

namespace oneprobe::inline v0_1 {

enum class table_file_state : std::uint32_t {
  closed = 0,
  open = 1,  // for writing: counts and payload checksum are those of another moment
};

enum class byte_order : std::uint8_t { little_endian = 1, big_endian = 2 };

constexpr std::string_view name_of(byte_order order) {
  switch (order) {
    case byte_order::little_endian:
      return "little-endian";
    case byte_order::big_endian:
      return "big-endian";
  }
  return "unknown";
}

inline constexpr byte_order own_byte_order =
    std::endian::native == std::endian::big ? byte_order::big_endian : byte_order::little_endian;

/// What a file says of the bytes of an element.
struct element_shape {
  std::uint32_t key_bytes = 0;
  std::uint32_t value_bytes = 0;  // 0: no value, or an empty one
  std::uint32_t slot_bytes = 0;
  std::uint32_t slot_alignment = 1;
  byte_order order = own_byte_order;

  friend constexpr bool operator==(const element_shape&, const element_shape&) = default;
};

/// What a file says of a table, besides its elements.
struct table_parameters {
  static constexpr std::uint32_t version = 1;  // of this part of the format
  static constexpr std::size_t bytes = 448;    // of it in a file

  table_plan plan{};
  table_counts counts{};
  element_shape shape{};     // of an element
  std::uint64_t schema = 0;  // the caller's number for what keys and values mean
  file_hash hash = file_hash::seeded;
  std::uint64_t seed = 0;                             // of the hash
  table_file_state state = table_file_state::closed;  // whether a writer has it open
};

namespace detail {

inline std::optional<std::string> find_fault(const element_shape& shape) {
  plan_check check;
  check(shape.slot_bytes >= 1 && shape.slot_bytes <= table_plan::most_slot_bytes, "slot bytes",
        "1 to 65536", shape.slot_bytes);
  check(std::has_single_bit(shape.slot_alignment) && shape.slot_alignment <= 64 &&
            shape.slot_bytes % shape.slot_alignment == 0,
        "slot alignment", "a power of two up to 64 that divides the slot bytes",
        shape.slot_alignment);
  check(shape.key_bytes <= shape.slot_bytes, "key bytes", "no more than the slot bytes",
        shape.key_bytes);
  check(shape.value_bytes <= shape.slot_bytes, "value bytes", "no more than the slot bytes",
        shape.value_bytes);
  check(name_of(shape.order) != "unknown", "byte order", "1 (little-endian) or 2 (big-endian)",
        static_cast<unsigned>(shape.order));
  return check.fault;
}

/// What no table of this plan can have counted. REQUIRES: a plan without a fault.
inline std::optional<std::string> find_fault(const table_counts& counts, const table_plan& plan) {
  plan_check check;
  check(counts.overflow <= plan.overflow_buckets * plan.bucket_capacity, "overflow",
        "no more than the overflow has slots", counts.overflow);
  std::uint64_t sum = counts.overflow;
  for (std::uint32_t i = 0; i < table_plan::most_levels; ++i) {
    const std::uint64_t buckets = i >= plan.choices    ? 0
                                  : plan.is_levelled() ? plan.level_buckets[i]
                                                       : plan.buckets();
    check(counts.levels[i] <= buckets * plan.bucket_capacity, "elements of a level",
          "no more than it has slots", counts.levels[i]);
    sum += check.fault ? 0 : counts.levels[i];
  }
  check(counts.size == sum, "size", "the sum of all levels and the overflow", counts.size);
  return check.fault;
}

}  // namespace detail

inline std::array<std::byte, table_parameters::bytes> encode(
    const table_parameters& from) noexcept {
  std::array<std::byte, table_parameters::bytes> bytes{};
  const table_plan& plan = from.plan;
  byte_writer out(bytes);
  out.put(table_parameters::version);
  out.put(static_cast<std::uint32_t>(from.hash));
  out.put(from.seed);
  out.put(from.schema);
  out.put(static_cast<std::uint32_t>(from.state));
  out.put(static_cast<std::uint8_t>(from.shape.order));
  out.put(static_cast<std::uint8_t>(plan.workload));
  out.put(static_cast<std::uint8_t>(plan.scheme));
  out.put(std::uint8_t{0});
  out.put(from.shape.key_bytes);
  out.put(from.shape.value_bytes);
  out.put(from.shape.slot_bytes);
  out.put(from.shape.slot_alignment);
  out.put(plan.bucket_capacity);
  out.put(plan.choices);
  out.put(plan.levels);
  out.put(std::uint32_t{0});
  out.put(plan.elements);
  for (std::uint32_t i = 0; i < table_plan::most_levels; ++i)
    out.put(i < plan.levels ? plan.level_buckets[i] : std::uint64_t{0});
  out.put(plan.overflow_buckets);
  out.put(plan.overflow_reserve);
  out.put(plan.predicted.insert_accesses);
  out.put(plan.predicted.hit_accesses);
  out.put(plan.predicted.miss_accesses);
  out.put(plan.predicted.overflow_fraction);
  out.put(plan.predicted.overflow_mean);
  out.put(plan.predicted.overflow_deviation);
  out.put(plan.predicted.exceed_probability);
  out.put(from.counts.size);
  out.put(from.counts.overflow);
  for (const std::uint64_t level : from.counts.levels) out.put(level);
  out.fill();
  return bytes;
}

namespace detail {

inline void take_plan_sizes(byte_reader& in, table_plan& plan) noexcept {
  plan.bucket_capacity = in.take<std::uint32_t>();
  plan.choices = in.take<std::uint32_t>();
  plan.levels = in.take<std::uint32_t>();
  in.take<std::uint32_t>();
  plan.elements = in.take<std::uint64_t>();
  for (std::uint64_t& buckets : plan.level_buckets) buckets = in.take<std::uint64_t>();
  plan.overflow_buckets = in.take<std::uint64_t>();
  plan.overflow_reserve = in.take<std::uint64_t>();
}

inline void take_prediction(byte_reader& in, table_prediction& predicted) noexcept {
  predicted.insert_accesses = in.take<double>();
  predicted.hit_accesses = in.take<double>();
  predicted.miss_accesses = in.take<double>();
  predicted.overflow_fraction = in.take<double>();
  predicted.overflow_mean = in.take<double>();
  predicted.overflow_deviation = in.take<double>();
  predicted.exceed_probability = in.take<double>();
}

/// What the section says, whatever that is. REQUIRES: as many bytes as encode gives.
inline table_parameters take_table_parameters(std::span<const std::byte> section) noexcept {
  table_parameters read;
  byte_reader in(section);
  in.take<std::uint32_t>();
  read.hash = static_cast<file_hash>(in.take<std::uint32_t>());
  read.seed = in.take<std::uint64_t>();
  read.schema = in.take<std::uint64_t>();
  read.state = static_cast<table_file_state>(in.take<std::uint32_t>());
  read.shape.order = static_cast<byte_order>(in.take<std::uint8_t>());
  read.plan.workload = static_cast<table_workload>(in.take<std::uint8_t>());
  read.plan.scheme = static_cast<scheme_kind>(in.take<std::uint8_t>());
  in.take<std::uint8_t>();
  read.shape.key_bytes = in.take<std::uint32_t>();
  read.shape.value_bytes = in.take<std::uint32_t>();
  read.shape.slot_bytes = in.take<std::uint32_t>();
  read.shape.slot_alignment = in.take<std::uint32_t>();
  take_plan_sizes(in, read.plan);
  take_prediction(in, read.plan.predicted);
  read.counts.size = in.take<std::uint64_t>();
  read.counts.overflow = in.take<std::uint64_t>();
  for (std::uint64_t& level : read.counts.levels) level = in.take<std::uint64_t>();
  return read;
}

/// What no file with such a payload can say.
inline std::optional<std::string> find_fault(const table_parameters& read,
                                             std::uint64_t payload_bytes) {
  if (auto fault = oneprobe::find_fault(read.plan)) return fault;
  if (auto fault = find_fault(read.shape)) return fault;
  if (auto fault = find_fault(read.counts, read.plan)) return fault;
  plan_check check;
  check(read.hash == file_hash::own || read.hash == file_hash::seeded, "hash", "0 or 1",
        static_cast<std::uint32_t>(read.hash));
  check(read.state == table_file_state::closed || read.state == table_file_state::open, "state",
        "0 or 1", static_cast<std::uint32_t>(read.state));
  if (check.fault) return check.fault;
  const std::uint64_t table_bytes = read.plan.memory(read.shape.slot_bytes).total();
  if (payload_bytes == table_bytes) return std::nullopt;
  return "the payload must have " + std::to_string(table_bytes) + " bytes; found " +
         std::to_string(payload_bytes);
}

}  // namespace detail

/// Reads the parameter section of a file with this preamble. What is returned is a plan without a
/// fault, whose memory is as large as the payload, and counts that such a table can have.
inline loaded<table_parameters> decode_table_parameters(std::span<const std::byte> section,
                                                        const preamble& head,
                                                        std::string_view name) {
  if (name_of(static_cast<table_kind>(head.kind)) == "unknown")
    return wrong_kind(name, head.kind, "a table");
  if (auto failure = detail::find_section_fault(section, head, table_parameters::version,
                                                table_parameters::bytes, name))
    return *std::move(failure);
  const table_parameters read = detail::take_table_parameters(section);
  if (const auto fault = detail::find_fault(read, head.payload_bytes))
    return detail::inconsistent(name, *fault);
  // Whatever was not read above, or means nothing in this plan, is seen here.
  if (!std::ranges::equal(encode(read), section))
    return detail::inconsistent(name, "a field that means nothing is not 0");
  return read;
}

}  // namespace oneprobe::inline v0_1
