// The interface of every filter: keys in, answers out, around an engine that sees only hashes.
//
//   balanced_filter seen(1'000'000, 1e-4);
//   seen.insert("a key");
//   if (seen.may_contain(key)) ...
//
//   filter_reader      lookups; also over memory that it does not own, such as a mapped file
//   basic_filter       the same, and what changes it
//
// A key is anything the hash policy takes: integers, text, bytes, plain structs, or your own types
// with your own policy; text is one key whether it is a string, a view or a literal. Every function
// also takes a key_hash that was made before.
//
// Threads: const functions may run together; anything else alone. The concurrent_ filters also
// insert together. Memory: all of it from the start, exactly `plan().memory()`; nothing allocates
// after construction. A copy has memory of its own, also the copy of a view. Nothing throws but
// construction, copies, and a hash policy or a hash_feed that does. What was moved from can only be
// assigned to or destroyed.
#pragma once

#include <algorithm>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/detail/hash/range_hashes.hpp"
#include "oneprobe/filter/plan.hpp"
#include "oneprobe/filter/results.hpp"
#include "oneprobe/hash.hpp"
#include "oneprobe/hash_feed.hpp"
#include "oneprobe/key_hash.hpp"
#include "oneprobe/memory.hpp"

namespace oneprobe::inline v0_1 {

/// What a filter is around: bits and hashes, no keys. Most are of one kind and say so by a static
/// member `kind`; one that says nothing follows plans of any kind. A filter is made from numbers
/// alone where a static member `default_plan(elements, fpr)` says by which plan.
template <class Engine>
concept filter_engine = std::copyable<Engine> &&
    requires(Engine& engine, const Engine& asked, key_hash hash, const filter_plan& plan,
             const filter_counts& counts, const hash_feed& hashes, bool* answers) {
  Engine(plan, line_memory(), counts);  // refuses a plan it cannot follow
  { engine.insert(hash) }
  noexcept->std::same_as<insert_outcome>;
  { engine.insert_all(hashes) } -> std::same_as<std::uint64_t>;  // how many added
  { asked.may_contain(hash) }
  noexcept->std::same_as<bool>;
  asked.query_all(hashes, answers);  // an answer for each hash, in any order
  { asked.explain(hash) }
  noexcept->std::same_as<lookup_path>;
  { asked.plan() } -> std::same_as<const filter_plan&>;
  { asked.counts() } -> std::same_as<filter_counts>;
  { asked.current_fpr() } -> std::same_as<double>;    // reads everything
  { asked.fill_fraction() } -> std::same_as<double>;  // reads everything
  { asked.memory() } -> std::same_as<std::span<const std::byte>>;
  engine.clear();
};

/// An engine whose filters can be united: afterwards it answers yes where either did.
template <class Engine>
concept mergeable_engine = filter_engine<Engine> && requires(Engine& engine, const Engine& other) {
  engine.merge(other);
};

/// An engine from which elements can be taken.
template <class Engine>
concept erasing_engine = filter_engine<Engine> && requires(Engine& engine, key_hash hash) {
  { engine.erase(hash) }
  noexcept->std::same_as<erase_outcome>;
};

namespace detail {

/// The kind of a filter, where its type knows it.
template <class Engine>
struct kind_of_engine {};
template <class Engine>
requires requires { Engine::kind; }
struct kind_of_engine<Engine> {
  static constexpr filter_kind kind = Engine::kind;
};

}  // namespace detail

/// The lookups of a filter. Over memory that it does not own it is a view: nothing is copied.
template <filter_engine Engine, class Hash>
class filter_reader : public detail::kind_of_engine<Engine> {
 public:
  using engine_type = Engine;  // bits and hashes, no keys
  using hash_type = Hash;      // the policy that all keys go through

  /// A view of a filter's bytes, which must outlive it. `memory` has plan.memory().total() bytes.
  filter_reader(const filter_plan& plan, std::span<const std::byte> memory,
                const filter_counts& counts, Hash hash)
      : filter_reader(plan, checked(plan, line_memory::lend_read_only(memory)), counts,
                      std::move(hash)) {}

  /// Never false for a key that was inserted.
  template <class Key>
  requires hashes_or_is_hash<Hash, Key>
  [[nodiscard]] bool may_contain(const Key& key) const
      noexcept(hashes_without_throwing<Hash, Key>) {
    return engine_.may_contain(hash_of(key));
  }

  /// Asks for all keys of a range at once, with memory asked ahead: answers[i] is for keys[i].
  /// Returns the number of keys that may be contained. REQUIRES: as many answers as keys.
  template <bulk_keys<Hash> Keys>
  std::uint64_t bulk_may_contain(const Keys& keys, std::span<bool> answers) const {
    return bulk_may_contain(range_hashes(hash_, keys).feed(), answers);
  }
  /// The same for hashes that are made when they are needed.
  std::uint64_t bulk_may_contain(const hash_feed& hashes, std::span<bool> answers) const {
    assert(hashes.size() == answers.size());
    engine_.query_all(hashes, answers.data());
    // Counted now: inside the loop it would be one more thing to do for each key.
    return static_cast<std::uint64_t>(std::count(answers.begin(), answers.end(), true));
  }

  /// How may_contain comes to its answer, and what that costs.
  template <class Key>
  requires hashes_or_is_hash<Hash, Key>
  [[nodiscard]] lookup_path explain(const Key& key) const
      noexcept(hashes_without_throwing<Hash, Key>) {
    return engine_.explain(hash_of(key));
  }

  const filter_plan& plan() const noexcept { return engine_.plan(); }
  filter_counts counts() const noexcept { return engine_.counts(); }
  /// The hash that all keys go through.
  const Hash& hash() const noexcept { return hash_; }
  /// All bytes of the filter, as a file holds them.
  std::span<const std::byte> memory() const noexcept { return engine_.memory(); }
  /// What the filter is around, for callers that have hashes.
  const Engine& engine() const noexcept { return engine_; }

