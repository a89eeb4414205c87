// What bounded_map and bounded_set have in common: everything but how elements are made.
//
//   memory: one region, relocatable, nothing in it points anywhere
//
//     | side array | slots | side array of the overflow | slots of the overflow |
//
//   key --hash--> candidate(i) --tags--> slot           an element is in the first of its d
//                      ^           | not here           candidates that had room, or in one of four
//                      +--- i+1 ---+ and noted          overflow buckets, or the table is full
//                                  | after d
//                                  +--> overflow --> ...
//
// No operation visits more than d buckets and four of the overflow, whatever the keys are. No
// element ever moves, unless draining is asked for: pointers to elements are good until they are
// erased. Nothing allocates after construction.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/detail/map/iterator.hpp"
#include "oneprobe/detail/map/measures.hpp"
#include "oneprobe/detail/map/tagged_buckets.hpp"
#include "oneprobe/detail/map/walks.hpp"
#include "oneprobe/detail/placement/admission.hpp"
#include "oneprobe/detail/placement/concepts.hpp"
#include "oneprobe/detail/placement/of_levels.hpp"
#include "oneprobe/detail/placement/ring.hpp"
#include "oneprobe/detail/placement/schemes.hpp"
#include "oneprobe/detail/placement/walk.hpp"
#include "oneprobe/hash.hpp"
#include "oneprobe/key_hash.hpp"
#include "oneprobe/map/plan.hpp"
#include "oneprobe/map/results.hpp"
#include "oneprobe/memory.hpp"

namespace oneprobe::inline v0_1 {

/// Whether keys of type Query can be looked up among keys of type Key without making a Key of them.
template <class Query, class Key, class Hash, class Equal>
concept transparent_query = !std::same_as<Query, Key> && !std::is_arithmetic_v<Query> && requires {
  typename Hash::is_transparent;
}
&&hash_policy<Hash, Query>&& std::predicate<const Equal&, const Key&, const Query&>;

namespace detail {

template <class Table>
class table_audit;  // detail/map/audit.hpp

/// Whether elements are their bytes. Checks key and value: of a struct with a constant key that
/// is a class, not all compilers say so.
template <class Element>
constexpr bool is_plain_element() noexcept {
  constexpr bool plain_key = std::is_trivially_copyable_v<decltype(Element::key)>;
  if constexpr (requires { &Element::value; })
    return plain_key && std::is_trivially_copyable_v<decltype(Element::value)>;
  else
    return plain_key;
}

}  // namespace detail

template <class Element, class Hash, class Equal, placement_scheme Scheme, std::uint32_t Capacity>
class bounded_table {
 public:
  using value_type = Element;
  using key_type = std::remove_const_t<decltype(Element::key)>;
  using hash_type = Hash;                                     // the policy that all keys go through
  using scheme_type = Scheme;                                 // how candidate buckets are drawn
  static constexpr std::uint32_t bucket_capacity = Capacity;  // h
  using iterator = detail::table_iterator<Element, tagged_buckets<Element, Capacity>>;
  using const_iterator = detail::table_iterator<const Element, tagged_buckets<Element, Capacity>>;
  using result = insert_result<Element>;

  /// An empty table that follows a plan, with a secret random seed unless a hash is given.
  explicit bounded_table(const table_plan& plan, Hash hash = Hash(random_seed()),
                         Equal equal = Equal())
      : bounded_table(plan, line_memory(checked(plan).memory(sizeof(Element)).total()),
                      std::move(hash), std::move(equal)) {}
  /// An empty table in the caller's memory: zeroed, aligned to 64 bytes, and outliving the table.
  bounded_table(const table_plan& plan, std::span<std::byte> memory, Hash hash,
                Equal equal = Equal())
      : bounded_table(plan, line_memory::lend(memory), std::move(hash), std::move(equal)) {}
  /// An empty table in memory of its own, requested from the system as the options say.
  bounded_table(const table_plan& plan, memory_options options, Hash hash = Hash(random_seed()),
                Equal equal = Equal())
      : bounded_table(plan, line_memory(checked(plan).memory(sizeof(Element)).total(), options),
                      std::move(hash), std::move(equal)) {}
  /// A table over memory that has elements already: those of another process, or of a file.
  /// REQUIRES: a table of this type, plan and hash left the bytes and the counts.
  bounded_table(const table_plan& plan, line_memory memory, const table_counts& counts, Hash hash,
                Equal equal = Equal()) requires(detail::is_plain_element<Element>())
      : bounded_table(plan, std::move(memory), std::move(hash), std::move(equal)) {
    counts_ = counts;
  }

