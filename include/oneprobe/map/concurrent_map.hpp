// A bounded_map for many threads: readers take no lock and write no shared memory, writers lock
// single buckets. All that bounded_map promises about accesses, memory and `full` holds.
//
//   concurrent_map<std::uint64_t, route> routes(1'000'000);
//   routes.insert_or_assign(destination, route);          // any thread
//   if (std::optional<route> found = routes.find(destination)) ...
//   routes.erase(destination);
//
// An element whose insert has returned is found by every later find, until it is erased; a value is
// the old one or the new one, never a mixture. A find reads a bucket again only if a writer was
// inside that bucket at that moment; a `reader` counts how often that was. A writer holds the first
// candidate of its key from beginning to end, so that one key is changed by one thread at a time,
// and locks another bucket, of a higher level, only while it writes there; the overflow has one
// lock. No cycle of waiting threads can arise, as levels are locked from low to high.
//
// Keys and values are trivially copyable and default-constructible, and come out as copies. Calls
// also take the key's hash, made before by this map's hash(). Threads: everything may be called by
// all, except construction, destruction and clear; a `reader` belongs to one thread. It cannot be
// moved. Memory: as bounded_map.
#pragma once

#include <atomic>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "oneprobe/detail/base/shared_count.hpp"
#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/detail/map/shared_buckets.hpp"
#include "oneprobe/detail/map/walks.hpp"
#include "oneprobe/detail/placement/admission.hpp"
#include "oneprobe/detail/placement/ring.hpp"
#include "oneprobe/detail/placement/schemes.hpp"
#include "oneprobe/detail/placement/walk.hpp"
#include "oneprobe/hash.hpp"
#include "oneprobe/map/default_plan.hpp"
#include "oneprobe/map/plan.hpp"
#include "oneprobe/map/results.hpp"
#include "oneprobe/memory.hpp"

namespace oneprobe::inline v0_1 {
namespace detail {

/// Whose lock the writer has when it comes to a bucket.
enum class held_lock {
  first_candidate,  // that of the key's first candidate; others are locked on the way
  overflow,         // the one lock of the overflow
};

/// The buckets as one thread's walk sees them.
template <class Buckets, class Key, class Element, class Equal, held_lock Held>
class shared_search {
 public:
  struct key {
    key_hash hash;
    const Key* wanted;
    mutable Element copy{};  // of the element that was found, as it was at one moment
  };
  struct item {
    key_hash hash;
    Element element;
  };
  using slot = std::uint32_t;
  /// Readers must know the way to an element as soon as it is there.
  static constexpr bool notes_first = true;

  shared_search(const Buckets& buckets, const Equal& equal, std::uint64_t& retries) noexcept
      : buckets_(&buckets), equal_(&equal), retries_(&retries) {}

  void prefetch(position at) const noexcept { buckets_->prefetch(at); }
  void prefetch_all(position at, const key& wanted) const noexcept {
    buckets_->prefetch(at);
    buckets_->prefetch_slots(at, wanted.hash);
  }
  found_slot<slot> find(position at, const key& wanted) const noexcept {
    buckets_->prefetch_slots(at, wanted.hash);
    return buckets_->find(
        at, wanted.hash,
        [equal = equal_, query = wanted.wanted](const Element& element) {
          return (*equal)(element.key, *query);
        },
        wanted.copy, *retries_);
  }
  bool may_be_beyond(position at, key_hash hash) const noexcept {
    return buckets_->may_be_beyond(at, hash);
  }
  std::optional<std::uint32_t> load(position at) const noexcept { return buckets_->load(at); }
  bool admits(position at, const key& wanted, std::uint32_t limit) const noexcept {
    return buckets_->admits(at, wanted.hash, limit);
  }
  put_result try_put(position at, item& element, std::uint32_t limit) const noexcept {
    const guard inside(*buckets_, at);
    return buckets_->try_put(at, element.hash, element.element, limit);
  }
  void assign(position at, std::uint32_t which, const Element& element) const noexcept {
    const guard inside(*buckets_, at);
    buckets_->assign(at, which, element);
  }
  void erase(position at, const slot& found) const noexcept {
    const guard inside(*buckets_, at);
    buckets_->erase(at, found);
  }
  void note_passed(position at, key_hash hash) const noexcept { buckets_->note_passed(at, hash); }
  void unnote_passed(position at, key_hash hash) const noexcept {
    buckets_->unnote_passed(at, hash);
  }

