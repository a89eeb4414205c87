// The buckets of tagged_buckets.hpp for many threads: readers take no lock and write nothing.
//
//   side array: 32 bytes per bucket
//
//     word 0, 1             2                   3
//     | low tags, 16 x 8  | high tags, 16 x 4 | notes, 8 x 4 | locked | changing | version, 30 |
//
// A reader looks at the state, reads tags and an element, and looks at the state again: if nothing
// was changing and the version is the same, what it read was there all the time; else it reads
// again. A writer that changes slots holds the bucket's lock, and says `changing` only while it
// writes: waiting for another bucket it keeps no reader. Notes are counted by compare-and-exchange,
// by any thread, without the lock.
//
// Words are read by acquire loads and written by release stores. Hence a thread that reads a word
// of an unfinished change also sees `changing`, or another version, when it looks at the state
// again. A version has 30 bits: a reader would have to sleep inside a lookup while this one bucket
// changes exactly a multiple of 2^30 times to be deceived.
//
// Elements are trivially copyable, and copied word by word.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <thread>
#include <type_traits>

#include "oneprobe/detail/base/prefetch.hpp"
#include "oneprobe/detail/map/bucket_tags.hpp"
#include "oneprobe/detail/placement/concepts.hpp"
#include "oneprobe/key_hash.hpp"

namespace oneprobe::inline v0_1 {
namespace detail {

/// Waits a little for another thread: first on the spot, then by letting others run, since the one
/// that is waited for may have no processor.
class patience {
 public:
  void wait() noexcept {
    if (++waited_ % 64 == 0) {
      std::this_thread::yield();
    } else {
#if ONEPROBE_HAS_SSE2
      _mm_pause();
#endif
    }
  }

 private:
  std::uint32_t waited_ = 0;
};

/// The fourth word of an entry: notes and state.
struct shared_state {
  static constexpr std::uint64_t locked = std::uint64_t{1} << 32;
  static constexpr std::uint64_t changing = std::uint64_t{1} << 33;
  static constexpr std::uint32_t note_kinds = 8;
  static constexpr std::uint64_t stuck_note = 15;

  static constexpr std::uint32_t note_shift(key_hash hash) noexcept {
    return static_cast<std::uint32_t>(hash.value >> 12 & (note_kinds - 1)) * 4;
  }
  static constexpr std::uint64_t note(std::uint64_t state, std::uint32_t shift) noexcept {
    return state >> shift & 15;
  }
  /// Whether nothing was written between two looks, nor at the first. A change that is under way at
  /// both is shown by its bit, which the comparison leaves out of the first; the version shows all
  /// others.
  static constexpr bool is_whole(std::uint64_t before, std::uint64_t after) noexcept {
    return (before >> 33 & ~std::uint64_t{1}) == after >> 33;
  }
};

/// The four words of one bucket in the side array.
class side_words {
 public:
  explicit side_words(std::byte* entry) noexcept : entry_(entry) {}

  std::atomic_ref<std::uint64_t> word(std::size_t number) const noexcept {
    return std::atomic_ref<std::uint64_t>(
        *reinterpret_cast<std::uint64_t*>(entry_ + number * sizeof(std::uint64_t)));
  }
  std::uint64_t load(std::size_t number) const noexcept {
    return word(number).load(std::memory_order_acquire);
  }
  tag_reading tags() const noexcept { return {load(0), load(1), load(2)}; }

 private:
  std::byte* entry_;
};

}  // namespace detail

template <class Element, std::uint32_t Capacity>
class shared_buckets {
  static_assert(std::is_trivially_copyable_v<Element>,
                "threads may read an element while it is written: it must consist of its bytes");
  static_assert(Capacity >= 1 && Capacity <= 16);
  using tag = detail::bucket_tag;
  using state = detail::shared_state;
  using choice = detail::slot_choice<sizeof(Element), Capacity>;

 public:
  static constexpr std::uint32_t bucket_capacity = Capacity;  // h
  static constexpr std::size_t side_bytes = 32;

  shared_buckets() = default;
  /// As tagged_buckets: zeroed memory is empty.
  shared_buckets(std::byte* side, std::byte* slots, std::uint64_t buckets) noexcept
      : side_(side), slots_(slots), buckets_(buckets) {}

  std::uint64_t buckets() const noexcept { return buckets_; }

  void prefetch(position at) const noexcept { prefetch_line_ahead(side_ + at.bucket * side_bytes); }
  /// The line of slots that an element of this hash most likely has, where there is such a one.
  void prefetch_slots(position at, key_hash hash) const noexcept {
    if constexpr (choice::has_home_line)
      prefetch_line(place(at.bucket, choice::home_group(tag::of(hash)) * choice::group_slots));
  }
  void prefetch_match(position at, key_hash hash) const noexcept {
    const std::uint32_t equal = tags(at).equal(tag::of(hash));
    if (equal != 0)
      prefetch_line(place(at.bucket, static_cast<std::uint32_t>(std::countr_zero(equal))));
  }

