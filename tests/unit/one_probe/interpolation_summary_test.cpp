// Sorted strings with gaps, held to a plain map from string to level.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/one_probe/interpolation_summary.hpp"

using namespace oneprobe;

namespace {

key_hash hash_number(std::uint64_t number) { return {mix_bits(number * golden_ratio_64)}; }

/// The string of a hash as the header defines it.
std::pair<std::uint64_t, std::uint64_t> string_of(const interpolation_plan& plan, key_hash hash) {
  const wide_product scaled = multiply_wide(hash_stream(hash, 131), plan.blocks);
  return {scaled.high, scaled.low >> (64 - plan.remainder_bits)};
}

/// The same answers from a map: each string has one level and a count.
class twin {
 public:
  explicit twin(const interpolation_plan& plan) : plan_(plan) {}

  summary_outcome insert(key_hash hash, std::uint32_t level) {
    auto& [kept, count] = strings_[string_of(plan_, hash)];
    if (count > 0 && kept != level) return summary_outcome::misleading;
    kept = level;
    ++count;
    return summary_outcome::kept;
  }
  void erase(key_hash hash) {
    const auto found = strings_.find(string_of(plan_, hash));
    if (--found->second.second == 0) strings_.erase(found);
  }
  std::optional<std::uint32_t> where(key_hash hash) const {
    const auto found = strings_.find(string_of(plan_, hash));
    if (found == strings_.end()) return std::nullopt;
    return found->second.first;
  }

 private:
  interpolation_plan plan_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::pair<std::uint32_t, std::uint64_t>>
      strings_;
};

struct element {
  key_hash hash;
  std::uint32_t level;
};

std::vector<std::byte> bytes_of(const interpolation_summary& summary) {
  return {summary.bytes().begin(), summary.bytes().end()};
}

/// What a fresh summary has after all these.
std::vector<std::byte> built_from(const interpolation_plan& plan, std::vector<element> elements) {
  std::ranges::sort(elements, {}, [](const element& one) { return one.hash.value; });
  interpolation_summary fresh(plan);
  for (const auto& [hash, level] : elements)
    EXPECT_EQ(fresh.insert(hash, level), summary_outcome::kept);
  return bytes_of(fresh);
}

}  // namespace

TEST(interpolation_summary, answers_like_a_map_through_insertions_and_erasures) {
  // Few remainder bits make equal strings common.
  for (const auto& [elements, levels, remainder_bits] : {std::tuple{2000u, 4u, 14u},
                                                         {2000u, 4u, 6u},
                                                         {500u, 1u, 8u},
                                                         {3000u, 8u, 29u},
                                                         {3000u, 8u, 53u},
                                                         {900u, 1u, 56u},
                                                         {700u, 5u, 4u},
                                                         {1u, 4u, 14u}}) {
    const interpolation_plan plan = plan_interpolation(elements, levels, remainder_bits);
    SCOPED_TRACE(std::to_string(elements) + " elements, " + std::to_string(remainder_bits));
    interpolation_summary summary(plan);
    twin expected(plan);
    std::vector<element> there;
    std::mt19937_64 random(elements + remainder_bits);
    std::uint64_t misled = 0;
    for (int i = 0; i < 30'000; ++i) {
      const bool leaves = !there.empty() && (there.size() >= elements || random() % 3 == 0);
      if (leaves) {
        std::swap(there[random() % there.size()], there.back());
        summary.erase(there.back().hash, there.back().level);
        expected.erase(there.back().hash);
        there.pop_back();
      } else {
        const element next{hash_number(random()), static_cast<std::uint32_t>(random() % levels)};
        const summary_outcome outcome = summary.insert(next.hash, next.level);
        ASSERT_EQ(outcome, expected.insert(next.hash, next.level));
        if (outcome == summary_outcome::kept) there.push_back(next);
        misled += outcome == summary_outcome::misleading ? 1u : 0u;
      }
      const key_hash asked = hash_number(random());
      ASSERT_EQ(summary.where(asked), expected.where(asked));
      if (!there.empty()) {
        const element& one = there[random() % there.size()];
        ASSERT_EQ(summary.where(one.hash), one.level);
      }
    }
    ASSERT_EQ(summary.size(), there.size());
    ASSERT_EQ(summary.find_fault(), std::nullopt);
    if (remainder_bits <= 6 && levels > 1) {
      EXPECT_GT(misled, 100u);
    }
    // What came and went leaves no trace.
    EXPECT_EQ(bytes_of(summary), built_from(plan, there));
  }
}

