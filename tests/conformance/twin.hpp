// A filter with a std::unordered_map beside it that holds it to account on every call.
//
//   twin<blocked_filter> one(plan, seed);
//   one.insert(42);                     // the outcome is compared, then may_contain(42)
//   one.check();                        // everything once more
//
// A filter may say yes to a key it does not have; all else is certain: yes to what it has, the same
// answer from may_contain, explain and bulk_may_contain, an outcome of insert that agrees with the
// answer before it, and counts that agree with the outcomes.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "configurations.hpp"
#include "oneprobe/filter/basic_filter.hpp"
#include "oneprobe/filter/file.hpp"
#include "oneprobe/filter/plan.hpp"
#include "oneprobe/filter/results.hpp"
#include "oneprobe/hash.hpp"

namespace conformance {

template <class Filter>
class twin {
 public:
  static constexpr bool erases = oneprobe::erasing_engine<typename Filter::engine_type>;
  /// Instead of the inserts that answered `added`: elements that are passed on may come together.
  static constexpr bool counts_what_it_holds = Filter::kind == oneprobe::filter_kind::fingerprint;
  static constexpr bool merges = oneprobe::mergeable_engine<typename Filter::engine_type>;

  twin(const oneprobe::filter_plan& plan, std::uint64_t seed)
      : filter_(plan, oneprobe::seeded_hash(seed)) {}

  Filter& filter() { return filter_; }

  void insert(std::uint64_t key) {
    const bool before = ask(key);
    const oneprobe::insert_outcome outcome = filter_.insert(key);
    EXPECT_EQ(outcome == oneprobe::insert_outcome::possibly_present, before) << key;
    count(outcome == oneprobe::insert_outcome::added ? 1 : 0);
    ++kept_[key];
    EXPECT_TRUE(ask(key)) << key;
    check_counts();
  }

  void bulk_insert(const std::vector<std::uint64_t>& keys) {
    // A copy that takes them one by one says what must come out.
    Filter one_by_one = filter_;
    std::uint64_t added = 0;
    for (const std::uint64_t key : keys) {
      if (one_by_one.insert(key) == oneprobe::insert_outcome::added) ++added;
      ++kept_[key];
    }
    const std::uint64_t added_in_bulk = filter_.bulk_insert(std::span(keys));
    EXPECT_EQ(added_in_bulk, added);
    EXPECT_EQ(filter_.counts(), one_by_one.counts());
    EXPECT_TRUE(std::ranges::equal(filter_.memory(), one_by_one.memory()));
    count(added_in_bulk);
    check_counts();
  }

  /// The filter's answer, which must be the same from every function that gives it.
  bool ask(std::uint64_t key) const {
    const bool answer = filter_.may_contain(key);
    EXPECT_EQ(filter_.explain(key).may_contain(), answer) << key;
    EXPECT_EQ(filter_.may_contain(filter_.hash()(key)), answer) << key;
    if (kept_.contains(key)) {
      EXPECT_TRUE(answer) << key << " was inserted";
    }
    return answer;
  }

  /// Takes out a key that is there: of others a filter may lose what it has.
  void erase(std::uint64_t key) {
    if constexpr (erases) {
      const auto found = kept_.find(key);
      if (found == kept_.end()) {
        if (ask(key)) return;
        EXPECT_EQ(filter_.erase(key), oneprobe::erase_outcome::absent);
        return;
      }
      EXPECT_EQ(filter_.erase(key), oneprobe::erase_outcome::erased);
      if (--found->second == 0) kept_.erase(found);
      ask(key);
    }
  }

  void merge(const twin& other) {
    if constexpr (merges) {
      const std::uint64_t expected = filter_.counts().size + other.filter_.counts().size;
      const std::uint64_t least = std::max(filter_.counts().size, other.filter_.counts().size);
      ASSERT_EQ(filter_.merge(other.filter_), oneprobe::merge_outcome::merged);
      if constexpr (counts_what_it_holds) {
        EXPECT_LE(filter_.counts().size, expected);
        EXPECT_GE(filter_.counts().size, least);
      } else {
        EXPECT_EQ(filter_.counts().size, expected);
      }
      added_ = filter_.counts().size;
      if (this == &other)
        for (auto& [key, times] : kept_) times *= 2;
      else
        for (const auto& [key, times] : other.kept_) kept_[key] += times;
    }
  }

  void clear() {
    filter_.clear();
    kept_.clear();
    added_ = 0;
    EXPECT_EQ(filter_.counts(), oneprobe::filter_counts{});
    check_counts();
  }

  void swap(twin& other) {
    filter_.swap(other.filter_);
    std::swap(kept_, other.kept_);
    std::swap(added_, other.added_);
  }

  /// Sends the filter through a copy, a move and a view.
  void copy_and_move() {
    Filter copy = filter_;
    const oneprobe::filter_reader<typename Filter::engine_type, oneprobe::seeded_hash> view(
        copy.plan(), copy.memory(), copy.counts(), copy.hash());
    for (const auto& [key, times] : kept_) EXPECT_TRUE(view.may_contain(key)) << key;
    Filter moved = std::move(copy);
    filter_.clear();
    filter_ = std::move(moved);
    check();
  }

  /// Sends the filter through the bytes of a file.
  void save_and_load() {
    std::vector<std::byte> bytes;
    save_to(filter_, bytes);
    oneprobe::loaded<Filter> again = oneprobe::load_from<Filter>(bytes);
    ASSERT_TRUE(again) << again.failure().sentence;
    EXPECT_EQ(again->counts(), filter_.counts());
    EXPECT_TRUE(std::ranges::equal(again->memory(), filter_.memory()));
    filter_ = *std::move(again);
    check();
  }

  /// Everything that was inserted, once more, one by one and in bulk.
  void check() const {
    std::vector<std::uint64_t> keys;
    for (const auto& [key, times] : kept_) {
      keys.push_back(key);
      ask(key);
    }
    const auto answers = std::make_unique<bool[]>(keys.size() + 1);
    EXPECT_EQ(filter_.bulk_may_contain(std::span(std::as_const(keys)),
                                       std::span(answers.get(), keys.size())),
              keys.size());
    check_counts();
  }

 private:
  void count(std::uint64_t added) { added_ += added; }

  void check_counts() const {
    const oneprobe::filter_counts counts = filter_.counts();
    // What erase makes of the size of a counting filter is its own affair.
    if constexpr (counts_what_it_holds) {
      EXPECT_LE(counts.size, added_);
    } else if constexpr (!erases) {
      EXPECT_EQ(counts.size, added_);
    }
    EXPECT_LE(counts.overflow, filter_.plan().overflow_slots);
    if (!filter_.plan().has_candidates()) {
      EXPECT_EQ(counts.overflow, 0u);
      EXPECT_EQ(counts.forced, 0u);
    }
  }

  Filter filter_;
  std::unordered_map<std::uint64_t, std::uint64_t> kept_{};  // how often each key was inserted
  std::uint64_t added_ = 0;
};

}  // namespace conformance
