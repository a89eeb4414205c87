// The fingerprint filter: a bucket of one cache line holds fingerprints instead of the bits of a
// Bloom filter. From 10 bits per element up it errs less often than a *standard* Bloom filter of
// the same memory, and a query reads 1.05 to 1.2 lines on average, never more than d and the
// overflow.
//
//   fingerprint_filter seen(1'000'000, 1e-4);
//   seen.insert("a key");
//   if (seen.may_contain("a key")) ...
//   fingerprint_filter planned(plan);           // a plan of your own, or of plan/filter.hpp
//   seen.explain("a key").lines;
//
//   level 0 | bucket | bucket | bucket | bucket | ...   keeps its h smallest fingerprints,
//   level 1 | bucket | ...                               passes the largest on to level 1, and so
//   on overflow list | fingerprints, ascending              what the last level passed on
//
// A query goes on past a bucket only if that has passed something on and the fingerprint it looks
// for is larger than all that were kept. docs/fingerprint-filter.md says why it works, and when
// another filter is the better choice.
//
// Same set, same bytes: neither the order of insertions nor how often one is repeated leaves a
// trace, and merging two filters of one plan and seed gives exactly the filter of all their
// elements. Both hold while nothing is degraded.
//
// Never a false negative. More elements than planned go on to later levels and to the overflow list
// while its reserve lasts. Then a bucket of the last level that must pass on an element, which has
// no place left to go, is *saturated*: it answers yes from then on, and stats() says `degraded` and
// what the error is now.
//
// Not offered: erase. Elements with equal fingerprints share one entry, and what a bucket has
// passed on does not come back, so that taking one out could lose others. counting_filter and the
// tables can erase. Limits: up to 8 levels, buckets of 512 bits, remainders of 4 to 40 bits, 2^40
// bits; of n elements with hashes of 64 bits, no error below n / 2^64, whatever is planned.
// Threads: const functions may run together; anything else alone. filter/basic_filter.hpp has the
// whole interface.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <utility>

#include "oneprobe/detail/base/word_access.hpp"
#include "oneprobe/detail/filter/fingerprint_buckets.hpp"
#include "oneprobe/detail/filter/fingerprint_levels.hpp"
#include "oneprobe/detail/filter/fingerprint_list.hpp"
#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/detail/placement/admission.hpp"
#include "oneprobe/detail/placement/ring.hpp"
#include "oneprobe/detail/placement/walk.hpp"
#include "oneprobe/detail/simd/isa.hpp"
#include "oneprobe/filter/basic_filter.hpp"
#include "oneprobe/filter/default_plan.hpp"
#include "oneprobe/filter/plan.hpp"
#include "oneprobe/filter/results.hpp"
#include "oneprobe/hash_feed.hpp"
#include "oneprobe/memory.hpp"

namespace oneprobe::inline v0_1 {

/// A filter_engine and a mergeable_engine. `Words` is plain_words: threads do not insert together.
/// A template, so that it can be compiled apart from the headers.
template <class Words>
class basic_fingerprint_engine {
  static_assert(!Words::shared, "a fingerprint that is passed on is nowhere for a moment");

 public:
  static constexpr filter_kind kind = filter_kind::fingerprint;

  basic_fingerprint_engine(const filter_plan& plan, line_memory memory,
                           const filter_counts& counts);

  static filter_plan default_plan(std::uint64_t elements, double fpr) {
    return default_filter_plan(kind, elements, fpr);
  }

  insert_outcome insert(key_hash hash) noexcept {
    return calls_.insert(*this, hash) ? insert_outcome::possibly_present : insert_outcome::added;
  }
  std::uint64_t insert_all(const hash_feed& hashes);
  void merge(const basic_fingerprint_engine& other) noexcept;
  void clear() noexcept {
    std::memset(memory_.data(), 0, memory_.size());
    size_ = entries_ = forced_ = dropped_ = 0;
  }

  bool may_contain(key_hash hash) const noexcept { return calls_.query(*this, hash); }
  void query_all(const hash_feed& hashes, bool* answers) const;
  lookup_path explain(key_hash hash) const noexcept;

