// Packed sorted strings, held to a plain map from string to level.
#include "oneprobe/one_probe/packed_strings.hpp"

#include <gtest/gtest.h>

#include <cstdint>
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
#include "support/summary_designs.hpp"

namespace {

using namespace oneprobe;

key_hash hash_number(std::uint64_t number) { return {mix_bits(number * golden_ratio_64)}; }

summary_plan packed(std::uint64_t elements, std::uint32_t levels, std::uint32_t bits) {
  summary_plan plan;
  plan.kind = summary_kind::interpolation;
  plan.elements = elements;
  plan.levels = levels;
  for (std::uint32_t i = 0; i < levels; ++i) plan.level_buckets[i] = 4 * elements;
  plan.remainder_bits = bits;
  return plan;
}

struct element {
  key_hash hash;
  std::uint32_t level;
};

/// Short strings are often equal; wide ones cross words and the end of the memory in every way.
TEST(packed_strings_summary, answers_like_a_map_through_insertions_and_erasures) {
  for (const auto& [elements, levels, bits] : {std::tuple{700u, 5u, 55u},
                                               {700u, 6u, 61u},
                                               {400u, 1u, 62u},
                                               {500u, 4u, 11u},
                                               {333u, 8u, 30u},
                                               {60u, 3u, 4u},
                                               {1u, 2u, 9u}}) {
    SCOPED_TRACE(std::to_string(levels) + " levels, " + std::to_string(bits) + " bits");
    const summary_plan plan = packed(elements, levels, bits);
    packed_strings_summary summary(plan);
    ASSERT_EQ(summary.memory_bytes(), plan.filter_bytes());
    std::map<std::uint64_t, std::pair<std::uint32_t, std::uint64_t>> twin;
    const auto string_of = [bits = bits](key_hash hash) {
      return hash_stream(hash, 131) >> (64 - bits);
    };
    const auto expected = [&](key_hash hash) -> std::optional<std::uint32_t> {
      const auto found = twin.find(string_of(hash));
      if (found == twin.end()) return std::nullopt;
      return found->second.first;
    };
    std::vector<element> there;
    std::mt19937_64 random(bits);
    std::uint64_t full = 0, misled = 0;
    for (int i = 0; i < 20'000; ++i) {
      if (!there.empty() && random() % 5 < 2) {
        std::swap(there[random() % there.size()], there.back());
        summary.erase(there.back().hash, there.back().level);
        const auto found = twin.find(string_of(there.back().hash));
        if (--found->second.second == 0) twin.erase(found);
        there.pop_back();
      } else {
        const element next{hash_number(random()), static_cast<std::uint32_t>(random() % levels)};
        const std::optional<std::uint32_t> known = expected(next.hash);
        const summary_outcome outcome = summary.insert(next.hash, next.level);
        if (known && *known != next.level) {
          ASSERT_EQ(outcome, summary_outcome::misleading);
          ++misled;
        } else if (there.size() == elements) {
          ASSERT_EQ(outcome, summary_outcome::full);
          ++full;
        } else {
          ASSERT_EQ(outcome, summary_outcome::kept);
          auto& [level, count] = twin[string_of(next.hash)];
          level = next.level;
          ++count;
          there.push_back(next);
        }
      }
      ASSERT_EQ(summary.size(), there.size());
      const key_hash asked = hash_number(random());
      ASSERT_EQ(summary.where(asked), expected(asked));
      if (!there.empty()) {
        const element& one = there[random() % there.size()];
        ASSERT_EQ(summary.where(one.hash), one.level);
      }
      if (i % 500 != 0) continue;
      for (const element& one : there) ASSERT_EQ(summary.where(one.hash), one.level);
    }
    EXPECT_GT(full + misled, 100u);
    summary.clear();
    EXPECT_EQ(summary.size(), 0u);
    EXPECT_EQ(summary.where(hash_number(1)), std::nullopt);
  }
}

TEST(packed_strings_summary, refuses_plans_for_another_summary) {
  EXPECT_THROW(packed_strings_summary{summaries::cramped(summary_kind::interpolation,
                                                         summary_deletion::none, 1)},
               std::invalid_argument);
  EXPECT_THROW(packed_strings_summary{summaries::paper("ssh-10k-multi")}, std::invalid_argument);
  EXPECT_THROW(interpolation_summary{packed(10, 4, 20)}, std::invalid_argument);
  EXPECT_THROW(packed_strings_summary{packed(10, 8, 62)}, std::invalid_argument);
  EXPECT_THROW(packed_strings_summary{packed(10, 1, 63)}, std::invalid_argument);
}

}  // namespace
