// Buckets of up to 16 elements behind a dense side array of tags and notes.
//
//   side array: 32 bytes per bucket, two buckets in a cache line
//
//     byte 0              16                  24              32
//     | low tags, 16 x 8  | high tags, 16 x 4 | notes, 16 x 4 |
//
//   slots: h elements per bucket, one after the other; h = 16 of 16 bytes fill four lines
//
//     | group 0: slots 0-3 | group 1: 4-7 | group 2: 8-11 | group 3: 12-15 |
//
// A *tag* is 12 bits of an element's hash; low tag 0 is a free slot. Tags decide most lookups of
// absent keys and the room for new elements without a look at the slots. A *note* counts the
// elements that this bucket turned away and that are stored further on, for each of 16 kinds of
// hash: a lookup goes on only past a note of its own kind that is not 0. Notes count up to 14; one
// that would count more sticks at 15 for good, so that it is never too low.
//
// The *group* of an element follows from its tag. It is put there if there is room, hence one line
// of slots can be asked for before the tags are read, and is most often the right one. Where a
// bucket has several groups, elements of one tag are kept in one of them: a bucket refuses an
// element whose tag is in a group without room. So a lookup reads the tags and at most one line of
// slots per bucket, whatever the keys are; if that is not the one that it had prefetched, or if no
// tag is equal, the prefetched one was fetched needlessly. Of a thousand elements that come to a
// nearly full bucket one to three are refused for that reason.
//
// This is a view of memory, constant like a span while the memory is not: zeroed bytes are empty
// buckets. It neither owns them nor ends the life of elements; a table does both. For one thread at
// a time.
#pragma once

#include <atomic>
#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "oneprobe/detail/base/prefetch.hpp"
#include "oneprobe/detail/base/word_access.hpp"
#include "oneprobe/detail/map/bucket_tags.hpp"
#include "oneprobe/detail/placement/concepts.hpp"
#include "oneprobe/key_hash.hpp"

namespace oneprobe::inline v0_1 {
namespace detail {

/// The side array's entry of one bucket.
class bucket_entry {
 public:
  static constexpr std::size_t bytes = 32;
  static constexpr std::uint32_t slots = 16;
  static constexpr std::uint32_t note_kinds = 16;
  static constexpr std::uint32_t stuck_note = 15;

  static constexpr std::uint32_t note_kind(key_hash hash) noexcept {
    return static_cast<std::uint32_t>(hash.value >> 12 & 15);
  }

  explicit bucket_entry(std::byte* entry) noexcept : entry_(entry) {}

  tag_reading tags() const noexcept {
#if ONEPROBE_HAS_SSE2
    return {_mm_loadu_si128(reinterpret_cast<const __m128i*>(entry_)), word(high_at)};
#else
    return {word(0), word(8), word(high_at)};
#endif
  }
  void take(std::uint32_t slot, bucket_tag tag) noexcept {
    store(high_at, nibbles::with(word(high_at), slot, tag.high));
    entry_[slot] = static_cast<std::byte>(tag.low);
  }
  void free(std::uint32_t slot) noexcept { entry_[slot] = std::byte{0}; }
  /// Whether the tags of slots from `capacity` on are 0.
  bool only_uses(std::uint32_t capacity) const noexcept {
    return tags().occupied() >> capacity == 0 &&
           (capacity == slots || word(high_at) >> nibbles::shift_of(capacity) == 0);
  }
  void clear_from(std::uint32_t capacity) noexcept {
    for (std::uint32_t slot = capacity; slot < slots; ++slot) take(slot, {0, 0});
  }
  bucket_tag tag_of(std::uint32_t slot) const noexcept {
    return {std::to_integer<std::uint32_t>(entry_[slot]), nibbles::at(word(high_at), slot)};
  }

  std::uint32_t note(std::uint32_t kind) const noexcept {
    return nibbles::at(word(notes_at), kind);
  }
  void raise_note(std::uint32_t kind) noexcept {
    const std::uint32_t now = note(kind);
    if (now != stuck_note) store(notes_at, nibbles::with(word(notes_at), kind, now + 1));
  }
  /// One that is 0 stays so: it was raised, unless the file that it comes from was forged.
  void lower_note(std::uint32_t kind) noexcept {
    const std::uint32_t now = note(kind);
    if (now != 0 && now != stuck_note)
      store(notes_at, nibbles::with(word(notes_at), kind, now - 1));
  }
  void copy_notes(const bucket_entry& from) noexcept { store(notes_at, from.word(notes_at)); }
  void clear_notes() noexcept { store(notes_at, 0); }

 private:
  static constexpr std::size_t high_at = 16;
  static constexpr std::size_t notes_at = 24;

  std::uint64_t word(std::size_t at) const noexcept { return plain_words::load(entry_ + at); }
  void store(std::size_t at, std::uint64_t value) noexcept {
    plain_words::store(entry_ + at, value);
  }

  std::byte* entry_;
};

}  // namespace detail

template <class Element, std::uint32_t Capacity>
class tagged_buckets {
  static_assert(Capacity >= 1 && Capacity <= detail::bucket_entry::slots,
                "a bucket has as many slots as its entry has tags, or fewer");
  using tag = detail::bucket_tag;
  using choice = detail::slot_choice<sizeof(Element), Capacity>;

 public:
  using slot = std::uint32_t;
  static constexpr std::uint32_t bucket_capacity = Capacity;  // h
  static constexpr std::size_t side_bytes = detail::bucket_entry::bytes;

  /// An element that is put as it is. `try_put` takes anything else with a hash that can construct.
  struct item {
    key_hash hash;
    Element element;

    void construct(void* place) { ::new (place) Element(std::move(element)); }
  };

