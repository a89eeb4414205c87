// A hash map with chains whose lengths vary as little as the access budget allows (ECB, Section
// VIII), under any placement scheme; with one choice, the ordinary chained table (LEC, 7.2.1).
//
//   chained_map<std::string, int> counts(plan);              // a chain_plan
//   counts.try_emplace("a", 1);
//   if (auto* found = counts.find("a")) ++found->value;
//   counts.erase("a");
//
// It is never full: the one table here that allocates as it grows. An insertion visits at most d
// chains, and the overflow; a chain is scanned to its end. Pointers to elements are good until the
// element is erased. Threads: const functions may run together; anything else alone. If an
// element's own operation throws, the map is as before.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/detail/map/chains.hpp"
#include "oneprobe/detail/placement/admission.hpp"
#include "oneprobe/detail/placement/concepts.hpp"
#include "oneprobe/detail/placement/of_levels.hpp"
#include "oneprobe/detail/placement/schemes.hpp"
#include "oneprobe/detail/placement/walk.hpp"
#include "oneprobe/erase_outcome.hpp"
#include "oneprobe/hash.hpp"
#include "oneprobe/key_hash.hpp"
#include "oneprobe/map/bounded_map.hpp"
#include "oneprobe/map/chain_plan.hpp"
#include "oneprobe/map/results.hpp"

namespace oneprobe::inline v0_1 {

/// What a lookup cost.
struct chain_path {
  bool found = false;          // the key is there
  std::uint32_t accesses = 0;  // chains, the overflow's one included
  std::uint64_t nodes = 0;     // elements compared

  friend constexpr bool operator==(const chain_path&, const chain_path&) = default;
};

/// What a map counts, and how long its chains are.
struct chain_stats {
  std::uint64_t size = 0;         // elements, those in the overflow included
  std::uint64_t overflow = 0;     // of them in the overflow
  double insert_accesses = 0;     // chains visited per insertion so far, the overflow's included
  double placement_accesses = 0;  // of them up to the one that took it: without the search for the
                                  // key, and without the overflow. What a plan predicts
  double length_mean = 0;         // elements per chain, those of the overflow left out
  double length_variance = 0;     // of the elements per chain
  std::uint32_t longest = 0;      // elements of the longest chain
  std::uint64_t bytes = 0;        // buckets and nodes
};

namespace detail {

/// The chains as a walk sees them that looks for keys of one type.
template <class Element, class Query, class Equal, class Item>
class keyed_chains {
 public:
  struct key {
    const Query* wanted;
  };
  using slot = typename chains<Element>::slot;
  using item = Item;

  keyed_chains(chains<Element>& lists, node_pool<Element>& nodes, const Equal& equal,
               std::uint64_t& visited) noexcept
      : lists_(&lists), nodes_(&nodes), equal_(&equal), visited_(&visited) {}

  void prefetch(position at) const noexcept { lists_->prefetch(at); }
  std::optional<std::uint32_t> load(position at) const noexcept { return lists_->load(at); }
  std::optional<slot> find(position at, const key& wanted) const {
    return lists_->find(
        *nodes_, at, [&](const Element& element) { return (*equal_)(element.key, *wanted.wanted); },
        *visited_);
  }
  bool may_be_beyond(position at, key_hash) const noexcept { return lists_->may_be_beyond(at); }
  put_result try_put(position at, item& element, std::uint32_t limit) {
    return lists_->try_put(*nodes_, at, element, limit);
  }
  void erase(position at, slot node) noexcept { lists_->erase(*nodes_, at, node); }
  void note_passed(position at, key_hash) noexcept { lists_->note_passed(at); }
  void unnote_passed(position at, key_hash) noexcept { lists_->unnote_passed(at); }

