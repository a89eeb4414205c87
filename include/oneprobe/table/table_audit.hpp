// Whether a table's elements are where a lookup finds them, and how a table is mended in which they
// are not. For table/file.hpp; there is nothing here to call.
//
// An element belongs where it is if its bucket is one of its candidates, its slot has its tag, and
// no other has its key. The notes must count, for each bucket, the elements that passed it. Notes
// and counts follow from the elements and can be made anew; which elements there are, and what
// their values are, cannot.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "oneprobe/core/key_hash.hpp"
#include "oneprobe/core/line_memory.hpp"
#include "oneprobe/core/placement.hpp"
#include "oneprobe/core/table_answers.hpp"
#include "oneprobe/core/table_plan.hpp"
#include "oneprobe/format/table_payload.hpp"
#include "oneprobe/scheme/walk.hpp"
#include "oneprobe/store/tagged_buckets.hpp"

namespace oneprobe::detail {

static_assert(side_entry::bytes == bucket_entry::bytes);

template <class Table>
class table_audit {
  using element = typename Table::value_type;
  using store = typename Table::store;
  enum class part { buckets, overflow };

 public:
  explicit table_audit(Table& table) noexcept : table_(table) {}

  /// What `find_fault` needs, zeroed.
  std::uint64_t scratch_bytes() const noexcept {
    const table_memory_parts parts = table_.plan_.memory(sizeof(element));
    return parts.side + parts.overflow_side;
  }

  /// The first element that is not where it is looked for, or number that does not count what it
  /// should; none if all is well.
  std::optional<std::string> find_fault(line_memory scratch) const {
    const auto misplaced = [](place at) {
      return "the element in slot " + std::to_string(at.slot) + " of bucket " +
             std::to_string(at.at.bucket) + (at.where == part::overflow ? " of the overflow" : "") +
             " is not where its key belongs";
    };
    const store notes(scratch.data(), nullptr, table_.buckets_.buckets());
    const store overflow_notes(scratch.data() + table_.plan_.memory(sizeof(element)).side, nullptr,
                               table_.overflow_.buckets());
    std::optional<std::string> fault;
    table_counts counts;
    for_each([&](place at, const element& one) {
      if (fault) return;
      const key_hash hash = table_.hash_(one.key);
      if (!find_candidate(at, hash) || table_.find_element(one.key, hash) != &one) {
        fault = misplaced(at);
        return;
      }
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

  /// Frees the slots of elements that do not belong there, and makes notes and counts anew. No
  /// other element moves or is lost. Returns how many were freed.
  std::uint64_t mend() {
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
    return freed;
  }

 private:
  struct place {
    part where;
    position at;  // its level is known once the element's candidates are
    std::uint32_t slot;
  };

  const store& store_of(part where) const noexcept {
    return where == part::buckets ? table_.buckets_ : table_.overflow_;
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
    const table_memory_parts parts = table_.plan_.memory(sizeof(element));
    std::byte* const first = table_.memory_.data();
    const auto clear = [](std::byte* side, std::uint64_t buckets) {
      for (std::uint64_t i = 0; i < buckets; ++i)
        std::memset(side + i * side_entry::bytes + side_entry::notes_at, 0,
                    side_entry::notes_bytes);
    };
    clear(first, table_.buckets_.buckets());
    clear(first + parts.side + parts.slots, table_.overflow_.buckets());
  }

  Table& table_;
};

}  // namespace oneprobe::detail
