// Keys that hashes meet: random ones, and those whose structure shows through a weak hash.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/key_hash.hpp"

namespace key_sets {

/// As many keys in every set: the smallest cell of the grids then expects a few dozen.
inline constexpr std::size_t keys = std::size_t{1} << 16;

/// What a packet belongs to. The padding is a member, so that equal keys have equal bytes.
struct flow {
  std::uint32_t source_address;
  std::uint32_t destination_address;
  std::uint16_t source_port;
  std::uint16_t destination_port;
  std::uint8_t protocol;
  std::array<std::uint8_t, 3> zero{};
};

struct integer_set {
  const char* name;
  std::uint64_t (*key)(std::uint64_t number);
};

/// The keys with few bits set, by number of bits: 0, then 1 bit, 2 bits, 3 bits, ...
inline std::vector<std::uint64_t> few_bits() {
  std::vector<std::uint64_t> found{0};
  for (std::size_t begin = 0, end = 1; found.size() < keys; begin = end, end = found.size())
    for (std::size_t i = begin; i < end; ++i)
      for (int bit = static_cast<int>(std::bit_width(found[i])); bit < 64; ++bit)
        found.push_back(found[i] | std::uint64_t{1} << bit);
  found.resize(keys);
  return found;
}

inline constexpr integer_set integer_sets[] = {
    {"random", [](std::uint64_t i) { return oneprobe::mix_bits(oneprobe::golden_ratio_64 * i); }},
    {"sequential", [](std::uint64_t i) { return i; }},
    {"negative", [](std::uint64_t i) { return 0 - i - 1; }},
    {"stride 64", [](std::uint64_t i) { return i << 6; }},
    {"stride 2^20", [](std::uint64_t i) { return i << 20; }},
    {"stride 2^40", [](std::uint64_t i) { return i << 40; }},
    {"stride 2^48", [](std::uint64_t i) { return i << 48; }},
    {"stride 2^12 * 3", [](std::uint64_t i) { return (i * 3) << 12; }},
    {"stride 2^32 * 65537", [](std::uint64_t i) { return (i * 65537) << 32; }},
    {"a square of coordinates", [](std::uint64_t i) { return (i >> 8) << 32 | (i & 0xff); }},
    {"few bits set",
     [](std::uint64_t i) {
       static const std::vector<std::uint64_t> all = few_bits();
       return all[i];
     }},
};

/// Clients of a /16 network in a row, their ports in a row, talk to a few servers.
inline flow flow_number(std::uint64_t i) {
  constexpr std::uint32_t client_network = 0x0a01'0000;  // 10.1.0.0/16
  constexpr std::uint32_t server_network = 0xc0a8'0000;  // 192.168.0.0/16
  constexpr std::uint64_t clients = 1024;
  constexpr std::uint16_t first_port = 32768;  // where Linux begins
  const auto client = static_cast<std::uint32_t>(i % clients);
  const auto port = static_cast<std::uint16_t>(first_port + i / clients);
  return {.source_address = client_network + client,
          .destination_address = server_network + client % 4,
          .source_port = port,
          .destination_port = static_cast<std::uint16_t>(i % 2 == 0 ? 443 : 53),
          .protocol = static_cast<std::uint8_t>(i % 2 == 0 ? 6 : 17)};
}

/// The hashes of one set under one seed, and what the set is called.
struct hashed {
  std::string name;
  std::vector<oneprobe::key_hash> hashes;
};

template <class HashOf>
hashed hash_all(std::string name, HashOf&& hash_of) {
  hashed result{std::move(name), {}};
  result.hashes.reserve(keys);
  for (std::uint64_t i = 0; i < keys; ++i) result.hashes.push_back(hash_of(i));
  return result;
}

/// All integer sets through a policy.
template <class Hash>
std::vector<hashed> hashed_integers(const Hash& hash) {
  std::vector<hashed> result;
  for (const integer_set& set : integer_sets)
    result.push_back(hash_all(set.name, [&](std::uint64_t i) { return hash(set.key(i)); }));
  return result;
}

inline constexpr std::size_t other_sets = 3;
inline constexpr std::size_t all_sets = std::size(integer_sets) + other_sets;

/// These, and flows and strings.
template <class Hash>
std::vector<hashed> hashed_keys(const Hash& hash) {
  std::vector<hashed> result = hashed_integers(hash);
  result.push_back(hash_all("flows", [&](std::uint64_t i) { return hash(flow_number(i)); }));
  result.push_back(
      hash_all("key0 ...", [&](std::uint64_t i) { return hash("key" + std::to_string(i)); }));
  const std::string path(300, '/');
  result.push_back(hash_all(
      "long paths", [&](std::uint64_t i) { return hash(path + std::to_string(i) + path); }));
  static_assert(other_sets == 3);
  return result;
}

}  // namespace key_sets
