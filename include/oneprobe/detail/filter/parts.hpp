// Several filters of one seed behind one interface: what growing.hpp and rotating.hpp share.
//
//   +--------+  +--------+  +--------+
//   | oldest |  |   ...  |  | newest |     a key is hashed once and asked for newest first;
//   +--------+  +--------+  +--------+     one yes is a yes
//
// The parts answer wrongly one by one, so the errors add up: with errors e_i the whole errs with
// probability 1 - (1 - e_1)(1 - e_2)..., which is never more than e_1 + e_2 + ... . A negative
// query asks every part, and costs as many accesses as all of them together.
//
// Threads: const functions may run together; anything else alone.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "oneprobe/detail/hash/range_hashes.hpp"
#include "oneprobe/filter/basic_filter.hpp"
#include "oneprobe/filter/plan.hpp"
#include "oneprobe/filter/results.hpp"
#include "oneprobe/hash_feed.hpp"
#include "oneprobe/key_hash.hpp"

namespace oneprobe::inline v0_1 {

/// A filter that can be a part of another: any basic_filter. Parts change their places, hence moves
/// must not throw.
template <class Filter>
concept whole_filter =
    std::derived_from<Filter,
                      basic_filter<typename Filter::engine_type, typename Filter::hash_type>> &&
    std::is_nothrow_move_constructible_v<Filter> && std::is_nothrow_move_assignable_v<Filter>;

template <whole_filter Filter>
class filter_parts {
 public:
  using filter_type = Filter;                    // of every part
  using hash_type = typename Filter::hash_type;  // the policy that all keys go through

  /// Never false for a key that was inserted (and, where parts are dropped, not dropped yet).
  template <class Key>
  requires hashes_or_is_hash<hash_type, Key>
  [[nodiscard]] bool may_contain(const Key& key) const
      noexcept(hashes_without_throwing<hash_type, Key>) {
    return any_of(parts_, hash_of(key));
  }

  /// Asks for all keys of a range, part after part, with memory asked ahead: answers[i] is for
  /// keys[i]. Returns the number of keys that may be contained. REQUIRES: as many answers as keys.
  template <bulk_keys<hash_type> Keys>
  std::uint64_t bulk_may_contain(const Keys& keys, std::span<bool> answers) const {
    return bulk_may_contain(range_hashes(hash_, keys).feed(), answers);
  }
  /// The same for hashes that are made when they are needed.
  std::uint64_t bulk_may_contain(const hash_feed& hashes, std::span<bool> answers) const {
    assert(hashes.size() == answers.size());
    std::uint64_t contained = 0;
    for (std::size_t first = 0; first < answers.size(); first += most_pending) {
      const std::size_t count = std::min(most_pending, answers.size() - first);
      pending_keys pending(hashes, first, count);
      take_out_known(parts_, pending, [](key_hash) {});
      std::ranges::fill(answers.subspan(first, count), true);
      for (const std::uint32_t place : pending.remaining_places()) answers[first + place] = false;
      contained += count - pending.count;
    }
    return contained;
  }

  /// How may_contain comes to its answer: accesses and lines of all parts asked, and the level and
  /// the way it stopped in the last of them.
  template <class Key>
  requires hashes_or_is_hash<hash_type, Key>
  [[nodiscard]] lookup_path explain(const Key& key) const
      noexcept(hashes_without_throwing<hash_type, Key>) {
    const key_hash hash = hash_of(key);
    lookup_path sum;
    for (std::size_t i = parts_.size(); i-- > 0;) {
      const lookup_path path = parts_[i].explain(hash);
      sum.stopped = path.stopped;
      sum.level = path.level;
      sum.accesses += path.accesses;
      sum.lines += path.lines;
      if (path.may_contain()) break;
    }
    return sum;
  }

  /// The hash that all keys go through.
  const hash_type& hash() const noexcept { return hash_; }
  /// The filters inside, oldest first.
  std::span<const Filter> parts() const noexcept { return parts_; }
  /// The error stated for all parts together.
  double stated_fpr() const noexcept { return fpr_; }

  /// The sums over all parts. An element that several parts hold is counted in each.
  filter_counts counts() const noexcept {
    filter_counts sum;
    for (const Filter& part : parts_) {
      const filter_counts counts = part.counts();
      sum.size += counts.size;
      sum.overflow += counts.overflow;
      sum.forced += counts.forced;
      sum.dropped += counts.dropped;
    }
    return sum;
  }

