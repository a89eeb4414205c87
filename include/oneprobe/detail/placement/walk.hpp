// Where an element goes, and where it is found: written here once, for every store.
//
//   place    candidate after candidate until one admits it, or overflow
//   find     candidate after candidate until it is found, or a bucket never turned it away
//   upsert   find, remembering on the way the bucket that place would take
//   erase    find, remove, and take back the notes on the way
//
// Each walk is a small trivially copyable state and a step that visits one bucket (all candidates
// at once where a parallel scheme places). The scalar loop `walk_to_end` and the rolling ring of
// detail/placement/ring.hpp drive the same steps. Every state counts its accesses.
//
//   placing walk(scheme, store, admission(4));
//   auto placed = walk_to_end(walk, walk.start(hash, element));
//   if (placed.end == walk_end::overflowed) ...
//
// Nothing here allocates or is virtual, and nothing throws but what the store or an element throws.
// A walk makes at most scheme.choices() accesses; a parallel placement makes that many, unless its
// budget ends first.
#pragma once

#include <cassert>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>
#include <utility>

#include "oneprobe/detail/placement/admission.hpp"
#include "oneprobe/detail/placement/concepts.hpp"
#include "oneprobe/detail/simd/isa.hpp"

namespace oneprobe::inline v0_1 {

enum class walk_end : std::uint8_t {
  open,        // there is another step to take
  placed,      // the element is in the bucket `at`
  present,     // it was there already
  absent,      // it is in no bucket, and in no overflow
  overflowed,  // place: no candidate admitted it. find: it can only be in the overflow
};

/// The level that a store, or a walk over one, is compiled for; plain unless it says otherwise.
template <class StoreOrWalk>
constexpr isa level_of() noexcept {
  if constexpr (requires { StoreOrWalk::level; })
    return StoreOrWalk::level;
  else
    return isa::plain;
}

/// Takes the steps that are left.
template <class Walk, class State>
constexpr void finish_walk(Walk& walk, State& state) {
  do walk.step(state);
  while (state.end == walk_end::open);
}

/// Takes all steps of one walk.
template <class Walk, class State>
constexpr State walk_to_end(Walk& walk, State state) {
  finish_walk(walk, state);
  return state;
}

namespace detail {

/// How a walk holds its store. One that is a view is copied: what it knows of its buckets then lies
/// in registers, also in loops that write to memory which could be anything's. Others are pointed
/// to.
template <class Store>
class store_handle {
 public:
  constexpr explicit store_handle(Store& store) noexcept : store_(&store) {}
  constexpr Store* operator->() const noexcept { return store_; }