 private:
  chains<Element>* lists_;
  node_pool<Element>* nodes_;
  const Equal* equal_;
  std::uint64_t* visited_;
};

}  // namespace detail

template <class Key, class Value, class Hash = seeded_hash, class Equal = std::equal_to<>,
          placement_scheme Scheme = multilevel>
class chained_map {
 public:
  using value_type = map_element<Key, Value>;
  using result = insert_result<value_type>;

  /// An empty map that follows a plan, with a random seed unless a hash is given. Refuses a
  /// plan that has a fault.
  explicit chained_map(const chain_plan& plan, Hash hash = Hash(random_seed()),
                       Equal equal = Equal())
      : plan_(checked(plan)),
        scheme_(detail::scheme_over<Scheme>(std::span(plan.level_buckets).first(plan.levels),
                                            plan.choices)),
        overflow_scheme_(plan.overflow_buckets),
        rule_(plan.threshold ? admission(*plan.threshold, plan.admit_probability)
                             : admission::always()),
        chains_(plan.buckets()),
        overflow_(plan.overflow_buckets),
        hash_(std::move(hash)),
        equal_(std::move(equal)) {}
  ~chained_map() { destroy_elements(); }
  chained_map(const chained_map&) = delete;
  chained_map& operator=(const chained_map&) = delete;

  /// Inserts an element whose value is made from the arguments, unless the key is there. The
  /// outcome is never `full`.
  template <class... Args>
  result try_emplace(const Key& key, Args&&... args) {
    return try_emplace_hashed(hash_(key), key, std::forward<Args>(args)...);
  }
  /// Also for a key of another type: a Key is made of it only if it is new.
  template <transparent_query<Key, Hash, Equal> Query, class... Args>
  result try_emplace(const Query& key, Args&&... args) {
    return try_emplace_hashed(hash_(key), key, std::forward<Args>(args)...);
  }
  /// The same with the key's hash made before, by this map's hash().
  template <class Query, class... Args>
  result try_emplace_hashed(key_hash hash, const Query& key, Args&&... args);

  /// Inserts the element unless the key is there. The outcome is never `full`.
  result insert(const Key& key, const Value& value) { return try_emplace(key, value); }
  result insert(const Key& key, const Value& value, key_hash hash) {
    return try_emplace_hashed(hash, key, value);
  }
  /// Inserts, or gives the value to the element that has the key.
  template <class Source>
  result insert_or_assign(const Key& key, Source&& value) {
    return insert_or_assign(key, std::forward<Source>(value), hash_(key));
  }
  template <class Source>
  result insert_or_assign(const Key& key, Source&& value, key_hash hash) {
    const result found = try_emplace_hashed(hash, key, std::forward<Source>(value));
    if (found.outcome == insertion::present) found.element->value = std::forward<Source>(value);
    return found;
  }

  /// The element with this key, or null. Also for keys of another type that hash and compare alike.
  template <class Query>
  requires hash_policy<Hash, Query> value_type* find(const Query& key) {
    return find(key, hash_(key));
  }
  template <class Query>
  requires hash_policy<Hash, Query>
  const value_type* find(const Query& key) const { return find(key, hash_(key)); }
  /// The same with the key's hash made before.
  template <class Query>
  value_type* find(const Query& key, key_hash hash) {
    return find_element(key, hash).element;
  }
  template <class Query>
  const value_type* find(const Query& key, key_hash hash) const {
    return find_element(key, hash).element;
  }
  /// Whether there is an element with this key.
  template <class Query>
  [[nodiscard]] bool contains(const Query& key) const {
    return find(key) != nullptr;
  }
  template <class Query>
  [[nodiscard]] bool contains(const Query& key, key_hash hash) const {
    return find(key, hash) != nullptr;
  }

  /// Ends the life of the element with this key, if there is one.
  template <class Query>
  requires hash_policy<Hash, Query> erase_outcome erase(const Query& key) {
    return erase(key, hash_(key));
  }
  template <class Query>
  erase_outcome erase(const Query& key, key_hash hash);

