// Lazy deletion of a one_probe_map (SSH, Section XI-A): what a reconstruction does, at once or in
// bounded pieces.
//
//   idle --enough are marked--> scanning --last slot--> settling --nothing is left--> idle
//                                   | the overflow is full: given up  ^
//                                   +--> releasing -------------------+
//
// scanning   slot by slot: marked elements end, others go down to the first level that now has room
//            for them, and the *next* summary learns all that live. An element that goes down waits
//            in the overflow, where every lookup finds it, and its new slot is kept for it.
// settling   the next summary is the one that is asked. Those that wait are moved to their slots,
//            one by one, and then the last summary is cleared, piece by piece.
// releasing  the slots that are kept are freed, one by one: an element that waits stays in the
// overflow.
//
// Work is counted in steps: a slot, an element that waits, or a piece that is cleared. A change of
// the map takes at most plan.work_per_change of them where reconstruction is incremental. A step
// tells the next summary of one element, at most twice, and moves one at most. That an element
// leaves while it waits is no step: its bucket is looked at, not all that wait.
//
// So lookups ask one summary at any time, and it is right. If an element's own operation throws,
// the step is as if it had not been taken.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "oneprobe/detail/base/unless_dismissed.hpp"
#include "oneprobe/detail/placement/schemes.hpp"
#include "oneprobe/detail/placement/walk.hpp"
#include "oneprobe/key_hash.hpp"
#include "oneprobe/map/results.hpp"
#include "oneprobe/one_probe/guarded_summary.hpp"
#include "oneprobe/one_probe/plan.hpp"
#include "oneprobe/one_probe/results.hpp"

namespace oneprobe::inline v0_1 {

/// The parts of a map that a reconstruction changes.
template <class Slots, class Guarded, class Overflow>
struct reconstructed_parts {
  const summary_plan& plan;
  const multilevel& scheme;
  Slots& slots;
  Guarded& guarded;  // the summary that is asked
  Overflow& overflow;
  one_probe_stats& stats;
};

template <class Element, class Guarded>
class reconstruction {
 public:
  /// REQUIRES: lazy deletion; a summary without elements, of which the next ones are copies.
  void prepare(const summary_plan& plan, const Guarded& empty) {
    next_.emplace(empty);
    parked_.reserve(static_cast<std::size_t>(plan.overflow_reserve));
    next_due_ = marked_when_due(plan);
  }
  /// Whether the map has lazy deletion.
  bool is_prepared() const noexcept { return next_.has_value(); }
  bool is_under_way() const noexcept { return phase_ != phase::idle; }
  /// The next summary, if it has been told of this slot already; else null.
  Guarded* next_that_knows(std::uint32_t slot) noexcept {
    return phase_ == phase::scanning && slot < cursor_ ? &*next_ : nullptr;
  }

  /// After an element was marked: begins, if that is due, or with lazy deletion does all of it.
  template <class Parts>
  void see_mark(const Parts& parts) {
    const bool due = !is_under_way() && parts.stats.marked >= next_due_;
    if (parts.plan.deletion == summary_deletion::incremental && due) start();
    // One that an element's constructor has ended is taken up again.
    if (parts.plan.deletion == summary_deletion::lazy && (due || is_under_way())) run(parts);
  }
  /// The piece of work that comes with each change.
  template <class Parts>
  void work_a_little(const Parts& parts) {
    if (!is_under_way() || parts.plan.deletion != summary_deletion::incremental) return;
    std::uint64_t work = 0;
    while (work < parts.plan.work_per_change && is_under_way()) {
      step(parts);
      ++work;
    }
    parts.stats.most_work = std::max(parts.stats.most_work, work);
  }
  /// All of it, or what is left of one that is under way.
  template <class Parts>
  void run(const Parts& parts) {
    if (!is_under_way()) start();
    while (is_under_way()) step(parts);
  }