  ~bounded_table() { destroy_elements(); }
  /// A copy has memory of its own.
  bounded_table(const bounded_table& other) requires std::copy_constructible<Element>
      : bounded_table(other.plan_, line_memory(other.memory_.size()), other.hash_, other.equal_) {
    copy_elements(other);
  }
  bounded_table& operator=(const bounded_table& other) requires std::copy_constructible<Element> {
    bounded_table(other).swap(*this);
    return *this;
  }
  bounded_table(bounded_table&& other) noexcept
      : plan_(other.plan_),
        scheme_(other.scheme_),
        overflow_scheme_(other.overflow_scheme_),
        memory_(std::move(other.memory_)),
        buckets_(std::exchange(other.buckets_, {})),
        overflow_(std::exchange(other.overflow_, {})),
        counts_(std::exchange(other.counts_, {})),
        sweep_at_(std::exchange(other.sweep_at_, 0)),
        drain_at_(std::exchange(other.drain_at_, 0)),
        drained_per_erase_(other.drained_per_erase_),
        hash_(std::move(other.hash_)),
        equal_(std::move(other.equal_)) {}
  bounded_table& operator=(bounded_table&& other) noexcept {
    bounded_table(std::move(other)).swap(*this);
    return *this;
  }
  void swap(bounded_table& other) noexcept {
    std::swap(plan_, other.plan_);
    std::swap(scheme_, other.scheme_);
    std::swap(overflow_scheme_, other.overflow_scheme_);
    memory_.swap(other.memory_);
    std::swap(buckets_, other.buckets_);
    std::swap(overflow_, other.overflow_);
    std::swap(counts_, other.counts_);
    std::swap(sweep_at_, other.sweep_at_);
    std::swap(drain_at_, other.drain_at_);
    std::swap(drained_per_erase_, other.drained_per_erase_);
    std::swap(hash_, other.hash_);
    std::swap(equal_, other.equal_);
  }

  // ---- lookup ----

  /// The element with this key, or null.
  Element* find(const key_type& key) { return find(key, hash_(key)); }
  const Element* find(const key_type& key) const { return find(key, hash_(key)); }
  template <transparent_query<key_type, Hash, Equal> Query>
  Element* find(const Query& key) {
    return find(key, hash_(key));
  }
  template <transparent_query<key_type, Hash, Equal> Query>
  const Element* find(const Query& key) const {
    return find(key, hash_(key));
  }
  /// The same with the key's hash made before, by this table's hash().
  template <class Query>
  Element* find(const Query& key, key_hash hash) {
    return find_element(key, hash);
  }
  template <class Query>
  const Element* find(const Query& key, key_hash hash) const {
    return find_element(key, hash);
  }

  /// Whether there is an element with this key.
  [[nodiscard]] bool contains(const key_type& key) const { return find(key) != nullptr; }
  template <transparent_query<key_type, Hash, Equal> Query>
  [[nodiscard]] bool contains(const Query& key) const {
    return find(key) != nullptr;
  }
  template <class Query>
  [[nodiscard]] bool contains(const Query& key, key_hash hash) const {
    return find(key, hash) != nullptr;
  }

