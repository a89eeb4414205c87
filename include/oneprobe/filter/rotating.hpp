// A filter for the last windows of time: `generations` filters in a ring, the newest takes what is
// inserted, and rotate() empties the oldest, which then becomes the newest.
//
//   rotating_filter<blocked_filter> recent({.elements_per_window = 1'000'000, .fpr = 1e-3});
//   if (recent.insert(key) == insert_outcome::possibly_present) ...   // seen a short while ago
//   recent.rotate();                                                  // once a minute, say
//
//     time --->   | window 1 | window 2 | window 3 | window 4 |
//                    oldest                           newest    <- insert
//                 `------------- may_contain asks all --------'
//
// Promises: with g generations, a key is found until rotate() was called g times after its last
// insertion: for at least g - 1 whole windows and less than g. Afterwards it is as absent as any
// other. The stated error holds for all generations together as long as no window gets more
// elements than planned: each is planned for fpr / g, and a union errs no more often than its parts
// in sum, whatever they have in common.
//
// Memory: all of it from the start, that of g filters; nothing allocates afterwards, rotate()
// neither. rotate() writes all memory of one generation, which takes as long as that takes.
// Costs: a query for an absent key asks g filters, and so does every insertion that has to say
// whether the key was there. Few generations are cheap; many make the time that is remembered more
// even: the memory for at least a time T is that for T * g / (g - 1).
//
// Threads: const functions may run together; anything else alone, rotate() included. Nothing throws
// but construction and copies. What was moved from can only be assigned to or destroyed.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/detail/filter/parts.hpp"
#include "oneprobe/detail/hash/range_hashes.hpp"
#include "oneprobe/filter/basic_filter.hpp"
#include "oneprobe/filter/plan.hpp"
#include "oneprobe/filter/results.hpp"
#include "oneprobe/hash.hpp"
#include "oneprobe/hash_feed.hpp"

namespace oneprobe::inline v0_1 {

/// How much a filter takes in before its oldest elements leave it.
struct rotating_plan {
  static constexpr std::uint32_t most_generations = 64;  // generations that a plan may ask for

  std::uint64_t elements_per_window = 0;  // that each generation is planned for
  double fpr = 0;                         // of all generations together, each of which gets fpr / g
  std::uint32_t generations = 4;          // g, 2 to 64
};

/// Windows of equal length, by a clock. It touches no filter: `filter.rotate(clock.ended())`.
template <class Clock = std::chrono::steady_clock>
class window_clock {
 public:
  using duration = typename Clock::duration;      // the clock's lengths of time
  using time_point = typename Clock::time_point;  // the clock's moments

  /// Windows of this length, the first from `start` on. Refuses a length that is not above 0.
  explicit window_clock(duration length, time_point start = Clock::now())
      : length_(length), start_(start) {
    if (length <= duration::zero())
      refuse_parameter("length must be more than 0; found " + std::to_string(length.count()));
  }

  /// How many windows have ended since this was asked the last time. Windows begin at multiples of
  /// their length after the start, however late this is called; a clock that went back ends none.
  std::uint64_t ended(time_point now = Clock::now()) noexcept {
    if (now - start_ < length_) return 0;
    const auto windows = (now - start_) / length_;
    start_ += windows * length_;
    return static_cast<std::uint64_t>(windows);
  }

 private:
  duration length_;
  time_point start_;
};

template <whole_filter Filter>
class rotating_filter : public filter_parts<Filter> {
  using base = filter_parts<Filter>;

 public:
  using hash_type = typename base::hash_type;  // of every generation

  /// Empty, with a secret random seed unless a hash is given; generations from the default plans.
  explicit rotating_filter(const rotating_plan& plan, hash_type hash = hash_type(random_seed()))
      : rotating_filter(plan.fpr, plan.generations, generation_plan(plan), std::move(hash)) {}
  /// So many generations of the given plan; the error stated for all is the sum of theirs.
  rotating_filter(const filter_plan& generation, std::uint32_t generations,
                  hash_type hash = hash_type(random_seed()))
      : rotating_filter(std::min(1.0, generation.predicted.fpr * checked(generations)), generations,
                        generation, std::move(hash)) {}
  /// These generations, the oldest first: how a file is loaded. REQUIRES: one hash for all.
  rotating_filter(double fpr, std::vector<Filter> generations)
      : base(fpr, checked(fpr, std::move(generations))) {}