 private:
  /// Locks a bucket that the writer does not hold already.
  class guard {
   public:
    guard(const Buckets& buckets, position at) noexcept : buckets_(buckets), at_(at) {
      if (needed()) buckets_.lock(at_);
    }
    ~guard() {
      if (needed()) buckets_.unlock(at_);
    }
    guard(const guard&) = delete;
    guard& operator=(const guard&) = delete;

   private:
    bool needed() const noexcept { return Held == held_lock::first_candidate && at_.level != 0; }
    const Buckets& buckets_;
    position at_;
  };

  const Buckets* buckets_;
  const Equal* equal_;
  std::uint64_t* retries_;
};

/// The buckets as the first step of a lookup sees them: where it is not certain of what it saw, it
/// goes on, and the caller begins anew with shared_search.
template <class Search, class Buckets, class Equal>
class shared_look {
 public:
  using key = typename Search::key;
  using slot = typename Search::slot;

  shared_look(const Buckets& buckets, const Equal& equal, std::uint64_t& retries) noexcept
      : buckets_(&buckets), equal_(&equal), retries_(&retries) {}

  void prefetch(position at) const noexcept { buckets_->prefetch(at); }
  found_slot<slot> find(position at, const key& wanted) const noexcept {
    buckets_->prefetch_slots(at, wanted.hash);
    seen_ = buckets_->look_once(
        at, wanted.hash,
        [equal = equal_, query = wanted.wanted](const auto& element) {
          return (*equal)(element.key, *query);
        },
        wanted.copy, *retries_);
    return seen_.slot;
  }
  bool may_be_beyond(position, key_hash hash) const noexcept {
    return Buckets::may_be_beyond(seen_, hash);
  }

 private:
  const Buckets* buckets_;
  const Equal* equal_;
  std::uint64_t* retries_;
  mutable typename Buckets::look seen_{};  // in the bucket that was looked at last
};

}  // namespace detail

template <class Key, class Value, class Hash = seeded_hash, class Equal = std::equal_to<>,
          std::uint32_t BucketCapacity = 16>
class concurrent_map {
  static_assert(std::default_initializable<Key> && std::default_initializable<Value>,
                "a lookup has a place for the copy before it knows whether there is one");
  struct element {
    Key key;
    Value value;
  };
  using store = shared_buckets<element, BucketCapacity>;
  using search =
      detail::shared_search<store, Key, element, Equal, detail::held_lock::first_candidate>;
  using first_look = detail::shared_look<search, store, Equal>;
  using overflow_search =
      detail::shared_search<store, Key, element, Equal, detail::held_lock::overflow>;

 public:
  using key_type = Key;
  using mapped_type = Value;

  /// An empty map for so many elements that come and go, from the default plan.
  explicit concurrent_map(std::uint64_t elements, Hash hash = Hash(random_seed()),
                          Equal equal = Equal())
      : concurrent_map(default_table_plan(elements, BucketCapacity), std::move(hash),
                       std::move(equal)) {}
  /// An empty map that follows a plan, whose scheme is multilevel or single.
  explicit concurrent_map(const table_plan& plan, Hash hash = Hash(random_seed()),
                          Equal equal = Equal())
      : concurrent_map(plan, line_memory(checked(plan).memory(sizeof(element)).total()),
                       std::move(hash), std::move(equal)) {}
  /// The same in the caller's memory: zeroed, aligned to 64 bytes, and outliving the map.
  concurrent_map(const table_plan& plan, std::span<std::byte> memory, Hash hash,
                 Equal equal = Equal())
      : concurrent_map(plan, line_memory::lend(memory), std::move(hash), std::move(equal)) {}
  /// The same in memory of its own, requested from the system as the options say.
  concurrent_map(const table_plan& plan, memory_options options, Hash hash = Hash(random_seed()),
                 Equal equal = Equal())
      : concurrent_map(plan, line_memory(checked(plan).memory(sizeof(element)).total(), options),
                       std::move(hash), std::move(equal)) {}