  /// Calls `function` with the element of this key, if there is one. Says whether there was.
  template <class Function>
  bool visit(const key_type& key, Function&& function) {
    return visit_found(find(key), std::forward<Function>(function));
  }
  template <class Function>
  bool visit(const key_type& key, Function&& function) const {
    return visit_found(find(key), std::forward<Function>(function));
  }
  template <transparent_query<key_type, Hash, Equal> Query, class Function>
  bool visit(const Query& key, Function&& function) {
    return visit_found(find(key), std::forward<Function>(function));
  }
  template <transparent_query<key_type, Hash, Equal> Query, class Function>
  bool visit(const Query& key, Function&& function) const {
    return visit_found(find(key), std::forward<Function>(function));
  }
  /// The same with the key's hash made before.
  template <class Query, class Function>
  bool visit(const Query& key, key_hash hash, Function&& function) {
    return visit_found(find(key, hash), std::forward<Function>(function));
  }
  template <class Query, class Function>
  bool visit(const Query& key, key_hash hash, Function&& function) const {
    return visit_found(find(key, hash), std::forward<Function>(function));
  }

  /// Looks up all keys of a range at once, with memory asked ahead: found[i] is for keys[i], null
  /// if it is absent. Returns how many are there. REQUIRES: as many answers as keys.
  std::uint64_t bulk_find(std::span<const key_type> keys, std::span<Element*> found) {
    return find_all(
        keys, [&](std::size_t i) { return hash_(keys[i]); }, found);
  }
  std::uint64_t bulk_find(std::span<const key_type> keys, std::span<const Element*> found) const {
    return find_all(
        keys, [&](std::size_t i) { return hash_(keys[i]); }, found);
  }
  /// The same with the hashes made before.
  std::uint64_t bulk_find(std::span<const key_type> keys, std::span<const key_hash> hashes,
                          std::span<Element*> found) {
    assert(keys.size() == hashes.size());
    return find_all(
        keys, [&](std::size_t i) { return hashes[i]; }, found);
  }
  std::uint64_t bulk_find(std::span<const key_type> keys, std::span<const key_hash> hashes,
                          std::span<const Element*> found) const {
    assert(keys.size() == hashes.size());
    return find_all(
        keys, [&](std::size_t i) { return hashes[i]; }, found);
  }

  // ---- erasing ----

  /// Ends the life of the element with this key, if there is one. No other element moves, unless
  /// drain_on_erase was called.
  erase_outcome erase(const key_type& key) { return erase(key, hash_(key)); }
  template <transparent_query<key_type, Hash, Equal> Query>
  erase_outcome erase(const Query& key) {
    return erase(key, hash_(key));
  }
  template <class Query>
  [[gnu::flatten]] erase_outcome erase(const Query& key, key_hash hash);

  /// Ends the life of all elements.
  void clear() noexcept {
    if (memory_.size() == 0) return;  // moved from
    destroy_elements();
    const table_memory_parts parts = plan_.memory(sizeof(Element));
    std::memset(memory_.data(), 0, parts.side);
    std::memset(memory_.data() + parts.side + parts.slots, 0, parts.overflow_side);
    counts_ = {};
  }

  /// Erases the elements of the next `buckets` buckets for which `expired(element)` is true, and
  /// goes on from there when it is called again: a bounded amount of work, all elements in turn.
  /// Returns how many were erased.
  template <std::predicate<const Element&> Expired>
  std::uint64_t sweep(std::uint64_t buckets, Expired expired);

  /// Looks into the next `buckets` buckets of the overflow and moves what now has room into its
  /// regular buckets: pointers to these elements end. Returns how many were moved.
  std::uint64_t drain(std::uint64_t buckets) requires std::move_constructible<Element>;
  /// From now on every erase of an element from its regular buckets, which makes room there, drains
  /// so many buckets; 0, as at first, is none.
  void drain_on_erase(std::uint64_t buckets) noexcept requires std::move_constructible<Element> {
    drained_per_erase_ = buckets;
  }

  /// Inserts copies of all elements into another table, a larger one for example. Returns how many
  /// found no room there.
  std::uint64_t copy_into(bounded_table& other) const requires std::copy_constructible<Element>;

  // ---- observers ----

  std::uint64_t size() const noexcept { return counts_.size; }
  bool empty() const noexcept { return counts_.size == 0; }
  const table_plan& plan() const noexcept { return plan_; }
  const table_counts& counts() const noexcept { return counts_; }
  /// The hash that all keys go through.
  const Hash& hash() const noexcept { return hash_; }
  /// All bytes of the table, as a file holds them.
  std::span<const std::byte> memory() const noexcept { return memory_.bytes(); }

