// The words of placement, and the concepts that schemes and stores meet.
//
// A *scheme* knows where an element's candidates are: it sees a hash, never a key. A *store* knows
// what a bucket holds: it answers for one bucket at a time and never chooses. The *walks* of
// detail/placement/walk.hpp lead an element from candidate to candidate and are all that knows
// both.
//
//   scheme:  key_hash -> probe -> first(probe) -> next(probe, position) -> ...
//   store:   position -> load, try_put, find, erase, and a note of what the bucket turned away
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>

#include "oneprobe/key_hash.hpp"

namespace oneprobe::inline v0_1 {

/// A candidate: a bucket of the whole table, and the number of the choice that led there. In a
/// multilevel table that number is the level.
struct position {
  std::uint64_t bucket = 0;
  std::uint32_t level = 0;

  friend constexpr bool operator==(const position&, const position&) = default;
};

/// How a scheme chooses among candidates.
enum class order {
  first_fit,  // the first that admits: single, sequential, multilevel
  parallel,   // all are looked at, the least loaded takes it: d_random, d_left
};

/// A bucket's answer to one element.
enum class put_result {
  placed,       // it is in
  refused,      // no room for this element
  exchanged,    // it is in, another came out to carry on with; only from an exchanging_store
  unavailable,  // the bucket could not be asked (balancing over remote resources)
  present,      // the same element is in this bucket already
};

/// What draws the candidates of an element, one after the other: from its probe, never from loads.
template <class Scheme>
concept placement_scheme = requires(const Scheme& scheme, const typename Scheme::probe& probe,
                                    position at) {
  { Scheme::choice } -> std::convertible_to<order>;
  { scheme.choices() } -> std::same_as<std::uint32_t>;  // d, at least 1
  { scheme.buckets() } -> std::same_as<std::uint64_t>;  // of the whole table
  { scheme.first(probe) } -> std::same_as<position>;
  { scheme.next(probe, at) } -> std::same_as<position>;             // at.level + 1 < choices()
  { scheme.coin(probe, at.level) } -> std::same_as<std::uint64_t>;  // replayable
};

/// A scheme under which an element bears another name at each candidate, because the bucket it
/// comes from knew it by that name only: a fingerprint. `go_on` leads a probe to the next
/// candidate.
template <class Scheme>
concept renaming_scheme = placement_scheme<Scheme> &&
    requires(const Scheme& scheme, typename Scheme::probe& probe, position& at) {
  scheme.go_on(probe, at);  // at.level + 1 < choices()
};

/// What every store can do: say its load, and take an element if the bucket's load is below the
/// limit that the admission rule sets for this element. Stores that refuse by another law (set
/// bits, order of fingerprints) may ignore the limit.
template <class Store>
concept placement_store = requires(Store& store, const Store& asked, position at,
                                   typename Store::item& element, std::uint32_t limit) {
  asked.prefetch(at);
  { asked.load(at) } -> std::same_as<std::optional<std::uint32_t>>;  // empty: unavailable
  { store.try_put(at, element, limit) } -> std::same_as<put_result>;
};

/// A store that hands out an element in exchange for another (put_result::exchanged leaves it in
/// the walk's item) and can tell from what the scheme finds its next candidate. A bucket must
/// belong to one level: then the element that comes out goes on where the one that went in would
/// have.
template <class Store, class Scheme>
concept exchanging_store = placement_store<Store> && placement_scheme<Scheme> &&
    Scheme::levels_are_disjoint &&
    requires(const Store& store, const typename Store::item& element) {
  { store.probe_of(element) } -> std::convertible_to<typename Scheme::probe>;
};

/// The slot where a key was found, if it was. std::optional would do; but compilers keep its union
/// in memory, and the hot paths of tables must not wait for that. Nor is `found` a bool: g++ 12
/// would not take a pair with unused bytes apart, and would ask again what a search has just found.
template <class Slot>
struct found_slot {
  Slot found{};  // 1 if it was, else 0
  Slot slot{};

  constexpr explicit operator bool() const noexcept { return found != 0; }
  constexpr const Slot& operator*() const noexcept { return slot; }
};

/// A store in which an element can be found again. A lookup goes on past a bucket only if that
/// bucket may have turned this element away. `find` answers with a found_slot or a std::optional.
template <class Store, class Probe>
concept searchable_store = requires(const Store& asked, position at, Probe probe,
                                    const typename Store::key& key) {
  asked.prefetch(at);
  { static_cast<bool>(asked.find(at, key)) } -> std::same_as<bool>;
  { *asked.find(at, key) } -> std::convertible_to<typename Store::slot>;
  { asked.may_be_beyond(at, probe) } -> std::same_as<bool>;
};

/// What a bucket says to an element that is looked for: at most one of the two. Numbers, 1 or 0: of
/// bools g++ 12 makes two bytes of one register, and takes them apart again.
struct bucket_look {
  std::uint64_t found = 0;
  std::uint64_t beyond = 0;  // not here, and it may have been turned away
};

/// A searchable_store that says both at once, with few jumps: what a bucket says cannot be
/// predicted.
template <class Store, class Probe>
concept looking_store = searchable_store<Store, Probe> &&
    requires(const Store& asked, position at, Probe probe, const typename Store::key& key) {
  { asked.look(at, key, probe) } -> std::same_as<bucket_look>;
};

/// A placement_store that says with few jumps whether an element was there (`found`) or is turned
/// away (`beyond`), if neither it is in now; and is asked later, before that element goes on, to
/// keep a note of it. What the note says must not bear upon others that are offered meanwhile.
template <class Store>
concept offering_store = placement_store<Store> &&
    requires(Store& store, position at, typename Store::item& element, std::uint32_t limit) {
  { store.offer(at, element, limit) } -> std::same_as<bucket_look>;
  store.note_refused(at, element);
};

/// An offering_store that works out what it needs of many elements before it sees their buckets,
/// and is offered that: `item_at(i)` is number i = 0, 1, ... of up to 64, and there is room for a
/// multiple of eight.
template <class Store>
concept preparing_store = offering_store<Store> &&
    requires(Store& store, position at, typename Store::item (&item_at)(std::size_t),
             typename Store::prepared* out, std::uint32_t limit) {
  store.prepare(std::size_t{}, item_at, out);
  { store.offer(at, *out, limit) } -> std::same_as<bucket_look>;
};

/// A store whose buckets note an element that they turned away once its destination is known.
/// (Others know it from what they hold: a bucket that is full, or keeps an order.)
template <class Store, class Probe>
concept noting_store = placement_store<Store> && requires(Store& store, position at, Probe probe) {
  store.note_passed(at, probe);
};

/// A store from which an element can be taken, and the notes about it taken back.
template <class Store, class Probe>
concept erasable_store = searchable_store<Store, Probe> &&
    requires(Store& store, position at, Probe probe, typename Store::slot place) {
  store.erase(at, place);
  store.unnote_passed(at, probe);
};

}  // namespace oneprobe::inline v0_1
