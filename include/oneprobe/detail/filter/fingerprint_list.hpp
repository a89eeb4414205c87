// The overflow of a filter: 32-bit fingerprints of the elements that no block admitted.
//
//   slots    | 0 | 0 | f | f | f | 0 | f | 0 | ...      0 is free; 32 bits each, little-endian
//                      ^ first slot of an element: reduce(bits, slots); its fingerprint is in the
//                        first slot from there on that was free, round the end to the beginning
//
// In ascending order (list_order::ascending) it takes the first slot from there on that has no
// smaller fingerprint, and what was there moves on: an ordered hash table (Amble and Knuth, 1974).
// Then the slots depend only on the set of entries, not on the order in which they came, and a
// search ends at the first entry that is larger.
//
//   std::uint64_t taken = 0;
//   fingerprint_list<> list(memory, {.slots = 1000, .reserve = 750}, taken);
//   list.insert(overflow_bits(hash));       // added, present or full
//   list.contains(overflow_bits(hash));     // never false for what was added
//
// A view: the memory and the count of entries belong to the filter, zeroed memory is an empty list,
// and nothing is ever allocated. It takes `reserve` entries, fewer than there are slots, and then
// says `full`. With atomic_words threads may insert and look together, first come, first placed.
//
// A search ends after all slots at the latest, whatever the memory holds: it may be a stranger's.
#pragma once

#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "oneprobe/detail/base/prefetch.hpp"
#include "oneprobe/detail/base/wide_product.hpp"
#include "oneprobe/detail/base/word_access.hpp"

namespace oneprobe::inline v0_1 {

enum class list_outcome : std::uint8_t {
  added,
  present,  // this fingerprint is there already, where a lookup finds it
  full,     // the reserve is used up; nothing was changed
};

enum class list_order : std::uint8_t { first_come, ascending };

struct list_size {
  static constexpr std::size_t slot_bytes = 4;

  std::uint64_t slots = 0;
  std::uint64_t reserve = 0;  // entries it takes; below `slots` if there are any
};

/// A count that threads change together. Copies take the value.
struct atomic_count : std::atomic<std::uint64_t> {
  using atomic::atomic;
  using atomic::operator=;
  atomic_count(const atomic_count& other) noexcept : atomic(other.load()) {}
  atomic_count& operator=(const atomic_count& other) noexcept {
    store(other.load());
    return *this;
  }
};

template <class Words = plain_words, list_order Order = list_order::first_come>
class fingerprint_list {
  static_assert(Order == list_order::first_come || !Words::shared,
                "an entry that moves on is nowhere for a moment");

 public:
  using fingerprint = std::uint32_t;
  /// How many entries there are, kept by the owner of the memory.
  using entry_count = std::conditional_t<Words::shared, atomic_count, std::uint64_t>;

  /// REQUIRES: `memory` has `size.slots` slots and is aligned to one.
  fingerprint_list(std::byte* memory, list_size size, entry_count& entries) noexcept
      : memory_(memory), size_(size), entries_(&entries) {}
  /// Only to look in: what is changed must be counted.
  static const fingerprint_list reading(const std::byte* memory, list_size size) noexcept {
    return fingerprint_list(memory, size);
  }

  list_outcome insert(std::uint64_t bits) noexcept {
    const fingerprint wanted = fingerprint_of(bits);
    std::uint64_t slot = first_slot(bits);
    if constexpr (Order == list_order::ascending) return insert_from(slot, wanted);
    for (std::uint64_t looked = 0; looked < size_.slots; ++looked, slot = after(slot)) {
      fingerprint found = load(slot);
      if (found == 0) {
        if (!reserve_one()) return list_outcome::full;
        found = claim(slot, wanted);
        if (found == 0) return list_outcome::added;
        give_back_one();  // another thread was faster
      }
      if (found == wanted) return list_outcome::present;
    }
    return list_outcome::full;
  }

  bool contains(std::uint64_t bits) const noexcept {
    const fingerprint wanted = fingerprint_of(bits);
    std::uint64_t slot = first_slot(bits);
    for (std::uint64_t looked = 0; looked < size_.slots; ++looked, slot = after(slot)) {
      const fingerprint found = load(slot);
      if (ends_search(found, wanted)) return found == wanted;
    }
    return false;
  }

