// A hash map in slow memory with a summary in fast memory: no lookup reads more than one bucket,
// and one of an absent key hardly ever any.
//
//   one_probe_map<std::uint64_t, route, multi_filter_summary> routes(plan);     // plan/summary.hpp
//   auto [outcome, route] = routes.try_emplace(id);
//   if (const auto* found = routes.find(id)) ...                  // one bucket was read
//   routes.erase(id);
//
//   fast   | summary | a bit per slot: taken or not |             overflow: a small bounded_map
//   slow   | slots: level 0 | level 1 | ... |  watchers, hashes |
//
//   key --hash--> summary --level--> its candidate there --taken?--> the bucket
//                    | nowhere                    | no
//                    +--> absent, no bucket       +--> absent, no bucket
//
// Elements are placed as in every multilevel table, by the walk of detail/placement/. An element
// that no level has room for, or that would make the summary mislead any element, goes to the
// overflow, which is exact and bounded: so the summary is right for every key in a bucket, at any
// time. `stats()` counts them.
//
// A summary that can erase (the counting ones) forgets an element with it. With any other summary
// erased elements are *marked*: they are alive and keep their slot until a reconstruction, which
// also moves others down to the first level that now has room (SSH, Section XI-A). The plan says
// when that happens, and whether at once or in bounded pieces.
//
// Memory: all of it from the start. Pointers to elements are good until their element is erased;
// with lazy deletion until the next change, and what that inserts must not lie in the map: a key
// that is there may be that of its element, as it may where one is erased. Threads: const functions
// may run together; anything else alone. If an element's own operation throws, the map holds what
// it held before; if it throws in the reconstruction that an erase has begun, what was erased is,
// and the rest waits for the next.
#pragma once

#include <bit>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "oneprobe/detail/base/unless_dismissed.hpp"
#include "oneprobe/detail/one_probe/reconstruction.hpp"
#include "oneprobe/detail/one_probe/slots.hpp"
#include "oneprobe/detail/placement/schemes.hpp"
#include "oneprobe/detail/placement/walk.hpp"
#include "oneprobe/hash.hpp"
#include "oneprobe/map/bounded_map.hpp"
#include "oneprobe/map/default_plan.hpp"
#include "oneprobe/map/results.hpp"
#include "oneprobe/memory.hpp"
#include "oneprobe/one_probe/guarded_summary.hpp"
#include "oneprobe/one_probe/plan.hpp"
#include "oneprobe/one_probe/results.hpp"
#include "oneprobe/one_probe/summary.hpp"

namespace oneprobe::inline v0_1 {

template <class Key, class Value, level_summary Summary, class Hash = seeded_hash,
          class Equal = std::equal_to<>, std::uint32_t BucketCapacity = 1>
class one_probe_map {
  static constexpr bool forgets = erasable_summary<Summary>;

 public:
  using key_type = Key;
  using mapped_type = Value;
  using value_type = map_element<Key, Value>;
  using result = insert_result<value_type>;
  static constexpr std::uint32_t bucket_capacity = BucketCapacity;  // h

  /// An empty map that follows a plan, with a secret random seed unless a hash is given.
  explicit one_probe_map(
      const summary_plan& plan, Hash hash = Hash(random_seed()),
      Equal equal = Equal()) requires std::constructible_from<Summary, const summary_plan&>
      : one_probe_map(checked(plan), Summary(plan), std::move(hash), std::move(equal)) {}
  /// The same with an empty summary that is made otherwise.
  one_probe_map(const summary_plan& plan, Summary summary, Hash hash = Hash(random_seed()),
                Equal equal = Equal());

  one_probe_map(one_probe_map&& other) noexcept = default;
  one_probe_map& operator=(one_probe_map&&) = delete;

  // ---- inserting ----

