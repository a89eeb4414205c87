// The filter summaries by themselves: what they answer, what they take, what they forget.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <type_traits>
#include <utility>
#include <vector>

#include "oneprobe/model/summary.hpp"
#include "oneprobe/one_probe/multi_filter.hpp"
#include "oneprobe/one_probe/packed_strings.hpp"
#include "oneprobe/one_probe/single_filter.hpp"
#include "support/summary_designs.hpp"

namespace {

using namespace oneprobe;
using summaries::cramped;
using summaries::paper;

template <class Summary>
struct of_kind;
template <>
struct of_kind<single_filter_summary> {
  static constexpr summary_kind kind = summary_kind::single_filter;
  static constexpr summary_deletion deletion = summary_deletion::none;
};
template <>
struct of_kind<counting_single_filter_summary> {
  static constexpr summary_kind kind = summary_kind::single_filter;
  static constexpr summary_deletion deletion = summary_deletion::counting;
};
template <>
struct of_kind<multi_filter_summary> {
  static constexpr summary_kind kind = summary_kind::multi_filter;
  static constexpr summary_deletion deletion = summary_deletion::none;
};
template <>
struct of_kind<counting_multi_filter_summary> {
  static constexpr summary_kind kind = summary_kind::multi_filter;
  static constexpr summary_deletion deletion = summary_deletion::counting;
};

template <class Summary>
class filter_summaries : public testing::Test {
 public:
  static summary_plan small() {
    return cramped(of_kind<Summary>::kind, of_kind<Summary>::deletion, 1);
  }
  static summary_plan large() {
    return summaries::ten_thousand(of_kind<Summary>::kind, of_kind<Summary>::deletion);
  }
};
using all_summaries = testing::Types<single_filter_summary, counting_single_filter_summary,
                                     multi_filter_summary, counting_multi_filter_summary>;
TYPED_TEST_SUITE(filter_summaries, all_summaries);

/// A level as the paper's table has them: most elements in the first.
std::uint32_t some_level(std::mt19937_64& random) {
  const std::uint64_t number = random() % 1'000;
  return number < 885 ? 0 : number < 993 ? 1 : number < 999 ? 2 : 3;
}

TYPED_TEST(filter_summaries, know_the_level_of_every_element_of_the_papers_design) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    TypeParam summary(this->large());
    std::mt19937_64 random(seed);
    std::vector<std::pair<key_hash, std::uint32_t>> all;
    for (int i = 0; i < 10'000; ++i) {
      all.push_back({{random()}, some_level(random)});
      ASSERT_EQ(summary.insert(all.back().first, all.back().second), summary_outcome::kept);
    }
    for (const auto& [hash, level] : all) ASSERT_EQ(summary.where(hash), level);
  }
}