  /// The element leaves the overflow for good: its slot is not kept any more.
  template <class Parts>
  void unpark(const Parts& parts, const Element* gone, key_hash hash) noexcept {
    if (parked_.empty()) return;
    const bool settles = phase_ == phase::settling;
    Guarded& informed = settles ? parts.guarded : *next_;
    Guarded& other = settles ? *next_ : parts.guarded;
    const std::optional<std::uint32_t> level = informed.where(hash);
    if (!level) return;
    const std::uint32_t first = parts.slots.first_slot(candidate_at(parts.scheme, hash, *level));
    for (std::uint32_t slot = first; slot < first + parts.slots.bucket_capacity; ++slot) {
      if (!parts.slots.is_kept(slot)) continue;
      parked_element& its = parked_[other.note_at(slot)];
      if (its.element != gone) continue;
      parts.slots.unmark(slot);
      informed.forget(slot);
      its = parked_.back();
      other.note(its.slot, static_cast<std::size_t>(&its - parked_.data()));
      parked_.pop_back();
      return;
    }
  }
  void clear(const summary_plan& plan) noexcept {
    if (next_) next_->clear();
    parked_.clear();
    phase_ = phase::idle;
    next_due_ = marked_when_due(plan);
  }

 private:
  enum class phase : std::uint8_t { idle, scanning, settling, releasing };
  /// An element on its way to a lower level: it waits in the overflow, its slot is kept for it. The
  /// summary that knows no element at that slot notes where in `parked_` it is.
  struct parked_element {
    Element* element;
    std::uint32_t slot;
  };

  /// Marked elements with which one begins.
  static std::uint64_t marked_when_due(const summary_plan& plan) noexcept {
    return plan.deletion == summary_deletion::incremental
               ? std::max<std::uint64_t>(1, plan.deleted_limit / 2)
               : plan.deleted_limit;
  }
  void start() noexcept {
    phase_ = phase::scanning;
    cursor_ = 0;
    moved_now_ = 0;
  }
  template <class Parts>
  void step(const Parts& parts);
  template <class Parts>
  void scan(const Parts& parts, std::uint32_t slot);
  template <class Parts>
  bool move_down(const Parts& parts, std::uint32_t slot, key_hash hash, std::uint32_t level);
  template <class Parts>
  Element* to_overflow(const Parts& parts, std::uint32_t slot, key_hash hash);
  template <class Parts>
  void settle_one(const Parts& parts);
  template <class Parts>
  void give_up(const Parts& parts);
  template <class Parts>
  void release_one(const Parts& parts);