  /// Inserts an element whose value is made from the arguments, unless the key is there.
  template <class... Args>
  result try_emplace(const Key& key, Args&&... args) {
    return try_emplace_hashed(hash_(key), key, std::forward<Args>(args)...);
  }
  /// The same with the key's hash made before, by this map's hash().
  template <class Source, class... Args>
  result try_emplace_hashed(key_hash hash, Source&& key, Args&&... args) {
    return find_or_make(key, hash, [&](void* place) {
      return ::new (place)
          value_type{Key(std::forward<Source>(key)), Value(std::forward<Args>(args)...)};
    });
  }
  /// Inserts the element unless the key is there.
  result insert(const Key& key, const Value& value) { return try_emplace(key, value); }
  result insert(const Key& key, const Value& value, key_hash hash) {
    return try_emplace_hashed(hash, key, value);
  }
  /// Inserts, or gives the value to the element that has the key.
  template <class Source>
  result insert_or_assign(const Key& key, Source&& value) {
    const result found = try_emplace(key, std::forward<Source>(value));
    // What was not moved from is still there: the maker is called only where there is room.
    if (found.outcome == insertion::present) found.element->value = std::forward<Source>(value);
    return found;
  }

  /// Erases the element with this key, if there is one; with lazy deletion it is marked, and keeps
  /// its slot until a reconstruction.
  erase_outcome erase(const Key& key) { return erase(key, hash_(key)); }
  template <class Query>
  erase_outcome erase(const Query& key, key_hash hash);

  /// Frees the slots of marked elements, moves others down to the first level with room, and makes
  /// the summary anew: all at once. Ends an incremental one that is under way. Returns how many
  /// were moved, 0 if it was given up. REQUIRES: a plan with lazy deletion.
  std::uint64_t reconstruct() requires(!forgets) {
    assert(reconstruction_.is_prepared() && "the plan has lazy deletion");
    reconstruction_.run(parts());
    return stats_.moved_last;
  }

  /// Ends the life of all elements.
  void clear();

  // ---- lookup ----

  /// The element with this key, or null.
  value_type* find(const Key& key) { return find(key, hash_(key)); }
  const value_type* find(const Key& key) const { return find(key, hash_(key)); }
  template <class Query>
  value_type* find(const Query& key, key_hash hash) {
    return find_element(key, hash);
  }
  template <class Query>
  const value_type* find(const Query& key, key_hash hash) const {
    return find_element(key, hash);
  }
  /// Whether there is an element with this key.
  [[nodiscard]] bool contains(const Key& key) const { return find(key) != nullptr; }
  template <class Query>
  [[nodiscard]] bool contains(const Query& key, key_hash hash) const {
    return find(key, hash) != nullptr;
  }

  /// Calls `function` with every element.
  template <class Function>
  void for_each(Function function) const {
    for (std::uint32_t slot = 0; slot < slots_.count(); ++slot)
      if (slots_.is_live(slot)) function(std::as_const(slots_[slot]));
    for (const value_type& one : overflow_) function(one);
  }

  // ---- observers ----

  std::uint64_t size() const noexcept { return stats_.counts.size; }
  bool empty() const noexcept { return size() == 0; }
  const summary_plan& plan() const noexcept { return plan_; }
  const table_counts& counts() const noexcept { return stats_.counts; }
  /// The hash that all keys go through.
  const Hash& hash() const noexcept { return hash_; }
  /// The summary, to be read.
  const Summary& summary() const noexcept { return guarded_.summary(); }
  /// How find comes to its answer: `accesses` are buckets of the table, at most one; lines are
  /// those of its slots, and of the overflow.
  table_path explain(const Key& key) const { return explain(key, hash_(key)); }
  template <class Query>
  table_path explain(const Query& key, key_hash hash) const;

  /// What it has counted, and its memory.
  one_probe_stats stats() const {
    one_probe_stats now = stats_;
    const std::uint64_t summaries = reconstruction_.is_prepared() ? 2 : 1;
    now.fast_bytes = summaries * guarded_.summary().memory_bytes() + slots_.occupied_bytes();
    now.slow_bytes =
        slots_.slot_bytes() + summaries * guarded_.guard_bytes() + slots_.marked_bytes();
    now.overflow_bytes = overflow_.memory().size();
    now.planned_failure = plan_.predicted.failure_probability;
    now.planned_crisis = plan_.predicted.crisis_probability;
    return now;
  }

