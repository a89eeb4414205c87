// What a page store's file says before its pages: the parameters, which never change, and the
// state, which every checkpoint writes anew.
//
//   parameters, 4,032 bytes after the preamble       state, 4,096 bytes, twice
//   0    4   version of this section, 1              0     8  mark
//   4    4   hash: 1, seeded_hash                    8     8  epoch: the number of this state
//   8    8   seed                                    16    8  1 if the snapshot is of this state
//   16   8   elements it was planned for             24    8  checksum of the snapshot, or 0
//   24   4   key bytes                               32       zeros
//   28   4   value bytes                             4088  8  checksum of the bytes before it
//   32   4   page bytes
//   36   4   levels
//   40   64  pages of levels 0 to 7
//   104  8   overflow pages
//   112  8   log bytes
//   120  8   elements of the summary
//   128  8   blocks of the summary
//   136  4   remainder bits of the summary
//   140  4   zero
//   144  8   predicted elements in the overflow
//   152  8   ... because of their string
//   160  8   predicted false positives
//   168      zeros
//
// The preamble's checksum of the payload is 0: pages, states, snapshot and log have their own.
// docs/formats/store.md says how they work together. Pure functions on values, thread-safe.
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
#include "oneprobe/detail/io/file_hash.hpp"
#include "oneprobe/detail/io/file_kind.hpp"
#include "oneprobe/detail/io/preamble.hpp"
#include "oneprobe/files.hpp"
#include "oneprobe/page_store/plan.hpp"

namespace oneprobe::inline v0_1 {

struct store_parameters {
  static constexpr std::uint32_t version = 1;
  static constexpr std::size_t bytes = page_store_plan::block_bytes - preamble_bytes;