 private:
  Store* store_;
};
template <class Store>
requires std::remove_const_t<Store>::is_view class store_handle<Store> {
 public:
  constexpr explicit store_handle(const Store& store) noexcept : store_(store) {}
  /// A view that is not changed itself may change what it shows.
  constexpr std::remove_const_t<Store>* operator->() const noexcept { return &store_; }

 private:
  mutable std::remove_const_t<Store> store_;
};

/// What a store prepares of many elements at once, if it does.
template <class Store>
struct prepared_of {
  using type = void;
};
template <preparing_store Store>
struct prepared_of<Store> {
  using type = typename Store::prepared;
};

template <placement_scheme Scheme>
constexpr bool is_last(const Scheme& scheme, position at) noexcept {
  return at.level + 1 >= scheme.choices();
}

/// To the next candidate, and to the name that the element bears there.
template <placement_scheme Scheme>
constexpr void go_on(const Scheme& scheme, typename Scheme::probe& probe, position& at) {
  if constexpr (renaming_scheme<Scheme>)
    scheme.go_on(probe, at);
  else
    at = scheme.next(probe, at);
}

/// Calls `visit` with every candidate that a lookup reads before it reaches the bucket `end`: where
/// one bucket is two candidates of an element, the first of them ends the lookup.
template <placement_scheme Scheme, class Visit>
constexpr void for_each_before(const Scheme& scheme, typename Scheme::probe probe, position end,
                               Visit visit) {
  if (end.level == 0) return;
  for (position at = scheme.first(probe); at.bucket != end.bucket; go_on(scheme, probe, at)) {
    visit(at);
    if (at.level + 1 == end.level) return;
  }
}

/// A store that tells a search which slots of a bucket would take the element, and later puts it
/// into one of them without looking again. For one thread at a time.
template <class Store>
concept keeps_free_slots = requires(Store& store, position at, const typename Store::key& wanted,
                                    typename Store::item& element, std::uint32_t count) {
  { store.free_slots(at, wanted, count) } -> std::same_as<std::uint32_t>;
  store.put(at, element, count);
};
struct no_slots {};
template <class Store>
using room_slots = std::conditional_t<keeps_free_slots<Store>, std::uint32_t, no_slots>;

/// The end of a lookup that reads all candidates and then the overflow.
template <placement_scheme Scheme>
constexpr position beyond_all(const Scheme& scheme) noexcept {
  return {std::numeric_limits<std::uint64_t>::max(), scheme.choices()};
}

}  // namespace detail

/// Calls `visit` with every candidate of an element, in their order.
template <placement_scheme Scheme, class Visit>
constexpr void for_each_candidate(const Scheme& scheme, const typename Scheme::probe& probe,
                                  Visit visit) {
  detail::for_each_before(scheme, probe, detail::beyond_all(scheme), visit);
}

/// The candidate of one level, without a walk: for a caller that knows the level.
/// REQUIRES: level < scheme.choices().
template <placement_scheme Scheme>
requires(!renaming_scheme<Scheme>) constexpr position
    candidate_at(const Scheme& scheme, const typename Scheme::probe& probe,
                 std::uint32_t level) noexcept {
  return level == 0 ? scheme.first(probe) : scheme.next(probe, {0, level - 1});
}

/// The notes of an element that went to the overflow: every candidate had turned it away. The
/// caller raises them once the overflow has taken it (place does not know), and takes them back
/// when it leaves.
template <placement_scheme Scheme, class Store>
constexpr void note_overflowed(const Scheme& scheme, Store& store,
                               const typename Scheme::probe& probe) {
  detail::for_each_before(scheme, probe, detail::beyond_all(scheme),
                          [&](position at) { store.note_passed(at, probe); });
}
template <placement_scheme Scheme, class Store>
constexpr void unnote_overflowed(const Scheme& scheme, Store& store,
                                 const typename Scheme::probe& probe) {
  detail::for_each_before(scheme, probe, detail::beyond_all(scheme),
                          [&](position at) { store.unnote_passed(at, probe); });
}

/// Place: the first candidate that admits the element takes it, or with a parallel scheme the least
/// loaded one (of equals the first). It is for elements known to be new: it sees a duplicate only
/// if the store finds it in the very bucket it tries. Where that is not known, upsert.
template <placement_scheme Scheme, placement_store Store, class Budget = unlimited_accesses>
class placing {
 public:
  using probe = typename Scheme::probe;
  using item = typename Store::item;
  static constexpr isa level = level_of<Store>();

  /// What an element finds depends on where those before it went. Where levels share no bucket, one
  /// may be at its second candidate while the next is at its first; else it must end first.
  static constexpr bool may_overtake = Scheme::choice == order::first_fit &&
                                       Scheme::levels_are_disjoint &&
                                       std::is_same_v<Budget, unlimited_accesses>;
  /// After an exchange a walk carries an element that was placed before, and must place it again.
  static constexpr bool must_finish = exchanging_store<Store, Scheme>;

  struct state {
    typename Scheme::probe probe;
    typename Store::item element;
    position at{};
    std::uint32_t accesses = 0;
    walk_end end = walk_end::open;
  };

  constexpr placing(const Scheme& scheme, Store& store, admission rule, Budget budget = {})
      : scheme_(&scheme), store_(store), rule_(rule), budget_(budget) {}