  // ---- any thread, without a lock ----

  /// The slot of the element for which `is_wanted(element)`, among those with the tag of this hash,
  /// and in `copy` the element as it was at one moment. `retries` is raised each time a writer was
  /// inside the bucket.
  template <class IsWanted>
  found_slot<std::uint32_t> find(position at, key_hash hash, IsWanted is_wanted, Element& copy,
                                 std::uint64_t& retries) const noexcept {
    const detail::side_words side(entry(at));
    const std::uint64_t before = side.load(3);
    const found_slot<std::uint32_t> first = find_once(side, at, hash, is_wanted, copy);
    if (state::is_whole(before, side.load(3))) [[likely]]
      return first;
    ++retries;
    const found_element again = find_again(at, hash, is_wanted, retries);
    copy = again.element;
    return again.slot;
  }
  /// One look without a loop, as a lookup's first step has it: the element if it was seen whole,
  /// and the state by which it may be beyond. If a writer was inside, it may. Nothing here has its
  /// address taken: all of it stays in registers.
  struct look {
    found_slot<std::uint32_t> slot;
    std::uint64_t state;
  };
  template <class IsWanted>
  look look_once(position at, key_hash hash, IsWanted is_wanted, Element& copy,
                 std::uint64_t& retries) const noexcept {
    const detail::side_words side(entry(at));
    const std::uint64_t before = side.load(3);
    const found_slot<std::uint32_t> found = find_once(side, at, hash, is_wanted, copy);
    if (state::is_whole(before, side.load(3))) [[likely]]
      return {found, before};
    ++retries;
    return {{}, ~std::uint64_t{0}};
  }
  static bool may_be_beyond(const look& seen, key_hash hash) noexcept {
    return state::note(seen.state, state::note_shift(hash)) != 0;
  }
  bool may_be_beyond(position at, key_hash hash) const noexcept {
    return state::note(detail::side_words(entry(at)).load(3), state::note_shift(hash)) != 0;
  }
  std::optional<std::uint32_t> load(position at) const noexcept {
    return static_cast<std::uint32_t>(std::popcount(choice::occupied(tags(at))));
  }
  /// Whether there was room; there may be none any more.
  bool admits(position at, key_hash hash, std::uint32_t limit) const noexcept {
    return choice::free_for(tags(at), tag::of(hash), limit) != 0;
  }
  /// Calls `visit` with a copy of every element of the bucket, all of one moment.
  template <class Visit>
  void for_each(position at, Visit visit) const {
    std::uint64_t retries = 0;
    struct copies {
      std::uint32_t count = 0;
      Element elements[Capacity];
    };
    const copies all = read_whole(at, retries, [&] {
      copies found;
      for (std::uint32_t left = choice::occupied(tags(at)); left != 0; left &= left - 1)
        found.elements[found.count++] =
            read(at, static_cast<std::uint32_t>(std::countr_zero(left)));
      return found;
    });
    for (std::uint32_t i = 0; i < all.count; ++i) visit(all.elements[i]);
  }
  void note_passed(position at, key_hash hash) const noexcept { count_note(at, hash, +1); }
  /// REQUIRES: it was raised.
  void unnote_passed(position at, key_hash hash) const noexcept { count_note(at, hash, -1); }
  std::uint32_t note(position at, std::uint32_t kind) const noexcept {
    return static_cast<std::uint32_t>(state::note(load(at, 3), 4 * kind));
  }

  // ---- writers ----

  void lock(position at) const noexcept {
    detail::patience others;
    for (;;) {
      std::uint64_t now = word(at, 3).load(std::memory_order_relaxed);
      if ((now & state::locked) == 0 &&
          word(at, 3).compare_exchange_weak(now, now | state::locked, std::memory_order_acquire,
                                            std::memory_order_relaxed))
        return;
      others.wait();
    }
  }
  void unlock(position at) const noexcept {
    word(at, 3).fetch_and(~state::locked, std::memory_order_release);
  }

  /// Puts an element. REQUIRES: the caller holds the lock, as for the functions below.
  put_result try_put(position at, key_hash hash, const Element& element,
                     std::uint32_t limit) const noexcept {
    const tag by = tag::of(hash);
    const std::uint32_t free = choice::free_for(tags(at), by, limit);
    if (free == 0) return put_result::refused;
    const std::uint32_t chosen = choice::best_of(free, by);
    begin_change(at);
    write(at, chosen, element);
    store(at, 2, detail::nibbles::with(load(at, 2), chosen, by.high));
    store_low_tag(at, chosen, by.low);
    end_change(at);
    return put_result::placed;
  }
  void assign(position at, std::uint32_t which, const Element& element) const noexcept {
    begin_change(at);
    write(at, which, element);
    end_change(at);
  }
  void erase(position at, std::uint32_t which) const noexcept {
    begin_change(at);
    store_low_tag(at, which, 0);
    end_change(at);
  }