  /// Asks for what `insert` and `contains` read first.
  void prefetch(std::uint64_t bits) const noexcept { prefetch_line_ahead(place(first_slot(bits))); }

  /// How many cache lines `contains` reads.
  std::uint32_t lines_searched(std::uint64_t bits) const noexcept {
    constexpr std::uint64_t slots_in_line = 64 / list_size::slot_bytes;
    const fingerprint wanted = fingerprint_of(bits);
    std::uint64_t slot = first_slot(bits);
    std::uint32_t lines = 0;
    for (std::uint64_t looked = 0; looked < size_.slots; ++looked, slot = after(slot)) {
      if (looked == 0 || slot % slots_in_line == 0) ++lines;
      const fingerprint found = load(slot);
      if (ends_search(found, wanted)) break;
    }
    return lines;
  }

  /// Takes in all entries of a list of the same size; afterwards it contains what either did.
  /// Returns how many entries there was no room for.
  std::uint64_t unite(const fingerprint_list& other) noexcept {
    // An entry's first slot is not known any more, only that all slots from there to its own are
    // taken. In the end every slot that was taken in either list is, and the entry lies in its own
    // or further on with no free one between: a search from its first slot still comes to it. In
    // ascending order, too: what comes in makes the entries of the slots before it smaller only.
    std::uint64_t dropped = 0;
    for (std::uint64_t slot = 0; slot < size_.slots; ++slot) {
      const fingerprint entry = other.load(slot);
      // Once one is dropped the filter believes everything of this list: others are no use.
      if (entry != 0 && (dropped > 0 || !takes_from(slot, entry))) ++dropped;
    }
    return dropped;
  }

  /// The probability that `contains` says yes to bits that were never added: every slot from a
  /// random one to the end of its run is compared, and each is equal with probability 2^-32. In
  /// ascending order fewer are compared, and it is no more than this.
  double match_probability() const noexcept {
    double compared = 0;
    const bool has_end = for_each_run([&](std::uint64_t, std::uint64_t length) {
      const auto taken = static_cast<double>(length);
      compared += taken * (taken + 1) / 2;
    });
    if (size_.slots == 0) return 0;
    const auto slots = static_cast<double>(size_.slots);
    if (!has_end) compared = slots * slots;
    return -std::expm1(compared / slots * std::log1p(-std::exp2(-32)));
  }

 private:
  fingerprint_list(const std::byte* memory, list_size size) noexcept
      : memory_(const_cast<std::byte*>(memory)), size_(size), entries_(nullptr) {}

  static constexpr fingerprint fingerprint_of(std::uint64_t bits) noexcept {
    const auto low = static_cast<fingerprint>(bits);
    return low == 0 ? 1 : low;
  }
  std::uint64_t first_slot(std::uint64_t bits) const noexcept {
    return multiply_wide(bits, size_.slots).high;
  }
  std::uint64_t after(std::uint64_t slot) const noexcept {
    return slot + 1 == size_.slots ? 0 : slot + 1;
  }

  static constexpr bool ends_search(fingerprint found, fingerprint wanted) noexcept {
    if (found == wanted || found == 0) return true;
    return Order == list_order::ascending && found > wanted;
  }