  constexpr const Scheme& scheme() const noexcept { return *scheme_; }
  /// The same walk over a copy of its scheme.
  constexpr placing over(const Scheme& copy) const {
    placing moved = *this;
    moved.scheme_ = &copy;
    return moved;
  }

  constexpr state start(const probe& from, item element = {}) const {
    return {.probe = from, .element = std::move(element), .at = scheme_->first(from)};
  }

  /// Asks for what the first step will read.
  constexpr void prefetch(const state& walk) const noexcept {
    store_->prefetch(walk.at);
    if constexpr (Scheme::choice == order::parallel) {
      for (position at = walk.at; !detail::is_last(*scheme_, at);) {
        at = scheme_->next(walk.probe, at);
        store_->prefetch(at);
      }
    }
  }

  /// Asks for what the next step will read, after one that left the walk open.
  constexpr void prefetch_next(const state& walk) const noexcept { store_->prefetch(walk.at); }

  /// Asks for what the second step will read, if it looks as if there will be one. Called when the
  /// first is in cache; a wrong guess costs time, nothing else.
  constexpr void look_ahead(const state& walk) const noexcept {
    if constexpr (Scheme::choice == order::first_fit) {
      if (detail::is_last(*scheme_, walk.at)) return;
      const position beyond = scheme_->next(walk.probe, walk.at);
      const bool full = store_->load(walk.at).value_or(rule_.threshold()) >= rule_.threshold();
      // A choice of address, not a jump: whether a bucket is full cannot be predicted.
      store_->prefetch({full ? beyond.bucket : walk.at.bucket, full ? beyond.level : 0});
    }
  }

  constexpr void step(state& walk) {
    if constexpr (Scheme::choice == order::first_fit)
      try_one(walk);
    else
      choose_among_all(walk);
  }

  /// A step in two parts, for many walks at once: what a bucket says, with few jumps on it, and
  /// later the way on for those that it turns away.
  constexpr bucket_look look(const state& walk) const requires offering_store<Store> &&
      may_overtake {
    return store_->offer(walk.at, walk.element, rule_.limit(*scheme_, walk.probe, walk.at.level));
  }
  constexpr void leave(state& walk) const requires offering_store<Store> && may_overtake {
    ++walk.accesses;
    store_->note_refused(walk.at, walk.element);
    if (detail::is_last(*scheme_, walk.at))
      walk.end = walk_end::overflowed;
    else
      detail::go_on(*scheme_, walk.probe, walk.at);
  }

  /// Before them what can be worked out of many elements, where the store can: `start_at(i)` is
  /// walk number i = 0, 1, ...
  using prepared = typename detail::prepared_of<Store>::type;
  template <class StartAt, class Prepared>
  constexpr void prepare(std::size_t count, StartAt&& start_at,
                         Prepared* out) const requires preparing_store<Store> {
    store_->prepare(
        count, [&](std::size_t i) { return start_at(i).element; }, out);
  }
  template <class Prepared>
  constexpr bucket_look look(const state& walk, const Prepared& element) const requires
      preparing_store<Store> && may_overtake {
    return store_->offer(walk.at, element, rule_.limit(*scheme_, walk.probe, walk.at.level));
  }

  /// What is left of the budget.
  constexpr const Budget& budget() const noexcept { return budget_; }

 private:
  constexpr void try_one(state& walk) {
    if (!budget_.spend()) {
      walk.end = walk_end::overflowed;
      return;
    }
    ++walk.accesses;
    const std::uint32_t limit = rule_.limit(*scheme_, walk.probe, walk.at.level);
    switch (store_->try_put(walk.at, walk.element, limit)) {
      case put_result::placed:
        return finish(walk);
      case put_result::present:
        walk.end = walk_end::present;
        return;
      case put_result::exchanged:
        if constexpr (exchanging_store<Store, Scheme>)
          walk.probe = store_->probe_of(walk.element);
        else
          assert(false && "only an exchanging_store may exchange");
        break;
      case put_result::refused:
      case put_result::unavailable:
        break;
    }
    if (detail::is_last(*scheme_, walk.at)) {
      walk.end = walk_end::overflowed;
      return;
    }
    detail::go_on(*scheme_, walk.probe, walk.at);
    if constexpr (renaming_scheme<Scheme>) walk.element.rename(walk.probe);
  }