  /// Whether it holds what it was planned for, more, or more than it can hold well.
  filter_condition condition() const noexcept {
    const filter_counts counts = engine_.counts();
    if (counts.forced != 0 || counts.dropped != 0) return filter_condition::degraded;
    return counts.size > plan().elements ? filter_condition::over_full
                                         : filter_condition::as_planned;
  }

  /// Reads the whole filter: the error as it is now comes from the bits that are set.
  filter_stats stats() const {
    return {.counts = engine_.counts(),
            .condition = condition(),
            .memory = plan().memory(),
            .planned_elements = plan().elements,
            .planned_fpr = plan().predicted.fpr,
            .current_fpr = engine_.current_fpr(),
            .bits_per_element = plan().bits_per_element(),
            .fill_fraction = engine_.fill_fraction()};
  }

 protected:
  filter_reader(const filter_plan& plan, line_memory memory, const filter_counts& counts, Hash hash)
      : engine_(plan, std::move(memory), counts), hash_(std::move(hash)) {}

  template <class Key>
  key_hash hash_of(const Key& key) const noexcept(hashes_without_throwing<Hash, Key>) {
    return hash_with(hash_, key);
  }
  static line_memory checked(const filter_plan& plan, line_memory memory) {
    check(plan);
    if (memory.size() != plan.memory().total())
      refuse_parameter("memory must be " + std::to_string(plan.memory().total()) +
                       " bytes; found " + std::to_string(memory.size()));
    return memory;
  }
  static line_memory zeroed(const filter_plan& plan) {
    check(plan);
    return line_memory(plan.memory().total());
  }
  static void check(const filter_plan& plan) {
    if constexpr (requires { Engine::kind; })
      check_plan(plan, Engine::kind);
    else
      check_plan(plan, plan.kind);
  }

  Engine engine_;
  [[no_unique_address]] Hash hash_;
};

template <filter_engine Engine, class Hash>
class basic_filter : public filter_reader<Engine, Hash> {
  using reader = filter_reader<Engine, Hash>;

 public:
  /// An empty filter that follows a plan, with a secret random seed unless a hash is given.
  explicit basic_filter(const filter_plan& plan, Hash hash = Hash(random_seed()))
      : reader(plan, reader::zeroed(plan), {}, std::move(hash)) {}
  /// An empty filter for so many elements and this error, from the default plans.
  basic_filter(std::uint64_t elements, double fpr, Hash hash = Hash(random_seed()))
      : basic_filter(Engine::default_plan(elements, fpr), std::move(hash)) {}
  /// A filter in the caller's memory, which must outlive it: empty if the memory is zeroed, and
  /// otherwise what `counts` and the bytes say.
  basic_filter(const filter_plan& plan, std::span<std::byte> memory, Hash hash,
               const filter_counts& counts = {})
      : reader(plan, reader::checked(plan, line_memory::lend(memory)), counts, std::move(hash)) {}
  /// The same with memory handed over: how a file is loaded.
  basic_filter(const filter_plan& plan, line_memory memory, const filter_counts& counts, Hash hash)
      : reader(plan, reader::checked(plan, std::move(memory)), counts, std::move(hash)) {}

  /// Always succeeds. Says whether may_contain would have said yes before.
  template <class Key>
  requires hashes_or_is_hash<Hash, Key> insert_outcome insert(const Key& key)
  noexcept(hashes_without_throwing<Hash, Key>) { return this->engine_.insert(this->hash_of(key)); }

  /// Inserts all keys of a range, with memory asked ahead; the same bytes as one after the other.
  /// Returns how many were surely not there before.
  template <bulk_keys<Hash> Keys>
  std::uint64_t bulk_insert(const Keys& keys) {
    return bulk_insert(range_hashes(this->hash(), keys).feed());
  }
  /// The same for hashes that are made when they are needed.
  std::uint64_t bulk_insert(const hash_feed& hashes) { return this->engine_.insert_all(hashes); }

  /// Takes an element out. REQUIRES: it was inserted, else others may be lost; `absent` and nothing
  /// changed where that is certain.
  template <class Key>
  requires erasing_engine<Engine> && hashes_or_is_hash<Hash, Key> erase_outcome
  erase(const Key& key)
  noexcept(hashes_without_throwing<Hash, Key>) { return this->engine_.erase(this->hash_of(key)); }

  /// Unites with a filter of the same plan and seed: afterwards may_contain says yes where either
  /// did. Sizes are added, as the common elements are not known.
  [[nodiscard]] merge_outcome merge(const reader& other) requires mergeable_engine<Engine> {
    if (!same_shape(this->plan(), other.plan())) return merge_outcome::different_plan;
    if (!same_seed(other)) return merge_outcome::different_seed;
    this->engine_.merge(other.engine());
    return merge_outcome::merged;
  }

  /// Takes everything out. The plan, the hash and the memory stay.
  void clear() noexcept { this->engine_.clear(); }
  void swap(basic_filter& other) noexcept { std::swap(*this, other); }
  friend void swap(basic_filter& a, basic_filter& b) noexcept { a.swap(b); }

 private:
  bool same_seed(const reader& other) const noexcept {
    if constexpr (std::equality_comparable<Hash>)
      return this->hash() == other.hash();
    else if constexpr (requires { this->hash().seed(); })
      return this->hash().seed() == other.hash().seed();
    else {
      static_assert(std::is_empty_v<Hash>,
                    "to merge filters their hash needs ==, seed(), or no state at all");
      return true;
    }
  }
};

}  // namespace oneprobe::inline v0_1
