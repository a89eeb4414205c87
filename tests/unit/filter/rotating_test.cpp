#include "oneprobe/filter/rotating.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "unit/filter/plain_engine.hpp"

namespace oneprobe {
namespace {

using testing::plain_engine;
using testing::plain_filter;
using rotating_plain = rotating_filter<plain_filter>;

constexpr std::uint64_t seeds[] = {1, 2, 3, 5, 8};

std::vector<std::uint64_t> keys_from(std::uint64_t first, std::size_t count) {
  std::vector<std::uint64_t> keys(count);
  std::iota(keys.begin(), keys.end(), first);
  return keys;
}

void expect_same(const rotating_plain& a, const rotating_plain& b) {
  ASSERT_EQ(a.parts().size(), b.parts().size());
  for (std::size_t i = 0; i < a.parts().size(); ++i) {
    EXPECT_TRUE(std::ranges::equal(a.parts()[i].memory(), b.parts()[i].memory())) << "part " << i;
    EXPECT_EQ(a.parts()[i].counts(), b.parts()[i].counts()) << "part " << i;
  }
}

// A key is found for as many windows as there are generations, its own included, and then as
// seldom as any other.
TEST(rotating, a_key_is_found_until_its_window_is_dropped) {
  constexpr std::uint64_t per_window = 1000;
  constexpr double fpr = 1e-3;
  constexpr double sigmas = 4;
  for (const std::uint32_t generations : {2u, 3u, 4u, 8u}) {
    for (const std::uint64_t seed : seeds) {
      rotating_plain filter(
          {.elements_per_window = per_window, .fpr = fpr, .generations = generations},
          seeded_hash(seed));
      double expected = 0, found_after = 0;
      for (std::uint64_t window = 0; window < 20; ++window) {
        filter.bulk_insert(keys_from(window * per_window, per_window));
        const std::uint64_t first_kept = window + 1 >= generations ? window + 1 - generations : 0;
        for (std::uint64_t key = first_kept * per_window; key < (window + 1) * per_window; ++key)
          ASSERT_TRUE(filter.may_contain(key)) << "window " << window << ", key " << key;
        for (std::uint64_t key = 0; key < first_kept * per_window; ++key)
          found_after += filter.may_contain(key) ? 1 : 0;
        expected += filter.stats().current_fpr * static_cast<double>(first_kept * per_window);
        filter.rotate();
      }
      // Keys that were dropped long ago are asked again in every window, against generations of
      // which all but one are the same: counts of one key over up to g windows are not independent,
      // which multiplies the variance by at most g.
      EXPECT_NEAR(found_after, expected, sigmas * std::sqrt(generations * expected));
    }
  }
}

TEST(rotating, a_key_that_comes_again_is_kept_anew) {
  rotating_plain filter({.elements_per_window = 100, .fpr = 1e-6, .generations = 3},
                        seeded_hash(1));
  filter.insert(1);
  filter.insert(2);
  const std::vector<int> again = {2};
  for (int window = 0; window < 10; ++window) {
    filter.rotate(2);
    EXPECT_TRUE(filter.may_contain(2)) << window;
    if (window % 2 == 0)
      EXPECT_EQ(filter.insert(2), insert_outcome::possibly_present);
    else
      EXPECT_EQ(filter.bulk_insert(again), 0u);
  }
  EXPECT_FALSE(filter.may_contain(1));
}

TEST(rotating, the_stated_error_holds_when_all_windows_are_full) {
  constexpr double stated = 0.02;
  constexpr std::uint64_t queries = 200'000;
  constexpr double sigmas = 4;
  for (const std::uint64_t seed : seeds) {
    rotating_plain filter({.elements_per_window = 5000, .fpr = stated, .generations = 5},
                          seeded_hash(seed));
    std::uint64_t key = 0;
    for (int window = 0; window < 9; ++window) {
      filter.rotate();
      while (filter.parts().back().counts().size < 5000) filter.insert(key++);
    }
    double found = 0;
    for (std::uint64_t i = 0; i < queries; ++i) found += filter.may_contain(key + i) ? 1 : 0;
    const filter_stats stats = filter.stats();
    const double expected = queries * stats.current_fpr;
    EXPECT_NEAR(found, expected, sigmas * std::sqrt(expected * (1 - stats.current_fpr)));
    EXPECT_EQ(stats.planned_fpr, stated);
    // 1 - (1 - e/5)^5 is one per cent below e here; the fill adds its noise.
    EXPECT_NEAR(stats.current_fpr, stated, 0.05 * stated);
    EXPECT_EQ(stats.condition, filter_condition::as_planned);
    EXPECT_EQ(stats.planned_elements, 25'000u);
    EXPECT_EQ(stats.counts.size, 25'000u);
  }
}

TEST(rotating, a_window_with_more_elements_says_over_full_until_it_is_dropped) {
  rotating_plain filter({.elements_per_window = 100, .fpr = 0.01, .generations = 3},
                        seeded_hash(1));
  filter.bulk_insert(keys_from(0, 200));
  for (int window = 0; window < 3; ++window) {
    EXPECT_EQ(filter.condition(), filter_condition::over_full);
    for (std::uint64_t key = 0; key < 200; ++key) EXPECT_TRUE(filter.may_contain(key));
    filter.rotate();
  }
  EXPECT_EQ(filter.condition(), filter_condition::as_planned);
}

RC_GTEST_PROP(rotating, insert_says_what_may_contain_would_have_said, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto range = *rc::gen::inRange<std::uint64_t>(1, 3000);
  rotating_plain filter({.elements_per_window = 200,
                         .fpr = 0.2,
                         .generations = *rc::gen::inRange<std::uint32_t>(2, 6)},
                        seeded_hash(seed));
  for (std::uint64_t i = 0; i < 1000; ++i) {
    if (i % 150 == 0) filter.rotate();
    const std::uint64_t key = mix_bits(seed + i) % range;
    const bool before = filter.may_contain(key);
    RC_ASSERT((filter.insert(key) == insert_outcome::possibly_present) == before);
    RC_ASSERT(filter.may_contain(key));
  }
}

// The plain filter's bits do not depend on the order of insertion: here bulk and single agree to
// the byte.
RC_GTEST_PROP(rotating, bulk_inserts_set_the_same_bits_as_single_ones, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const auto range = *rc::gen::inRange<std::uint64_t>(1, 5000);
  rotating_plain one_by_one({.elements_per_window = 700, .fpr = 1e-9, .generations = 3},
                            seeded_hash(seed));
  rotating_plain at_once = one_by_one;
  for (std::uint64_t round = 0; round < 5; ++round) {
    std::vector<std::uint64_t> keys(*rc::gen::inRange<std::size_t>(0, 1500));
    for (std::size_t i = 0; i < keys.size(); ++i)
      keys[i] = mix_bits(seed + i + round * 2000) % range;
    std::uint64_t added = 0;
    for (const std::uint64_t key : keys)
      if (one_by_one.insert(key) == insert_outcome::added) ++added;
    // At this error there are no false positives among so few keys, hence the counts agree too.
    RC_ASSERT(at_once.bulk_insert(keys) == added);
    for (std::size_t i = 0; i < 3; ++i) {
      RC_ASSERT(std::ranges::equal(at_once.parts()[i].memory(), one_by_one.parts()[i].memory()));
      RC_ASSERT(at_once.parts()[i].counts() == one_by_one.parts()[i].counts());
    }
    at_once.rotate();
    one_by_one.rotate();
  }
}

TEST(rotating, bulk_queries_answer_as_single_ones) {
  rotating_plain filter({.elements_per_window = 1000, .fpr = 0.1}, seeded_hash(3));
  for (std::uint64_t window = 0; window < 4; ++window) {
    filter.rotate();
    filter.bulk_insert(keys_from(window * 1000, 1000));
  }
  const auto keys = keys_from(500, 6000);
  const auto answers = std::make_unique<bool[]>(keys.size());
  const std::uint64_t contained =
      filter.bulk_may_contain(keys, std::span(answers.get(), keys.size()));
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    EXPECT_EQ(answers[i], filter.may_contain(keys[i])) << i;
    EXPECT_EQ(answers[i], filter.explain(keys[i]).may_contain()) << i;
    if (answers[i]) ++expected;
  }
  EXPECT_EQ(contained, expected);
}

TEST(rotating, parts_are_the_generations_oldest_first) {
  rotating_plain filter({.elements_per_window = 100, .fpr = 1e-6, .generations = 4},
                        seeded_hash(3));
  for (int window = 0; window < 6; ++window) {
    filter.rotate();
    filter.insert(window);
  }
  for (std::size_t i = 0; i < 4; ++i)
    for (int window = 0; window < 6; ++window)
      EXPECT_EQ(filter.parts()[i].may_contain(window), window == static_cast<int>(i) + 2);
}

TEST(rotating, rotation_uses_the_same_memory_again) {
  rotating_plain filter({.elements_per_window = 1000, .fpr = 0.01}, seeded_hash(3));
  const auto places = [&] {
    std::set<const std::byte*> found;
    for (const plain_filter& part : filter.parts()) found.insert(part.memory().data());
    return found;
  };
  const auto before = places();
  EXPECT_EQ(before.size(), 4u);
  for (int i = 0; i < 7; ++i) {
    filter.bulk_insert(keys_from(0, 100));
    filter.rotate();
    EXPECT_EQ(places(), before);
  }
}

TEST(rotating, many_windows_at_once_leave_nothing) {
  rotating_plain filter({.elements_per_window = 1000, .fpr = 0.01, .generations = 3},
                        seeded_hash(3));
  const rotating_plain fresh = filter;
  filter.insert(1);
  filter.rotate(0);
  EXPECT_TRUE(filter.may_contain(1));
  filter.rotate(2);
  EXPECT_TRUE(filter.may_contain(1));
  filter.rotate(~std::uint64_t{0});
  expect_same(filter, fresh);
}

TEST(rotating, clear_makes_it_as_new_and_swap_exchanges) {
  rotating_plain filter({.elements_per_window = 1000, .fpr = 0.01}, seeded_hash(3));
  rotating_plain fresh = filter;
  filter.insert(1);
  filter.rotate();
  filter.insert(2);
  const rotating_plain copy = filter;
  swap(filter, fresh);
  EXPECT_FALSE(filter.may_contain(1));
  expect_same(fresh, copy);
  fresh.clear();
  expect_same(fresh, filter);
}

TEST(rotating, a_given_plan_is_used_for_every_generation) {
  filter_plan each = plain_engine::default_plan(300, 0.01);
  each.predicted.fpr = 0.01;
  const rotating_plain filter(each, 6, seeded_hash(1));
  EXPECT_EQ(filter.generations(), 6u);
  for (const plain_filter& part : filter.parts()) EXPECT_TRUE(same_shape(part.plan(), each));
  EXPECT_DOUBLE_EQ(filter.stats().planned_fpr, 0.06);
  EXPECT_EQ(filter.stats().memory.total(), 6 * each.memory().total());
}

TEST(rotating, the_key_is_hashed_once) {
  struct counting_hash {
    explicit counting_hash(std::uint64_t) {}
    explicit counting_hash(int* counted) : calls(counted) {}
    key_hash operator()(std::uint64_t key) const {
      ++*calls;
      return {mix_bits(key)};
    }
    int* calls = nullptr;
  };
  int calls = 0;
  rotating_filter<basic_filter<plain_engine, counting_hash>> filter(
      {.elements_per_window = 1000, .fpr = 0.01}, counting_hash(&calls));
  filter.bulk_insert(keys_from(0, 700));
  EXPECT_EQ(std::exchange(calls, 0), 700);
  filter.insert(std::uint64_t{1'000'000});
  EXPECT_EQ(std::exchange(calls, 0), 1);
  EXPECT_FALSE(filter.may_contain(std::uint64_t{1'000'001}));
  EXPECT_EQ(std::exchange(calls, 0), 1);
}

TEST(rotating, bad_parameters_are_refused_by_name) {
  const auto sentence = [](const rotating_plan& plan) -> std::string {
    try {
      rotating_plain(plan, seeded_hash(1));
    } catch (const std::invalid_argument& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_EQ(sentence({.elements_per_window = 10, .fpr = 0.01, .generations = 2}), "accepted");
  EXPECT_EQ(sentence({.elements_per_window = 10, .fpr = 0.01, .generations = 64}), "accepted");
  for (const std::uint32_t generations : {0u, 1u, 65u})
    EXPECT_EQ(sentence({.elements_per_window = 10, .fpr = 0.01, .generations = generations}),
              "generations must be 2 to 64; found " + std::to_string(generations));
  for (const double fpr : {0.0, 1.0, -0.5, std::nan("")})
    EXPECT_EQ(sentence({.elements_per_window = 10, .fpr = fpr})
                  .find("fpr must be above 0 and below 1; found "),
              0u);
}

TEST(window_clock, a_window_may_be_as_long_as_time) {
  using clock = std::chrono::steady_clock;
  const clock::time_point start{std::chrono::hours(1)};
  window_clock<> windows(clock::duration::max(), start);
  EXPECT_EQ(windows.ended(start + std::chrono::hours(1)), 0u);
}

TEST(window_clock, windows_end_at_multiples_of_their_length) {
  using namespace std::chrono_literals;
  using clock = std::chrono::steady_clock;
  const clock::time_point start{};
  window_clock<> windows(60s, start);
  EXPECT_EQ(windows.ended(start), 0u);
  EXPECT_EQ(windows.ended(start + 59s), 0u);
  EXPECT_EQ(windows.ended(start + 61s), 1u);
  EXPECT_EQ(windows.ended(start + 61s), 0u);
  EXPECT_EQ(windows.ended(start + 119s), 0u);
  EXPECT_EQ(windows.ended(start + 120s), 1u);  // not 121 s: being late does not shift the windows
  EXPECT_EQ(windows.ended(start + 60s), 0u);
  EXPECT_EQ(windows.ended(start + 130s), 0u);
  EXPECT_EQ(windows.ended(start + 600s), 8u);
  EXPECT_THROW(window_clock<>(0s), std::invalid_argument);
}

TEST(window_clock, drives_a_filter) {
  using namespace std::chrono_literals;
  const std::chrono::steady_clock::time_point start{};
  window_clock<> windows(60s, start);
  rotating_plain filter({.elements_per_window = 100, .fpr = 1e-6, .generations = 3},
                        seeded_hash(3));
  filter.insert(1);
  for (const auto now : {1s, 59s, 60s, 100s, 179s}) {
    filter.rotate(windows.ended(start + now));
    EXPECT_TRUE(filter.may_contain(1)) << now.count();
  }
  filter.rotate(windows.ended(start + 180s));
  EXPECT_FALSE(filter.may_contain(1));
}

}  // namespace
}  // namespace oneprobe