  constexpr void choose_among_all(state& walk) {
    constexpr std::uint32_t unavailable = std::numeric_limits<std::uint32_t>::max();
    position best = walk.at;
    std::uint32_t least = unavailable;
    for (position at = walk.at; budget_.spend(); at = scheme_->next(walk.probe, at)) {
      ++walk.accesses;
      const std::uint32_t load = store_->load(at).value_or(unavailable);
      // Selections, not jumps: which candidate is the least loaded cannot be predicted.
      const bool better = load < least;
      best.bucket = better ? at.bucket : best.bucket;
      best.level = better ? at.level : best.level;
      least = better ? load : least;
      if (detail::is_last(*scheme_, at)) break;
    }
    walk.end = walk_end::overflowed;
    if (least == unavailable) return;
    walk.at = best;
    const std::uint32_t limit = rule_.limit(*scheme_, walk.probe, walk.at.level);
    const put_result answer = store_->try_put(walk.at, walk.element, limit);
    if (answer == put_result::placed)
      finish(walk);
    else if (answer == put_result::present)
      walk.end = walk_end::present;
  }

  constexpr void finish(state& walk) {
    walk.end = walk_end::placed;
    if constexpr (noting_store<Store, probe> && !exchanging_store<Store, Scheme>)
      detail::for_each_before(*scheme_, walk.probe, walk.at,
                              [&](position at) { store_->note_passed(at, walk.probe); });
  }

  const Scheme* scheme_;
  detail::store_handle<Store> store_;
  admission rule_;
  [[no_unique_address]] Budget budget_;
};

/// Find: ends at the bucket that holds the key (`present`, with its slot), at one that never turned
/// such a key away (`absent`), or after the last candidate (`overflowed`: ask the overflow).
template <placement_scheme Scheme, class Store>
requires searchable_store<Store, typename Scheme::probe>
class finding {
 public:
  using probe = typename Scheme::probe;
  using key = typename Store::key;

  static constexpr isa level = level_of<Store>();
  static constexpr bool may_overtake = true;  // nothing is changed

  struct state {
    typename Scheme::probe probe;
    typename Store::key key;
    typename Store::slot slot{};
    position at{};
    std::uint32_t accesses = 0;
    walk_end end = walk_end::open;
  };

  constexpr finding(const Scheme& scheme, const Store& store) : scheme_(&scheme), store_(store) {}

  constexpr const Scheme& scheme() const noexcept { return *scheme_; }
  /// The same walk over a copy of its scheme.
  constexpr finding over(const Scheme& copy) const {
    finding moved = *this;
    moved.scheme_ = &copy;
    return moved;
  }

  constexpr state start(const probe& from, key wanted) const {
    return {.probe = from, .key = wanted, .at = scheme_->first(from)};
  }
  constexpr void prefetch(const state& walk) const noexcept { store_->prefetch(walk.at); }
  constexpr void prefetch_next(const state& walk) const noexcept {
    if constexpr (requires { store_->prefetch_all(walk.at, walk.key); })
      store_->prefetch_all(walk.at, walk.key);
    else
      store_->prefetch(walk.at);
  }
  /// Where a bucket is in two places, asks for the second when the first has come.
  constexpr void prefetch_rest(const state& walk) const noexcept {
    if constexpr (has_rest) store_->prefetch_match(walk.at, walk.key);
  }
  static constexpr bool has_rest =
      requires(const Store& asked, position at, const typename Store::key& wanted) {
    asked.prefetch_match(at, wanted);
  };