  phase phase_ = phase::idle;
  std::uint32_t cursor_ = 0;     // slots before it are in the next summary
  std::uint64_t wiped_ = 0;      // pieces of the last one that are cleared
  std::uint64_t moved_now_ = 0;  // by the one that is under way
  std::uint64_t next_due_ = 0;
  std::optional<Guarded> next_;  // the next summary, while it is made; else empty
  std::vector<parked_element> parked_;
};

// ---- implementation ----

template <class Element, class Guarded>
template <class Parts>
void reconstruction<Element, Guarded>::step(const Parts& parts) {
  if (phase_ == phase::scanning) {
    scan(parts, cursor_);
    if (phase_ != phase::scanning || ++cursor_ < parts.slots.count()) return;
    // From now on the next summary is the one that is asked.
    std::swap(parts.guarded, *next_);
    phase_ = phase::settling;
    wiped_ = 0;
    ++parts.stats.reconstructions;
    parts.stats.moved_last = moved_now_;
    next_due_ = marked_when_due(parts.plan);
  } else if (phase_ == phase::releasing) {
    release_one(parts);
  } else if (!parked_.empty()) {
    settle_one(parts);
  } else if (wiped_ < next_->pieces()) {
    next_->clear_pieces(wiped_++, 1);
  } else {
    phase_ = phase::idle;
  }
}

template <class Element, class Guarded>
template <class Parts>
void reconstruction<Element, Guarded>::scan(const Parts& parts, std::uint32_t slot) {
  if (!parts.slots.is_occupied(slot)) return;
  if (parts.slots.is_marked(slot)) {
    parts.guarded.forget(slot);
    parts.slots.unmark(slot);
    --parts.stats.marked;
    parts.slots.destroy(slot);
    return;
  }
  const key_hash hash = parts.guarded.hash_of(slot);
  const std::uint32_t level = parts.guarded.level_of(slot);
  if (move_down(parts, slot, hash, level)) return;
  guarded_change change;
  if (next_->admit(hash, level, slot, change)) return;
  // The next summary would mislead: the overflow takes it, or nothing is reconstructed.
  if (to_overflow(parts, slot, hash) == nullptr) return give_up(parts);
  ++parts.stats.failures;
}

/// To the first level below its own that has room, as placement would: its element waits in the
/// overflow until the next summary is the one that is asked.
template <class Element, class Guarded>
template <class Parts>
bool reconstruction<Element, Guarded>::move_down(const Parts& parts, std::uint32_t slot,
                                                 key_hash hash, std::uint32_t level) {
  if (level == 0 || parked_.size() == parked_.capacity()) return false;
  const auto room = parts.slots.find_room(parts.scheme, hash);
  if (room.end != walk_end::placed || room.at.level >= level) return false;
  const std::uint32_t target = parts.slots.slot_of(room);
  guarded_change change;
  if (!next_->admit(hash, room.at.level, target, change)) return false;
  detail::unless_dismissed retract([&] { next_->retract(room.at.level, target, change); });
  Element* const parked = to_overflow(parts, slot, hash);
  if (parked == nullptr) return false;
  retract.dismiss();
  parts.slots.mark(target);
  parts.guarded.note(target, parked_.size());
  parked_.push_back({parked, target});
  ++moved_now_;
  ++parts.stats.moved;
  return true;
}

/// None if the overflow is full.
template <class Element, class Guarded>
template <class Parts>
Element* reconstruction<Element, Guarded>::to_overflow(const Parts& parts, std::uint32_t slot,
                                                       key_hash hash) {
  Element& moved = parts.slots[slot];
  const auto there = parts.overflow.find_or_make(
      moved.key, hash, [&](void* to) { return ::new (to) Element(std::move(moved)); });
  if (there.outcome == insertion::full) return nullptr;
  --parts.stats.counts.levels[parts.guarded.level_of(slot)];
  ++parts.stats.counts.overflow;
  parts.guarded.forget(slot);
  parts.slots.destroy(slot);
  return there.element;
}

template <class Element, class Guarded>
template <class Parts>
void reconstruction<Element, Guarded>::settle_one(const Parts& parts) {
  const parked_element its = parked_.back();
  auto* const made = ::new (parts.slots.place(its.slot)) Element(std::move(*its.element));
  parked_.pop_back();
  parts.slots.unmark(its.slot);
  parts.slots.occupy(its.slot);
  // Keys are constant: what was moved from still has its own.
  parts.overflow.erase(made->key, parts.guarded.hash_of(its.slot));
  --parts.stats.counts.overflow;
  ++parts.stats.counts.levels[parts.guarded.level_of(its.slot)];
}

template <class Element, class Guarded>
template <class Parts>
void reconstruction<Element, Guarded>::give_up(const Parts& parts) {
  phase_ = phase::releasing;
  ++parts.stats.given_up;
  parts.stats.moved_last = 0;
  next_due_ = parts.stats.marked + marked_when_due(parts.plan);
}

template <class Element, class Guarded>
template <class Parts>
void reconstruction<Element, Guarded>::release_one(const Parts& parts) {
  if (parked_.empty()) {
    phase_ = phase::settling;
    wiped_ = 0;
    return;
  }
  parts.slots.unmark(parked_.back().slot);
  parked_.pop_back();
}

}  // namespace oneprobe::inline v0_1
