// A guarded summary is right for every element it has taken, and refuses only who would make it
// wrong: both by looking at all of them after each step, with summaries so small that many fail.
#include "oneprobe/one_probe/guarded_summary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "oneprobe/one_probe/multi_filter.hpp"
#include "oneprobe/one_probe/single_filter.hpp"
#include "support/summary_designs.hpp"

namespace {

using namespace oneprobe;
using summaries::cramped;

struct stored {
  key_hash hash;
  std::uint32_t level;
};

template <class Summary>
bool all_are_right(const Summary& summary, const std::map<std::uint32_t, stored>& elements) {
  for (const auto& [slot, element] : elements)
    if (summary.where(element.hash) != element.level) return false;
  return true;
}

/// Elements come and, where the summary can, go. Slots are taken as they are free in a level.
template <class Summary>
void come_and_go(const summary_plan& plan, std::uint64_t seed) {
  guarded_summary<Summary> guarded{Summary(plan), plan};
  // The same insertions without a guard, to see whether a refusal was needed.
  std::map<std::uint32_t, stored> elements;
  std::mt19937_64 random(seed);
  std::uint64_t taken = 0, refused = 0;
  for (int i = 0; i < 3'000; ++i) {
    const std::uint64_t kind = random() % 8;
    if (kind < 6) {
      const auto level = static_cast<std::uint32_t>(random() % 4 != 0 ? 0 : random() % 4);
      std::uint32_t slot = 0;
      for (std::uint32_t below = 0; below < level; ++below)
        slot += static_cast<std::uint32_t>(plan.level_buckets[below]);
      slot += static_cast<std::uint32_t>(random() % plan.level_buckets[level]);
      if (elements.contains(slot)) continue;
      const key_hash hash{random()};
      Summary unguarded = guarded.summary();
      guarded_change change;
      const bool admitted = guarded.admit(hash, level, slot, change);
      const bool fits = unguarded.insert(hash, level) == summary_outcome::kept &&
                        all_are_right(unguarded, elements);
      ASSERT_EQ(admitted, fits);
      ASSERT_EQ(guarded.level_of(slot), level);
      (admitted ? taken : refused) += 1;
      if (!admitted) {
        ASSERT_TRUE(all_are_right(guarded, elements));
        continue;
      }
      ASSERT_EQ(guarded.hash_of(slot), hash);
      if (kind == 0) {
        guarded.retract(level, slot, change);
      } else {
        elements[slot] = {hash, level};
      }
    } else if (!elements.empty()) {
      auto gone = elements.lower_bound(static_cast<std::uint32_t>(random() % plan.slots()));
      if (gone == elements.end()) gone = elements.begin();
      if constexpr (erasable_summary<Summary>) {
        guarded.erase(gone->second.level, gone->first);
        elements.erase(gone);
      } else if (elements.size() > 250) {
        guarded.forget(gone->first);
        elements.erase(gone);
      }
    }
    ASSERT_TRUE(all_are_right(guarded, elements));
  }
  EXPECT_GT(taken, 150u);
  EXPECT_GT(refused, 2u);
  guarded.clear();
  for (const auto& [slot, element] : elements) EXPECT_EQ(guarded.where(element.hash), std::nullopt);
}

TEST(guarded_summary, is_right_for_all_it_has_taken_and_refuses_nobody_else) {
  using enum summary_kind;
  using enum summary_deletion;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    come_and_go<single_filter_summary>(cramped(single_filter, none, 1), seed);
    come_and_go<multi_filter_summary>(cramped(multi_filter, none, 1), seed);
    come_and_go<counting_single_filter_summary>(cramped(single_filter, counting, 1), seed);
    come_and_go<counting_multi_filter_summary>(cramped(multi_filter, counting, 1), seed);
  }
}

TEST(guarded_summary, looks_at_less_than_one_watcher_per_insertion_in_the_papers_designs) {
  for (const auto kind : {summary_kind::single_filter, summary_kind::multi_filter}) {
    const summary_plan plan = summaries::ten_thousand(kind, summary_deletion::none);
    const auto fill = [&](auto guarded) {
      std::mt19937_64 random(1);
      guarded_change change;
      // 8,848 elements in the first level, 1,088 in the second, 64 in the third, in any order.
      std::vector<std::uint32_t> slots;
      for (std::uint32_t i = 0; i < 8'848; ++i) slots.push_back(i);
      for (std::uint32_t i = 0; i < 1'088; ++i) slots.push_back(40'000 + i);
      for (std::uint32_t i = 0; i < 64; ++i) slots.push_back(50'000 + i);
      std::shuffle(slots.begin(), slots.end(), random);
      for (const std::uint32_t slot : slots)
        EXPECT_TRUE(guarded.admit({random()}, guarded.level_of(slot), slot, change));
      EXPECT_LT(guarded.watchers_seen(), 10'000u);
      EXPECT_GT(guarded.watchers_seen(), 100u);
    };
    if (kind == summary_kind::single_filter)
      fill(guarded_summary{single_filter_summary(plan), plan});
    else
      fill(guarded_summary{multi_filter_summary(plan), plan});
  }
}

TEST(guarded_summary, is_cleared_in_pieces) {
  const summary_plan plan = cramped(summary_kind::multi_filter, summary_deletion::none, 1);
  guarded_summary<multi_filter_summary> guarded{multi_filter_summary(plan), plan};
  guarded_change change;
  for (std::uint32_t slot = 0; slot < 100; ++slot) guarded.admit({slot * 77}, 0, slot, change);
  const std::uint64_t pieces = guarded.pieces();
  EXPECT_GT(pieces, 10u);
  for (std::uint64_t i = 0; i < pieces; ++i) guarded.clear_pieces(i, 1);
  for (std::uint32_t slot = 0; slot < 100; ++slot)
    EXPECT_EQ(guarded.where({slot * 77}), std::nullopt);
  // The lists are empty, too: every slot may watch again.
  for (std::uint32_t slot = 0; slot < 100; ++slot)
    EXPECT_TRUE(guarded.admit({slot * 77}, 0, slot, change));
}

}  // namespace
