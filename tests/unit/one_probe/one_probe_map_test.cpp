// Maps with every summary against their twins: with the paper's designs, and with summaries so
// small that many elements would be misdirected.
#include "oneprobe/one_probe/one_probe_map.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "oneprobe/detail/placement/load_counters.hpp"
#include "oneprobe/detail/placement/schemes.hpp"
#include "oneprobe/detail/placement/walk.hpp"
#include "oneprobe/one_probe/interpolation_summary.hpp"
#include "oneprobe/one_probe/multi_filter.hpp"
#include "oneprobe/one_probe/packed_strings.hpp"
#include "oneprobe/one_probe/single_filter.hpp"
#include "support/summary_designs.hpp"
#include "unit/one_probe/checked_one_probe_map.hpp"

namespace {

using namespace oneprobe;
using summaries::cramped;
using summaries::ten_thousand;
using enum summary_kind;
using enum summary_deletion;

using number = std::uint64_t;
template <class Summary, std::uint32_t Capacity = 1>
using number_map = one_probe_map<number, number, Summary, seeded_hash, std::equal_to<>, Capacity>;

number itself(std::uint64_t i) { return i * 0x9e37'79b9; }

/// Works on the paper's design, nearly as full as it is made for.
template <class Summary>
one_probe_stats work_as_planned(summary_plan plan, std::uint64_t operations) {
  checked_one_probe_map checked(number_map<Summary>(plan, seeded_hash(operations)));
  random_operations(checked,
                    {.operations = operations, .keys = 14'000, .most_elements = 9'000, .seed = 1},
                    itself);
  EXPECT_EQ(checked.refused(), 0u);
  return checked.map().stats();
}

// Together a million operations.
TEST(one_probe_map, agrees_with_its_twin_under_the_papers_designs) {
  const one_probe_stats single =
      work_as_planned<single_filter_summary>(ten_thousand(single_filter, lazy), 160'000);
  EXPECT_GT(single.reconstructions, 10u);
  EXPECT_GT(single.moved, 100u);
  const one_probe_stats several =
      work_as_planned<multi_filter_summary>(ten_thousand(multi_filter, incremental), 160'000);
  EXPECT_GT(several.reconstructions, 10u);
  EXPECT_GT(several.moved, 100u);
  EXPECT_LE(several.most_work, 200u);
  const one_probe_stats counting_single = work_as_planned<counting_single_filter_summary>(
      ten_thousand(single_filter, counting), 160'000);
  EXPECT_EQ(counting_single.reconstructions, 0u);
  EXPECT_EQ(counting_single.marked, 0u);
  // Under churn more elements are beyond the first levels than the paper's filters are made for.
  work_as_planned<counting_multi_filter_summary>(ten_thousand(multi_filter, counting), 160'000);
}

/// With failures, crises and full counters, at any capacity.
template <class Summary, std::uint32_t Capacity>
one_probe_stats work_cramped(summary_kind kind, summary_deletion deletion) {
  SCOPED_TRACE(std::string(name_of(kind)) + ", " + std::string(name_of(deletion)) +
               ", h = " + std::to_string(Capacity));
  const summary_plan plan = cramped(kind, deletion, Capacity);
  checked_one_probe_map checked(number_map<Summary, Capacity>(plan, seeded_hash(3)));
  random_operations(
      checked, {.operations = 15'000, .keys = 500, .most_elements = 300, .seed = Capacity}, itself);
  random_operations(
      checked, {.operations = 5'000, .keys = 2'000, .most_elements = 600, .seed = Capacity + 1},
      itself);
  EXPECT_GT(checked.overflowed(), 0u);
  const one_probe_stats stats = checked.map().stats();
  EXPECT_GT(stats.failures, 0u);
  checked.clear();
  random_operations(checked, {.operations = 3'000, .keys = 500, .most_elements = 300, .seed = 77},
                    itself);
  return stats;
}

/// In buckets of one slot and of more.
template <class Summary, std::uint32_t Capacity>
void work_cramped_twice(summary_kind kind, summary_deletion deletion) {
  work_cramped<Summary, 1>(kind, deletion);
  work_cramped<Summary, Capacity>(kind, deletion);
}

TEST(one_probe_map, agrees_with_its_twin_where_summaries_fail) {
  work_cramped_twice<counting_single_filter_summary, 16>(single_filter, counting);
  work_cramped_twice<counting_multi_filter_summary, 4>(multi_filter, counting);
  work_cramped_twice<interpolation_summary, 4>(interpolation, counting);
}
TEST(one_probe_map, agrees_with_its_twin_where_summaries_fail_and_deletion_is_lazy) {
  work_cramped_twice<single_filter_summary, 4>(single_filter, lazy);
  work_cramped_twice<multi_filter_summary, 16>(multi_filter, lazy);
}
TEST(one_probe_map, agrees_with_its_twin_where_summaries_fail_and_deletion_is_incremental) {
  work_cramped_twice<single_filter_summary, 4>(single_filter, incremental);
  work_cramped_twice<multi_filter_summary, 16>(multi_filter, incremental);
}

TEST(one_probe_map, gives_up_a_reconstruction_for_which_the_overflow_has_no_room) {
  summary_plan plan = cramped(multi_filter, incremental, 1);
  plan.filter_cells = {1'500, 120, 60, 20};
  plan.overflow_reserve = 1;
  checked_one_probe_map checked(number_map<multi_filter_summary>(plan, seeded_hash(5)));
  random_operations(checked, {.operations = 40'000, .keys = 900, .most_elements = 600, .seed = 4},
                    itself);
  EXPECT_GT(checked.map().stats().given_up, 0u);
}

TEST(one_probe_map, says_that_a_reconstruction_that_it_gives_up_has_moved_nothing) {
  summary_plan plan = cramped(multi_filter, incremental, 1);
  plan.filter_cells = {1'500, 120, 60, 20};
  plan.overflow_reserve = 1;
  number_map<multi_filter_summary> map(plan, seeded_hash(5));
  std::mt19937_64 random(4);
  std::uint64_t moved = 0;
  for (int round = 0; round < 300; ++round) {
    for (int i = 0; i < 100; ++i) map.insert(itself(random() % 900), 1);
    for (int i = 0; i < 60; ++i) map.erase(itself(random() % 900));
    const std::uint64_t before = map.stats().given_up;
    const std::uint64_t answer = map.reconstruct();
    if (map.stats().given_up != before) {
      EXPECT_EQ(answer, 0u);
    }
    moved += answer;
  }
  EXPECT_GT(map.stats().given_up, 0u);
  EXPECT_GT(moved, 0u);
}

/// Counts what it is told and how often a piece of it is cleared, whoever else counts.
class counted_summary : public multi_filter_summary {
 public:
  using multi_filter_summary::insert;
  using multi_filter_summary::multi_filter_summary;
  static inline std::uint64_t told = 0, cleared = 0;

  summary_outcome insert(key_hash hash, std::uint32_t level, cell_changes& changed) {
    ++told;
    return multi_filter_summary::insert(hash, level, changed);
  }
  void clear_bytes(std::uint64_t first, std::uint64_t count) {
    ++cleared;
    multi_filter_summary::clear_bytes(first, count);
  }
};
/// A value that counts how often it is moved.
struct counted_value {
  static inline std::uint64_t moves = 0;
  counted_value() = default;
  counted_value(counted_value&&) noexcept { ++moves; }
};

/// As reconstruction.hpp says: with each step at most two tellings, a move, or a piece cleared; and
/// what the change itself tells the two summaries. Also where one is given up, and while elements
/// leave that wait.
TEST(one_probe_map, works_no_more_with_a_change_than_its_plan_says) {
  summary_plan roomy = ten_thousand(multi_filter, incremental);
  roomy.work_per_change = 50;
  roomy.deleted_limit = 4'000;
  summary_plan small = cramped(multi_filter, incremental, 1);
  small.filter_cells = {1'500, 120, 60, 20};
  small.overflow_reserve = 8;
  small.work_per_change = 10;
  for (const summary_plan& plan : {roomy, small}) {
    const bool gives_up = plan.elements == small.elements;
    one_probe_map<number, counted_value, counted_summary> map(plan, seeded_hash(2));
    std::mt19937_64 random(1);
    std::uint64_t most_told = 0, most_cleared = 0;
    for (int i = 0; i < 150'000; ++i) {
      counted_summary::told = counted_summary::cleared = counted_value::moves = 0;
      const number key = random() % (gives_up ? 900 : 18'000);
      if (random() % 2 == 0)
        map.try_emplace(key);
      else
        map.erase(key);
      ASSERT_LE(counted_summary::told, 2 * plan.work_per_change + 2);
      ASSERT_LE(counted_summary::cleared, plan.work_per_change);
      ASSERT_LE(counted_value::moves, plan.work_per_change);
      most_told = std::max(most_told, counted_summary::told);
      most_cleared = std::max(most_cleared, counted_summary::cleared);
    }
    const one_probe_stats stats = map.stats();
    EXPECT_GT(stats.reconstructions + stats.given_up, 5u);
    EXPECT_EQ(stats.given_up > 0, gives_up);
    EXPECT_EQ(most_cleared, plan.work_per_change);
    EXPECT_GT(most_told, plan.work_per_change / 4);
  }
}

/// Most elements that a reconstruction moves leave while they wait in the overflow, those first
/// that came last, and the other way round.
TEST(one_probe_map, lets_elements_leave_that_wait_for_their_slot) {
  const summary_plan plan = ten_thousand(multi_filter, incremental);
  checked_one_probe_map checked(number_map<multi_filter_summary>(plan, seeded_hash(4)));
  std::vector<number> keys;
  number next = 0;
  const auto waits = [&](number key) {
    return checked.map().explain(key).stopped == table_path::stop::found_in_overflow;
  };
  std::uint64_t left = 0;
  for (int round = 0; round < 20; ++round) {
    while (keys.size() < 9'900) {
      checked.insert(next, next);
      keys.push_back(next++);
    }
    // The oldest, until enough others are on their way.
    std::size_t oldest = 0;
    while (checked.map().counts().overflow < 40 && oldest < 1'500) checked.erase(keys[oldest++]);
    keys.erase(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(oldest));
    if (round % 2 == 0) std::ranges::reverse(keys);
    for (number& key : keys) {
      if (!waits(key)) continue;
      checked.erase(key);
      key = next;
      checked.insert(next, next);
      ++next;
      ++left;
    }
    std::ranges::sort(keys);
    checked.check_all();
  }
  EXPECT_GT(left, 500u);
  EXPECT_GT(checked.map().stats().reconstructions, 10u);
}

TEST(one_probe_map, takes_exactly_the_memory_of_its_plan) {
  const auto check = [](const auto& map) {
    const one_probe_stats stats = map.stats();
    EXPECT_EQ(stats.fast_bytes, map.plan().summary_bytes());
    EXPECT_EQ(stats.slow_bytes, map.plan().slot_bytes(16) + map.plan().guard_bytes());
  };
  check(number_map<single_filter_summary>(ten_thousand(single_filter, none)));
  check(number_map<single_filter_summary>(ten_thousand(single_filter, lazy)));
  check(number_map<multi_filter_summary>(ten_thousand(multi_filter, incremental)));
  check(number_map<counting_single_filter_summary>(ten_thousand(single_filter, counting)));
  check(number_map<counting_multi_filter_summary>(ten_thousand(multi_filter, counting)));
  check(number_map<counting_multi_filter_summary, 4>(cramped(multi_filter, counting, 4)));
  check(number_map<multi_filter_summary, 16>(cramped(multi_filter, lazy, 16)));
  check(number_map<packed_strings_summary>(summaries::paper("ssh-10k-interpolation")));
  check(number_map<interpolation_summary>(cramped(interpolation, none, 1)));
  check(number_map<interpolation_summary, 4>(cramped(interpolation, counting, 4)));
}

TEST(one_probe_map, reads_no_bucket_for_a_key_that_the_summary_does_not_know) {
  number_map<multi_filter_summary> map(ten_thousand(multi_filter, none), seeded_hash(1));
  EXPECT_EQ(map.explain(7), (table_path{}));
  map.insert(7, 1);
  EXPECT_EQ(map.explain(7),
            (table_path{.stopped = table_path::stop::found, .accesses = 1, .lines = 1}));
  EXPECT_EQ(map.find(7)->value, 1u);
}

TEST(one_probe_map, brings_a_marked_element_back_where_it_was) {
  number_map<single_filter_summary> map(ten_thousand(single_filter, lazy), seeded_hash(1));
  const auto first = map.insert(7, 1);
  EXPECT_EQ(map.erase(7), erase_outcome::erased);
  EXPECT_EQ(map.erase(7), erase_outcome::absent);
  EXPECT_EQ(map.find(7), nullptr);
  EXPECT_EQ(map.stats().marked, 1u);
  const auto second = map.insert(7, 2);
  EXPECT_EQ(second.outcome, insertion::inserted);
  EXPECT_EQ(second.element, first.element);
  EXPECT_EQ(map.find(7)->value, 2u);
  EXPECT_EQ(map.stats().marked, 0u);
}

TEST(one_probe_map, reconstructs_when_it_is_told_to) {
  summary_plan plan = ten_thousand(multi_filter, lazy);
  plan.deleted_limit = 5'000;
  number_map<multi_filter_summary> map(plan, seeded_hash(1));
  for (number i = 0; i < 10'000; ++i) map.insert(i, i);
  const table_counts before = map.counts();
  for (number i = 0; i < 4'000; ++i) map.erase(i);
  EXPECT_EQ(map.stats().marked, 4'000u);
  EXPECT_EQ(map.stats().reconstructions, 0u);
  const std::uint64_t moved = map.reconstruct();
  EXPECT_GT(moved, 200u);
  EXPECT_EQ(map.stats().marked, 0u);
  EXPECT_EQ(map.counts().overflow, 0u);
  EXPECT_EQ(map.size(), 6'000u);
  EXPECT_GT(map.counts().levels[0], before.levels[0] - 4'000);
  for (number i = 0; i < 10'000; ++i) ASSERT_EQ(map.contains(i), i >= 4'000);
}

TEST(one_probe_map, is_where_it_was_after_a_move) {
  number_map<multi_filter_summary> map(ten_thousand(multi_filter, incremental), seeded_hash(1));
  for (number i = 0; i < 9'000; ++i) map.insert(i, i);
  for (number i = 0; i < 500; ++i) map.erase(i);  // a reconstruction is under way
  number_map<multi_filter_summary> moved(std::move(map));
  for (number i = 0; i < 9'000; ++i) ASSERT_EQ(moved.contains(i), i >= 500);
  for (number i = 500; i < 9'000; ++i) ASSERT_EQ(moved.erase(i), erase_outcome::erased);
  EXPECT_TRUE(moved.empty());
}

TEST(one_probe_map, holds_text_and_ends_the_life_of_all_of_it) {
  const auto text = [](std::uint64_t i) { return "the key with number " + std::to_string(i); };
  using map = one_probe_map<std::string, std::string, multi_filter_summary>;
  checked_one_probe_map checked(map(cramped(multi_filter, incremental, 1), seeded_hash(3)));
  random_operations(checked, {.operations = 10'000, .keys = 500, .most_elements = 300, .seed = 9},
                    text);
  using counting_map = one_probe_map<std::string, std::string, counting_single_filter_summary>;
  checked_one_probe_map other(counting_map(cramped(single_filter, counting, 1), seeded_hash(3)));
  random_operations(other, {.operations = 10'000, .keys = 500, .most_elements = 300, .seed = 9},
                    text);
}

TEST(one_probe_map, takes_the_key_of_an_element_that_it_may_move) {
  const auto text = [](std::uint64_t i) { return "the key with number " + std::to_string(i); };
  using map = one_probe_map<std::string, std::string, multi_filter_summary>;
  map all(cramped(multi_filter, incremental, 1), seeded_hash(3));
  std::mt19937_64 random(1);
  std::uint64_t erased = 0;
  for (int i = 0; i < 20'000; ++i) {
    const std::string key = text(random() % 500);
    const auto* const there = all.find(key);
    if (there == nullptr) {
      all.insert(key, "");
      continue;
    }
    ASSERT_EQ(all.try_emplace(there->key, "again").outcome, insertion::present);
    ASSERT_EQ(all.erase(all.find(key)->key), erase_outcome::erased);
    ++erased;
  }
  EXPECT_GT(erased, 5'000u);
  EXPECT_GT(all.stats().moved, 20u);
}

/// A value whose constructor throws when it is told to.
struct brittle {
  static inline int until_throw = -1;
  static inline int alive = 0;

  int value = 0;

  explicit brittle(int v) : value(v) { count(); }
  brittle(const brittle& other) : value(other.value) { count(); }
  brittle(brittle&& other) : value(other.value) { count(); }
  brittle& operator=(const brittle&) = default;
  brittle& operator=(brittle&&) = default;
  ~brittle() { --alive; }

  static void count() {
    if (until_throw > 0 && --until_throw == 0) throw std::runtime_error("brittle");
    ++alive;
  }
};

template <class Summary>
void throw_now_and_then(const summary_plan& plan) {
  {
    one_probe_map<number, brittle, Summary> map(plan, seeded_hash(2));
    std::unordered_map<number, int> twin;
    std::mt19937_64 random(3);
    std::uint64_t thrown = 0;
    for (int i = 0; i < 30'000; ++i) {
      const number key = random() % 500;
      brittle::until_throw = random() % 4 == 0 ? 1 + static_cast<int>(random() % 3) : -1;
      try {
        if (random() % 2 == 0 && twin.size() < 300) {
          const auto made = map.try_emplace(key, i);
          if (made.outcome == insertion::inserted || made.outcome == insertion::overflowed)
            twin.emplace(key, i);
        } else if (map.erase(key) == erase_outcome::erased) {
          twin.erase(key);
        }
      } catch (const std::runtime_error&) {
        ++thrown;
        // An erase that throws in a reconstruction has erased already, or has not begun.
        if (!map.contains(key)) twin.erase(key);
      }
      brittle::until_throw = -1;
      ASSERT_EQ(map.size(), twin.size());
      if (i % 50 != 0) continue;
      for (number k = 0; k < 500; ++k) {
        const auto* const found = map.find(k);
        ASSERT_EQ(found != nullptr, twin.contains(k)) << k << " after " << i;
        if (found != nullptr) {
          ASSERT_EQ(found->value.value, twin.at(k));
        }
      }
    }
    EXPECT_GT(thrown, 300u);
  }
  EXPECT_EQ(brittle::alive, 0);
}

TEST(one_probe_map, holds_what_it_held_when_an_element_throws) {
  throw_now_and_then<counting_multi_filter_summary>(cramped(multi_filter, counting, 1));
  throw_now_and_then<multi_filter_summary>(cramped(multi_filter, incremental, 1));
  throw_now_and_then<single_filter_summary>(cramped(single_filter, lazy, 1));
}

/// Where an element goes is written once: in the walks, whatever the store.
TEST(one_probe_map, places_elements_where_load_counters_do) {
  const summary_plan plan = ten_thousand(multi_filter, none);
  number_map<multi_filter_summary> map(plan, seeded_hash(4));
  const multilevel scheme(std::span(plan.level_buckets).first(plan.levels));
  load_counters<std::uint8_t> counters(scheme.buckets());
  placing walk(scheme, counters, admission(1));
  for (number i = 0; i < 10'000; ++i) {
    ASSERT_EQ(map.insert(i, i).outcome, insertion::inserted);
    const auto placed = walk_to_end(walk, walk.start(map.hash()(i)));
    ASSERT_EQ(map.explain(i).level, placed.at.level);
  }
}

/// A summary of the caller's own, which knows everything.
class exact_summary {
 public:
  summary_outcome insert(key_hash hash, std::uint32_t level) {
    if (levels_.size() >= 400) return summary_outcome::full;
    return levels_.emplace(hash.value, level).second ? summary_outcome::kept
                                                     : summary_outcome::misleading;
  }
  void erase(key_hash hash, std::uint32_t) { levels_.erase(hash.value); }
  std::optional<std::uint32_t> where(key_hash hash) const {
    const auto found = levels_.find(hash.value);
    if (found == levels_.end()) return std::nullopt;
    return found->second;
  }
  std::size_t memory_bytes() const { return levels_.size(); }
  void clear() { levels_.clear(); }

 private:
  std::unordered_map<std::uint64_t, std::uint32_t> levels_;
};

TEST(one_probe_map, takes_any_summary) {
  summary_plan plan = cramped(multi_filter, counting, 4);
  plan.kind = own;
  using map = number_map<exact_summary, 4>;
  checked_one_probe_map checked(map(plan, exact_summary(), seeded_hash(1)));
  random_operations(checked, {.operations = 20'000, .keys = 800, .most_elements = 430, .seed = 1},
                    itself);
  EXPECT_GT(checked.overflowed(), 0u);
  checked.clear();
  random_operations(checked, {.operations = 5'000, .keys = 400, .most_elements = 300, .seed = 2},
                    itself);
}

TEST(one_probe_map, refuses_a_plan_for_other_buckets) {
  EXPECT_THROW((number_map<multi_filter_summary, 4>(ten_thousand(multi_filter, none))),
               std::invalid_argument);
}

}  // namespace