  // ---- writers ----

  /// Inserts, unless the key is there.
  insertion insert(const Key& key, const Value& value) { return insert(key, value, hash_(key)); }
  insertion insert(const Key& key, const Value& value, key_hash hash) {
    return write(
        key, hash, [&](Value&) { return false; }, value);
  }
  /// Inserts, or gives the value to the element that has the key.
  insertion insert_or_assign(const Key& key, const Value& value) {
    return insert_or_assign(key, value, hash_(key));
  }
  insertion insert_or_assign(const Key& key, const Value& value, key_hash hash) {
    return write(
        key, hash,
        [&](Value& there) {
          there = value;
          return true;
        },
        value);
  }
  /// Calls `change(value)` with a copy of the key's value and stores it back; no other thread
  /// changes this key meanwhile. Says whether the key was there.
  template <class Change>
  bool modify(const Key& key, Change change) {
    return modify(key, hash_(key), std::move(change));
  }
  template <class Change>
  bool modify(const Key& key, key_hash hash, Change change);

  /// Erases the key's element, if there is one.
  erase_outcome erase(const Key& key) { return erase(key, hash_(key)); }
  erase_outcome erase(const Key& key, key_hash hash);

  /// Takes all elements out. REQUIRES: no other thread uses the map.
  void clear() noexcept {
    std::memset(memory_.data(), 0, memory_.size());
    size_.clear();
    overflowed_.clear();
  }

  // ---- readers ----

  /// A copy of the key's value, if it is there.
  [[nodiscard]] std::optional<Value> find(const Key& key) const { return find(key, hash_(key)); }
  [[nodiscard]] std::optional<Value> find(const Key& key, key_hash hash) const {
    std::uint64_t retries = 0;
    return find_value(key, hash, retries);
  }
  /// Whether the key is there.
  [[nodiscard]] bool contains(const Key& key) const { return find(key).has_value(); }
  [[nodiscard]] bool contains(const Key& key, key_hash hash) const {
    return find(key, hash).has_value();
  }

  /// One thread's way to read that counts how often it had to read again.
  class reader {
   public:
    /// For one thread at a time. The map must outlive it.
    explicit reader(const concurrent_map& map) noexcept : map_(&map) {}

    /// As the map's.
    [[nodiscard]] std::optional<Value> find(const Key& key) { return find(key, map_->hash_(key)); }
    [[nodiscard]] std::optional<Value> find(const Key& key, key_hash hash) {
      return map_->find_value(key, hash, retries_);
    }
    /// As the map's.
    [[nodiscard]] bool contains(const Key& key) { return find(key).has_value(); }
    [[nodiscard]] bool contains(const Key& key, key_hash hash) {
      return find(key, hash).has_value();
    }
    /// As the map's.
    std::uint64_t bulk_find(std::span<const Key> keys, std::span<std::optional<Value>> found) {
      return map_->find_all(
          keys, [&](std::size_t i) { return map_->hash_(keys[i]); }, found, retries_);
    }
    std::uint64_t bulk_find(std::span<const Key> keys, std::span<const key_hash> hashes,
                            std::span<std::optional<Value>> found) {
      assert(keys.size() == hashes.size());
      return map_->find_all(
          keys, [&](std::size_t i) { return hashes[i]; }, found, retries_);
    }
    /// Times that a writer was inside a bucket that was read.
    std::uint64_t retries() const noexcept { return retries_; }

   private:
    const concurrent_map* map_;
    std::uint64_t retries_ = 0;
  };