  const filter_plan& plan() const noexcept { return plan_; }
  filter_counts counts() const noexcept {
    return {.size = size_, .overflow = entries_, .forced = forced_, .dropped = dropped_};
  }
  std::span<const std::byte> memory() const noexcept { return memory_.bytes(); }
  /// The walk of a query for an absent key through the buckets and the overflow list as they are.
  double current_fpr() const noexcept;
  /// Of all slots for remainders, those that are taken; a saturated bucket counts as full.
  double fill_fraction() const noexcept;

 private:
  using engine = basic_fingerprint_engine;
  using list = fingerprint_list<Words, list_order::ascending>;
  using plain_buckets = fingerprint_buckets<>;

  static const filter_plan& checked(const filter_plan& plan) {
    check_plan(plan, kind);
    return plan;
  }

  template <class Use>
  decltype(auto) with_buckets(Use&& use) const {
    return with_fastest_buckets(level_, frame_, use);
  }
  template <class Use>
  decltype(auto) with_buckets_to_search(Use&& use) const {
    return with_fastest_search(level_, frame_, use);
  }

  list_size size_of_list() const noexcept {
    return {.slots = plan_.overflow_slots, .reserve = plan_.overflow_reserve};
  }
  list overflow() noexcept { return {memory_.data() + list_begin_, size_of_list(), entries_}; }
  const list overflow() const noexcept {
    return list::reading(memory_.data() + list_begin_, size_of_list());
  }
  /// As these buckets see them.
  template <class Buckets = plain_buckets>
  Buckets buckets() noexcept {
    return {memory_.data(), frame_};
  }
  template <class Buckets = plain_buckets>
  const Buckets buckets() const noexcept {
    return Buckets::reading(memory_.data(), frame_);
  }
  admission capacity() const noexcept {
    return admission(plan_.fingerprint_bucket.bucket_capacity);
  }

  // Queries.

  template <class Buckets>
  lookup_path explain_with(key_hash hash) const noexcept;
  template <class State>
  bool answer(const State& ended) const noexcept {
    return ended.end == walk_end::present ||
           (ended.end == walk_end::overflowed && may_be_beyond_all(ended.probe, ended.at));
  }
  // Few come here, and what is not inlined leaves the registers to the loop.
  [[gnu::noinline]] bool may_be_beyond_all(fingerprint_probe element,
                                           position last) const noexcept {
    return dropped_ != 0 || buckets().is_saturated(last.bucket) ||
           overflow().contains(overflow_bits(scheme_.left_of(element, last)));
  }
  template <class Buckets>
  static bool query_one(const engine& asked, key_hash hash) noexcept {
    const auto buckets = asked.buckets<Buckets>();
    const fingerprint_probe element = asked.scheme_.start(hash);
    const position at = asked.scheme_.first(element);
    // Apart from the walk, whose state and calls would cost this short way a frame.
    if (buckets.may_be_beyond(at, element))
      return compiled_for<Buckets::level, query_whole<Buckets>, const engine&,
                          fingerprint_probe>::call(asked, element);
    return static_cast<bool>(buckets.find(at, element.fingerprint));
  }
  template <class Buckets>
  static bool query_whole(const engine& asked, fingerprint_probe element) noexcept {
    const auto buckets = asked.buckets<Buckets>();
    const finding walk(asked.scheme_, buckets);
    return asked.answer(walk_to_end(walk, walk.start(element, element.fingerprint)));
  }
  template <class Buckets>
  static void query_with(const engine& asked, const hash_feed& hashes, bool* answers) {
    const auto buckets = asked.buckets<Buckets>();
    const finding walk(asked.scheme_, buckets);
    roll_looks(
        walk, hashes.size(), hashes,
        [](const auto& any, key_hash hash) {
          const fingerprint_probe element = any.scheme().start(hash);
          return any.start(element, element.fingerprint);
        },
        [answers](std::size_t i, bool found) { answers[i] = found; },
        asking_sink{[&](std::size_t i, const auto& ended) { answers[i] = asked.answer(ended); },
                    [&](const auto& ended) {
                      asked.overflow().prefetch(
                          overflow_bits(asked.scheme_.left_of(ended.probe, ended.at)));
                    }});
  }