  tagged_buckets() = default;
  /// `side` has side_bytes for each bucket and is aligned to a line, as is `slots`, which has room
  /// for Capacity elements each.
  tagged_buckets(std::byte* side, std::byte* slots, std::uint64_t buckets) noexcept
      : side_(side), slots_(slots), buckets_(buckets) {}

  std::uint64_t buckets() const noexcept { return buckets_; }

  void prefetch(position at) const noexcept { prefetch_line_ahead(side_ + at.bucket * side_bytes); }
  /// Where the line of slots begins that an element of this hash most likely has.
  const std::byte* home_line(position at, key_hash hash) const noexcept
      requires(choice::has_home_line) {
    return place(at.bucket, choice::home_group(tag::of(hash)) * choice::group_slots);
  }
  /// Asks for that line, where there is such a one.
  void prefetch_slots(position at, key_hash hash) const noexcept {
    if constexpr (choice::has_home_line) prefetch_line(home_line(at, hash));
  }
  /// The line of slots that a lookup will compare, if any. Reads the tags.
  void prefetch_match(position at, key_hash hash) const noexcept {
    const std::uint32_t equal = equal_tags(at, hash);
    if (equal != 0) prefetch_line(place(at.bucket, static_cast<slot>(std::countr_zero(equal))));
  }

  std::optional<std::uint32_t> load(position at) const noexcept {
    return static_cast<std::uint32_t>(std::popcount(occupied(at)));
  }
  /// Bit i for slot i.
  std::uint32_t occupied(position at) const noexcept { return choice::occupied(entry(at).tags()); }
  std::uint32_t equal_tags(position at, key_hash hash) const noexcept {
    return entry(at).tags().equal(tag::of(hash));
  }
  Element* element(position at, slot which) const noexcept {
    return std::launder(reinterpret_cast<Element*>(place(at.bucket, which)));
  }

  /// The free slots that an element with this hash could be put into now.
  std::uint32_t free_slots(position at, key_hash hash, std::uint32_t limit) const noexcept {
    return choice::free_for(entry(at).tags(), tag::of(hash), limit);
  }
  /// The elements of a full bucket of which each, if it were erased, would make room for this hash.
  std::uint32_t in_the_way(position at, key_hash hash) const noexcept {
    return choice::in_the_way(entry(at).tags(), tag::of(hash));
  }

  /// Constructs in a free slot, and only then takes it: if that throws, nothing has happened.
  template <class Item>
  put_result try_put(position at, Item& element, std::uint32_t limit) const {
    const std::uint32_t free = free_slots(at, element.hash, limit);
    if (free == 0) return put_result::refused;
    put(at, element, free);
    return put_result::placed;
  }
  /// The same into one of these slots. REQUIRES: they are its free_slots.
  template <class Item>
  void put(position at, Item& element, std::uint32_t free) const {
    const tag by = tag::of(element.hash);
    assert(free != 0 && (free & occupied(at)) == 0);
    const slot chosen = choice::best_of(free, by);
    detail::bucket_entry its_entry = entry(at);  // before the fence, which has members read again
    element.construct(place(at.bucket, chosen));
    // The memory may be a file's, and the process may end anywhere: a tag that came before its
    // element could bring back the one that was in this slot before.
    std::atomic_signal_fence(std::memory_order_release);
    its_entry.take(chosen, by);
  }

  /// Ends the element's life and frees its slot.
  void erase(position at, slot which) const noexcept {
    entry(at).free(which);
    std::destroy_at(element(at, which));
  }

  /// Copies all elements and notes into the same slots of this empty store. Every element has its
  /// tag as soon as it is there, so that if a copy throws, the others can be found.
  void copy_elements(const tagged_buckets& from) const {
    for (position at; at.bucket < buckets_; ++at.bucket) {
      for (std::uint32_t left = from.occupied(at); left != 0; left &= left - 1) {
        const auto which = static_cast<slot>(std::countr_zero(left));
        ::new (static_cast<void*>(place(at.bucket, which))) Element(*from.element(at, which));
        entry(at).take(which, from.entry(at).tag_of(which));
      }
      entry(at).copy_notes(from.entry(at));
    }
  }

  bool may_be_beyond(position at, key_hash hash) const noexcept {
    return entry(at).note(detail::bucket_entry::note_kind(hash)) != 0;
  }
  void note_passed(position at, key_hash hash) const noexcept {
    entry(at).raise_note(detail::bucket_entry::note_kind(hash));
  }
  void unnote_passed(position at, key_hash hash) const noexcept {
    entry(at).lower_note(detail::bucket_entry::note_kind(hash));
  }

  // ---- for code that verifies or repairs ----

  std::uint32_t note(position at, std::uint32_t kind) const noexcept {
    return entry(at).note(kind);
  }
  void clear_notes(position at) const noexcept { entry(at).clear_notes(); }
  /// Whether there is nothing where a bucket of 16 would have tags.
  bool is_within_capacity(position at) const noexcept { return entry(at).only_uses(Capacity); }
  void clear_beyond_capacity(position at) const noexcept { entry(at).clear_from(Capacity); }
  /// Whether this slot is in the first group that has the tag of this hash. REQUIRES: one has.
  bool is_in_group(position at, slot which, key_hash hash) const noexcept {
    return (choice::group_of(equal_tags(at, hash)) >> which & 1) != 0;
  }

 private:
  detail::bucket_entry entry(position at) const noexcept {
    return detail::bucket_entry(side_ + at.bucket * side_bytes);
  }
  std::byte* place(std::uint64_t bucket, slot which) const noexcept {
    return slots_ + (bucket * Capacity + which) * sizeof(Element);
  }

  std::byte* side_ = nullptr;
  std::byte* slots_ = nullptr;
  std::uint64_t buckets_ = 0;
};

}  // namespace oneprobe::inline v0_1
