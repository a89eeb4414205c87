// The slots of a one_probe_map: their memory, their elements, and where a walk finds room.
//
//   slots      | level 0: bucket 0 | bucket 1 | ... | level 1: ... |      slow memory
//   occupied   | a bit per slot: an element is there |                    fast memory
//   marked     | a bit per slot |                                         slow memory
//
// A slot is free, or its element is live, or marked as deleted. While a reconstruction is under way
// it may also be kept for an element that waits elsewhere: marked, and empty.
//
//                free   live   marked   kept
//   occupied       0      1       1       0
//   marked         0      0       1       1
//
// A map whose summary forgets what is erased has no marks, and no memory for them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>
#include <utility>

#include "oneprobe/detail/one_probe/packed_cells.hpp"
#include "oneprobe/detail/placement/admission.hpp"
#include "oneprobe/detail/placement/concepts.hpp"
#include "oneprobe/detail/placement/schemes.hpp"
#include "oneprobe/detail/placement/walk.hpp"
#include "oneprobe/key_hash.hpp"
#include "oneprobe/memory.hpp"

namespace oneprobe::inline v0_1 {
namespace detail {

/// The taken slots, as a walk that looks for room sees them: the walk gets the slot, and takes it
/// itself.
template <class TakenMask>
class room_search {
 public:
  struct item {
    std::uint32_t slot = 0;  // of its bucket
  };

  explicit room_search(TakenMask taken) : taken_(taken) {}

  static void prefetch(position) noexcept {}
  std::optional<std::uint32_t> load(position at) const noexcept {
    return static_cast<std::uint32_t>(std::popcount(taken_(at.bucket)));
  }
  put_result try_put(position at, item& element, std::uint32_t limit) const noexcept {
    const std::uint32_t taken = taken_(at.bucket);
    if (static_cast<std::uint32_t>(std::popcount(taken)) >= limit) return put_result::refused;
    element.slot = static_cast<std::uint32_t>(std::countr_one(taken));
    return put_result::placed;
  }

 private:
  TakenMask taken_;
};

}  // namespace detail

/// What becomes of the slot of an erased element.
enum class erased_slots : std::uint8_t { freed, marked };

template <class Element, std::uint32_t BucketCapacity, erased_slots Erased>
class one_probe_slots {
  static constexpr bool has_marks = Erased == erased_slots::marked;
  static_assert(alignof(Element) <= line_memory::line_bytes, "slots begin on a cache line");

 public:
  static constexpr std::uint32_t bucket_capacity = BucketCapacity;  // h

  explicit one_probe_slots(std::uint64_t buckets)
      : memory_(buckets * BucketCapacity * sizeof(Element)),
        count_(static_cast<std::uint32_t>(buckets * BucketCapacity)),
        occupied_(buckets, BucketCapacity),
        marked_(has_marks ? buckets : 0, BucketCapacity) {}
  ~one_probe_slots() { destroy_all(); }
  one_probe_slots(one_probe_slots&& other) noexcept
      : memory_(std::move(other.memory_)),
        count_(std::exchange(other.count_, 0)),
        occupied_(std::move(other.occupied_)),
        marked_(std::move(other.marked_)) {}
  one_probe_slots& operator=(one_probe_slots&&) = delete;

  std::uint32_t count() const noexcept { return count_; }
  static std::uint32_t first_slot(position at) noexcept {
    return static_cast<std::uint32_t>(at.bucket * BucketCapacity);
  }
  void* place(std::uint32_t slot) const noexcept {
    return const_cast<std::byte*>(memory_.data()) + std::size_t{slot} * sizeof(Element);
  }
  /// REQUIRES: the slot holds an element.
  Element& operator[](std::uint32_t slot) const noexcept {
    return *std::launder(static_cast<Element*>(place(slot)));
  }

  bool is_occupied(std::uint32_t slot) const noexcept { return occupied_.test(slot); }
  bool is_marked(std::uint32_t slot) const noexcept {
    if constexpr (has_marks)
      return marked_.test(slot);
    else
      return false;
  }
  bool is_live(std::uint32_t slot) const noexcept { return is_occupied(slot) && !is_marked(slot); }
  /// For an element that waits elsewhere.
  bool is_kept(std::uint32_t slot) const noexcept { return is_marked(slot) && !is_occupied(slot); }
  /// Slots of a bucket as bits: which hold an element.
  std::uint32_t occupants(std::uint64_t bucket) const noexcept { return occupied_.mask(bucket); }

  void occupy(std::uint32_t slot) noexcept { occupied_.set(slot); }
  void mark(std::uint32_t slot) noexcept { marked_.set(slot); }
  void unmark(std::uint32_t slot) noexcept { marked_.reset(slot); }
  /// Ends the life of the element; a mark stays.
  void destroy(std::uint32_t slot) noexcept {
    occupied_.reset(slot);
    std::destroy_at(&(*this)[slot]);
  }
  void clear() noexcept {
    destroy_all();
    occupied_.clear();
    marked_.clear();
  }

  /// Where an element would be placed now: the end of its walk.
  auto find_room(const multilevel& scheme, key_hash hash) const {
    const auto taken = [this](std::uint64_t bucket) {
      if constexpr (has_marks)
        return occupied_.mask(bucket) | marked_.mask(bucket);
      else
        return occupied_.mask(bucket);
    };
    detail::room_search rooms(taken);
    placing walk(scheme, rooms, admission(BucketCapacity));
    return walk_to_end(walk, walk.start(hash));
  }
  /// The slot that find_room has found.
  template <class Room>
  static std::uint32_t slot_of(const Room& room) noexcept {
    return first_slot(room.at) + room.element.slot;
  }

  std::uint64_t slot_bytes() const noexcept { return memory_.size(); }
  std::uint64_t occupied_bytes() const noexcept { return occupied_.memory_bytes(); }
  std::uint64_t marked_bytes() const noexcept { return has_marks ? marked_.memory_bytes() : 0; }

 private:
  void destroy_all() noexcept {
    if constexpr (!std::is_trivially_destructible_v<Element>)
      for (std::uint32_t slot = 0; slot < count_; ++slot)
        if (occupied_.test(slot)) std::destroy_at(&(*this)[slot]);
  }

  line_memory memory_;
  std::uint32_t count_;
  bucket_bits occupied_;
  bucket_bits marked_;
};

}  // namespace oneprobe::inline v0_1
