// Tables of numbers and their bytes, whole and forged, for the tests of files.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "oneprobe/map/bounded_map.hpp"
#include "oneprobe/map/file.hpp"
#include "support/small_plan.hpp"

namespace table_files {

using namespace oneprobe;

using file_bytes = std::vector<std::byte>;
using number = std::uint64_t;
using numbers = bounded_map<number, number>;
using few_numbers = bounded_map<number, number, seeded_hash, std::equal_to<>, multilevel, 4>;

inline constexpr std::size_t head_bytes = table_facts::head_bytes;
inline constexpr table_file_options every_element{.check = table_check::elements};

template <class Table>
file_bytes saved(const Table& table, std::uint64_t schema = 0) {
  file_bytes bytes;
  save_to(table, bytes, {.schema = schema});
  return bytes;
}

/// Full, with an overflow, and then with a third of its elements gone.
template <class Map>
Map churned(scheme_kind scheme = scheme_kind::multilevel) {
  constexpr std::uint32_t capacity = Map::bucket_capacity;
  Map map(small_plan(capacity, scheme), seeded_hash(5));
  for (number key = 0; key < 20 * capacity; ++key) map.insert(key, ~key);
  for (number key = 0; key < 20 * capacity; key += 3) map.erase(key);
  return map;
}

/// A table, and two keys of it that have one bucket, one tag, and one line of slots.
struct pair_of_one_tag {
  numbers table;
  number first;
  number second;
};
inline pair_of_one_tag find_pair_of_one_tag() {
  constexpr std::size_t line_bytes = 64;
  const seeded_hash hash(5);
  std::map<std::uint64_t, number> seen;  // by bucket and tag
  for (number key = 0;; ++key) {
    numbers table(small_plan(16), hash);
    const auto line_of = [&](number inserted) {
      const auto* const place =
          reinterpret_cast<const std::byte*>(table.insert(inserted, 0).element);
      return static_cast<std::size_t>(place - table.memory().data()) / line_bytes;
    };
    const auto [twin, is_new] =
        seen.try_emplace(line_of(key) << 12 | (hash(key).value & 0xfff), key);
    if (is_new) continue;
    table.insert(twin->second, 0);
    return {std::move(table), twin->second, key};
  }
}
/// Moves an element and its tag to the next line of its bucket, which is empty.
inline void move_to_another_line(const numbers& table, number key, std::span<std::byte> payload) {
  constexpr std::size_t line_slots = 4;
  const std::span slots = payload.subspan(table.plan().memory(16).side);
  const auto from = static_cast<std::size_t>((reinterpret_cast<const std::byte*>(table.find(key)) -
                                              table.memory().data()) -
                                             (slots.data() - payload.data())) /
                    16;
  const std::size_t bucket = from / 16;
  const std::size_t to = bucket * 16 + (from + line_slots) % 16;
  std::ranges::copy(slots.subspan(from * 16, 16), slots.subspan(to * 16).begin());
  detail::bucket_entry entry(payload.data() + bucket * table_plan::side_bytes);
  entry.take(to % 16, entry.tag_of(from % 16));
  entry.free(from % 16);
}

/// The failure of a load, whose sentence is one line and names its error.
template <class Loaded>
load_failure failure_of(const Loaded& read) {
  EXPECT_FALSE(read);
  if (read) return {};
  const auto& [error, sentence] = read.failure();
  EXPECT_EQ(sentence.find('\n'), std::string::npos);
  EXPECT_NE(sentence.find(name_of(error)), std::string::npos) << sentence;
  return read.failure();
}

/// A file with changed sections whose checksums fit: what somebody who means harm would write.
inline file_bytes forged(file_bytes bytes, const std::function<void(table_parameters&)>& change,
                         const std::function<void(std::span<std::byte>)>& change_payload = {}) {
  const table_facts facts = read_table_facts(bytes).value();
  table_parameters parameters = facts.parameters;
  if (change) change(parameters);
  const std::span<std::byte> payload = std::span(bytes).subspan(head_bytes);
  if (change_payload) change_payload(payload);
  std::ranges::copy(
      detail::encode_head(parameters, facts.kind, payload.size(), checksum_of(payload)),
      bytes.begin());
  return bytes;
}

}  // namespace table_files