  iterator begin() noexcept { return {buckets_, overflow_, 0}; }
  iterator end() noexcept {
    return {buckets_, overflow_, buckets_.buckets() + overflow_.buckets()};
  }
  const_iterator begin() const noexcept { return {buckets_, overflow_, 0}; }
  const_iterator end() const noexcept {
    return {buckets_, overflow_, buckets_.buckets() + overflow_.buckets()};
  }

  /// How find comes to its answer, and what that costs.
  table_path explain(const key_type& key) const { return explain(key, hash_(key)); }
  template <transparent_query<key_type, Hash, Equal> Query>
  table_path explain(const Query& key) const {
    return explain(key, hash_(key));
  }
  template <class Query>
  table_path explain(const Query& key, key_hash hash) const;

  /// Reads the whole side array.
  table_stats stats() const { return detail::stats_of(plan_, counts_, buckets_, sizeof(Element)); }

 protected:
  /// Finds the key, or makes an element of it by `make(place)` where there is room.
  template <class Query, class Make>
  [[gnu::flatten]] result find_or_make(const Query& key, key_hash hash, Make make);

  /// The same; if the table is full, `choose` picks one of the elements that could give way, a span
  /// of pointers, and that one is erased; if it picks none, by a null pointer, the table stays
  /// full.
  template <class Query, class Choose, class Make>
  result find_or_make_evicting(const Query& key, key_hash hash, Choose choose, Make make);

 private:
  template <class Table>
  friend class detail::table_audit;

  using store = tagged_buckets<Element, Capacity>;
  template <class Query, detail::slots_prefetch When = detail::slots_prefetch::before_tags,
            class Item = detail::no_item>
  using search = detail::keyed_buckets<store, Query, Equal, When, Item>;

  bounded_table(const table_plan& plan, line_memory memory, Hash hash, Equal equal)
      : plan_(checked(plan)),
        scheme_(detail::scheme_over<Scheme>(std::span(plan.level_buckets).first(plan.levels),
                                            plan.choices)),
        overflow_scheme_(plan.overflow_buckets, table_plan::overflow_choices),
        memory_(std::move(memory)),
        hash_(std::move(hash)),
        equal_(std::move(equal)) {
    const detail::table_stores<store> stores(plan, sizeof(Element), memory_);
    buckets_ = stores.buckets;
    overflow_ = stores.overflow;
  }

  static const table_plan& checked(const table_plan& plan) {
    static_assert(alignof(Element) <= line_memory::line_bytes, "slots begin on a cache line");
    return detail::checked_plan<Scheme, Capacity>(plan);
  }

  admission rule() const { return admission(Capacity); }
  /// In the overflow an element has other candidates and another tag.
  static key_hash overflow_hash(key_hash hash) noexcept { return {overflow_bits(hash)}; }

  template <class Found, class Function>
  static bool visit_found(Found* found, Function&& function) {
    if (found != nullptr) std::invoke(std::forward<Function>(function), *found);
    return found != nullptr;
  }

