// From a plan to the filter that follows it, and keys by number: for tests that run over plans.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "handles/held_filter.hpp"
#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/filter/plan.hpp"
#include "oneprobe/hash.hpp"
#include "oneprobe/key_hash.hpp"

/// Calls `use` with an empty filter of the plan and returns what it returns.
template <class Use>
auto with_filter(const oneprobe::filter_plan& plan, std::uint64_t seed, Use use) {
  return use(oneprobe::held_filter(plan, oneprobe::seeded_hash(seed)));
}

/// Keys by their number: all different.
enum class key_pattern : std::uint8_t { random, sequential, strided, square, text, structs };

inline constexpr std::array every_key_pattern{key_pattern::random,  key_pattern::sequential,
                                              key_pattern::strided, key_pattern::square,
                                              key_pattern::text,    key_pattern::structs};

constexpr std::string_view name_of(key_pattern pattern) {
  switch (pattern) {
    case key_pattern::random:
      return "random";
    case key_pattern::sequential:
      return "sequential";
    case key_pattern::strided:
      return "stride 2^20";
    case key_pattern::square:
      return "a square of coordinates";
    case key_pattern::text:
      return "text";
    case key_pattern::structs:
      return "structs";
  }
  return "unknown";
}

/// "key-" and sixteen hexadecimal digits, without an allocation.
class text_key {
 public:
  explicit constexpr text_key(std::uint64_t number) {
    for (std::size_t digit = letters_.size(); digit-- > 4; number >>= 4)
      letters_[digit] = "0123456789abcdef"[number & 15];
  }
  constexpr operator std::string_view() const { return {letters_.data(), letters_.size()}; }

 private:
  std::array<char, 20> letters_{'k', 'e', 'y', '-'};
};

/// What a packet belongs to: a key of several members, without padding.
struct flow_key {
  std::uint32_t source_address;
  std::uint32_t destination_address;
  std::uint16_t source_port;
  std::uint16_t destination_port;
  std::uint32_t protocol;
};

/// Key number `i`, i below 2^32.
template <key_pattern Pattern>
constexpr auto patterned_key(std::uint64_t i) {
  if constexpr (Pattern == key_pattern::random)
    return oneprobe::mix_bits(oneprobe::golden_ratio_64 * (i + 1));
  else if constexpr (Pattern == key_pattern::sequential)
    return i;
  else if constexpr (Pattern == key_pattern::strided)
    return i << 20;
  else if constexpr (Pattern == key_pattern::square)
    return (i >> 16) << 40 | (i & 0xffff) << 8;
  else if constexpr (Pattern == key_pattern::text)
    return text_key(i);
  else
    return flow_key{.source_address = 0x0a00'0000 | static_cast<std::uint32_t>(i >> 16),
                    .destination_address = 0xc0a8'0001,
                    .source_port = static_cast<std::uint16_t>(i),
                    .destination_port = 443,
                    .protocol = 6};
}

/// The hashes of keys number first, first + 1, ... by a filter's policy. One loop over hashes
/// serves all patterns; loops of their own for each would take minutes to compile.
template <key_pattern Pattern, class Hash>
void hash_keys(const Hash& hash, std::uint64_t first, std::span<oneprobe::key_hash> hashes) {
  for (oneprobe::key_hash& one : hashes) one = hash(patterned_key<Pattern>(first++));
}
template <class Hash>
void hash_keys(const Hash& hash, key_pattern pattern, std::uint64_t first,
               std::span<oneprobe::key_hash> hashes) {
  switch (pattern) {
    case key_pattern::random:
      return hash_keys<key_pattern::random>(hash, first, hashes);
    case key_pattern::sequential:
      return hash_keys<key_pattern::sequential>(hash, first, hashes);
    case key_pattern::strided:
      return hash_keys<key_pattern::strided>(hash, first, hashes);
    case key_pattern::square:
      return hash_keys<key_pattern::square>(hash, first, hashes);
    case key_pattern::text:
      return hash_keys<key_pattern::text>(hash, first, hashes);
    case key_pattern::structs:
      return hash_keys<key_pattern::structs>(hash, first, hashes);
  }
}

/// Keys are made and hashed in chunks that stay in cache.
inline constexpr std::uint64_t chunk_keys = 1 << 12;

/// Calls `use(hashes)` with the hashes of keys number first .. first + count - 1, chunk by chunk.
template <class Hash, class Use>
void with_hashes(const Hash& hash, key_pattern pattern, std::uint64_t first, std::uint64_t count,
                 Use use) {
  std::vector<oneprobe::key_hash> hashes(std::min(chunk_keys, count));
  for (std::uint64_t done = 0; done < count; done += chunk_keys) {
    const auto chunk = std::span(hashes).first(std::min(chunk_keys, count - done));
    hash_keys(hash, pattern, first + done, chunk);
    use(std::span<const oneprobe::key_hash>(chunk));
  }
}

/// Inserts keys number first .. first + count - 1.
template <class Filter>
void insert_keys(Filter& filter, key_pattern pattern, std::uint64_t first, std::uint64_t count) {
  with_hashes(filter.hash(), pattern, first, count,
              [&](std::span<const oneprobe::key_hash> hashes) { filter.bulk_insert(hashes); });
}

/// How many of keys number first .. first + count - 1 are answered yes.
template <class Filter>
std::uint64_t count_yes(const Filter& filter, key_pattern pattern, std::uint64_t first,
                        std::uint64_t count) {
  const auto answers = std::make_unique<bool[]>(chunk_keys);
  std::uint64_t yes = 0;
  with_hashes(filter.hash(), pattern, first, count,
              [&](std::span<const oneprobe::key_hash> hashes) {
                yes += filter.bulk_may_contain(hashes, std::span(answers.get(), hashes.size()));
              });
  return yes;
}