TYPED_TEST(filter_summaries, answer_nothing_when_they_are_empty) {
  const TypeParam summary(this->large());
  std::mt19937_64 random(1);
  for (int i = 0; i < 1'000; ++i) EXPECT_EQ(summary.where({random()}), std::nullopt);
}

TYPED_TEST(filter_summaries, take_the_bytes_of_their_plan) {
  EXPECT_EQ(TypeParam(this->large()).memory_bytes(), this->large().filter_bytes());
  EXPECT_EQ(TypeParam(this->small()).memory_bytes(), this->small().filter_bytes());
}

/// Everything that lookups can see of a summary.
template <class Summary>
std::vector<std::optional<std::uint32_t>> answers_of(const Summary& summary) {
  std::vector<std::optional<std::uint32_t>> answers;
  std::mt19937_64 random(99);
  for (int i = 0; i < 2'000; ++i) answers.push_back(summary.where({random()}));
  return answers;
}

TYPED_TEST(filter_summaries, that_refuse_or_restore_an_element_are_as_before) {
  TypeParam summary(this->small());
  std::mt19937_64 random(5);
  std::uint64_t refused = 0, kept = 0;
  for (int i = 0; i < 1'500; ++i) {
    const key_hash hash{random()};
    const auto level = static_cast<std::uint32_t>(random() % 4);
    const auto before = answers_of(summary);
    cell_changes changed;
    if (summary.insert(hash, level, changed) != summary_outcome::kept) {
      ++refused;
      ASSERT_TRUE(changed.all().empty());
      ASSERT_EQ(answers_of(summary), before);
      continue;
    }
    ++kept;
    ASSERT_EQ(summary.where(hash), level);
    if (random() % 4 == 0) continue;  // it stays
    summary.restore(changed);
    ASSERT_EQ(answers_of(summary), before);
  }
  EXPECT_GT(refused, 20u);
  EXPECT_GT(kept, 100u);
}

TYPED_TEST(filter_summaries, misdirect_exactly_those_who_have_nothing_to_watch) {
  TypeParam summary(this->small());
  std::mt19937_64 random(6);
  std::vector<std::pair<key_hash, std::uint32_t>> all;
  std::uint64_t misdirected = 0;
  for (int i = 0; i < 300; ++i) {
    const key_hash hash{random()};
    const auto level = static_cast<std::uint32_t>(random() % 4 == 0 ? 1 + random() % 3 : 0);
    if (summary.insert(hash, level) != summary_outcome::kept) continue;
    all.push_back({hash, level});
    for (const auto& [stored, its_level] : all) {
      const watch_choice choice = summary.watch(stored, its_level);
      const bool right = summary.where(stored) == its_level;
      ASSERT_EQ(choice.what != watch_choice::need::too_late, right);
      if (choice.what == watch_choice::need::cell) {
        ASSERT_TRUE(summary.keeps_safe(choice.cell, its_level));
      }
      misdirected += right ? 0u : 1u;
    }
  }
  EXPECT_GT(misdirected, 0u);
}

TYPED_TEST(filter_summaries, are_empty_again_after_a_clear) {
  TypeParam summary(this->small());
  std::mt19937_64 random(7);
  for (int i = 0; i < 200; ++i) summary.insert({random()}, 0);
  summary.clear();
  for (const auto& answer : answers_of(summary)) EXPECT_EQ(answer, std::nullopt);
}

TYPED_TEST(filter_summaries, that_count_forget_what_is_erased) {
  if constexpr (erasable_summary<TypeParam>) {
    TypeParam summary(this->small());
    const auto empty = answers_of(summary);
    std::mt19937_64 random(8);
    std::vector<std::pair<key_hash, std::uint32_t>> all;
    for (int i = 0; i < 20'000; ++i) {
      if (all.size() < 150 && random() % 2 == 0) {
        const key_hash hash{random()};
        const std::uint32_t level = some_level(random);
        if (summary.insert(hash, level) == summary_outcome::kept) all.push_back({hash, level});
      } else if (!all.empty()) {
        const std::size_t which = random() % all.size();
        std::swap(all[which], all.back());
        summary.erase(all.back().first, all.back().second);
        all.pop_back();
      }
    }
    for (const auto& [hash, level] : all) {
      EXPECT_GE(summary.where(hash), level);
      summary.erase(hash, level);
    }
    EXPECT_EQ(answers_of(summary), empty);
    for (const std::uint64_t counter : summary.largest_counters()) EXPECT_EQ(counter, 0u);
  }
}

TEST(counting_summaries, are_full_before_a_counter_overflows) {
  summary_plan plan = cramped(summary_kind::multi_filter, summary_deletion::counting, 1);
  counting_multi_filter_summary several(plan);
  plan = cramped(summary_kind::single_filter, summary_deletion::counting, 1);
  counting_single_filter_summary one(plan);
  const key_hash hash{12345};
  // The same element again and again: a counter of 3 bits takes it seven times.
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(one.insert(hash, 0), summary_outcome::kept);
    EXPECT_EQ(several.insert(hash, 0), summary_outcome::kept);
  }
  EXPECT_EQ(one.insert(hash, 0), summary_outcome::full);
  EXPECT_EQ(several.insert(hash, 0), summary_outcome::full);
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(one.where(hash), 0u);
    EXPECT_EQ(several.where(hash), 0u);
    one.erase(hash, 0);
    several.erase(hash, 0);
  }
  EXPECT_EQ(one.where(hash), std::nullopt);
  EXPECT_EQ(several.where(hash), std::nullopt);
}