  // Inserts. All of them say whether may_contain would have said yes before, and count what is held
  // more than before: an element that was passed on and has come to an equal one counts no more.

  template <class Buckets, class State>
  bool settle(Buckets& buckets, const State& ended) noexcept {
    if (ended.end == walk_end::placed) {
      ++size_;
      return false;
    }
    if (ended.end == walk_end::present) return counted(0, ended.element.could_be_found);
    return take_overflow(buckets, ended.probe, ended.at, ended.element.could_be_found);
  }
  template <class Buckets>
  [[gnu::noinline]] bool take_overflow(Buckets& buckets, fingerprint_probe element, position last,
                                       bool could_be_found) noexcept {
    // A list that answers yes to all need not keep anything more.
    if (dropped_ != 0) return counted(0, could_be_found);
    const std::uint64_t before = entries_;
    switch (overflow().insert(overflow_bits(scheme_.left_of(element, last)))) {
      case list_outcome::present:
        return counted(0, could_be_found);
      case list_outcome::full:
        buckets.saturate(last.bucket);
        forced_ = added_up(forced_, 1);
        return counted(0, false);
      case list_outcome::added:
        return counted(entries_ - before, false);
    }
    return false;
  }
  /// Counts an insertion after which so many more are held. Where some were forgotten that is not
  /// known any more, and what was surely new counts.
  bool counted(std::uint64_t held, bool could_be_found) noexcept {
    const bool is_known = forced_ == 0 && dropped_ == 0;
    size_ = added_up(size_, is_known ? held : could_be_found ? 0 : 1);
    return could_be_found;
  }
  template <class Buckets>
  static bool insert_one(engine& changed, key_hash hash) noexcept {
    auto buckets = changed.buckets<Buckets>();
    placing walk(changed.scheme_, buckets, changed.capacity());
    const fingerprint_probe element = changed.scheme_.start(hash);
    return changed.settle(
        buckets, walk_to_end(walk, walk.start(element, {.fingerprint = element.fingerprint})));
  }
  template <class Buckets>
  static std::uint64_t insert_with(engine& changed, const hash_feed& hashes) {
    std::uint64_t added = 0;
    auto buckets = changed.buckets<Buckets>();
    placing walk(changed.scheme_, buckets, changed.capacity());
    // In rounds: a bucket is saturated by the walk that has just left it, so that those behind see
    // what they would see one by one.
    roll(
        walk, hashes.size(), hashes,
        [&](key_hash hash) {
          const fingerprint_probe element = changed.scheme_.start(hash);
          return walk.start(element, {.fingerprint = element.fingerprint});
        },
        [&](std::size_t, const auto& ended) { added += changed.settle(buckets, ended) ? 0u : 1u; });
    return added;
  }

  struct calls {
    bool (*query)(const engine&, key_hash);
    bool (*insert)(engine&, key_hash);
  };
  calls calls_now() const noexcept {
    return {
        .query = with_buckets_to_search([](auto chosen) {
          using buckets = typename decltype(chosen)::type;
          return &compiled_for<buckets::level, query_one<buckets>, const engine&, key_hash>::call;
        }),
        .insert = with_buckets([](auto chosen) {
          using buckets = typename decltype(chosen)::type;
          return &compiled_for<buckets::level, insert_one<buckets>, engine&, key_hash>::call;
        })};
  }

  /// What the buckets of a level hold, and do to a query that comes to one of them.
  struct level_facts {
    double kept = 0;       // fingerprints
    double goes_on = 0;    // P(a query is sent on), saturated buckets left out
    double saturated = 0;  // of the buckets
  };
  level_facts facts_of(std::uint32_t level) const noexcept;