 private:
  using table = bounded_map<Key, Value, Hash, Equal>;
  /// The overflow makes elements as this map does.
  class overflow_table : public table {
   public:
    using table::find_or_make;
    using table::table;
  };
  using guarded = guarded_summary<Summary>;
  using slots = one_probe_slots<value_type, BucketCapacity,
                                forgets ? erased_slots::freed : erased_slots::marked>;

  /// What the one bucket that may hold a key said.
  struct seen {
    bool found = false;  // its element is there, perhaps marked
    std::uint32_t slot = 0;
    position at{};
    std::uint32_t accesses = 0;
  };
  static const summary_plan& checked(const summary_plan& plan) {
    check_plan(plan);
    if (plan.bucket_capacity != BucketCapacity)
      refuse_parameter("bucket_capacity must be " + std::to_string(BucketCapacity) + "; found " +
                       std::to_string(plan.bucket_capacity));
    return plan;
  }
  static table_plan overflow_plan(const summary_plan& plan) {
    return default_table_plan(plan.overflow_reserve);
  }

  reconstructed_parts<slots, guarded, overflow_table> parts() noexcept {
    return {plan_, scheme_, slots_, guarded_, overflow_, stats_};
  }

  template <class Query>
  seen look(const Query& key, key_hash hash) const {
    seen answer;
    const std::optional<std::uint32_t> level = guarded_.where(hash);
    if (!level) return answer;
    answer.at = candidate_at(scheme_, hash, *level);
    std::uint32_t left = slots_.occupants(answer.at.bucket);
    answer.accesses = left != 0 ? 1 : 0;
    for (; left != 0; left &= left - 1) {
      answer.slot =
          slots::first_slot(answer.at) + static_cast<std::uint32_t>(std::countr_zero(left));
      if (equal_(slots_[answer.slot].key, key)) {
        answer.found = true;
        break;
      }
    }
    return answer;
  }
  template <class Query>
  value_type* find_element(const Query& key, key_hash hash) const {
    const seen there = look(key, hash);
    if (there.found && !slots_.is_marked(there.slot)) return &slots_[there.slot];
    if (overflow_.empty()) [[likely]]
      return nullptr;
    return const_cast<value_type*>(overflow_.find(key, hash));
  }

  template <class Query, class Make>
  result find_or_make(const Query& key, key_hash hash, Make make);
  template <class Make>
  result make_at(key_hash hash, std::uint32_t level, std::uint32_t slot, Make& make);
  result taken_by(value_type* made, std::uint32_t level, std::uint32_t slot) noexcept {
    slots_.occupy(slot);
    ++stats_.counts.size;
    ++stats_.counts.levels[level];
    return {insertion::inserted, made};
  }
  template <class Query, class Make>
  result make_in_overflow(const Query& key, key_hash hash, Make& make);
  template <class Make>
  result revive(std::uint32_t slot, Make& make);

  template <class Query>
  erase_outcome erase_element(const Query& key, key_hash hash);
  void erase_at(position at, std::uint32_t slot);
  void work_a_little() {
    if constexpr (!forgets) reconstruction_.work_a_little(parts());
  }

  summary_plan plan_;
  multilevel scheme_;
  slots slots_;
  guarded guarded_;
  overflow_table overflow_;
  reconstruction<value_type, guarded> reconstruction_;  // at work with lazy deletion only
  one_probe_stats stats_{};