TEST(interpolation_summary, spills_into_the_next_block_and_comes_back) {
  const interpolation_plan plan = plan_interpolation(20'000);
  interpolation_summary summary(plan);
  std::vector<element> there;
  // A fifth more than planned: nearly all cells are taken, and runs of full blocks are long.
  std::uint64_t full = 0;
  for (std::uint64_t i = 0; i < 24'500; ++i) {
    const element next{hash_number(i), static_cast<std::uint32_t>(i % 4)};
    const summary_outcome outcome = summary.insert(next.hash, next.level);
    if (outcome == summary_outcome::kept) there.push_back(next);
    full += outcome == summary_outcome::full ? 1u : 0u;
    if (i % 500 == 0) {
      ASSERT_EQ(summary.find_fault(), std::nullopt);
    }
  }
  EXPECT_GT(full, 0u);
  for (const auto& [hash, level] : there) ASSERT_EQ(summary.where(hash), level);
  while (there.size() > 16'000) {
    summary.erase(there.back().hash, there.back().level);
    there.pop_back();
  }
  ASSERT_EQ(summary.find_fault(), std::nullopt);
  for (const auto& [hash, level] : there) ASSERT_EQ(summary.where(hash), level);
  EXPECT_EQ(bytes_of(summary), built_from(plan, there));
}

TEST(interpolation_summary, takes_all_that_it_was_planned_for_and_errs_as_planned) {
  constexpr std::uint64_t elements = 200'000;
  const interpolation_plan plan = plan_interpolation(elements);
  EXPECT_EQ(plan.block_cells(), 30u);
  EXPECT_LT(plan.bits_per_element(), 21.7);
  // Five seeds, 4 sigma two-sided: a false alarm in 3,000 runs. Sigma: strings are drawn once per
  // filling, and each of a million absent keys is asked once.
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    interpolation_summary summary(plan);
    ASSERT_EQ(summary.memory_bytes(), plan.memory_bytes());
    std::uint64_t misled = 0;
    for (std::uint64_t i = 0; i < elements; ++i) {
      const summary_outcome outcome =
          summary.insert(hash_number(seed * 1'000'000'000 + i), static_cast<std::uint32_t>(i % 2));
      ASSERT_NE(outcome, summary_outcome::full);
      misled += outcome == summary_outcome::misleading ? 1u : 0u;
    }
    constexpr std::uint64_t asked = 1'000'000;
    std::uint64_t false_positives = 0;
    for (std::uint64_t i = 0; i < asked; ++i)
      false_positives += summary.where(hash_number(seed * 1'000'000'000 + elements + i)) ? 1u : 0u;
    const double predicted = plan.false_positive_probability(elements) * asked;
    EXPECT_NEAR(static_cast<double>(false_positives), predicted, 4 * std::sqrt(predicted));
    // Half of those who meet their string among those before them find another level there.
    const double failures = plan.false_positive_probability(elements) * elements / 4;
    EXPECT_NEAR(static_cast<double>(misled), failures, 4 * std::sqrt(failures));
  }
}

TEST(interpolation_summary, refuses_plans_with_a_fault) {
  interpolation_plan plan = plan_interpolation(100);
  plan.levels = 9;
  EXPECT_THROW(interpolation_summary{plan}, std::invalid_argument);
  EXPECT_THROW(plan_interpolation(0), std::invalid_argument);
  EXPECT_THROW(plan_interpolation(100, 4, 55), std::invalid_argument);
  EXPECT_THROW(plan_interpolation(100, 4, 3), std::invalid_argument);
  EXPECT_THROW(plan_interpolation(100, 0), std::invalid_argument);
  EXPECT_THROW(interpolation_summary(plan_interpolation(100), line_memory(64)),
               std::invalid_argument);
}

TEST(interpolation_summary, finds_what_no_summary_can_have) {
  const interpolation_plan plan = plan_interpolation(2000, 3);
  interpolation_summary summary(plan);
  for (std::uint64_t i = 0; i < 2000; ++i)
    summary.insert(hash_number(i), static_cast<std::uint32_t>(i % 3));
  const auto fault_with = [&](std::size_t at, std::uint8_t value) {
    line_memory memory(plan.memory_bytes());
    std::memcpy(memory.data(), summary.bytes().data(), memory.size());
    memory.data()[at] = std::byte{value};
    return interpolation_summary(plan, std::move(memory)).find_fault().value_or("none");
  };
  EXPECT_EQ(fault_with(64, 31), "there are more cells than fit in block 1 of the summary");
  EXPECT_EQ(fault_with(65, 30),
            "the early cells are not the late ones of the block before in block 1 of the summary");
  EXPECT_EQ(fault_with(71, 0xff), "there is no such level in block 1 of the summary");
}