  /// Looks up all keys at once, with memory asked ahead. REQUIRES: as many answers as keys.
  std::uint64_t bulk_find(std::span<const Key> keys, std::span<std::optional<Value>> found) const {
    return reader(*this).bulk_find(keys, found);
  }
  std::uint64_t bulk_find(std::span<const Key> keys, std::span<const key_hash> hashes,
                          std::span<std::optional<Value>> found) const {
    return reader(*this).bulk_find(keys, hashes, found);
  }

  /// Calls `visit(key, value)` for all elements: those of a bucket as they were at one moment, each
  /// bucket at another.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const store* part : {&buckets_, &overflow_})
      for (position at; at.bucket < part->buckets(); ++at.bucket)
        part->for_each(at, [&](const element& one) { visit(one.key, one.value); });
  }

  // ---- observers ----

  /// Elements whose insertion has returned and whose erasure has not, as far as this thread knows.
  std::uint64_t size() const noexcept { return size_.value(); }
  /// Elements in the overflow, likewise.
  std::uint64_t overflow_size() const noexcept { return overflowed_.value(); }
  const table_plan& plan() const noexcept { return plan_; }
  /// The hash that all keys go through.
  const Hash& hash() const noexcept { return hash_; }
  /// All bytes of the table. REQUIRES: no other thread writes meanwhile.
  std::span<const std::byte> memory() const noexcept { return memory_.bytes(); }

 private:
  concurrent_map(const table_plan& plan, line_memory memory, Hash hash, Equal equal)
      : plan_(checked(plan)),
        scheme_(std::span(plan.level_buckets).first(plan.levels)),
        overflow_scheme_(plan.overflow_buckets, table_plan::overflow_choices),
        memory_(std::move(memory)),
        hash_(std::move(hash)),
        equal_(std::move(equal)) {
    const detail::table_stores<store> stores(plan, sizeof(element), memory_);
    buckets_ = stores.buckets;
    overflow_ = stores.overflow;
  }
  static const table_plan& checked(const table_plan& plan) {
    return detail::checked_plan<multilevel, BucketCapacity>(plan);
  }
  static key_hash overflow_hash(key_hash hash) noexcept { return {overflow_bits(hash)}; }

  /// The lock of one key: that of its first candidate.
  class key_lock {
   public:
    key_lock(const store& buckets, position first) noexcept : buckets_(buckets), first_(first) {
      buckets_.lock(first_);
    }
    ~key_lock() { buckets_.unlock(first_); }
    key_lock(const key_lock&) = delete;
    key_lock& operator=(const key_lock&) = delete;

   private:
    const store& buckets_;
    position first_;
  };
  class overflow_lock {
   public:
    explicit overflow_lock(std::atomic_flag& flag) noexcept : flag_(flag) {
      detail::patience others;
      while (flag_.test_and_set(std::memory_order_acquire)) others.wait();
    }
    ~overflow_lock() { flag_.clear(std::memory_order_release); }
    overflow_lock(const overflow_lock&) = delete;
    overflow_lock& operator=(const overflow_lock&) = delete;

   private:
    std::atomic_flag& flag_;
  };

