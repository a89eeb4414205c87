// What growing and rotating filters promise, for every kind of filter they can be made of.
#include "oneprobe/detail/filter/parts.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <vector>

#include "oneprobe/filter/balanced.hpp"
#include "oneprobe/filter/blocked.hpp"
#include "oneprobe/filter/counting.hpp"
#include "oneprobe/filter/growing.hpp"
#include "oneprobe/filter/partitioned.hpp"
#include "oneprobe/filter/rotating.hpp"
#include "oneprobe/filter/standard.hpp"

namespace oneprobe {
namespace {

constexpr std::uint64_t seeds[] = {1, 2, 3, 5, 8};

std::vector<std::uint64_t> keys_from(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> keys(count);
  std::iota(keys.begin(), keys.end(), first);
  return keys;
}

template <class Parts>
std::uint64_t count_found(const Parts& filter, const std::vector<std::uint64_t>& keys) {
  const auto answers = std::make_unique<bool[]>(keys.size());
  return filter.bulk_may_contain(keys, std::span(answers.get(), keys.size()));
}

/// Absent keys are found as often as the bits say. Given the bits, each query is a coin of its own.
template <class Parts>
void expect_error_as_stats_say(const Parts& filter, std::uint64_t first_absent) {
  constexpr double sigmas = 4;
  constexpr std::size_t queries = 200'000;
  const double fpr = filter.stats().current_fpr;
  const auto found = static_cast<double>(count_found(filter, keys_from(first_absent, queries)));
  EXPECT_NEAR(found, queries * fpr, sigmas * std::sqrt(queries * fpr * (1 - fpr)));
}

template <class Filter>
class made_of : public ::testing::Test {};

using every_kind = ::testing::Types<standard_filter, partitioned_filter, blocked_filter,
                                    counting_filter, balanced_filter>;
TYPED_TEST_SUITE(made_of, every_kind);

TYPED_TEST(made_of, a_growing_filter_loses_nothing_and_keeps_its_error) {
  constexpr double stated = 0.02;
  constexpr std::uint64_t first = 2000;
  constexpr std::uint64_t parts = 6;
  for (const std::uint64_t seed : seeds) {
    growing_filter<TypeParam> filter(first, stated, seeded_hash(seed));
    growing_filter<TypeParam> at_once = filter;
    std::uint64_t key = 0;
    while (filter.counts().size < first * ((1u << parts) - 1)) filter.insert(key++);
    const auto keys = keys_from(0, key);
    EXPECT_EQ(at_once.bulk_insert(keys), filter.counts().size);
    ASSERT_EQ(filter.parts().size(), parts);
    ASSERT_EQ(at_once.parts().size(), parts);
    for (std::size_t i = 0; i < parts; ++i)
      EXPECT_TRUE(std::ranges::equal(filter.parts()[i].memory(), at_once.parts()[i].memory()));
    EXPECT_EQ(count_found(filter, keys), key);
    expect_error_as_stats_say(filter, key);
    EXPECT_LT(filter.stats().current_fpr, stated);
    EXPECT_NE(filter.condition(), filter_condition::over_full);
  }
}

TYPED_TEST(made_of, a_rotating_filter_remembers_its_windows_and_keeps_its_error) {
  constexpr double stated = 0.02;
  constexpr std::uint64_t per_window = 5000;
  constexpr std::uint32_t generations = 3;
  for (const std::uint64_t seed : seeds) {
    rotating_filter<TypeParam> filter(
        {.elements_per_window = per_window, .fpr = stated, .generations = generations},
        seeded_hash(seed));
    for (std::uint64_t window = 0; window < 6; ++window) {
      filter.rotate();
      filter.bulk_insert(keys_from(window * per_window, per_window));
      const std::uint64_t kept = std::min<std::uint64_t>(window + 1, generations);
      const auto keys = keys_from((window + 1 - kept) * per_window, kept * per_window);
      EXPECT_EQ(count_found(filter, keys), keys.size());
      for (const std::uint64_t key : keys) ASSERT_TRUE(filter.may_contain(key));
    }
    expect_error_as_stats_say(filter, 1'000'000);
    // A little above is chance: the fill of so few elements varies.
    EXPECT_LT(filter.stats().current_fpr, 1.05 * stated);
  }
}

}  // namespace
}  // namespace oneprobe