  /// In ascending order: takes the place of the first larger entry from `slot` on, which goes on in
  /// the same way.
  list_outcome insert_from(std::uint64_t slot, fingerprint entry) noexcept {
    std::uint64_t looked = 0;
    for (; looked < size_.slots && !ends_search(load(slot), entry); ++looked) slot = after(slot);
    if (looked == size_.slots) return list_outcome::full;
    if (load(slot) == entry) return list_outcome::present;
    if (!has_free_slot(slot, looked) || !reserve_one()) return list_outcome::full;
    for (; looked < size_.slots; ++looked, slot = after(slot)) {
      const fingerprint found = load(slot);
      if (!ends_search(found, entry)) continue;
      if (found == entry) {
        // Two elements with one fingerprint: the slot that it has come to serves both.
        --*entries_;
        break;
      }
      claim(slot, entry);
      if (found == 0) break;
      entry = found;
    }
    return list_outcome::added;
  }
  /// From `slot` on, of which `looked` lie behind it: else the last that is moved would fall out.
  bool has_free_slot(std::uint64_t slot, std::uint64_t looked) const noexcept {
    for (; looked < size_.slots; ++looked, slot = after(slot))
      if (load(slot) == 0) return true;
    return false;
  }
  bool takes_from(std::uint64_t slot, fingerprint entry) noexcept {
    if constexpr (Order == list_order::ascending)
      return insert_from(slot, entry) != list_outcome::full;
    else
      return put_from(slot, entry);
  }

  /// Calls `visit(begin, length)` with every run of taken slots. False if no slot is free, in which
  /// case there is no run with a beginning.
  template <class Visit>
  bool for_each_run(Visit visit) const {
    std::uint64_t free = 0;
    while (free < size_.slots && load(free) != 0) ++free;
    if (free == size_.slots) return false;
    std::uint64_t slot = after(free);
    for (std::uint64_t looked = 1; looked < size_.slots;) {
      const std::uint64_t begin = slot;
      std::uint64_t length = 0;
      for (; load(slot) != 0; slot = after(slot)) ++length;
      if (length > 0) visit(begin, length);
      slot = after(slot);
      looked += length + 1;
    }
    return true;
  }

  /// Puts an entry into the first free slot from `slot` on, unless it comes to it before. False if
  /// there is no room.
  bool put_from(std::uint64_t slot, fingerprint entry) noexcept {
    for (std::uint64_t looked = 0; looked < size_.slots; ++looked, slot = after(slot)) {
      const fingerprint found = load(slot);
      if (found == entry) return true;
      if (found != 0) continue;
      if (!reserve_one()) return false;
      claim(slot, entry);
      return true;
    }
    return false;
  }

  bool reserve_one() noexcept {
    if constexpr (Words::shared) {
      if (entries_->fetch_add(1, std::memory_order_relaxed) < size_.reserve) return true;
      give_back_one();
      return false;
    } else {
      if (*entries_ >= size_.reserve) return false;
      ++*entries_;
      return true;
    }
  }
  void give_back_one() noexcept {
    if constexpr (Words::shared) entries_->fetch_sub(1, std::memory_order_relaxed);
  }

  /// A slot as it lies in memory, and back.
  static constexpr fingerprint little_endian_slot(fingerprint value) noexcept {
    if constexpr (std::endian::native == std::endian::little) return value;
    return static_cast<fingerprint>(little_endian(value) >> 32);
  }
  std::byte* place(std::uint64_t slot) const noexcept {
    return memory_ + slot * list_size::slot_bytes;
  }
  // Relaxed is enough: a slot is written once, and a thread that learns of an insert by any
  // synchronisation also sees the slots that its search passed.
  fingerprint load(std::uint64_t slot) const noexcept {
    fingerprint value = 0;
    if constexpr (Words::shared)
      value = shared_slot(slot).load(std::memory_order_relaxed);
    else
      std::memcpy(&value, place(slot), sizeof value);
    return little_endian_slot(value);
  }
  /// Writes to a free slot. Returns 0, or what another thread wrote before.
  fingerprint claim(std::uint64_t slot, fingerprint entry) noexcept {
    const fingerprint value = little_endian_slot(entry);
    if constexpr (Words::shared) {
      fingerprint found = 0;
      shared_slot(slot).compare_exchange_strong(found, value, std::memory_order_relaxed);
      return little_endian_slot(found);
    } else {
      std::memcpy(place(slot), &value, sizeof value);
      return 0;
    }
  }
  std::atomic_ref<fingerprint> shared_slot(std::uint64_t slot) const noexcept {
    return std::atomic_ref<fingerprint>(*reinterpret_cast<fingerprint*>(place(slot)));
  }

  std::byte* memory_;
  list_size size_;
  entry_count* entries_;
};

}  // namespace oneprobe::inline v0_1
