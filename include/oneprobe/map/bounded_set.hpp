// A hash set of fixed size with a bound on every operation; all that bounded_map promises, without
// values.
//
//   bounded_set<std::string> seen(1'000'000);
//   if (seen.insert(name).outcome == insertion::present) ...
//   if (seen.contains("a name")) ...
//   seen.erase("a name");
#pragma once

#include <cstdint>
#include <functional>
#include <new>
#include <type_traits>
#include <utility>

#include "oneprobe/map/bounded_table.hpp"
#include "oneprobe/map/default_plan.hpp"

namespace oneprobe::inline v0_1 {

/// What a set holds.
template <class Key>
struct set_element {
  const Key key;  // stays as it is for as long as the element lives
};

template <class Key, class Hash = seeded_hash, class Equal = std::equal_to<>,
          placement_scheme Scheme = multilevel, std::uint32_t BucketCapacity = 16>
class bounded_set : public bounded_table<set_element<Key>, Hash, Equal, Scheme, BucketCapacity> {
  using table = bounded_table<set_element<Key>, Hash, Equal, Scheme, BucketCapacity>;

 public:
  using table::table;
  using typename table::result;

  /// An empty set for so many keys that come and go, from the default plan.
  explicit bounded_set(std::uint64_t elements, Hash hash = Hash(random_seed()),
                       Equal equal = Equal())
      : table(default_table_plan(elements, BucketCapacity), std::move(hash), std::move(equal)) {}

  /// Inserts the key unless it is there.
  result insert(const Key& key) { return insert(key, this->hash()(key)); }
  result insert(Key&& key) {
    const key_hash hash = this->hash()(key);
    return insert(std::move(key), hash);
  }
  /// Also for a key of another type: a Key is made of it only if it is new.
  template <transparent_query<Key, Hash, Equal> Query>
  result insert(const Query& key) {
    return insert(key, this->hash()(key));
  }
  /// The same with the key's hash made before, by this set's hash().
  template <class Source>
  result insert(Source&& key, key_hash hash) {
    return this->find_or_make(key, hash, maker<Source>{key});
  }

  /// Like insert, and if the set is full, `choose` is called with a span of pointers to the keys'
  /// elements that could give way, and returns one of them to be erased, or null: as
  /// bounded_map::try_emplace_evicting.
  ///
  ///   seen.insert_evicting(id, any_one);
  template <class Choose>
  result insert_evicting(const Key& key, Choose choose) {
    return insert_evicting(key, choose, this->hash()(key));
  }
  /// The same with the key's hash made before.
  template <class Source, class Choose>
  result insert_evicting(Source&& key, Choose choose, key_hash hash) {
    return this->find_or_make_evicting(key, hash, choose, maker<Source>{key});
  }

 private:
  /// Makes an element of a key, which is moved from only then.
  template <class Source>
  struct maker {
    std::remove_reference_t<Source>& key;

    set_element<Key>* operator()(void* place) const {
      return ::new (place) set_element<Key>{Key(std::forward<Source>(key))};
    }
  };
};

}  // namespace oneprobe::inline v0_1