TEST(counting_summaries, count_an_element_once_in_small_filters) {
  // 49 hashes in 30 cells: without that, a counter of one bit would be full with the first element.
  summary_plan plan;
  plan.deletion = summary_deletion::counting;
  plan.elements = 10;
  plan.levels = 2;
  plan.level_buckets = {10, 10};
  plan.filter_cells = {1'000, 60};
  plan.filter_hashes = {7, 49};
  plan.counter_bits = {4, 1};
  plan.counted_once_from = 1;
  counting_multi_filter_summary once(plan);
  EXPECT_EQ(once.insert({7}, 1), summary_outcome::kept);
  EXPECT_EQ(once.largest_counters()[1], 1u);
  once.erase({7}, 1);
  EXPECT_EQ(once.largest_counters()[1], 0u);
  plan.counted_once_from = 2;
  counting_multi_filter_summary often(plan);
  EXPECT_EQ(often.insert({7}, 1), summary_outcome::full);
}

/// SSH, Table III, and Section XI-B: bytes of the paper's designs, the bit table included.
TEST(paper_summaries, take_the_bytes_of_table_iii) {
  const auto bytes = [](std::string_view name) { return paper(name).summary_bytes(); };
  EXPECT_EQ(bytes("ssh-10k-single"), 47'500u);
  EXPECT_EQ(bytes("ssh-10k-multi"), 32'450u);
  EXPECT_EQ(bytes("ssh-100k-single"), 525'000u);
  EXPECT_EQ(bytes("ssh-100k-multi"), 324'125u);  // errata 1.1, 1.2: printed are 379,000
  EXPECT_EQ(bytes("ssh-10k-interpolation"), 80'000u);
  EXPECT_EQ(bytes("ssh-100k-interpolation"), 875'000u);
  EXPECT_EQ(bytes("ssh-10k-counting") - 7'500, 99'775u);
  EXPECT_EQ(bytes("ssh-10k-counting-bold") - 7'500, 99'700u);
  for (const named_summary& one : paper_summaries()) {
    SCOPED_TRACE(one.name);
    const bool counts = one.plan.deletion == summary_deletion::counting;
    const std::size_t built = one.plan.kind == summary_kind::interpolation
                                  ? packed_strings_summary(one.plan).memory_bytes()
                              : one.plan.kind == summary_kind::single_filter
                                  ? single_filter_summary(one.plan).memory_bytes()
                              : counts ? counting_multi_filter_summary(one.plan).memory_bytes()
                                       : multi_filter_summary(one.plan).memory_bytes();
    EXPECT_EQ(built, one.plan.filter_bytes());
  }
}

TEST(filter_summary_plans, are_refused_by_the_wrong_summary) {
  const summary_plan plan = cramped(summary_kind::multi_filter, summary_deletion::none, 1);
  EXPECT_THROW(single_filter_summary{plan}, std::invalid_argument);
  EXPECT_THROW(counting_multi_filter_summary{plan}, std::invalid_argument);
  summary_plan counting = plan;
  counting.deletion = summary_deletion::counting;
  EXPECT_THROW(multi_filter_summary{counting}, std::invalid_argument);
}

TEST(filter_summary_plans, with_a_fault_say_which) {
  const auto fault = [](auto change) {
    summary_plan plan = cramped(summary_kind::multi_filter, summary_deletion::counting, 1);
    change(plan);
    return find_fault(plan).value_or("");
  };
  EXPECT_EQ(fault([](summary_plan&) {}), "");
  EXPECT_EQ(fault([](summary_plan& plan) { plan.levels = 9; }), "levels must be 1 to 8; found 9");
  EXPECT_EQ(fault([](summary_plan& plan) { plan.filter_hashes[1] = 65; }),
            "filter_hashes must be 1 to 64; found 65");
  EXPECT_EQ(fault([](summary_plan& plan) { plan.filter_cells[3] = 4; }),
            "filter_hashes must be no more than the filter has cells; found 5");
  EXPECT_EQ(fault([](summary_plan& plan) { plan.counter_bits[2] = 0; }),
            "counter_bits must be 1 to 16; found 0");
  EXPECT_EQ(fault([](summary_plan& plan) { plan.level_buckets[0] = 1ull << 32; }),
            "level_buckets must be 1 and up, 2^32 - 2 slots in all; found 4294967296");
  EXPECT_EQ(fault([](summary_plan& plan) {
              plan.deletion = summary_deletion::incremental;
              plan.work_per_change = 0;
            }),
            "work_per_change must be at least 1 where reconstruction is incremental; found 0");
}

}  // namespace