  /// The worst condition of a part.
  filter_condition condition() const noexcept {
    filter_condition worst = filter_condition::as_planned;
    for (const Filter& part : parts_) worst = std::max(worst, part.condition());
    return worst;
  }

  /// Reads all parts. Memory and elements are sums, `planned_fpr` is the error stated for the whole
  /// and `current_fpr` follows from the bits as they are.
  filter_stats stats() const {
    filter_stats sum;
    sum.counts = counts();
    sum.condition = condition();
    sum.planned_fpr = fpr_;
    double set_bytes = 0;
    for (const Filter& part : parts_) {
      const filter_stats one = part.stats();
      sum.memory.cells += one.memory.cells;
      sum.memory.overflow += one.memory.overflow;
      sum.planned_elements += one.planned_elements;
      sum.current_fpr += one.current_fpr * (1 - sum.current_fpr);
      set_bytes += one.fill_fraction * static_cast<double>(one.memory.cells);
    }
    sum.bits_per_element =
        8 * static_cast<double>(sum.memory.total()) / static_cast<double>(sum.planned_elements);
    sum.fill_fraction = set_bytes / static_cast<double>(sum.memory.cells);
    return sum;
  }

 protected:
  /// So many keys go through the parts together: enough for a part to ask its memory ahead, few
  /// enough for their hashes to stay in the nearest cache.
  static constexpr std::size_t most_pending = 512;

  /// Keys that no part has answered yes for so far, in the order in which they came.
  struct pending_keys {
    std::array<key_hash, most_pending> hashes;
    std::array<std::uint32_t, most_pending> places;  // each key's number among those that came
    std::size_t count;

    pending_keys(const hash_feed& all, std::size_t first, std::size_t some) : count(some) {
      all.fill(first, std::span(hashes).first(some));
      std::iota(places.begin(), places.begin() + static_cast<std::ptrdiff_t>(some), 0u);
    }

    std::span<const key_hash> remaining() const noexcept { return {hashes.data(), count}; }
    std::span<const std::uint32_t> remaining_places() const noexcept {
      return {places.data(), count};
    }
  };

  filter_parts(double fpr, hash_type hash) : hash_(std::move(hash)), fpr_(fpr) {}
  /// REQUIRES: at least one part, and one hash for all.
  filter_parts(double fpr, std::vector<Filter> parts)
      : parts_(std::move(parts)), hash_(parts_.front().hash()), fpr_(fpr) {}
  ~filter_parts() = default;
  filter_parts(const filter_parts&) = default;
  filter_parts(filter_parts&&) noexcept = default;
  filter_parts& operator=(const filter_parts&) = default;
  filter_parts& operator=(filter_parts&&) noexcept = default;

  template <class Key>
  key_hash hash_of(const Key& key) const noexcept(hashes_without_throwing<hash_type, Key>) {
    return hash_with(hash_, key);
  }

  static bool any_of(std::span<const Filter> parts, key_hash hash) noexcept {
    for (std::size_t i = parts.size(); i-- > 0;)
      if (parts[i].may_contain(hash)) return true;
    return false;
  }

  /// Leaves only the keys that none of `parts` may contain; the others go to `known`.
  template <class Known>
  static void take_out_known(std::span<const Filter> parts, pending_keys& pending, Known known) {
    std::array<bool, most_pending> answers;
    for (std::size_t part = parts.size(); part-- > 0 && pending.count != 0;) {
      parts[part].bulk_may_contain(pending.remaining(), std::span(answers.data(), pending.count));
      std::size_t kept = 0;
      for (std::size_t i = 0; i < pending.count; ++i) {
        if (answers[i]) {
          known(pending.hashes[i]);
        } else {
          pending.hashes[kept] = pending.hashes[i];
          pending.places[kept] = pending.places[i];
          ++kept;
        }
      }
      pending.count = kept;
    }
  }

  std::vector<Filter> parts_{};  // never empty; the newest is the last
  [[no_unique_address]] hash_type hash_;
  double fpr_;  // stated for all parts together
};

}  // namespace oneprobe::inline v0_1