  // Most walks end with their first step, which alone is inlined, as in bounded_map.
  std::optional<Value> find_value(const Key& key, key_hash hash, std::uint64_t& retries) const {
    const first_look asked(buckets_, equal_, retries);
    const finding<multilevel, first_look> walk(scheme_, asked);
    auto walked = walk.start(hash, {hash, &key});
    walk.step(walked);
    found_value found{};
    if (walked.end == walk_end::present)
      found = {true, walked.key.copy.value};
    else if (walked.end != walk_end::absent) [[unlikely]]
      found = find_further(key, hash, retries);
    if (!found.there) return std::nullopt;
    return found.value;
  }
  /// A std::optional that is made in several places, and by a call, is put together in memory, and
  /// read again before all of it is there: made of this in one place, it stays in registers.
  struct found_value {
    std::uint64_t there = false;
    Value value{};
  };
  [[gnu::noinline]] found_value find_further(const Key& key, key_hash hash,
                                             std::uint64_t& retries) const {
    const search asked(buckets_, equal_, retries);
    const finding<multilevel, search> walk(scheme_, asked);
    const auto walked = walk_to_end(walk, walk.start(hash, {hash, &key}));
    if (walked.end == walk_end::present) return {true, walked.key.copy.value};
    if (walked.end != walk_end::overflowed) return {};
    const auto beyond = find_in_overflow(key, overflow_hash(hash), retries);
    if (beyond.end != walk_end::present) return {};
    return {true, beyond.key.copy.value};
  }
  auto find_in_overflow(const Key& key, key_hash hash, std::uint64_t& retries) const {
    const overflow_search asked(overflow_, equal_, retries);
    const finding<sequential, overflow_search> walk(overflow_scheme_, asked);
    return walk_to_end(walk, walk.start(hash, {hash, &key}));
  }

  template <class HashOf>
  std::uint64_t find_all(std::span<const Key> keys, HashOf hash_of,
                         std::span<std::optional<Value>> found, std::uint64_t& retries) const;

  /// Inserts `value`, or calls `change` with the value that is there, and stores it if told so.
  template <class Change>
  insertion write(const Key& key, key_hash hash, Change change, const Value& value);
  insertion insert_in_overflow(const Key& key, key_hash hash, const Value& value);

  table_plan plan_;
  multilevel scheme_;
  sequential overflow_scheme_;
  line_memory memory_;
  store buckets_;
  store overflow_;
  shared_count size_;
  shared_count overflowed_;
  std::atomic_flag overflow_busy_ = ATOMIC_FLAG_INIT;
  [[no_unique_address]] Hash hash_;
  [[no_unique_address]] Equal equal_;
};

// ---- implementation ----

template <class Key, class Value, class Hash, class Equal, std::uint32_t BucketCapacity>
template <class Change>
insertion concurrent_map<Key, Value, Hash, Equal, BucketCapacity>::write(const Key& key,
                                                                         key_hash hash,
                                                                         Change change,
                                                                         const Value& value) {
  std::uint64_t retries = 0;
  const key_lock held(buckets_, scheme_.first(hash));
  search asked(buckets_, equal_, retries);
  upserting<multilevel, search> walk(scheme_, asked, admission(BucketCapacity));
  for (;;) {
    auto searched = walk_to_end(walk, walk.start(hash, {hash, &key}));
    if (searched.end == walk_end::present) {
      element there = searched.key.copy;
      if (change(there.value)) asked.assign(searched.at, searched.slot, there);
      return insertion::present;
    }
    if (searched.end == walk_end::overflowed) {
      auto beyond = find_in_overflow(key, overflow_hash(hash), retries);
      if (beyond.end == walk_end::present) {
        element there = beyond.key.copy;
        const overflow_lock alone(overflow_busy_);
        if (change(there.value)) overflow_.assign(beyond.at, beyond.slot, there);
        return insertion::present;
      }
    }
    if (!searched.room) return insert_in_overflow(key, hash, value);
    typename search::item item{hash, {key, value}};
    if (walk.commit(searched, item) == walk_end::placed) break;
    // Another thread took the room in the meantime: look again.
  }
  size_.add(1);
  return insertion::inserted;
}

template <class Key, class Value, class Hash, class Equal, std::uint32_t BucketCapacity>
insertion concurrent_map<Key, Value, Hash, Equal, BucketCapacity>::insert_in_overflow(
    const Key& key, key_hash hash, const Value& value) {
  const overflow_lock alone(overflow_busy_);
  // Readers must find the way before the element is there.
  note_overflowed(scheme_, buckets_, hash);
  std::uint64_t retries = 0;
  const key_hash there = overflow_hash(hash);
  overflow_search asked(overflow_, equal_, retries);
  upserting<sequential, overflow_search> walk(overflow_scheme_, asked, admission(BucketCapacity));
  auto searched = walk_to_end(walk, walk.start(there, {there, &key}));
  typename overflow_search::item item{there, {key, value}};
  if (walk.commit(searched, item) != walk_end::placed) {
    unnote_overflowed(scheme_, buckets_, hash);
    return insertion::full;
  }
  size_.add(1);
  overflowed_.add(1);
  return insertion::overflowed;
}

