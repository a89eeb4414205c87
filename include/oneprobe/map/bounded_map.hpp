// A hash map of fixed size with a bound on every operation: at most d buckets, and four more for
// the few elements in the overflow. It never rehashes, never stalls, moves no element but when the
// caller drains its overflow, and when it is full it says so and keeps what it has.
//
//   bounded_map<std::uint64_t, flow> flows(1'000'000);
//   auto [outcome, flow] = flows.try_emplace(id);
//   if (outcome == insertion::full) ...                  // nothing was changed
//   if (auto* found = flows.find(id)) ++found->value.packets;
//   flows.erase(id);
//
// Threads: const functions may run together; anything else alone. Memory: all of it from the start,
// exactly plan().memory(sizeof(value_type)). Pointers to elements are good until the element is
// erased, or drained. If an element's own operation throws, the table is as before.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <new>
#include <utility>

#include "oneprobe/map/bounded_table.hpp"
#include "oneprobe/map/default_plan.hpp"

namespace oneprobe::inline v0_1 {

/// What a map holds. A struct of its own: std::pair is not trivially copyable.
template <class Key, class Value>
struct map_element {
  const Key key;                      // stays as it is for as long as the element lives
  [[no_unique_address]] Value value;  // may be changed in place
};

template <class Key, class Value, class Hash = seeded_hash, class Equal = std::equal_to<>,
          placement_scheme Scheme = multilevel, std::uint32_t BucketCapacity = 16>
class bounded_map
    : public bounded_table<map_element<Key, Value>, Hash, Equal, Scheme, BucketCapacity> {
  using table = bounded_table<map_element<Key, Value>, Hash, Equal, Scheme, BucketCapacity>;

 public:
  using typename table::result;
  using mapped_type = Value;
  using table::table;

  /// An empty map for so many elements that come and go, from the default plan.
  explicit bounded_map(std::uint64_t elements, Hash hash = Hash(random_seed()),
                       Equal equal = Equal())
      : table(default_table_plan(elements, BucketCapacity), std::move(hash), std::move(equal)) {}

  /// Inserts an element whose value is made from the arguments, unless the key is there.
  template <class... Args>
  result try_emplace(const Key& key, Args&&... args) {
    return try_emplace_hashed(this->hash()(key), key, std::forward<Args>(args)...);
  }
  template <class... Args>
  result try_emplace(Key&& key, Args&&... args) {
    const key_hash hash = this->hash()(key);
    return try_emplace_hashed(hash, std::move(key), std::forward<Args>(args)...);
  }
  /// Also for a key of another type: a Key is made of it only if it is new.
  template <transparent_query<Key, Hash, Equal> Query, class... Args>
  result try_emplace(const Query& key, Args&&... args) {
    return try_emplace_hashed(this->hash()(key), key, std::forward<Args>(args)...);
  }
  /// The same with the key's hash made before, by this map's hash().
  template <class Source, class... Args>
  result try_emplace_hashed(key_hash hash, Source&& key, Args&&... args) {
    return this->find_or_make(key, hash, [&](void* place) {
      return ::new (place) map_element<Key, Value>{Key(std::forward<Source>(key)),
                                                   Value(std::forward<Args>(args)...)};
    });
  }

  /// Like try_emplace, and if the map is full, `choose` is called with a span of pointers to the
  /// elements that could give way, at most 16 times d + 4, and returns one of them to be erased, or
  /// null: then the map stays full. The outcome is that of the insertion. If the value's
  /// constructor throws, the element that gave way is gone.
  ///
  ///   flows.try_emplace_evicting(id, oldest, flow(packet));
  template <class Choose, class... Args>
  result try_emplace_evicting(const Key& key, Choose choose, Args&&... args) {
    return try_emplace_evicting_hashed(this->hash()(key), key, choose, std::forward<Args>(args)...);
  }
  /// The same with the key's hash made before.
  template <class Source, class Choose, class... Args>
  result try_emplace_evicting_hashed(key_hash hash, Source&& key, Choose choose, Args&&... args) {
    return this->find_or_make_evicting(key, hash, choose, [&](void* place) {
      return ::new (place) map_element<Key, Value>{Key(std::forward<Source>(key)),
                                                   Value(std::forward<Args>(args)...)};
    });
  }

  /// Inserts the element unless the key is there.
  result insert(const Key& key, const Value& value) { return try_emplace(key, value); }
  result insert(const Key& key, Value&& value) { return try_emplace(key, std::move(value)); }
  /// Also for a key of another type.
  template <transparent_query<Key, Hash, Equal> Query, std::convertible_to<Value> Source>
  result insert(const Query& key, Source&& value) {
    return try_emplace(key, std::forward<Source>(value));
  }
  /// The same with the key's hash made before.
  template <class Query, std::convertible_to<Value> Source>
  result insert(const Query& key, Source&& value, key_hash hash) {
    return try_emplace_hashed(hash, key, std::forward<Source>(value));
  }

  /// Inserts, or gives the value to the element that has the key.
  template <class Source>
  result insert_or_assign(const Key& key, Source&& value) {
    return insert_or_assign(key, std::forward<Source>(value), this->hash()(key));
  }
  template <class Source>
  result insert_or_assign(const Key& key, Source&& value, key_hash hash) {
    const result found = try_emplace_hashed(hash, key, std::forward<Source>(value));
    // What was not moved from is still there: the maker is called only where there is room.
    if (found.outcome == insertion::present) found.element->value = std::forward<Source>(value);
    return found;
  }
};

}  // namespace oneprobe::inline v0_1