  /// Ends the life of all elements.
  void clear() noexcept {
    destroy_elements();
    chains_.clear();
    overflow_.clear();
    nodes_ = {};
    size_ = overflowed_ = 0;
  }

  /// Calls `visit` with every element.
  template <class Visit>
  void for_each(Visit visit) const {
    for (const chains<value_type>* part : {&chains_, &overflow_})
      part->for_each(nodes_, [&](auto node) { visit(std::as_const(nodes_.element(node))); });
  }

  /// How find comes to its answer, and what that costs.
  template <class Query>
  requires hash_policy<Hash, Query> chain_path explain(const Query& key)
  const { return explain(key, hash_(key)); }
  template <class Query>
  chain_path explain(const Query& key, key_hash hash) const {
    const search_result found = find_element(key, hash);
    return {found.element != nullptr, found.accesses, found.nodes};
  }
  /// Reads all buckets.
  chain_stats stats() const;

  std::uint64_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  const chain_plan& plan() const noexcept { return plan_; }
  /// The hash that all keys go through.
  const Hash& hash() const noexcept { return hash_; }

 private:
  struct search_result {
    value_type* element = nullptr;
    std::uint32_t accesses = 0;
    std::uint64_t nodes = 0;
  };
  struct no_item {
    void construct(void*) {}
  };
  template <class Make>
  struct maker {
    Make* make;
    value_type* made = nullptr;

    void construct(void* place) { made = (*make)(place); }
  };
  template <class Query, class Item = no_item>
  using search = detail::keyed_chains<value_type, Query, Equal, Item>;

  static const chain_plan& checked(const chain_plan& plan) {
    check_plan(plan);
    if (const auto fault = detail::find_other_scheme<Scheme>(plan.scheme)) refuse_parameter(*fault);
    return plan;
  }
  static key_hash overflow_hash(key_hash hash) noexcept { return {overflow_bits(hash)}; }

  /// Searching changes nothing; the walks see the same store that others change.
  template <class Query>
  search_result find_element(const Query& key, key_hash hash) const {
    search_result found;
    const search<Query> asked(chains_, nodes_, equal_, found.nodes);
    const finding<Scheme, search<Query>> walk(scheme_, asked);
    const auto walked = walk_to_end(walk, walk.start(hash, {&key}));
    found.accesses = walked.accesses;
    if (walked.end == walk_end::present) found.element = &nodes_.element(walked.slot);
    if (walked.end != walk_end::overflowed) return found;
    const search<Query> beyond(overflow_, nodes_, equal_, found.nodes);
    const finding<single, search<Query>> second_walk(overflow_scheme_, beyond);
    const auto last = walk_to_end(second_walk, second_walk.start(overflow_hash(hash), {&key}));
    found.accesses += last.accesses;
    if (last.end == walk_end::present) found.element = &nodes_.element(last.slot);
    return found;
  }
  void destroy_elements() noexcept {
    for (const chains<value_type>* part : {&chains_, &overflow_})
      part->for_each(nodes_, [&](auto node) { std::destroy_at(&nodes_.element(node)); });
  }