  page_store_plan plan{};
  std::uint64_t seed = 0;
};

inline std::array<std::byte, store_parameters::bytes> encode(
    const store_parameters& from) noexcept {
  std::array<std::byte, store_parameters::bytes> bytes{};
  const page_store_plan& plan = from.plan;
  byte_writer out(bytes);
  out.put(store_parameters::version);
  out.put(static_cast<std::uint32_t>(file_hash::seeded));
  out.put(from.seed);
  out.put(plan.elements);
  out.put(plan.key_bytes);
  out.put(plan.value_bytes);
  out.put(plan.page_bytes);
  out.put(plan.levels);
  for (std::uint32_t i = 0; i < page_store_plan::most_levels; ++i)
    out.put(i < plan.levels ? plan.level_pages[i] : std::uint64_t{0});
  out.put(plan.overflow_pages);
  out.put(plan.log_bytes);
  out.put(plan.summary.elements);
  out.put(plan.summary.blocks);
  out.put(plan.summary.remainder_bits);
  out.put(std::uint32_t{0});
  out.put(plan.predicted.overflow_mean);
  out.put(plan.predicted.failures_mean);
  out.put(plan.predicted.false_positive_probability);
  out.fill();
  return bytes;
}

/// Reads the parameter section of a file with this preamble. What is returned is a plan without a
/// fault, whose file is as long as this one.
inline loaded<store_parameters> decode_store_parameters(std::span<const std::byte> section,
                                                        const preamble& head,
                                                        std::string_view name) {
  if (head.kind != page_store_kind) return wrong_kind(name, head.kind, "a page store");
  if (auto failure = detail::find_section_fault(section, head, store_parameters::version,
                                                store_parameters::bytes, name))
    return *std::move(failure);
  store_parameters read;
  page_store_plan& plan = read.plan;
  byte_reader in(section);
  in.take<std::uint32_t>();
  const auto hash = in.take<std::uint32_t>();
  read.seed = in.take<std::uint64_t>();
  plan.elements = in.take<std::uint64_t>();
  plan.key_bytes = in.take<std::uint32_t>();
  plan.value_bytes = in.take<std::uint32_t>();
  plan.page_bytes = in.take<std::uint32_t>();
  plan.levels = in.take<std::uint32_t>();
  for (std::uint64_t& pages : plan.level_pages) pages = in.take<std::uint64_t>();
  plan.overflow_pages = in.take<std::uint64_t>();
  plan.log_bytes = in.take<std::uint64_t>();
  plan.summary.elements = in.take<std::uint64_t>();
  plan.summary.blocks = in.take<std::uint64_t>();
  plan.summary.remainder_bits = in.take<std::uint32_t>();
  plan.summary.levels = plan.levels;
  in.take<std::uint32_t>();
  plan.predicted.overflow_mean = in.take<double>();
  plan.predicted.failures_mean = in.take<double>();
  plan.predicted.false_positive_probability = in.take<double>();
  if (hash != static_cast<std::uint32_t>(file_hash::seeded))
    return detail::inconsistent(name, "hash must be 1; found " + std::to_string(hash));
  if (const auto fault = find_fault(plan)) return detail::inconsistent(name, *fault);
  if (head.file_bytes() != plan.file_bytes())
    return detail::inconsistent(name, "the file must have " + std::to_string(plan.file_bytes()) +
                                          " bytes; found " + std::to_string(head.file_bytes()));
  if (!std::ranges::equal(encode(read), section))
    return detail::inconsistent(name, "a field that means nothing is not 0");
  return read;
}

/// Preamble and parameters.
inline std::array<std::byte, page_store_plan::block_bytes> encode_store_head(
    const store_parameters& from) noexcept {
  const auto section = encode(from);
  const auto first =
      encode(preamble{.kind = page_store_kind,
                      .parameter_bytes = store_parameters::bytes,
                      .payload_bytes = from.plan.file_bytes() - page_store_plan::block_bytes,
                      .parameter_checksum = checksum_of(section)});
  std::array<std::byte, page_store_plan::block_bytes> head;
  std::ranges::copy(section, std::ranges::copy(first, head.begin()).out);
  return head;
}

/// `head` is the beginning of a file of `file_bytes` bytes: 4,096 of them, or all.
inline loaded<store_parameters> decode_store_head(std::span<const std::byte> head,
                                                  std::uint64_t file_bytes, std::string_view name) {
  const loaded<preamble> read = decode_preamble(head, file_bytes, name);
  if (!read) return read.failure();
  if (read->kind == page_store_kind && read->payload_checksum != 0)
    return detail::inconsistent(name, "a page store has no checksum of its payload");
  const std::size_t there = head.size() - preamble_bytes;
  const auto section =
      head.subspan(preamble_bytes,
                   static_cast<std::size_t>(std::min<std::uint64_t>(read->parameter_bytes, there)));
  return decode_store_parameters(section, *read, name);
}

struct store_state_record {
  static constexpr std::size_t bytes = page_store_plan::block_bytes;
  static constexpr std::uint64_t mark = 0x6574'6174'735f'706f;  // "op_state"

  std::uint64_t epoch = 0;
  bool has_snapshot = false;  // the snapshot in the file is of this very state
  std::uint64_t snapshot_checksum = 0;
  std::uint64_t checksum = 0;  // its own
};

using store_state_bytes = std::array<std::byte, store_state_record::bytes>;

/// Also says what its checksum is.
inline store_state_bytes encode(store_state_record& state) noexcept {
  store_state_bytes bytes{};
  byte_writer out(bytes);
  out.put(store_state_record::mark);
  out.put(state.epoch);
  out.put(std::uint64_t{state.has_snapshot ? 1u : 0u});
  out.put(state.snapshot_checksum);
  const std::size_t covered = bytes.size() - sizeof(std::uint64_t);
  state.checksum = checksum_of(std::span<const std::byte>(bytes).first(covered));
  byte_writer(std::span(bytes).subspan(covered)).put(state.checksum);
  return bytes;
}

/// None if these bytes are no state: a write that a crash has torn.
inline std::optional<store_state_record> decode_store_state(const store_state_bytes& bytes) {
  byte_reader in(bytes);
  store_state_record read;
  const auto mark = in.take<std::uint64_t>();
  read.epoch = in.take<std::uint64_t>();
  const auto snapshot = in.take<std::uint64_t>();
  read.has_snapshot = snapshot == 1;
  read.snapshot_checksum = in.take<std::uint64_t>();
  if (mark != store_state_record::mark || snapshot > 1) return std::nullopt;
  if (encode(read) != bytes) return std::nullopt;
  return read;
}

}  // namespace oneprobe::inline v0_1
