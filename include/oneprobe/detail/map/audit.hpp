// Whether a table's elements are where a lookup finds them, and how a table is mended in which they
// are not. For map/file.hpp; there is nothing here to call.
//
// What the side arrays are held to keeps every operation inside the memory, whatever bytes the
// slots have: a slot beyond the bucket capacity is free, and the slots that are taken are as many
// as were counted.
//
// An element belongs where it is if its bucket is one of its candidates, its slot has its tag, and
// no other has its key; elements of one tag are in one group of slots. The notes must count, for
// each bucket, the elements that passed it. Notes and counts follow from the elements and can be
// made anew; which elements there are, and what their values are, cannot.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "oneprobe/detail/io/bytes.hpp"
#include "oneprobe/detail/map/payload.hpp"
#include "oneprobe/detail/map/tagged_buckets.hpp"
#include "oneprobe/detail/placement/concepts.hpp"
#include "oneprobe/detail/placement/walk.hpp"
#include "oneprobe/key_hash.hpp"
#include "oneprobe/map/plan.hpp"
#include "oneprobe/map/results.hpp"
#include "oneprobe/memory.hpp"

namespace oneprobe::inline v0_1::detail {

static_assert(table_plan::side_bytes == bucket_entry::bytes);

template <class Table>
class table_audit {
  using element = typename Table::value_type;
  using store = typename Table::store;
  enum class part { buckets, overflow };

 public:
  explicit table_audit(Table& table) noexcept : table_(table) {}

  /// What no table of this plan and these counts has in its side arrays and around them. Reads
  /// nothing else.
  std::optional<std::string> find_side_fault() const {
    for (const std::span<const std::byte> padding :
         paddings_of(table_.memory(), table_.plan_, sizeof(element)))
      if (!byte_reader(padding).only_zeros_left()) return "a byte after the last bucket is not 0";

    const table_plan& plan = table_.plan_;
    const table_counts& counts = table_.counts_;
    if (auto fault = find_wrong_load("the overflow", table_.overflow_, 0, plan.overflow_buckets,
                                     counts.overflow))
      return fault;
    if (!plan.is_levelled())
      return find_wrong_load("all levels", table_.buckets_, 0, plan.buckets(),
                             counts.size - counts.overflow);
    std::uint64_t first = 0;
    for (std::uint32_t level = 0; level < plan.levels; ++level) {
      if (auto fault = find_wrong_load("level " + std::to_string(level), table_.buckets_, first,
                                       plan.level_buckets[level], counts.levels[level]))
        return fault;
      first += plan.level_buckets[level];
    }
    return std::nullopt;
  }

  /// What `find_fault` needs, zeroed.
  std::uint64_t scratch_bytes() const noexcept {
    const table_memory_parts parts = table_.plan_.memory(sizeof(element));
    return parts.side + parts.overflow_side;
  }

  /// The first element that is not where it is looked for, or number that does not count what it
  /// should; none if all is well.
  std::optional<std::string> find_fault(line_memory scratch) const {
    const store notes(scratch.data(), nullptr, table_.buckets_.buckets());
    const store overflow_notes(scratch.data() + table_.plan_.memory(sizeof(element)).side, nullptr,
                               table_.overflow_.buckets());
    std::optional<std::string> fault;
    table_counts counts;
    for_each([&](place at, const element& one) {
      if (fault) return;
      const key_hash hash = table_.hash_(one.key);
      if (!find_candidate(at, hash) || table_.find_element(one.key, hash) != &one)
        fault = "the element in " + words_for(at) + " is not where its key belongs";
      else if (!is_in_group(at, hash))
        fault = "the element in " + words_for(at) + " has its tag in another line, too";
      if (fault) return;
      count(at, counts);
      for_each_passed(at, hash, [&](part where, position passed, key_hash from) {
        (where == part::buckets ? notes : overflow_notes).note_passed(passed, from);
      });
    });
    if (fault) return fault;
    if (counts != table_.counts_) return "the counts of elements by level are not what is there";
    if (!notes_are(table_.buckets_, notes) || !notes_are(table_.overflow_, overflow_notes))
      return "a note does not count the elements that passed its bucket";
    return std::nullopt;
  }

  /// Frees the slots of elements that do not belong there, and makes notes and counts anew; what is
  /// not 0 where no table has anything is cleared. No other element moves or is lost, except where
  /// a tag is in two groups: those of the second move, or are lost if there is no room. Returns how
  /// many were lost.
  std::uint64_t mend() {
    clear_unused();
    std::uint64_t freed = 0;
    for_each([&](place at, const element& one) {
      if (find_candidate(at, table_.hash_(one.key))) return;
      store_of(at.where).erase(at.at, at.slot);
      ++freed;
    });
    clear_notes();
    for_each([&](place at, const element& one) {
      const key_hash hash = table_.hash_(one.key);
      find_candidate(at, hash);
      for_each_passed(at, hash, [&](part where, position passed, key_hash from) {
        store_of(where).note_passed(passed, from);
      });
    });
    // What has another tag is found no more; of two equal keys one is.
    table_.counts_ = {};
    for_each([&](place at, const element& one) {
      const key_hash hash = table_.hash_(one.key);
      find_candidate(at, hash);
      if (table_.find_element(one.key, hash) == &one) return count(at, table_.counts_);
      for_each_passed(at, hash, [&](part where, position passed, key_hash from) {
        store_of(where).unnote_passed(passed, from);
      });
      store_of(at.where).erase(at.at, at.slot);
      ++freed;
    });
    return freed + regroup();
  }