  constexpr void step(state& walk) const {
    if (const auto slot = store_->find(walk.at, walk.key)) {
      ++walk.accesses;
      walk.slot = *slot;
      walk.end = walk_end::present;
    } else if (!store_->may_be_beyond(walk.at, walk.probe)) {
      ++walk.accesses;
      walk.end = walk_end::absent;
    } else {
      leave(walk);
    }
  }

  /// The first step in two parts, for many walks at once: what the first bucket says, without a
  /// jump on it, and later the way on for those that it sends on.
  constexpr bucket_look look(const state& walk) const requires looking_store<Store, probe> {
    return store_->look(walk.at, walk.key, walk.probe);
  }
  /// Goes on from a bucket that the element may be beyond.
  constexpr void leave(state& walk) const {
    ++walk.accesses;
    if (detail::is_last(*scheme_, walk.at)) {
      walk.end = walk_end::overflowed;
    } else {
      detail::go_on(*scheme_, walk.probe, walk.at);
      if constexpr (renaming_scheme<Scheme>)
        walk.key = static_cast<typename Store::key>(walk.probe);
    }
  }

 private:
  const Scheme* scheme_;
  detail::store_handle<const Store> store_;
};

/// Erase: a find whose last step removes the element and takes back the notes of the buckets that
/// had turned it away. Ends like find; `present` means that it was there and is gone.
template <placement_scheme Scheme, class Store>
requires erasable_store<Store, typename Scheme::probe>
class erasing {
  using search = finding<Scheme, Store>;

 public:
  using state = typename search::state;
  static constexpr isa level = search::level;
  static constexpr bool may_overtake = true;  // walks for one key reach its buckets in their order

  constexpr erasing(const Scheme& scheme, Store& store)
      : find_(scheme, store), scheme_(&scheme), store_(&store) {}

  constexpr state start(const typename search::probe& from, typename search::key wanted) const {
    return find_.start(from, wanted);
  }
  constexpr void prefetch(const state& walk) const noexcept { find_.prefetch(walk); }
  constexpr void prefetch_next(const state& walk) const noexcept { find_.prefetch(walk); }

  constexpr void step(state& walk) {
    find_.step(walk);
    if (walk.end != walk_end::present) return;
    store_->erase(walk.at, walk.slot);
    detail::for_each_before(*scheme_, walk.probe, walk.at,
                            [&](position at) { store_->unnote_passed(at, walk.probe); });
  }

 private:
  search find_;
  const Scheme* scheme_;
  Store* store_;
};

/// Upsert: find the key; if it is nowhere, put the element where place would have put it. The
/// search ends `present`, `absent` or `overflowed`; after the last two (and a look into the
/// overflow) the caller may `commit` the element, in the order in which the searches ended.
template <placement_scheme Scheme, class Store>
requires searchable_store<Store, typename Scheme::probe> &&
    noting_store<Store, typename Scheme::probe>
class upserting {
 public:
  using probe = typename Scheme::probe;
  using key = typename Store::key;
  using item = typename Store::item;

  static constexpr bool may_overtake = false;  // the caller commits between two searches

  struct state {
    typename Scheme::probe probe;
    typename Store::key key;
    typename Store::slot slot{};
    position at{};
    std::optional<position> room{};                           // where it would be placed
    [[no_unique_address]] detail::room_slots<Store> slots{};  // and which of its slots are free
    std::uint32_t least = 0;                                  // parallel: the load there
    std::uint32_t accesses = 0;
    bool ruled_out = false;  // a bucket said that the key is not beyond: only room is looked for
    walk_end end = walk_end::open;
  };

  constexpr upserting(const Scheme& scheme, Store& store, admission rule)
      : scheme_(&scheme), store_(&store), rule_(rule) {}

  constexpr state start(const probe& from, key wanted) const {
    return {.probe = from, .key = wanted, .at = scheme_->first(from)};
  }
  constexpr void prefetch(const state& walk) const noexcept { store_->prefetch(walk.at); }
  constexpr void look_ahead(const state& walk) const noexcept {
    if (!detail::is_last(*scheme_, walk.at) && store_->may_be_beyond(walk.at, walk.probe))
      store_->prefetch(scheme_->next(walk.probe, walk.at));
  }