  // Most walks end with their first step. That one is inlined, and the others are not: the fewer
  // instructions a call has, the more calls wait for memory at the same time. The others begin
  // anew, with what is in the cache by then: a state to be handed over would be kept in memory for
  // all.
  template <class Query>
  [[gnu::flatten]] Element* find_element(const Query& key, key_hash hash) const {
    const search<Query> asked(buckets_, equal_);
    const finding<Scheme, search<Query>> walk(scheme_, asked);
    auto walked = walk.start(hash, {hash, &key});
    walk.step(walked);
    if (walked.end == walk_end::present) return buckets_.element(walked.at, walked.slot);
    if (walked.end != walk_end::absent) [[unlikely]]
      return find_further(key, hash);
    return nullptr;
  }
  template <class Query>
  [[gnu::noinline]] Element* find_further(const Query& key, key_hash hash) const {
    const search<Query> asked(buckets_, equal_);
    const finding<Scheme, search<Query>> walk(scheme_, asked);
    const auto walked = walk_to_end(walk, walk.start(hash, {hash, &key}));
    if (walked.end == walk_end::present) return buckets_.element(walked.at, walked.slot);
    if (walked.end == walk_end::overflowed) return find_in_overflow(key, overflow_hash(hash));
    return nullptr;
  }
  template <class Query>
  [[gnu::noinline]] Element* find_in_overflow(const Query& key, key_hash hash) const {
    const search<Query> asked(overflow_, equal_);
    const finding<sequential, search<Query>> walk(overflow_scheme_, asked);
    const auto found = walk_to_end(walk, walk.start(hash, {hash, &key}));
    return found.end == walk_end::present ? overflow_.element(found.at, found.slot) : nullptr;
  }
  template <class HashOf, class Found>
  std::uint64_t find_all(std::span<const key_type> keys, HashOf hash_of,
                         std::span<Found> found) const;
  template <class Query, class Make>
  using making_store =
      search<Query, detail::slots_prefetch::before_tags, detail::element_maker<Element, Make>>;
  template <class Query, class Make>
  [[gnu::noinline]] result make_further(const Query& key, key_hash hash, Make make);
  /// REQUIRES: the search has found room.
  template <class Walk, class State, class Make>
  result make_in_room(Walk& walk, State& searched, Make& make);
  template <class Make>
  [[gnu::noinline]] result make_in_overflow(key_hash hash, Make& make);

  template <class Query>
  [[gnu::noinline]] erase_outcome erase_further(const Query& key, key_hash hash);
  template <class Query>
  [[gnu::noinline]] erase_outcome erase_in_overflow(const Query& key, key_hash hash);
  erase_outcome erased_from(std::uint32_t level) {
    --counts_.size;
    --counts_.levels[level];
    if constexpr (std::move_constructible<Element>)
      if (drained_per_erase_ != 0) [[unlikely]]
        drain(drained_per_erase_);
    return erase_outcome::erased;
  }
  void copy_elements(const bounded_table& other);

  void destroy_elements() noexcept {
    if constexpr (!std::is_trivially_destructible_v<Element>)
      for (Element& element : *this) std::destroy_at(std::addressof(element));
  }

