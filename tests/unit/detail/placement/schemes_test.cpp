#include "oneprobe/detail/placement/schemes.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "each_scheme.hpp"
#include "oneprobe/detail/placement/admission.hpp"
#include "unit/model/expect.hpp"

using namespace oneprobe;

namespace {

template <class Scheme>
std::vector<position> candidates(const Scheme& scheme, key_hash hash) {
  std::vector<position> all{scheme.first(hash)};
  while (all.size() < scheme.choices()) all.push_back(scheme.next(hash, all.back()));
  return all;
}

TEST(schemes, candidates_are_numbered_and_lie_in_the_table) {
  with_each_scheme(97, [](const auto& scheme) {
    EXPECT_EQ(scheme.buckets(), 97u);
    for (std::uint64_t key = 0; key < 1000; ++key) {
      const auto all = candidates(scheme, hash_of(key));
      for (std::uint32_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(all[i].level, i);
        EXPECT_LT(all[i].bucket, 97u);
      }
    }
  });
}

TEST(schemes, every_bucket_of_a_level_is_somebodys_candidate) {
  const multilevel scheme({50, 20, 7});
  std::vector<std::set<std::uint64_t>> seen(3);
  for (std::uint64_t key = 0; key < 2000; ++key)
    for (const position at : candidates(scheme, hash_of(key))) seen[at.level].insert(at.bucket);
  EXPECT_EQ(seen[0].size(), 50u);
  EXPECT_EQ(*seen[0].begin(), 0u);
  EXPECT_EQ(seen[1].size(), 20u);
  EXPECT_EQ(*seen[1].begin(), 50u);
  EXPECT_EQ(seen[2].size(), 7u);
  EXPECT_EQ(*seen[2].begin(), 70u);
  EXPECT_EQ(*seen[2].rbegin(), 76u);
}

TEST(schemes, d_left_halves_differ_by_at_most_one_bucket) {
  const d_left scheme(11, 4);
  std::vector<std::uint64_t> sizes;
  for (std::uint32_t level = 0; level < 4; ++level) sizes.push_back(scheme.level_size(level));
  EXPECT_EQ(sizes, (std::vector<std::uint64_t>{3, 3, 3, 2}));
}

TEST(schemes, refuse_what_cannot_be_and_name_it) {
  expect_refused([] { single(0); }, "buckets");
  expect_refused([] { sequential(10, 0); }, "choices");
  expect_refused([] { d_random(10, 33); }, "choices");
  expect_refused([] { multilevel({10, 0}); }, "buckets");
  expect_refused([] { multilevel(std::vector<std::uint64_t>{}); }, "choices");
  expect_refused([] { d_left(3, 4); }, "buckets");
  expect_refused([] { multilevel({std::uint64_t{1} << 48, 1}); }, "buckets");
}

TEST(admission, is_hard_without_a_probability) {
  const single scheme(10);
  const admission rule(4);
  for (std::uint64_t key = 0; key < 100; ++key) EXPECT_EQ(rule.limit(scheme, hash_of(key), 0), 4u);
  EXPECT_EQ(rule.largest_load(), 4u);
}

TEST(admission, throws_the_coin_of_the_level_the_same_way_each_time) {
  const sequential scheme(10, 2);
  const admission rule(4, 0.3);
  EXPECT_EQ(rule.largest_load(), 5u);
  constexpr int keys = 100'000;
  int admitted = 0, both = 0;
  for (std::uint64_t key = 0; key < keys; ++key) {
    const std::uint32_t first = rule.limit(scheme, hash_of(key), 0);
    const std::uint32_t second = rule.limit(scheme, hash_of(key), 1);
    EXPECT_EQ(first, rule.limit(scheme, hash_of(key), 0));
    admitted += first == 5;
    both += first == 5 && second == 5;
  }
  // Binomial with deviations 145 and 91; five sigmas, so that the two together raise a false alarm
  // with probability 1e-6.
  EXPECT_NEAR(admitted, 0.3 * keys, 5 * 145);
  EXPECT_NEAR(both, 0.09 * keys, 5 * 91);
}

TEST(admission, with_probability_one_is_one_more_slot) {
  const single scheme(10);
  EXPECT_EQ(admission(4, 1.0).limit(scheme, hash_of(1), 0), 5u);
  EXPECT_EQ(admission(4, 1.0).largest_load(), 5u);
  EXPECT_EQ(admission(4, 0.0).largest_load(), 4u);
}

TEST(admission, refuses_what_is_no_probability) {
  expect_refused([] { admission(4, 1.5); }, "admit_probability");
  expect_refused([] { admission(4, -0.1); }, "admit_probability");
  expect_refused([] { admission(4, std::nan("")); }, "admit_probability");
  expect_refused([] { admission(0xffff'ffffu); }, "threshold");
}

TEST(access_budget, ends) {
  access_budget budget{2};
  EXPECT_TRUE(budget.spend());
  EXPECT_TRUE(budget.spend());
  EXPECT_FALSE(budget.spend());
  EXPECT_FALSE(budget.spend());
}

}  // namespace