template <class Key, class Value, class Hash, class Equal, std::uint32_t BucketCapacity>
template <class Change>
bool concurrent_map<Key, Value, Hash, Equal, BucketCapacity>::modify(const Key& key, key_hash hash,
                                                                     Change change) {
  std::uint64_t retries = 0;
  const key_lock held(buckets_, scheme_.first(hash));
  const search asked(buckets_, equal_, retries);
  const finding<multilevel, search> walk(scheme_, asked);
  const auto found = walk_to_end(walk, walk.start(hash, {hash, &key}));
  if (found.end == walk_end::present) {
    element there = found.key.copy;
    change(there.value);
    asked.assign(found.at, found.slot, there);
    return true;
  }
  if (found.end != walk_end::overflowed) return false;
  const auto beyond = find_in_overflow(key, overflow_hash(hash), retries);
  if (beyond.end != walk_end::present) return false;
  element there = beyond.key.copy;
  change(there.value);
  const overflow_lock alone(overflow_busy_);
  overflow_.assign(beyond.at, beyond.slot, there);
  return true;
}

template <class Key, class Value, class Hash, class Equal, std::uint32_t BucketCapacity>
erase_outcome concurrent_map<Key, Value, Hash, Equal, BucketCapacity>::erase(const Key& key,
                                                                             key_hash hash) {
  std::uint64_t retries = 0;
  const key_lock held(buckets_, scheme_.first(hash));
  search asked(buckets_, equal_, retries);
  erasing<multilevel, search> walk(scheme_, asked);
  const auto found = walk_to_end(walk, walk.start(hash, {hash, &key}));
  if (found.end == walk_end::present) {
    size_.add(std::uint64_t{0} - 1);
    return erase_outcome::erased;
  }
  if (found.end != walk_end::overflowed) return erase_outcome::absent;
  const overflow_lock alone(overflow_busy_);
  const key_hash there = overflow_hash(hash);
  overflow_search beyond(overflow_, equal_, retries);
  erasing<sequential, overflow_search> second_walk(overflow_scheme_, beyond);
  if (walk_to_end(second_walk, second_walk.start(there, {there, &key})).end != walk_end::present)
    return erase_outcome::absent;
  unnote_overflowed(scheme_, buckets_, hash);
  size_.add(std::uint64_t{0} - 1);
  overflowed_.add(std::uint64_t{0} - 1);
  return erase_outcome::erased;
}

template <class Key, class Value, class Hash, class Equal, std::uint32_t BucketCapacity>
template <class HashOf>
std::uint64_t concurrent_map<Key, Value, Hash, Equal, BucketCapacity>::find_all(
    std::span<const Key> keys, HashOf hash_of, std::span<std::optional<Value>> found,
    std::uint64_t& retries) const {
  assert(keys.size() == found.size());
  std::uint64_t count = 0;
  const search asked(buckets_, equal_, retries);
  const finding<multilevel, search> walk(scheme_, asked);
  roll(
      walk, keys.size(), detail::keys_ahead<Key, HashOf>{keys.data(), hash_of},
      [&](const detail::wanted_key<Key>& key) {
        return walk.start(key.hash, {key.hash, key.query});
      },
      [&](std::size_t i, const auto& ended) {
        found[i].reset();
        if (ended.end == walk_end::present) found[i] = ended.key.copy.value;
        if (ended.end == walk_end::overflowed)
          found[i] = find_value(keys[i], ended.key.hash, retries);
        count += found[i].has_value() ? 1u : 0u;
      });
  return count;
}

}  // namespace oneprobe::inline v0_1
