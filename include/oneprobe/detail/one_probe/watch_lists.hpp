// Which element watches which cell: lists through records beside the slots of a table.
//
//   heads:    one for each planned element; cell c is in list c mod heads
//   records:  | cell | previous | next | for every slot of the table
//
//   watch_lists lists(slots, heads);
//   lists.watch(slot, cell);
//   lists.for_each(cell, [&](std::uint32_t slot) { ...; return true; });   // may watch anew
//   lists.unwatch(slot);
//
// Slow memory: 12 bytes for each slot, 4 for each head, all of it from the start. For one thread.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace oneprobe::inline v0_1 {

class watch_lists {
 public:
  /// Slots and cells are numbers below 2^32 - 1.
  watch_lists(std::uint64_t slots, std::uint64_t heads)
      : heads_(static_cast<std::size_t>(heads), nobody),
        records_(static_cast<std::size_t>(slots)) {}

  /// REQUIRES: the slot watches nothing.
  void watch(std::uint32_t slot, std::uint64_t cell) noexcept {
    assert(records_[slot].cell == nobody);
    std::uint32_t& head = heads_[cell % heads_.size()];
    records_[slot] = {static_cast<std::uint32_t>(cell), nobody, head};
    if (head != nobody) records_[head].previous = slot;
    head = slot;
  }
  /// A slot that watches nothing stays so.
  void unwatch(std::uint32_t slot) noexcept {
    record& its = records_[slot];
    if (its.cell == nobody) return;
    if (its.previous != nobody)
      records_[its.previous].next = its.next;
    else
      heads_[its.cell % heads_.size()] = its.next;
    if (its.next != nobody) records_[its.next].previous = its.previous;
    its = {};
  }
  /// Calls `visit` with each slot that watches this cell, until it says false; it may have the slot
  /// watch another cell. Says whether it never did.
  template <class Visit>
  bool for_each(std::uint64_t cell, Visit visit) {
    for (std::uint32_t slot = heads_[cell % heads_.size()]; slot != nobody;) {
      const record its = records_[slot];
      if (its.cell == cell && !visit(slot)) return false;
      slot = its.next;
    }
    return true;
  }
  bool watches(std::uint32_t slot) const noexcept { return records_[slot].cell != nobody; }

  std::size_t memory_bytes() const noexcept {
    return heads_.size() * sizeof(std::uint32_t) + records_.size() * sizeof(record);
  }
  /// Entries to clear one after the other: heads, then records.
  std::uint64_t entries() const noexcept { return heads_.size() + records_.size(); }
  void clear_entry(std::uint64_t entry) noexcept {
    if (entry < heads_.size())
      heads_[entry] = nobody;
    else if (entry < entries())
      records_[entry - heads_.size()] = {};
  }

 private:
  static constexpr std::uint32_t nobody = 0xffff'ffff;

  struct record {
    std::uint32_t cell = nobody;
    std::uint32_t previous = nobody;
    std::uint32_t next = nobody;
  };
  std::vector<std::uint32_t> heads_;
  std::vector<record> records_;
};

}  // namespace oneprobe::inline v0_1