  [[no_unique_address]] Hash hash_;
  [[no_unique_address]] Equal equal_;
};

// ---- implementation ----

template <class Key, class Value, level_summary Summary, class Hash, class Equal,
          std::uint32_t BucketCapacity>
one_probe_map<Key, Value, Summary, Hash, Equal, BucketCapacity>::one_probe_map(
    const summary_plan& plan, Summary summary, Hash hash, Equal equal)
    : plan_(checked(plan)),
      scheme_(std::span(plan_.level_buckets).first(plan_.levels)),
      slots_(plan_.buckets()),
      guarded_(std::move(summary), plan_),
      overflow_(overflow_plan(plan_), hash, equal),
      hash_(std::move(hash)),
      equal_(std::move(equal)) {
  if constexpr (!forgets) {
    static_assert(std::is_move_constructible_v<value_type>, "a reconstruction moves elements");
    if (plan_.is_lazy()) reconstruction_.prepare(plan_, guarded_);
  }
}

template <class Key, class Value, level_summary Summary, class Hash, class Equal,
          std::uint32_t BucketCapacity>
template <class Query, class Make>
auto one_probe_map<Key, Value, Summary, Hash, Equal, BucketCapacity>::find_or_make(const Query& key,
                                                                                   key_hash hash,
                                                                                   Make make)
    -> result {
  // The key may be that of an element, which the work may move: then it is there.
  if (value_type* const found = find_element(key, hash)) return {insertion::present, found};
  work_a_little();
  const seen there = look(key, hash);
  if constexpr (!forgets)
    if (there.found) return revive(there.slot, make);
  const auto room = slots_.find_room(scheme_, hash);
  if (room.end == walk_end::placed) {
    const result made = make_at(hash, room.at.level, slots::slot_of(room), make);
    if (made.element != nullptr) return made;
    ++stats_.failures;
  } else {
    ++stats_.crises;
  }
  return make_in_overflow(key, hash, make);
}

/// None if the summary would mislead.
template <class Key, class Value, level_summary Summary, class Hash, class Equal,
          std::uint32_t BucketCapacity>
template <class Make>
auto one_probe_map<Key, Value, Summary, Hash, Equal, BucketCapacity>::make_at(
    key_hash hash, std::uint32_t level, std::uint32_t slot, Make& make) -> result {
  guarded_change change;
  if (!guarded_.admit(hash, level, slot, change)) return {insertion::full, nullptr};
  detail::unless_dismissed retract([&] { guarded_.retract(level, slot, change); });
  value_type* made = nullptr;
  if constexpr (forgets) {
    made = make(slots_.place(slot));
  } else {
    // What was scanned already must be in the next summary, too.
    if (guarded* const next = reconstruction_.next_that_knows(slot)) {
      guarded_change next_change;
      if (!next->admit(hash, level, slot, next_change)) return {insertion::full, nullptr};
      detail::unless_dismissed retract_next([&] { next->retract(level, slot, next_change); });
      made = make(slots_.place(slot));
      retract_next.dismiss();
    } else {
      made = make(slots_.place(slot));
    }
  }
  retract.dismiss();
  return taken_by(made, level, slot);
}

template <class Key, class Value, level_summary Summary, class Hash, class Equal,
          std::uint32_t BucketCapacity>
template <class Query, class Make>
auto one_probe_map<Key, Value, Summary, Hash, Equal, BucketCapacity>::make_in_overflow(
    const Query& key, key_hash hash, Make& make) -> result {
  const result made = overflow_.find_or_make(key, hash, make);
  if (made.outcome == insertion::full) return made;
  ++stats_.counts.size;
  ++stats_.counts.overflow;
  return {insertion::overflowed, made.element};
}

/// A marked element whose key comes again: the summary still has it.
template <class Key, class Value, level_summary Summary, class Hash, class Equal,
          std::uint32_t BucketCapacity>
template <class Make>
auto one_probe_map<Key, Value, Summary, Hash, Equal, BucketCapacity>::revive(std::uint32_t slot,
                                                                             Make& make) -> result {
  // If the new value's constructor throws, the slot is free, and the summary remembers for nothing.
  detail::unless_dismissed forget([&] {
    if (guarded* const next = reconstruction_.next_that_knows(slot)) next->forget(slot);
    guarded_.forget(slot);
  });
  const std::uint32_t level = guarded_.level_of(slot);
  slots_.unmark(slot);
  --stats_.marked;
  slots_.destroy(slot);
  value_type* const made = make(slots_.place(slot));
  forget.dismiss();
  return taken_by(made, level, slot);
}

template <class Key, class Value, level_summary Summary, class Hash, class Equal,
          std::uint32_t BucketCapacity>
template <class Query>
erase_outcome one_probe_map<Key, Value, Summary, Hash, Equal, BucketCapacity>::erase(
    const Query& key, key_hash hash) {
  const erase_outcome outcome = erase_element(key, hash);
  // Not before: the key may be that of an element, which the work may move.
  work_a_little();
  return outcome;
}

template <class Key, class Value, level_summary Summary, class Hash, class Equal,
          std::uint32_t BucketCapacity>
template <class Query>
erase_outcome one_probe_map<Key, Value, Summary, Hash, Equal, BucketCapacity>::erase_element(
    const Query& key, key_hash hash) {
  const seen there = look(key, hash);
  if (there.found && !slots_.is_marked(there.slot)) {
    erase_at(there.at, there.slot);
    return erase_outcome::erased;
  }
  if (overflow_.empty()) return erase_outcome::absent;
  const value_type* const found = overflow_.find(key, hash);
  if (found == nullptr) return erase_outcome::absent;
  if constexpr (!forgets) reconstruction_.unpark(parts(), found, hash);
  overflow_.erase(key, hash);
  --stats_.counts.size;
  --stats_.counts.overflow;
  return erase_outcome::erased;
}

template <class Key, class Value, level_summary Summary, class Hash, class Equal,
          std::uint32_t BucketCapacity>
void one_probe_map<Key, Value, Summary, Hash, Equal, BucketCapacity>::erase_at(position at,
                                                                               std::uint32_t slot) {
  --stats_.counts.size;
  --stats_.counts.levels[at.level];
  if constexpr (forgets) {
    guarded_.erase(at.level, slot);
    slots_.destroy(slot);
  } else {
    slots_.mark(slot);
    ++stats_.marked;
    reconstruction_.see_mark(parts());
  }
}

template <class Key, class Value, level_summary Summary, class Hash, class Equal,
          std::uint32_t BucketCapacity>
void one_probe_map<Key, Value, Summary, Hash, Equal, BucketCapacity>::clear() {
  slots_.clear();
  guarded_.clear();
  overflow_.clear();
  reconstruction_.clear(plan_);
  stats_ = {};
}

template <class Key, class Value, level_summary Summary, class Hash, class Equal,
          std::uint32_t BucketCapacity>
template <class Query>
table_path one_probe_map<Key, Value, Summary, Hash, Equal, BucketCapacity>::explain(
    const Query& key, key_hash hash) const {
  const seen there = look(key, hash);
  table_path path;
  path.accesses = there.accesses;
  path.level = there.at.level;
  constexpr std::uint64_t line = line_memory::line_bytes;
  const std::uint64_t first = std::uint64_t{slots::first_slot(there.at)} * sizeof(value_type);
  const std::uint64_t end = first + BucketCapacity * sizeof(value_type);
  if (there.accesses != 0)
    path.lines = static_cast<std::uint32_t>((end + line - 1) / line - first / line);
  if (there.found && !slots_.is_marked(there.slot)) {
    path.stopped = table_path::stop::found;
    return path;
  }
  if (overflow_.empty()) return path;
  const table_path beyond = overflow_.explain(key, hash);
  path.overflow_accesses = beyond.accesses + beyond.overflow_accesses;
  path.lines += beyond.lines;
  path.unread_lines += beyond.unread_lines;
  path.stopped =
      beyond.contains() ? table_path::stop::found_in_overflow : table_path::stop::not_in_overflow;
  return path;
}

}  // namespace oneprobe::inline v0_1