  table_plan plan_;
  Scheme scheme_;
  sequential overflow_scheme_;
  line_memory memory_;
  store buckets_;
  store overflow_;
  table_counts counts_{};
  std::uint64_t sweep_at_ = 0;
  std::uint64_t drain_at_ = 0;
  std::uint64_t drained_per_erase_ = 0;
  [[no_unique_address]] Hash hash_;
  [[no_unique_address]] Equal equal_;
};

// ---- implementation ----

template <class Element, class Hash, class Equal, placement_scheme Scheme, std::uint32_t Capacity>
template <class Query, class Make>
auto bounded_table<Element, Hash, Equal, Scheme, Capacity>::find_or_make(const Query& key,
                                                                         key_hash hash, Make make)
    -> result {
  making_store<Query, Make> asked(buckets_, equal_);
  upserting<Scheme, making_store<Query, Make>> walk(scheme_, asked, rule());
  auto searched = walk.start(hash, {hash, &key});
  walk.step(searched);
  if (searched.end == walk_end::present)
    return {insertion::present, buckets_.element(searched.at, searched.slot)};
  if (searched.end == walk_end::absent && searched.room) [[likely]]
    return make_in_room(walk, searched, make);
  return make_further(key, hash, make);
}

template <class Element, class Hash, class Equal, placement_scheme Scheme, std::uint32_t Capacity>
template <class Query, class Make>
auto bounded_table<Element, Hash, Equal, Scheme, Capacity>::make_further(const Query& key,
                                                                         key_hash hash, Make make)
    -> result {
  making_store<Query, Make> asked(buckets_, equal_);
  upserting<Scheme, making_store<Query, Make>> walk(scheme_, asked, rule());
  auto searched = walk_to_end(walk, walk.start(hash, {hash, &key}));
  if (searched.end == walk_end::present)
    return {insertion::present, buckets_.element(searched.at, searched.slot)};
  if (searched.end == walk_end::overflowed)
    if (Element* const found = find_in_overflow(key, overflow_hash(hash)))
      return {insertion::present, found};
  return searched.room ? make_in_room(walk, searched, make) : make_in_overflow(hash, make);
}

template <class Element, class Hash, class Equal, placement_scheme Scheme, std::uint32_t Capacity>
template <class Walk, class State, class Make>
inline auto bounded_table<Element, Hash, Equal, Scheme, Capacity>::make_in_room(Walk& walk,
                                                                                State& searched,
                                                                                Make& make)
    -> result {
  detail::element_maker<Element, Make> made{searched.key.hash, &make};
  walk.commit(searched, made);
  ++counts_.size;
  ++counts_.levels[searched.at.level];
  return {insertion::inserted, made.made};
}

template <class Element, class Hash, class Equal, placement_scheme Scheme, std::uint32_t Capacity>
template <class Make>
auto bounded_table<Element, Hash, Equal, Scheme, Capacity>::make_in_overflow(key_hash hash,
                                                                             Make& make) -> result {
  using item = detail::element_maker<Element, Make>;
  using store_for = search<key_type, detail::slots_prefetch::before_tags, item>;
  store_for asked(overflow_, equal_);
  placing<sequential, store_for> walk(overflow_scheme_, asked, rule());
  const key_hash there = overflow_hash(hash);
  const auto placed = walk_to_end(walk, walk.start(there, item{there, &make}));
  if (placed.end != walk_end::placed) return {insertion::full, nullptr};
  note_overflowed(scheme_, buckets_, hash);
  ++counts_.size;
  ++counts_.overflow;
  return {insertion::overflowed, placed.element.made};
}

template <class Element, class Hash, class Equal, placement_scheme Scheme, std::uint32_t Capacity>
template <class Query>
erase_outcome bounded_table<Element, Hash, Equal, Scheme, Capacity>::erase(const Query& key,
                                                                           key_hash hash) {
  search<Query> asked(buckets_, equal_);
  erasing<Scheme, search<Query>> walk(scheme_, asked);
  auto walked = walk.start(hash, {hash, &key});
  walk.step(walked);
  if (walked.end == walk_end::present) return erased_from(walked.at.level);
  if (walked.end == walk_end::absent) return erase_outcome::absent;
  return erase_further(key, hash);
}

template <class Element, class Hash, class Equal, placement_scheme Scheme, std::uint32_t Capacity>
template <class Query>
erase_outcome bounded_table<Element, Hash, Equal, Scheme, Capacity>::erase_further(const Query& key,
                                                                                   key_hash hash) {
  search<Query> asked(buckets_, equal_);
  erasing<Scheme, search<Query>> walk(scheme_, asked);
  const auto walked = walk_to_end(walk, walk.start(hash, {hash, &key}));
  if (walked.end == walk_end::present) return erased_from(walked.at.level);
  if (walked.end == walk_end::absent) return erase_outcome::absent;
  return erase_in_overflow(key, hash);
}

template <class Element, class Hash, class Equal, placement_scheme Scheme, std::uint32_t Capacity>
template <class Query>
erase_outcome bounded_table<Element, Hash, Equal, Scheme, Capacity>::erase_in_overflow(
    const Query& key, key_hash hash) {
  search<Query> asked(overflow_, equal_);
  erasing<sequential, search<Query>> walk(overflow_scheme_, asked);
  const key_hash there = overflow_hash(hash);
  if (walk_to_end(walk, walk.start(there, {there, &key})).end != walk_end::present)
    return erase_outcome::absent;
  unnote_overflowed(scheme_, buckets_, hash);
  --counts_.size;
  --counts_.overflow;
  return erase_outcome::erased;
}

template <class Element, class Hash, class Equal, placement_scheme Scheme, std::uint32_t Capacity>
std::uint64_t bounded_table<Element, Hash, Equal, Scheme, Capacity>::drain(
    std::uint64_t buckets) requires std::move_constructible<Element> {
  std::uint64_t moved = 0;
  for (std::uint64_t i = 0; i < std::min(buckets, overflow_.buckets()); ++i) {
    const position from{drain_at_, 0};
    drain_at_ = drain_at_ + 1 == overflow_.buckets() ? 0 : drain_at_ + 1;
    for (std::uint32_t left = overflow_.occupied(from); left != 0; left &= left - 1) {
      Element& element =
          *overflow_.element(from, static_cast<std::uint32_t>(std::countr_zero(left)));
      auto make = [&](void* place) { return ::new (place) Element(std::move(element)); };
      using item = detail::element_maker<Element, decltype(make)>;
      using store_for = search<key_type, detail::slots_prefetch::before_tags, item>;
      const key_hash hash = hash_(element.key);
      store_for asked(buckets_, equal_);
      upserting<Scheme, store_for> walk(scheme_, asked, rule());
      auto searched = walk_to_end(walk, walk.start(hash, {hash, &element.key}));
      item made{hash, &make};
      if (walk.commit(searched, made) != walk_end::placed) continue;
      ++counts_.size;
      ++counts_.levels[searched.at.level];
      // The keys are equal; what was moved from is erased by the new element's.
      erase_in_overflow(made.made->key, hash);
      ++moved;
    }
  }
  return moved;
}

template <class Element, class Hash, class Equal, placement_scheme Scheme, std::uint32_t Capacity>
std::uint64_t bounded_table<Element, Hash, Equal, Scheme, Capacity>::copy_into(
    bounded_table& other) const requires std::copy_constructible<Element> {
  std::uint64_t without_room = 0;
  for (const Element& element : *this) {
    const result copied =
        other.find_or_make(element.key, other.hash_(element.key),
                           [&](void* place) { return ::new (place) Element(element); });
    without_room += copied.outcome == insertion::full ? 1u : 0u;
  }
  return without_room;
}

template <class Element, class Hash, class Equal, placement_scheme Scheme, std::uint32_t Capacity>
void bounded_table<Element, Hash, Equal, Scheme, Capacity>::copy_elements(
    const bounded_table& other) {
  if constexpr (detail::is_plain_element<Element>()) {
    std::memcpy(memory_.data(), other.memory_.data(), memory_.size());
  } else {
    // One after the other, each with its tag: if a copy throws, the destructor finds the others.
    buckets_.copy_elements(other.buckets_);
    overflow_.copy_elements(other.overflow_);
  }
  counts_ = other.counts_;
}

template <class Element, class Hash, class Equal, placement_scheme Scheme, std::uint32_t Capacity>
template <class Query, class Choose, class Make>
auto bounded_table<Element, Hash, Equal, Scheme, Capacity>::find_or_make_evicting(
    const Query& key, key_hash hash, Choose choose, Make make) -> result {
  const result first = find_or_make(key, hash, make);
  if (first.outcome != insertion::full) return first;
  std::array<Element*,
             std::size_t{table_plan::most_levels + table_plan::overflow_choices} * Capacity>
      all{};
  std::size_t count = 0;
  const auto add_candidates = [&](const store& buckets, const auto& scheme, key_hash from) {
    std::array<std::uint64_t, table_plan::most_levels> seen{};
    auto end = seen.begin();
    for_each_candidate(scheme, from, [&](position at) {
      // A bucket may be two candidates.
      if (std::find(seen.begin(), end, at.bucket) != end) return;
      *end++ = at.bucket;
      for (std::uint32_t left = buckets.in_the_way(at, from); left != 0; left &= left - 1)
        all[count++] = buckets.element(at, static_cast<std::uint32_t>(std::countr_zero(left)));
    });
  };
  add_candidates(buckets_, scheme_, hash);
  add_candidates(overflow_, overflow_scheme_, overflow_hash(hash));
  Element* const chosen = choose(std::span<Element* const>(all.data(), count));
  if (chosen == nullptr) return first;
  // What drains must not take the place that was made.
  const std::uint64_t drained = std::exchange(drained_per_erase_, 0);
  erase(chosen->key);
  drained_per_erase_ = drained;
  const result made = find_or_make(key, hash, make);
  if constexpr (std::move_constructible<Element>)
    if (drained != 0) drain(drained);
  return made;
}

template <class Element, class Hash, class Equal, placement_scheme Scheme, std::uint32_t Capacity>
template <class HashOf, class Found>
std::uint64_t bounded_table<Element, Hash, Equal, Scheme, Capacity>::find_all(
    std::span<const key_type> keys, HashOf hash_of, std::span<Found> found) const {
  assert(keys.size() == found.size());
  using store_for = search<key_type, detail::slots_prefetch::after_tags>;
  using wanted = typename store_for::key;
  const store_for asked(buckets_, equal_);
  const finding<Scheme, store_for> walk(scheme_, asked);
  std::uint64_t count = 0;
  roll(
      walk, keys.size(), detail::keys_ahead<key_type, HashOf>{keys.data(), hash_of},
      [&](const wanted& key) { return walk.start(key.hash, key); },
      [&](std::size_t i, const auto& ended) {
        Element* answer = nullptr;
        if (ended.end == walk_end::present)
          answer = buckets_.element(ended.at, ended.slot);
        else if (ended.end == walk_end::overflowed)
          answer = find_in_overflow(keys[i], overflow_hash(ended.key.hash));
        found[i] = answer;
        count += answer != nullptr ? 1u : 0u;
      });
  return count;
}

template <class Element, class Hash, class Equal, placement_scheme Scheme, std::uint32_t Capacity>
template <class Query>
table_path bounded_table<Element, Hash, Equal, Scheme, Capacity>::explain(const Query& key,
                                                                          key_hash hash) const {
  table_path path;
  // A walk step by step, and after each what it read.
  const auto follow = [&](const store& buckets, const auto& scheme, key_hash from,
                          std::uint32_t& accesses) {
    const search<Query> asked(buckets, equal_);
    const finding<std::remove_cvref_t<decltype(scheme)>, search<Query>> walk(scheme, asked);
    auto walked = walk.start(from, {from, &key});
    while (walked.end == walk_end::open) {
      const position at = walked.at;
      walk.step(walked);
      const auto slots = detail::lines_of_slots(buckets, at, from, walked);
      path.lines += 1 + slots.compared;
      path.unread_lines += slots.unread;
    }
    accesses = walked.accesses;
    return walked;
  };
  const auto walked = follow(buckets_, scheme_, hash, path.accesses);
  path.level = walked.at.level;
  if (walked.end == walk_end::present) path.stopped = table_path::stop::found;
  if (walked.end != walk_end::overflowed) return path;
  const auto beyond =
      follow(overflow_, overflow_scheme_, overflow_hash(hash), path.overflow_accesses);
  path.stopped = beyond.end == walk_end::present ? table_path::stop::found_in_overflow
                                                 : table_path::stop::not_in_overflow;
  return path;
}

template <class Element, class Hash, class Equal, placement_scheme Scheme, std::uint32_t Capacity>
template <std::predicate<const Element&> Expired>
std::uint64_t bounded_table<Element, Hash, Equal, Scheme, Capacity>::sweep(std::uint64_t buckets,
                                                                           Expired expired) {
  std::uint64_t erased = 0;
  const std::uint64_t all = buckets_.buckets() + overflow_.buckets();
  for (std::uint64_t i = 0; i < std::min(buckets, all); ++i) {
    const bool regular = sweep_at_ < buckets_.buckets();
    const store& swept = regular ? buckets_ : overflow_;
    const position at{regular ? sweep_at_ : sweep_at_ - buckets_.buckets(), 0};
    for (std::uint32_t left = swept.occupied(at); left != 0; left &= left - 1) {
      const Element& element =
          *swept.element(at, static_cast<std::uint32_t>(std::countr_zero(left)));
      if (!expired(element)) continue;
      erase(element.key);
      ++erased;
    }
    sweep_at_ = sweep_at_ + 1 == all ? 0 : sweep_at_ + 1;
  }
  return erased;
}

}  // namespace oneprobe::inline v0_1