  chain_plan plan_;
  Scheme scheme_;
  single overflow_scheme_;
  admission rule_;
  mutable chains<value_type> chains_;
  mutable chains<value_type> overflow_;
  mutable node_pool<value_type> nodes_;
  std::uint64_t size_ = 0;
  std::uint64_t overflowed_ = 0;
  std::uint64_t insertions_ = 0;
  std::uint64_t insert_accesses_ = 0;
  std::uint64_t placement_accesses_ = 0;
  [[no_unique_address]] Hash hash_;
  [[no_unique_address]] Equal equal_;
};

// ---- implementation ----

template <class Key, class Value, class Hash, class Equal, placement_scheme Scheme>
template <class Query, class... Args>
auto chained_map<Key, Value, Hash, Equal, Scheme>::try_emplace_hashed(key_hash hash,
                                                                      const Query& key,
                                                                      Args&&... args) -> result {
  auto make = [&](void* place) {
    return ::new (place) value_type{Key(key), Value(std::forward<Args>(args)...)};
  };
  using item = maker<decltype(make)>;
  using store = search<Query, item>;
  std::uint64_t visited = 0;
  store asked(chains_, nodes_, equal_, visited);
  upserting<Scheme, store> walk(scheme_, asked, rule_);
  auto searched = walk_to_end(walk, walk.start(hash, {&key}));
  if (searched.end == walk_end::present)
    return {insertion::present, &nodes_.element(searched.slot)};
  const key_hash there = overflow_hash(hash);
  store beyond(overflow_, nodes_, equal_, visited);
  upserting<single, store> second_walk(overflow_scheme_, beyond, admission::always());
  auto last = second_walk.start(there, {&key});
  if (searched.end == walk_end::overflowed) {
    last = walk_to_end(second_walk, last);
    if (last.end == walk_end::present) return {insertion::present, &nodes_.element(last.slot)};
  }
  item made{&make};
  insertion outcome = insertion::inserted;
  if (walk.commit(searched, made) != walk_end::placed) {
    if (last.end == walk_end::open) last = walk_to_end(second_walk, last);
    second_walk.commit(last, made);
    note_overflowed(scheme_, asked, hash);
    ++overflowed_;
    outcome = insertion::overflowed;
  }
  ++size_;
  ++insertions_;
  insert_accesses_ += searched.accesses + last.accesses;
  // The search may go on behind the chain that has room; a parallel scheme looks at all.
  const bool took_the_first = Scheme::choice == order::first_fit && searched.room;
  placement_accesses_ += took_the_first ? searched.room->level + 1 : scheme_.choices();
  return {outcome, made.made};
}

template <class Key, class Value, class Hash, class Equal, placement_scheme Scheme>
template <class Query>
erase_outcome chained_map<Key, Value, Hash, Equal, Scheme>::erase(const Query& key, key_hash hash) {
  std::uint64_t visited = 0;
  search<Query> asked(chains_, nodes_, equal_, visited);
  erasing<Scheme, search<Query>> walk(scheme_, asked);
  const auto found = walk_to_end(walk, walk.start(hash, {&key}));
  if (found.end == walk_end::present) {
    --size_;
    return erase_outcome::erased;
  }
  if (found.end != walk_end::overflowed) return erase_outcome::absent;
  search<Query> beyond(overflow_, nodes_, equal_, visited);
  erasing<single, search<Query>> second_walk(overflow_scheme_, beyond);
  if (walk_to_end(second_walk, second_walk.start(overflow_hash(hash), {&key})).end !=
      walk_end::present)
    return erase_outcome::absent;
  unnote_overflowed(scheme_, asked, hash);
  --size_;
  --overflowed_;
  return erase_outcome::erased;
}

template <class Key, class Value, class Hash, class Equal, placement_scheme Scheme>
chain_stats chained_map<Key, Value, Hash, Equal, Scheme>::stats() const {
  chain_stats stats{.size = size_, .overflow = overflowed_};
  if (insertions_ != 0) {
    const auto insertions = static_cast<double>(insertions_);
    stats.insert_accesses = static_cast<double>(insert_accesses_) / insertions;
    stats.placement_accesses = static_cast<double>(placement_accesses_) / insertions;
  }
  double squares = 0;
  const auto buckets = static_cast<double>(chains_.buckets());
  for (position at; at.bucket < chains_.buckets(); ++at.bucket) {
    const std::uint32_t load = *chains_.load(at);
    stats.longest = std::max(stats.longest, load);
    squares += static_cast<double>(load) * load;
  }
  stats.length_mean = static_cast<double>(size_ - overflowed_) / buckets;
  stats.length_variance = squares / buckets - stats.length_mean * stats.length_mean;
  stats.bytes = chains_.bytes() + overflow_.bytes() + nodes_.bytes();
  return stats;
}

}  // namespace oneprobe::inline v0_1