  constexpr void step(state& walk) const {
    ++walk.accesses;
    if (!walk.ruled_out) {
      if (const auto slot = store_->find(walk.at, walk.key)) {
        walk.slot = *slot;
        walk.end = walk_end::present;
        return;
      }
      walk.ruled_out = !store_->may_be_beyond(walk.at, walk.probe);
    }
    consider(walk);
    const bool last = detail::is_last(*scheme_, walk.at);
    if (walk.ruled_out && (last || settled(walk)))
      walk.end = walk_end::absent;
    else if (last)
      walk.end = walk_end::overflowed;
    else
      walk.at = scheme_->next(walk.probe, walk.at);
  }

  /// Puts an element whose search ended `absent` or `overflowed` into its room: `placed`, or
  /// `overflowed` where there is none, or in a store with other threads none any more. The notes
  /// are raised with it: after it is in, or before, if the store's other readers must find the way
  /// as soon as it is. REQUIRES: the key is not in the overflow, and nothing was placed since the
  /// search, except by other threads where the store allows for them.
  constexpr walk_end commit(state& walk, item& element) {
    if (!walk.room) return walk_end::overflowed;
    walk.at = *walk.room;
    if constexpr (detail::keeps_free_slots<Store>) {
      store_->put(walk.at, element, walk.slots);
      note_before(walk);
      return walk_end::placed;
    } else {
      return try_commit(walk, element);
    }
  }

 private:
  /// Into a store that may have no room any more.
  constexpr walk_end try_commit(const state& walk, item& element) {
    const std::uint32_t limit = rule_.limit(*scheme_, walk.probe, walk.at.level);
    constexpr bool notes_first = requires { requires Store::notes_first; };
    if constexpr (notes_first) note_before(walk);
    if (store_->try_put(walk.at, element, limit) != put_result::placed) {
      if constexpr (notes_first)
        detail::for_each_before(*scheme_, walk.probe, walk.at,
                                [&](position at) { store_->unnote_passed(at, walk.probe); });
      return walk_end::overflowed;
    }
    if constexpr (!notes_first) note_before(walk);
    return walk_end::placed;
  }
  constexpr void note_before(const state& walk) const {
    detail::for_each_before(*scheme_, walk.probe, walk.at,
                            [&](position at) { store_->note_passed(at, walk.probe); });
  }

  /// First fit: the first bucket with room. Parallel: the least loaded of all, whether or not it
  /// then admits the element; as in `placing`. A store that refuses for other reasons than its load
  /// says so: such a bucket is left out.
  constexpr void consider(state& walk) const {
    constexpr bool parallel = Scheme::choice == order::parallel;
    if (!parallel && walk.room) return;
    const std::uint32_t limit = rule_.limit(*scheme_, walk.probe, walk.at.level);
    detail::room_slots<Store> slots{};
    if constexpr (detail::keeps_free_slots<Store>) {
      slots = store_->free_slots(walk.at, walk.key, limit);
      if (slots == 0) return;
      if constexpr (!parallel) {
        walk.room = walk.at;
        walk.slots = slots;
        return;
      }
    } else if constexpr (requires { store_->admits(walk.at, walk.key, limit); }) {
      if (!store_->admits(walk.at, walk.key, limit)) return;
      if constexpr (!parallel) {
        walk.room = walk.at;
        return;
      }
    }
    const std::optional<std::uint32_t> load = store_->load(walk.at);
    if (!load || (walk.room && *load >= walk.least)) return;
    if (!parallel && *load >= limit) return;
    walk.room = walk.at;
    walk.slots = slots;
    walk.least = *load;
  }
  constexpr bool settled(const state& walk) const noexcept {
    return Scheme::choice == order::first_fit && walk.room.has_value();
  }

  const Scheme* scheme_;
  Store* store_;
  admission rule_;
};

}  // namespace oneprobe::inline v0_1
