// The scheme that summaries are compared with: a counter per bucket, and every element in that of
// its d buckets whose counter is lowest (Song et al., in SSH, Section IV).
//
//   song_map<std::uint64_t, std::uint64_t> map({.buckets = 131'072, .choices = 10});
//   map.insert(key, value);            // may move others, of the buckets that key hashes to
//   map.find(key);                     // reads the one bucket with the lowest counter, or none
//   map.relocations();
//
//   fast   | counters: how many hashes of elements fall on each bucket |     49,152 bytes there
//   slow   | buckets: a chain of elements each, seldom more than one   |
//
// A counter that has reached its largest value stays there: lookups and insertions agree on it.
// There is no erase: the elements that a lower counter would call back are known only to a second,
// unpruned table. The heuristics by which Song et al. take collisions apart are not in the paper,
// and not here.
//
// A baseline: elements are in a vector that grows. Threads: const functions may run together.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/detail/one_probe/packed_cells.hpp"
#include "oneprobe/detail/placement/schemes.hpp"
#include "oneprobe/detail/placement/walk.hpp"
#include "oneprobe/hash.hpp"
#include "oneprobe/map/bounded_map.hpp"
#include "oneprobe/map/results.hpp"

namespace oneprobe::inline v0_1 {

/// How large the table is, and its counters.
struct song_shape {
  std::uint64_t buckets = 0;       // m
  std::uint32_t choices = 10;      // d
  std::uint32_t counter_bits = 3;  // 1 to 16
};

template <class Key, class Value, class Hash = seeded_hash, class Equal = std::equal_to<>>
class song_map {
 public:
  using value_type = map_element<Key, Value>;

  /// An empty map. Refuses counters of less than 1 or more than 16 bits.
  explicit song_map(const song_shape& shape, Hash hash = Hash(random_seed()), Equal equal = Equal())
      : scheme_(shape.buckets, shape.choices),
        counter_bits_(checked_bits(shape.counter_bits)),
        counters_(shape.buckets * counter_bits_),
        heads_(static_cast<std::size_t>(shape.buckets), nobody),
        hash_(std::move(hash)),
        equal_(std::move(equal)) {}

  /// The static table: all elements in all their buckets first, then pruned. The same as inserting
  /// them one after the other, without relocations. REQUIRES: an empty map, and keys all different.
  void build(std::span<const std::pair<Key, Value>> elements) {
    for (const auto& [key, value] : elements) {
      const key_hash hash = hash_(key);
      for_each_candidate(scheme_, hash, [&](position at) { count(at.bucket); });
      nodes_.push_back({value_type{key, value}, hash, nobody});
    }
    for (std::uint32_t node = 0; node < nodes_.size(); ++node)
      put(node, least_of(nodes_[node].hash).bucket);
  }

  /// Inserts the element unless the key is there: never `full`. May move elements that share a
  /// bucket with the key.
  insertion insert(const Key& key, const Value& value) {
    if (find(key) != nullptr) return insertion::present;
    const key_hash hash = hash_(key);
    // Only elements in buckets of this key may have to go elsewhere: no other counter changes.
    moving_.clear();
    for_each_candidate(scheme_, hash, [&](position at) {
      for (std::uint32_t node = std::exchange(heads_[at.bucket], nobody); node != nobody;
           node = nodes_[node].next)
        moving_.push_back({node, at.bucket});
      count(at.bucket);
    });
    for (const auto& [node, from] : moving_) {
      const std::uint64_t to = least_of(nodes_[node].hash).bucket;
      relocations_ += to != from ? 1u : 0u;
      put(node, to);
    }
    nodes_.push_back({value_type{key, value}, hash, nobody});
    put(static_cast<std::uint32_t>(nodes_.size() - 1), least_of(hash).bucket);
    return insertion::inserted;
  }

  /// The element with this key, or null.
  const value_type* find(const Key& key) const {
    const choice least = least_of(hash_(key));
    if (least.counter == 0) return nullptr;
    for (std::uint32_t node = heads_[least.bucket]; node != nobody; node = nodes_[node].next)
      if (equal_(nodes_[node].element.key, key)) return &nodes_[node].element;
    return nullptr;
  }

  /// Buckets that a lookup of this key reads: at most one.
  std::uint32_t accesses(const Key& key) const { return least_of(hash_(key)).counter == 0 ? 0 : 1; }
  /// Where this key is, or would be.
  std::uint64_t bucket_of(const Key& key) const { return least_of(hash_(key)).bucket; }
  std::uint64_t size() const noexcept { return nodes_.size(); }
  /// The hash that all keys go through.
  const Hash& hash() const noexcept { return hash_; }
  /// Elements that insertions moved to another bucket.
  std::uint64_t relocations() const noexcept { return relocations_; }
  /// Buckets with more than one element: what the paper calls a crisis.
  std::uint64_t crowded_buckets() const noexcept {
    std::uint64_t crowded = 0;
    for (const std::uint32_t head : heads_)
      crowded += head != nobody && nodes_[head].next != nobody ? 1u : 0u;
    return crowded;
  }
  /// The fast memory.
  std::size_t memory_bytes() const noexcept { return counters_.memory_bytes(); }

 private:
  static constexpr std::uint32_t nobody = 0xffff'ffff;

  struct stored {
    value_type element;
    key_hash hash;
    std::uint32_t next;
  };
  struct choice {
    std::uint64_t bucket = 0;
    std::uint64_t counter = 0;
  };
  struct evicted {
    std::uint32_t node;
    std::uint64_t from;
  };

  static std::uint32_t checked_bits(std::uint32_t bits) {
    if (bits < 1 || bits > 16)
      refuse_parameter("counter_bits must be 1 to 16; found " + std::to_string(bits));
    return bits;
  }
  std::uint64_t counter(std::uint64_t bucket) const noexcept {
    return counters_.read(bucket * counter_bits_, counter_bits_);
  }
  void count(std::uint64_t bucket) noexcept {
    const std::uint64_t now = counter(bucket);
    if (now + 1 < std::uint64_t{1} << counter_bits_)
      counters_.write(bucket * counter_bits_, counter_bits_, now + 1);
  }
  /// The lowest counter; of equals the first bucket of the table.
  choice least_of(key_hash hash) const noexcept {
    choice least{.bucket = scheme_.first(hash).bucket,
                 .counter = counter(scheme_.first(hash).bucket)};
    for_each_candidate(scheme_, hash, [&](position at) {
      const choice other{at.bucket, counter(at.bucket)};
      if (std::pair(other.counter, other.bucket) < std::pair(least.counter, least.bucket))
        least = other;
    });
    return least;
  }
  void put(std::uint32_t which, std::uint64_t bucket) noexcept {
    nodes_[which].next = std::exchange(heads_[bucket], which);
  }

  sequential scheme_;
  std::uint32_t counter_bits_;
  bit_fields counters_;
  std::vector<std::uint32_t> heads_;
  std::vector<stored> nodes_;
  std::vector<evicted> moving_;
  std::uint64_t relocations_ = 0;
  [[no_unique_address]] Hash hash_;
  [[no_unique_address]] Equal equal_;
};

}  // namespace oneprobe::inline v0_1