  // First: a copy that finds no memory must leave everything as it was.
  line_memory memory_;
  filter_plan plan_;
  fingerprint_levels scheme_;
  fingerprint_bucket_frame frame_;
  isa level_;
  calls calls_;
  std::size_t list_begin_;
  std::uint64_t size_;  // fingerprints held, until one is forgotten; then also what was new
  std::uint64_t entries_;
  std::uint64_t forced_;
  std::uint64_t dropped_;  // only a merge changes it
};

template <class Words>
basic_fingerprint_engine<Words>::basic_fingerprint_engine(const filter_plan& plan,
                                                          line_memory memory,
                                                          const filter_counts& counts)
    : memory_(std::move(memory)),
      plan_(checked(plan)),
      scheme_(std::span(plan.level_buckets).first(plan.levels),
              plan.fingerprint_bucket.fingerprints()),
      frame_(plan.fingerprint_bucket),
      level_(simd_in_use()),
      calls_(calls_now()),
      list_begin_(static_cast<std::size_t>(plan.memory().cells)),
      size_(counts.size),
      entries_(counts.overflow),
      forced_(counts.forced),
      dropped_(counts.dropped) {}

template <class Words>
std::uint64_t basic_fingerprint_engine<Words>::insert_all(const hash_feed& hashes) {
  return with_buckets([&](auto chosen) {
    using buckets = typename decltype(chosen)::type;
    return compiled_for<buckets::level, insert_with<buckets>, engine&, const hash_feed&>::call(
        *this, hashes);
  });
}

template <class Words>
void basic_fingerprint_engine<Words>::query_all(const hash_feed& hashes, bool* answers) const {
  with_buckets_to_search([&](auto chosen) {
    using buckets = typename decltype(chosen)::type;
    compiled_for<buckets::level, query_with<buckets>, const engine&, const hash_feed&, bool*>::call(
        *this, hashes, answers);
  });
}

/// Every fingerprint of the other goes on from the bucket it is in. What a bucket has passed on is
/// found in a later level, here and there.
template <class Words>
void basic_fingerprint_engine<Words>::merge(const engine& other) noexcept {
  auto mine = buckets();
  const auto theirs = other.buckets();
  placing walk(scheme_, mine, capacity());
  const std::uint64_t both = added_up(size_, other.size_);
  std::uint64_t saturated = 0;  // there; a view may have counted fewer
  for (std::uint32_t level = 0; level < scheme_.choices(); ++level) {
    const std::uint64_t begin = scheme_.level_begin(level);
    for (std::uint64_t i = begin; i < begin + scheme_.level_size(level); ++i) {
      // Only in the last level: the other may be a view of bytes that no filter made, which must
      // not take anything from this one.
      if (level + 1 == scheme_.choices() && theirs.is_saturated(i)) {
        mine.saturate(i);
        ++saturated;
        continue;
      }
      theirs.for_each(i, [&](std::uint64_t fingerprint) {
        const fingerprint_probe element{.fingerprint = fingerprint, .bucket = i};
        auto state = walk.start(element, {.fingerprint = fingerprint});
        state.at.level = level;
        finish_walk(walk, state);
        settle(mine, state);
      });
      // A bucket that passed something on is full, and so is this one then.
      if (theirs.read(i).passed_on &&
          mine.read(i).count == plan_.fingerprint_bucket.bucket_capacity)
        mine.mark_passed_on(i);
    }
  }
  const std::uint64_t entries = entries_;
  dropped_ = added_up(dropped_, added_up(other.dropped_, overflow().unite(other.overflow())));
  forced_ = added_up(forced_, std::max(saturated, other.forced_));
  // What was forgotten, here or there, cannot be counted.
  size_ = forced_ == 0 && dropped_ == 0 ? added_up(size_, entries_ - entries) : both;
}

template <class Words>
lookup_path basic_fingerprint_engine<Words>::explain(key_hash hash) const noexcept {
  return with_buckets_to_search(
      [&](auto chosen) { return explain_with<typename decltype(chosen)::type>(hash); });
}

/// As queries look: bytes that no filter made may look different in another way.
template <class Words>
template <class Buckets>
lookup_path basic_fingerprint_engine<Words>::explain_with(key_hash hash) const noexcept {
  const auto buckets = this->buckets<Buckets>();
  const finding walk(scheme_, buckets);
  const fingerprint_probe element = scheme_.start(hash);
  const auto ended = walk_to_end(walk, walk.start(element, element.fingerprint));
  // Every bucket is a line of its own.
  lookup_path path{.accesses = ended.accesses, .lines = ended.accesses, .level = ended.at.level};
  path.stopped =
      ended.end == walk_end::present ? lookup_path::stop::matched : lookup_path::stop::ruled_out;
  if (ended.end != walk_end::overflowed) return path;
  if (buckets.is_saturated(ended.at.bucket)) {
    path.stopped = lookup_path::stop::matched;
    return path;
  }
  ++path.accesses;
  if (dropped_ == 0)
    path.lines += overflow().lines_searched(overflow_bits(scheme_.left_of(ended.probe, ended.at)));
  path.stopped = may_be_beyond_all(ended.probe, ended.at) ? lookup_path::stop::overflow
                                                          : lookup_path::stop::not_in_overflow;
  return path;
}

template <class Words>
typename basic_fingerprint_engine<Words>::level_facts basic_fingerprint_engine<Words>::facts_of(
    std::uint32_t level) const noexcept {
  const auto buckets = this->buckets();
  const std::uint64_t begin = scheme_.level_begin(level), size = scheme_.level_size(level);
  std::uint64_t kept = 0, saturated = 0;
  double beyond = 0;
  for (std::uint64_t i = begin; i < begin + size; ++i) {
    const fingerprint_bucket_reading found = buckets.read(i);
    kept += found.count;
    if (found.saturated())
      ++saturated;
    else if (found.passed_on)
      beyond += static_cast<double>(scheme_.fingerprints() - 1 - found.largest);
  }
  const auto all = static_cast<double>(size);
  return {.kept = static_cast<double>(kept),
          .goes_on = beyond / (all * static_cast<double>(scheme_.fingerprints())),
          .saturated = static_cast<double>(saturated) / all};
}

template <class Words>
double basic_fingerprint_engine<Words>::current_fpr() const noexcept {
  std::array<level_facts, filter_plan::most_levels> levels;
  double beyond = static_cast<double>(entries_);  // elements that this level has passed on
  for (std::uint32_t i = 0; i < plan_.levels; ++i) {
    levels[i] = facts_of(i);
    beyond += levels[i].kept;
  }
  double fpr = 0, reached = 1;
  for (std::uint32_t i = 0; i < plan_.levels; ++i) {
    // A query that equals what was passed on follows it to where it is; so every element that came
    // to this level is matched here, as far as the error goes.
    const double places =
        static_cast<double>(scheme_.level_size(i)) * static_cast<double>(scheme_.fingerprints());
    const double came = beyond;
    beyond -= levels[i].kept;
    fpr += reached * std::min(1.0, came / places + levels[i].saturated);
    reached *= std::max(0.0, levels[i].goes_on - beyond / places);
  }
  return std::min(1.0, fpr + reached * (dropped_ != 0 ? 1 : overflow().match_probability()));
}

template <class Words>
double basic_fingerprint_engine<Words>::fill_fraction() const noexcept {
  double taken = 0;
  for (std::uint32_t i = 0; i < plan_.levels; ++i) {
    const level_facts facts = facts_of(i);
    taken += facts.kept / plan_.fingerprint_bucket.bucket_capacity +
             facts.saturated * static_cast<double>(scheme_.level_size(i));
  }
  return std::min(1.0, taken / static_cast<double>(scheme_.buckets()));
}

#if defined(ONEPROBE_COMPILED_FILTERS) && !defined(ONEPROBE_NO_SIMD)
extern template class basic_fingerprint_engine<plain_words>;
#endif

/// The engine of fingerprint filters: a filter_engine and a mergeable_engine.
class fingerprint_engine : public basic_fingerprint_engine<plain_words> {
 public:
  using basic_fingerprint_engine::basic_fingerprint_engine;
};

/// A fingerprint filter with a hash of your own.
template <class Hash>
using basic_fingerprint_filter = basic_filter<fingerprint_engine, Hash>;
using fingerprint_filter = basic_fingerprint_filter<seeded_hash>;

}  // namespace oneprobe::inline v0_1
