// One stream of distinct keys, placed: what every store that counts elements must agree on.
//
// A store joins by a line in the list of parity_test.cpp; it is then held to the load counters
// under every scheme and rule, element by element.
#pragma once

#include <cstdint>
#include <vector>

#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/detail/placement/ring.hpp"
#include "oneprobe/detail/placement/schemes.hpp"
#include "oneprobe/detail/placement/walk.hpp"
#include "oneprobe/key_hash.hpp"

struct placed_element {
  std::uint64_t bucket;  // of the last candidate, for what overflowed
  std::uint32_t level;
  std::uint32_t accesses;
  oneprobe::walk_end end;

  friend bool operator==(const placed_element&, const placed_element&) = default;
};

/// The hash of key 0, 1, ... of the stream.
inline oneprobe::key_hash stream_hash(std::uint64_t key) {
  return {oneprobe::mix_bits((key + 1) * oneprobe::golden_ratio_64)};
}

enum class driver { one_by_one, ring };

/// Where the elements of the stream go. `item_of(key)` is what the store keeps of a key.
template <class Scheme, class Store, class ItemOf>
std::vector<placed_element> place_stream(const Scheme& scheme, Store& store,
                                         oneprobe::admission rule, std::uint64_t keys, driver how,
                                         ItemOf item_of) {
  std::vector<placed_element> result(keys);
  oneprobe::placing walk(scheme, store, rule);
  const auto start = [&](std::uint64_t key) { return walk.start(stream_hash(key), item_of(key)); };
  const auto record = [&](std::size_t key, const auto& ended) {
    result[key] = {ended.at.bucket, ended.at.level, ended.accesses, ended.end};
  };
  if (how == driver::ring)
    roll(
        walk, keys, [](std::uint64_t key) { return key; }, start, record);
  else
    for (std::uint64_t key = 0; key < keys; ++key) record(key, walk_to_end(walk, start(key)));
  return result;
}

/// Calls `use(name, scheme)` with all five schemes over 4096 buckets or so.
template <class Use>
void with_parity_schemes(Use use) {
  use("single", oneprobe::single(4096));
  use("sequential", oneprobe::sequential(4096, 4));
  use("multilevel", oneprobe::multilevel({2412, 1040, 449, 195}));
  use("d_random", oneprobe::d_random(4096, 3));
  use("d_left", oneprobe::d_left(4096, 4));
}

struct named_rule {
  const char* name;
  oneprobe::admission rule;
};
inline std::vector<named_rule> parity_rules() {
  return {{"h = 1", oneprobe::admission(1)},
          {"h = 4", oneprobe::admission(4)},
          {"h = 3 and p = 0.4", oneprobe::admission(3, 0.4)}};
}