 private:
  /// What `read` finds in a bucket that no thread changes meanwhile.
  template <class Read>
  auto read_whole(position at, std::uint64_t& retries, Read read) const {
    detail::patience writer;
    for (;;) {
      const std::uint64_t before = load(at, 3);
      if ((before & state::changing) == 0) [[likely]] {
        const auto found = read();
        if (state::is_whole(before, load(at, 3))) [[likely]]
          return found;
      }
      ++retries;
      writer.wait();
    }
  }

  template <class IsWanted>
  found_slot<std::uint32_t> find_once(detail::side_words side, position at, key_hash hash,
                                      const IsWanted& is_wanted, Element& copy) const noexcept {
    for (std::uint32_t left = side.tags().equal(tag::of(hash)); left != 0; left &= left - 1) {
      const auto which = static_cast<std::uint32_t>(std::countr_zero(left));
      const Element element = read(at, which);
      if (is_wanted(element)) [[likely]] {
        copy = element;
        return {true, which};
      }
    }
    return {};
  }
  struct found_element {
    found_slot<std::uint32_t> slot;
    Element element;
  };
  template <class IsWanted>
  [[gnu::noinline]] found_element find_again(position at, key_hash hash, IsWanted is_wanted,
                                             std::uint64_t& retries) const noexcept {
    const detail::side_words side(entry(at));
    return read_whole(at, retries, [&] {
      found_element found{};
      found.slot = find_once(side, at, hash, is_wanted, found.element);
      return found;
    });
  }

  std::byte* entry(position at) const noexcept { return side_ + at.bucket * side_bytes; }
  std::byte* place(std::uint64_t bucket, std::uint32_t which) const noexcept {
    return slots_ + (bucket * Capacity + which) * sizeof(Element);
  }
  std::atomic_ref<std::uint64_t> word(position at, std::size_t number) const noexcept {
    return detail::side_words(entry(at)).word(number);
  }
  std::uint64_t load(position at, std::size_t number) const noexcept {
    return detail::side_words(entry(at)).load(number);
  }
  void store(position at, std::size_t number, std::uint64_t value) const noexcept {
    word(at, number).store(value, std::memory_order_release);
  }
  detail::tag_reading tags(position at) const noexcept {
    return detail::side_words(entry(at)).tags();
  }
  void store_low_tag(position at, std::uint32_t which, std::uint64_t low) const noexcept {
    const std::uint32_t shift = which % 8 * 8;
    const std::uint64_t others = load(at, which / 8) & ~(std::uint64_t{255} << shift);
    store(at, which / 8, others | low << shift);
  }
  void begin_change(position at) const noexcept {
    word(at, 3).fetch_or(state::changing, std::memory_order_acq_rel);
  }
  /// The carry out of `changing` counts the version.
  void end_change(position at) const noexcept {
    word(at, 3).fetch_add(state::changing, std::memory_order_release);
  }
  void count_note(position at, key_hash hash, int step) const noexcept {
    const std::uint32_t shift = state::note_shift(hash);
    std::uint64_t now = word(at, 3).load(std::memory_order_relaxed);
    do {
      if (state::note(now, shift) == state::stuck_note) return;
    } while (!word(at, 3).compare_exchange_weak(
        now, step > 0 ? now + (std::uint64_t{1} << shift) : now - (std::uint64_t{1} << shift),
        std::memory_order_acq_rel, std::memory_order_relaxed));
  }

  // Slots begin on a cache line, hence at a multiple of whatever divides the element's size.
  using unit =
      std::conditional_t<sizeof(Element) % 8 == 0, std::uint64_t,
                         std::conditional_t<sizeof(Element) % 4 == 0, std::uint32_t, std::uint8_t>>;
  static constexpr std::size_t units = sizeof(Element) / sizeof(unit);

  Element read(position at, std::uint32_t which) const noexcept {
    std::byte* const from = place(at.bucket, which);
    unit copy[units];
    for (std::size_t i = 0; i < units; ++i)
      copy[i] = std::atomic_ref<unit>(*reinterpret_cast<unit*>(from + i * sizeof(unit)))
                    .load(std::memory_order_acquire);
    return std::bit_cast<Element>(copy);
  }
  void write(position at, std::uint32_t which, const Element& element) const noexcept {
    std::byte* const to = place(at.bucket, which);
    unit copy[units];
    std::memcpy(copy, &element, sizeof(Element));
    for (std::size_t i = 0; i < units; ++i)
      std::atomic_ref<unit>(*reinterpret_cast<unit*>(to + i * sizeof(unit)))
          .store(copy[i], std::memory_order_release);
  }

  std::byte* side_ = nullptr;
  std::byte* slots_ = nullptr;
  std::uint64_t buckets_ = 0;
};

}  // namespace oneprobe::inline v0_1