  /// The key is found from now on, for at least generations() - 1 windows. Says whether may_contain
  /// would have said yes before.
  template <class Key>
  requires hashes_or_is_hash<hash_type, Key> insert_outcome insert(const Key& key)
  noexcept(hashes_without_throwing<hash_type, Key>) {
    const key_hash hash = this->hash_of(key);
    // A key of an older generation is inserted all the same: its time begins anew.
    if (newest().insert(hash) == insert_outcome::possibly_present)
      return insert_outcome::possibly_present;
    return this->any_of(older(), hash) ? insert_outcome::possibly_present : insert_outcome::added;
  }

  /// Inserts all keys of a range, with memory asked ahead, some hundred at a time: among these
  /// those that older generations know come first, so the bytes can differ from those of one
  /// insertion after the other. Returns how many were surely not there before.
  template <bulk_keys<hash_type> Keys>
  std::uint64_t bulk_insert(const Keys& keys) {
    return bulk_insert(range_hashes(this->hash(), keys).feed());
  }
  /// The same for hashes that are made when they are needed.
  std::uint64_t bulk_insert(const hash_feed& hashes) {
    std::uint64_t added = 0;
    for (std::size_t first = 0; first < hashes.size(); first += base::most_pending) {
      typename base::pending_keys pending(hashes, first,
                                          std::min(base::most_pending, hashes.size() - first));
      std::array<key_hash, base::most_pending> known;
      std::size_t known_count = 0;
      this->take_out_known(older(), pending, [&](key_hash hash) { known[known_count++] = hash; });
      newest().bulk_insert(std::span(known.data(), known_count));
      added += newest().bulk_insert(pending.remaining());
    }
    return added;
  }

  /// So many windows have ended: the oldest generations are emptied.
  void rotate(std::uint64_t windows = 1) noexcept {
    // After as many rotations as there are generations nothing is left.
    for (std::uint64_t i = std::min<std::uint64_t>(windows, generations()); i != 0; --i) {
      std::rotate(this->parts_.begin(), this->parts_.begin() + 1, this->parts_.end());
      newest().clear();
    }
  }

  /// Takes everything out of all generations.
  void clear() noexcept {
    for (Filter& part : this->parts_) part.clear();
  }
  void swap(rotating_filter& other) noexcept { std::swap(*this, other); }
  friend void swap(rotating_filter& a, rotating_filter& b) noexcept { a.swap(b); }

  /// g: how many generations there are.
  std::uint32_t generations() const noexcept {
    return static_cast<std::uint32_t>(this->parts_.size());
  }

  /// Why these generations are no rotating filter, as a sentence; or none.
  static std::optional<std::string> find_fault(double fpr, std::span<const Filter> generations) {
    detail::plan_check check;
    check(fpr >= 0 && fpr <= 1, "fpr", "0 to 1", fpr);
    check(generations.size() >= 2 && generations.size() <= rotating_plan::most_generations,
          "generations", "2 to 64", generations.size());
    if (check.fault) return check.fault;
    const filter_plan& first = generations.front().plan();
    for (std::size_t i = 1; i < generations.size(); ++i) {
      const filter_plan& plan = generations[i].plan();
      if (!same_shape(plan, first) || plan.elements != first.elements ||
          plan.predicted != first.predicted)
        return "part " + std::to_string(i + 1) + " has another plan than part 1";
    }
    return std::nullopt;
  }

 private:
  rotating_filter(double fpr, std::uint32_t generations, const filter_plan& generation,
                  hash_type hash)
      : base(fpr, std::move(hash)) {
    this->parts_.reserve(checked(generations));
    for (std::uint32_t i = 0; i < generations; ++i)
      this->parts_.emplace_back(generation, this->hash_);
  }

  static std::uint32_t checked(std::uint32_t generations) {
    if (generations < 2 || generations > rotating_plan::most_generations)
      refuse_parameter("generations must be 2 to 64; found " + std::to_string(generations));
    return generations;
  }
  static std::vector<Filter> checked(double fpr, std::vector<Filter> generations) {
    if (const auto fault = find_fault(fpr, generations)) refuse_parameter(*fault);
    return generations;
  }
  static filter_plan generation_plan(const rotating_plan& plan) {
    if (!(plan.fpr > 0 && plan.fpr < 1))
      refuse_parameter("fpr must be above 0 and below 1; found " + in_words(plan.fpr));
    return Filter::engine_type::default_plan(plan.elements_per_window,
                                             plan.fpr / checked(plan.generations));
  }

  Filter& newest() noexcept { return this->parts_.back(); }
  std::span<const Filter> older() const noexcept {
    return std::span<const Filter>(this->parts_).first(this->parts_.size() - 1);
  }
};

}  // namespace oneprobe::inline v0_1