 private:
  struct place {
    part where;
    position at;  // its level is known once the element's candidates are
    std::uint32_t slot;
  };

  static std::string words_for(const place& at) {
    return "slot " + std::to_string(at.slot) + " of bucket " + std::to_string(at.at.bucket) +
           (at.where == part::overflow ? " of the overflow" : "");
  }

  /// What is wrong with the tags of `buckets` buckets from `first` on.
  static std::optional<std::string> find_wrong_load(std::string_view where, const store& in,
                                                    std::uint64_t first, std::uint64_t buckets,
                                                    std::uint64_t expected) {
    std::uint64_t taken = 0;
    for (position at{first, 0}; at.bucket < first + buckets; ++at.bucket) {
      if (!in.is_within_capacity(at)) return "a slot beyond the bucket capacity is taken";
      taken += *in.load(at);
    }
    if (taken == expected) return std::nullopt;
    return std::string(where) + " must have " + std::to_string(expected) + " elements; found " +
           std::to_string(taken);
  }

  const store& store_of(part where) const noexcept {
    return where == part::buckets ? table_.buckets_ : table_.overflow_;
  }

  template <class Visit>
  void for_each_bucket(Visit visit) const {
    for (const part where : {part::buckets, part::overflow})
      for (position at; at.bucket < store_of(where).buckets(); ++at.bucket)
        visit(store_of(where), at);
  }
  template <class Visit>
  void for_each(Visit visit) const {
    for (const part where : {part::buckets, part::overflow}) {
      const store& buckets = store_of(where);
      for (position at; at.bucket < buckets.buckets(); ++at.bucket)
        for (std::uint32_t left = buckets.occupied(at); left != 0; left &= left - 1) {
          const auto slot = static_cast<std::uint32_t>(std::countr_zero(left));
          visit(place{where, at, slot}, *buckets.element(at, slot));
        }
    }
  }

  /// REQUIRES: the element's slot has its tag.
  bool is_in_group(const place& at, key_hash hash) const noexcept {
    return store_of(at.where).is_in_group(
        at.at, at.slot, at.where == part::overflow ? Table::overflow_hash(hash) : hash);
  }

  /// Whether a bucket is a candidate of this hash; then sets the level.
  bool find_candidate(place& found, key_hash hash) const {
    return found.where == part::buckets
               ? find_candidate(found, table_.scheme_, hash)
               : find_candidate(found, table_.overflow_scheme_, Table::overflow_hash(hash));
  }
  template <class Scheme>
  bool find_candidate(place& found, const Scheme& scheme, key_hash hash) const {
    bool is_one = false;
    for_each_candidate(scheme, hash, [&](position at) {
      if (is_one || at.bucket != found.at.bucket) return;
      found.at = at;
      is_one = true;
    });
    return is_one;
  }

  static void count(const place& at, table_counts& counts) noexcept {
    ++counts.size;
    ++(at.where == part::overflow ? counts.overflow : counts.levels[at.at.level]);
  }

  /// Calls `visit(part, position, hash)` for every bucket that an element passed on its way.
  template <class Visit>
  void for_each_passed(const place& to, key_hash hash, Visit visit) const {
    const bool beyond = to.where == part::overflow;
    for_each_before(table_.scheme_, hash, beyond ? beyond_all(table_.scheme_) : to.at,
                    [&](position at) { visit(part::buckets, at, hash); });
    if (!beyond) return;
    const key_hash there = Table::overflow_hash(hash);
    for_each_before(table_.overflow_scheme_, there, to.at,
                    [&](position at) { visit(part::overflow, at, there); });
  }

  /// Whether all notes are as expected, or stuck.
  static bool notes_are(const store& found, const store& expected) noexcept {
    for (position at; at.bucket < found.buckets(); ++at.bucket)
      for (std::uint32_t kind = 0; kind < bucket_entry::note_kinds; ++kind) {
        const std::uint32_t note = found.note(at, kind);
        if (note != expected.note(at, kind) && note != bucket_entry::stuck_note) return false;
      }
    return true;
  }
  void clear_notes() const noexcept {
    for_each_bucket([](const store& in, position at) { in.clear_notes(at); });
  }
  /// Tags of slots that there are not, and bytes after the last bucket.
  void clear_unused() const noexcept {
    for_each_bucket([](const store& in, position at) { in.clear_beyond_capacity(at); });
    for (const std::span<std::byte> padding :
         paddings_of(table_.memory_.bytes(), table_.plan_, sizeof(element)))
      std::ranges::fill(padding, std::byte{0});
  }

  /// Inserts anew what is outside the first group with its tag. Returns how many found no room.
  /// REQUIRES: every element is found where it is, and notes and counts are right.
  std::uint64_t regroup() {
    std::uint64_t without_room = 0;
    for_each([&](place at, const element& one) {
      const key_hash hash = table_.hash_(one.key);
      if (is_in_group(at, hash)) return;
      const element copy = one;
      table_.erase(copy.key, hash);
      const auto again = table_.find_or_make(
          copy.key, hash, [&](void* slot) { return ::new (slot) element(copy); });
      without_room += again.outcome == insertion::full ? 1u : 0u;
    });
    return without_room;
  }

  Table& table_;
};

}  // namespace oneprobe::inline v0_1::detail
