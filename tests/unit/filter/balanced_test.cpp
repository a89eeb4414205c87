#include "oneprobe/filter/balanced.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <ranges>
#include <vector>

#include "balanced_plans.hpp"

using namespace oneprobe;
using balanced_plans::planned;
using balanced_plans::popcount_arrivals;
using balanced_plans::popcount_shape;

namespace {

/// A plan for few elements, of which every part is used: some blocks refuse, some elements
/// overflow.
filter_plan small_plan(scheme_kind scheme, block_state state, std::uint32_t block_bits) {
  filter_plan plan;
  plan.kind = filter_kind::balanced;
  plan.bits_set = 6;
  plan.block_bits = block_bits;
  plan.scheme = scheme;
  plan.state = state;
  plan.choices = scheme == scheme_kind::single ? 1 : 3;
  switch (scheme) {
    case scheme_kind::multilevel:
      plan.levels = 3;
      plan.level_buckets = {40, 12, 4};
      break;
    case scheme_kind::d_left:
      plan.levels = 3;
      plan.level_buckets = {19, 19, 18};
      break;
    default:
      plan.level_buckets = {56};
  }
  // About half the bits set when the blocks are full, or 75 % where elements are few.
  const std::uint32_t elements_per_block = block_bits / 16;
  plan.state.threshold = state.counts_elements() ? elements_per_block : block_bits / 3;
  plan.elements = plan.blocks() * elements_per_block;
  plan.overflow_reserve = plan.elements / 10;
  plan.overflow_slots = plan.overflow_reserve * 4 / 3 + 1;
  return plan;
}

std::vector<filter_plan> all_small_plans() {
  std::vector<filter_plan> plans;
  const std::vector<block_state> states{
      {.rule = lookup_rule::counter},
      {.rule = lookup_rule::counter, .admit_probability = 0.4},
      {.rule = lookup_rule::coin, .admit_probability = 0.4},
      {.rule = lookup_rule::flag},
      {.rule = lookup_rule::flag, .admit_probability = 0.4},
      {.rule = lookup_rule::coin_flag, .admit_probability = 0.4},
      {.rule = lookup_rule::tracking, .tracking_bits = 7},
      {.rule = lookup_rule::popcount, .tracking_bits = 1},
      {.rule = lookup_rule::popcount, .tracking_bits = 12},
  };
  for (const scheme_kind scheme :
       {scheme_kind::single, scheme_kind::sequential, scheme_kind::multilevel,
        scheme_kind::d_random, scheme_kind::d_left})
    for (const block_state& state : states)
      for (const std::uint32_t block_bits : {256u, 512u})
        plans.push_back(small_plan(scheme, state, block_bits));
  return plans;
}

/// Calls `use(filter)` with an empty filter of the plan's scheme.
template <class Use>
void with_filter(const filter_plan& plan, std::uint64_t seed, Use use) {
  const seeded_hash hash(seed);
  switch (plan.scheme) {
    case scheme_kind::single:
      return use(basic_balanced_filter<single, seeded_hash>(plan, hash));
    case scheme_kind::sequential:
      return use(basic_balanced_filter<sequential, seeded_hash>(plan, hash));
    case scheme_kind::multilevel:
      return use(balanced_filter(plan, hash));
    case scheme_kind::d_random:
      return use(basic_balanced_filter<d_random, seeded_hash>(plan, hash));
    case scheme_kind::d_left:
      return use(basic_balanced_filter<d_left, seeded_hash>(plan, hash));
  }
}

template <class Filter>
std::vector<bool> bulk_answers(const Filter& filter, const std::vector<std::uint64_t>& keys) {
  const auto answers = std::make_unique<bool[]>(keys.size());
  filter.bulk_may_contain(keys, std::span(answers.get(), keys.size()));
  return std::vector<bool>(answers.get(), answers.get() + keys.size());
}

std::vector<std::uint64_t> keys_from(std::uint64_t first, std::uint64_t count) {
  std::vector<std::uint64_t> keys(count);
  for (std::uint64_t i = 0; i < count; ++i) keys[i] = first + i;
  return keys;
}

bool same_bytes(std::span<const std::byte> a, std::span<const std::byte> b) {
  return std::ranges::equal(a, b);
}

TEST(balanced_filter, never_loses_an_element_at_three_times_the_elements) {
  for (const filter_plan& plan : all_small_plans()) {
    SCOPED_TRACE(balanced_plans::name_of(plan));
    with_filter(plan, 1, [&](auto filter) {
      for (std::uint64_t key = 0; key < 3 * plan.elements; ++key) {
        filter.insert(key);
        ASSERT_TRUE(filter.may_contain(key)) << key;
      }
      for (std::uint64_t key = 0; key < 3 * plan.elements; ++key)
        ASSERT_TRUE(filter.may_contain(key)) << key;
      EXPECT_EQ(filter.counts().overflow, plan.overflow_reserve);
      EXPECT_GT(filter.counts().forced, 0);
      EXPECT_EQ(filter.condition(), filter_condition::degraded);
    });
  }
}

TEST(balanced_filter, insert_says_what_may_contain_would_have_said) {
  std::vector<filter_plan> plans = all_small_plans();
  // And with two bits for each element: then many match in a block where they are not.
  for (filter_plan plan : all_small_plans()) {
    plan.bits_set = 2;
    plans.push_back(plan);
  }
  for (const filter_plan& plan : plans) {
    SCOPED_TRACE(balanced_plans::name_of(plan));
    with_filter(plan, 2, [&](auto filter) {
      std::uint64_t added = 0, present = 0;
      // New keys, and now and then one that was there: also when blocks and overflow are full.
      for (std::uint64_t i = 0; i < 2 * plan.elements; ++i) {
        const std::uint64_t key = i % 5 == 4 ? mix_bits(i) % i : i;
        const bool before = filter.may_contain(key);
        const insert_outcome outcome = filter.insert(key);
        ASSERT_EQ(outcome, before ? insert_outcome::possibly_present : insert_outcome::added) << i;
        (before ? present : added) += 1;
      }
      EXPECT_GT(present, 0);
      EXPECT_EQ(filter.counts().size, added);
    });
  }
}

/// Inserts keys, some of them twice, into two empty filters of one plan: one by one, and in bulk.
template <class Filter>
void expect_the_same_in_bulk(Filter one_by_one, std::uint64_t inserted, std::uint64_t asked_for) {
  Filter in_bulk = one_by_one;
  std::vector<std::uint64_t> keys = keys_from(0, inserted);
  for (std::uint64_t i = 0; i < keys.size(); i += 7) keys[i] = mix_bits(i) % (i + 1);
  std::uint64_t added = 0;
  for (const std::uint64_t key : keys)
    added += one_by_one.insert(key) == insert_outcome::added ? 1u : 0u;
  EXPECT_EQ(in_bulk.bulk_insert(keys), added);
  EXPECT_TRUE(same_bytes(one_by_one.memory(), in_bulk.memory()));
  EXPECT_EQ(one_by_one.counts(), in_bulk.counts());
  const std::vector<std::uint64_t> asked = keys_from(0, asked_for);
  std::vector<bool> expected;
  for (const std::uint64_t key : asked) expected.push_back(one_by_one.may_contain(key));
  EXPECT_EQ(bulk_answers(in_bulk, asked), expected);
}

TEST(balanced_filter, leaves_the_same_bytes_and_counts_in_bulk) {
  for (const filter_plan& plan : all_small_plans()) {
    SCOPED_TRACE(balanced_plans::name_of(plan));
    with_filter(plan, 3, [&](auto filter) {
      expect_the_same_in_bulk(filter, plan.elements * 3 / 2, 3 * plan.elements);
    });
  }
}

class balanced_filter_at : public ::testing::TestWithParam<isa> {
  void SetUp() override {
    if (GetParam() > simd_supported()) GTEST_SKIP() << "this processor has none";
    limit_simd(GetParam());
  }
  void TearDown() override { limit_simd(most_simd); }
};
INSTANTIATE_TEST_SUITE_P(levels, balanced_filter_at, ::testing::Values(isa::avx2, isa::avx512),
                         [](const auto& level) { return std::string(name_of(level.param)); });

TEST_P(balanced_filter_at, has_the_same_bytes_and_answers_as_without_vector_instructions) {
  for (const filter_plan& plan : all_small_plans()) {
    SCOPED_TRACE(balanced_plans::name_of(plan));
    with_filter(plan, 4, [&](auto fast) {
      limit_simd(isa::plain);
      auto plain = std::remove_reference_t<decltype(fast)>(plan, seeded_hash(4));
      limit_simd(GetParam());
      const std::vector<std::uint64_t> keys = keys_from(0, plan.elements * 5 / 4);
      EXPECT_EQ(fast.bulk_insert(keys), plain.bulk_insert(keys));
      EXPECT_EQ(fast.insert(std::uint64_t{1} << 40), plain.insert(std::uint64_t{1} << 40));
      EXPECT_TRUE(same_bytes(fast.memory(), plain.memory()));
      EXPECT_EQ(fast.counts(), plain.counts());
      const std::vector<std::uint64_t> asked = keys_from(0, 3 * plan.elements);
      EXPECT_EQ(bulk_answers(fast, asked), bulk_answers(plain, asked));
      EXPECT_NEAR(fast.stats().current_fpr / plain.stats().current_fpr, 1, 1e-12);
    });
  }
}

TEST_P(balanced_filter_at, bulk_calls_do_what_single_calls_do_whatever_the_number_of_bits) {
  filter_plan plan = small_plan(scheme_kind::multilevel,
                                {.rule = lookup_rule::popcount, .tracking_bits = 12}, 512);
  for (plan.bits_set = 1; plan.bits_set <= 32; ++plan.bits_set) {
    SCOPED_TRACE(plan.bits_set);
    // Until the overflow is full.
    expect_the_same_in_bulk(balanced_filter(plan, seeded_hash(5)), 2 * plan.elements,
                            4 * plan.elements);
  }
}

TEST_P(balanced_filter_at, answers_one_key_as_it_answers_many) {
  // A query for one key looks at sixteen bits before it walks; blocks so dense that these are often
  // set where one of the others is not.
  for (const std::uint32_t bits_set : {1u, 7u, 8u, 9u, 16u, 17u, 24u, 30u})
    for (const block_state& state :
         {block_state{.rule = lookup_rule::popcount, .tracking_bits = 12},
          block_state{.rule = lookup_rule::tracking, .tracking_bits = 7}})
      for (const std::uint32_t block_bits : {256u, 512u}) {
        SCOPED_TRACE(bits_set);
        filter_plan plan = small_plan(scheme_kind::multilevel, state, block_bits);
        plan.bits_set = bits_set;
        plan.state.threshold = state.counts_elements() ? plan.state.threshold : block_bits * 9 / 10;
        basic_balanced_filter<multilevel, seeded_hash> filter(plan, seeded_hash(7));
        filter.bulk_insert(keys_from(0, plan.elements * 5 / 4));
        const std::vector<std::uint64_t> asked = keys_from(0, 8 * plan.elements);
        std::vector<bool> one_by_one;
        for (const std::uint64_t key : asked) one_by_one.push_back(filter.may_contain(key));
        EXPECT_EQ(one_by_one, bulk_answers(filter, asked));
      }
}

TEST(balanced_filter, explains_the_answer_it_gives) {
  for (const filter_plan& plan : all_small_plans()) {
    SCOPED_TRACE(balanced_plans::name_of(plan));
    with_filter(plan, 5, [&](auto filter) {
      std::array<std::uint64_t, 4> stopped{};
      // Half empty, and so full that some are in the overflow.
      for (const std::uint64_t elements : {plan.elements / 2, plan.elements * 2}) {
        filter.bulk_insert(keys_from(0, elements));
        for (std::uint64_t key = 0; key < 4 * plan.elements; ++key) {
          const lookup_path path = filter.explain(key);
          ASSERT_EQ(path.may_contain(), filter.may_contain(key));
          const bool overflow = path.stopped == lookup_path::stop::overflow ||
                                path.stopped == lookup_path::stop::not_in_overflow;
          ASSERT_EQ(path.accesses, path.level + 1 + (overflow ? 1 : 0));
          ASSERT_GE(path.lines, 1);
          ASSERT_TRUE(overflow ? path.level + 1 == plan.choices : path.lines <= path.accesses);
          ++stopped[static_cast<std::size_t>(path.stopped)];
        }
      }
      for (const std::uint64_t count : stopped) EXPECT_GT(count, 0);
    });
  }
}

TEST(balanced_filter, union_says_yes_wherever_either_did) {
  for (const filter_plan& plan : all_small_plans()) {
    SCOPED_TRACE(balanced_plans::name_of(plan));
    for (const double fill : {0.3, 0.7, 1.3}) {
      with_filter(plan, 6, [&](auto a) {
        auto b = a;
        const auto each = static_cast<std::uint64_t>(fill * static_cast<double>(plan.elements));
        a.bulk_insert(keys_from(0, each));
        b.bulk_insert(keys_from(each / 2, each));  // half of them in both
        const std::vector<std::uint64_t> asked = keys_from(0, 4 * plan.elements);
        const std::vector<bool> in_a = bulk_answers(a, asked), in_b = bulk_answers(b, asked);
        const filter_counts before = a.counts();
        ASSERT_EQ(a.merge(b), merge_outcome::merged);
        EXPECT_EQ(a.counts().size, before.size + b.counts().size);
        const std::vector<bool> in_union = bulk_answers(a, asked);
        for (std::size_t i = 0; i < asked.size(); ++i)
          ASSERT_TRUE(in_union[i] || !(in_a[i] || in_b[i])) << i;
        // And it goes on working: inserts say what a query said, nothing is lost.
        for (std::uint64_t key = 5 * plan.elements; key < 5 * plan.elements + 500; ++key) {
          const bool there = a.may_contain(key);
          ASSERT_EQ(a.insert(key) == insert_outcome::possibly_present, there);
          ASSERT_TRUE(a.may_contain(key));
        }
      });
    }
  }
}

TEST(balanced_filter, union_that_drops_entries_says_so_and_answers_yes_in_their_place) {
  filter_plan plan =
      small_plan(scheme_kind::multilevel, {.rule = lookup_rule::popcount, .tracking_bits = 4}, 512);
  plan.overflow_reserve = 40;
  plan.overflow_slots = 64;
  balanced_filter a(plan, seeded_hash(1)), b(plan, seeded_hash(1));
  a.bulk_insert(keys_from(0, plan.elements * 5 / 4));
  b.bulk_insert(keys_from(10 * plan.elements, plan.elements * 5 / 4));
  ASSERT_EQ(a.merge(b), merge_outcome::merged);
  EXPECT_GT(a.counts().dropped, 0);
  EXPECT_EQ(a.condition(), filter_condition::degraded);
  for (const std::uint64_t key : keys_from(10 * plan.elements, plan.elements * 5 / 4))
    ASSERT_TRUE(a.may_contain(key));
  std::uint64_t to_overflow = 0;
  for (const std::uint64_t key : keys_from(50 * plan.elements, 1000)) {
    ASSERT_NE(a.explain(key).stopped, lookup_path::stop::not_in_overflow);
    to_overflow += a.explain(key).stopped == lookup_path::stop::overflow ? 1u : 0u;
  }
  EXPECT_GT(to_overflow, 0);
}

TEST(balanced_filter, current_error_is_that_of_queries_for_absent_keys) {
  // 4 standard deviations of the sampled rate; 90 filters with one comparison each fail by chance
  // with probability 6e-3 if seeds were drawn anew. The rate itself differs from filter to filter
  // in what current_fpr sees: the bits as they are.
  constexpr double sigmas = 4;
  for (const filter_plan& plan : all_small_plans()) {
    SCOPED_TRACE(balanced_plans::name_of(plan));
    for (const double fill : {0.9, 1.5}) {
      with_filter(plan, 7, [&](auto filter) {
        filter.bulk_insert(
            keys_from(0, static_cast<std::uint64_t>(fill * static_cast<double>(plan.elements))));
        const std::uint64_t queries = 40'000;
        const auto answers = bulk_answers(filter, keys_from(std::uint64_t{1} << 32, queries));
        const auto yes = static_cast<double>(std::ranges::count(answers, true));
        const double expected = filter.stats().current_fpr;
        const double n = static_cast<double>(queries);
        EXPECT_NEAR(yes, expected * n, sigmas * std::sqrt(expected * (1 - expected) * n) + 1);
      });
    }
  }
}

TEST(balanced_filter, clear_leaves_an_empty_filter) {
  const filter_plan plan = small_plan(scheme_kind::multilevel, {.tracking_bits = 4}, 512);
  balanced_filter filter(plan, seeded_hash(1));
  const balanced_filter empty = filter;
  filter.bulk_insert(keys_from(0, 2 * plan.elements));
  EXPECT_FALSE(same_bytes(filter.memory(), empty.memory()));
  filter.clear();
  EXPECT_TRUE(same_bytes(filter.memory(), empty.memory()));
  EXPECT_EQ(filter.counts(), filter_counts{});
  EXPECT_EQ(filter.stats().current_fpr, 0);
  EXPECT_EQ(filter.stats().fill_fraction, 0);
}

TEST(balanced_filter, one_key_again_and_again_fills_nothing) {
  const filter_plan plan = small_plan(scheme_kind::multilevel, {.tracking_bits = 4}, 512);
  balanced_filter filter(plan, seeded_hash(1));
  filter.bulk_insert(keys_from(0, plan.elements * 6 / 5));
  const balanced_filter before = filter;
  for (int i = 0; i < 100'000; ++i)
    ASSERT_EQ(filter.insert(std::uint64_t{17}), insert_outcome::possibly_present);
  EXPECT_TRUE(same_bytes(filter.memory(), before.memory()));
  EXPECT_EQ(filter.counts(), before.counts());
}

TEST(balanced_filter, refuses_a_plan_for_another_scheme) {
  const filter_plan plan = small_plan(scheme_kind::sequential, {.tracking_bits = 4}, 512);
  EXPECT_THROW(balanced_filter(plan, seeded_hash(1)), std::invalid_argument);
  filter_plan uneven = small_plan(scheme_kind::d_left, {.tracking_bits = 4}, 512);
  std::swap(uneven.level_buckets[0], uneven.level_buckets[2]);
  using d_left_filter = basic_balanced_filter<d_left, seeded_hash>;
  EXPECT_THROW(d_left_filter(uneven, seeded_hash(1)), std::invalid_argument);
  // One level is single placement.
  filter_plan one = small_plan(scheme_kind::single, {.tracking_bits = 4}, 512);
  basic_balanced_filter<single, seeded_hash> as_single(one, seeded_hash(1));
  balanced_filter as_level(one, seeded_hash(1));
  as_single.bulk_insert(keys_from(0, one.elements));
  as_level.bulk_insert(keys_from(0, one.elements));
  EXPECT_TRUE(same_bytes(as_single.memory(), as_level.memory()));
}

struct measured {
  double fpr = 0;          // of queries
  double current_fpr = 0;  // of the bits as they are
  double miss_accesses = 0;
  double hit_accesses = 0;
};

/// Means over filters with seeds 1, ..., 5.
template <class Scheme>
measured measure(const filter_plan& plan, std::uint64_t queries) {
  constexpr std::uint64_t seeds = 5, explained = 100'000, chunk = 1'000'000;
  measured sum;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    basic_balanced_filter<Scheme, seeded_hash> filter(plan, seeded_hash(seed));
    filter.bulk_insert(keys_from(0, plan.elements));
    std::uint64_t yes = 0, negative = 0, positive = 0;
    for (std::uint64_t first = 0; first < queries; first += chunk) {
      const auto keys = keys_from((std::uint64_t{1} << 40) + first, chunk);
      const auto answers = std::make_unique<bool[]>(chunk);
      yes += filter.bulk_may_contain(keys, std::span(answers.get(), chunk));
    }
    for (std::uint64_t i = 0; i < explained; ++i) {
      negative += filter.explain((std::uint64_t{1} << 41) + i).accesses;
      positive += filter.explain(mix_bits(i) % plan.elements).accesses;
    }
    if (queries > 0) sum.fpr += static_cast<double>(yes) / static_cast<double>(queries * seeds);
    sum.current_fpr += filter.stats().current_fpr / static_cast<double>(seeds);
    const auto asked = static_cast<double>(explained * seeds);
    sum.miss_accesses += static_cast<double>(negative) / asked;
    sum.hit_accesses += static_cast<double>(positive) / asked;
  }
  return sum;
}

/// The error within 5 % and the accesses within 1 % of the model.
void expect_as_predicted(const balanced_plans::planned_filter& wanted, std::uint64_t queries) {
  SCOPED_TRACE(balanced_plans::name_of(wanted.plan));
  const measured found = wanted.plan.scheme == scheme_kind::sequential
                             ? measure<sequential>(wanted.plan, queries)
                             : measure<multilevel>(wanted.plan, queries);
  if (queries > 0) {
    // So many false positives are expected that 5 % are four standard deviations or more.
    const double false_positives = wanted.predicted.fpr * static_cast<double>(5 * queries);
    ASSERT_GE(0.05, 4 / std::sqrt(false_positives));
    EXPECT_NEAR(found.fpr / wanted.predicted.fpr, 1, 0.05);
  }
  EXPECT_NEAR(found.current_fpr / wanted.predicted.fpr, 1, 0.05);
  EXPECT_NEAR(found.miss_accesses / wanted.predicted.miss_accesses, 1, 0.01);
  EXPECT_NEAR(found.hit_accesses / wanted.predicted.hit_accesses, 1, 0.01);
}

TEST(balanced_filter, errs_and_reads_as_often_as_the_model_says) {
  expect_as_predicted(planned(popcount_shape(), popcount_arrivals, 400'000), 10'000'000);
  // 16 bits per element in blocks of 256.
  expect_as_predicted(planned({.block_bits = 256,
                               .bits_set = 10,
                               .choices = 4,
                               .rule = lookup_rule::popcount,
                               .threshold = 125,
                               .tracking_bits = 8},
                              17.635, 400'000),
                      2'000'000);
}

// The model knows nothing of elements that match a block by chance and stay there; below an error
// of 1e-3 in a block they change nothing that could be seen.
TEST(balanced_filter, follows_the_model_with_every_rule) {
  for (const auto& [rule, probability] :
       {std::pair{lookup_rule::counter, 0.0}, std::pair{lookup_rule::counter, 0.3},
        std::pair{lookup_rule::coin, 0.3}, std::pair{lookup_rule::flag, 0.3},
        std::pair{lookup_rule::coin_flag, 0.3}, std::pair{lookup_rule::tracking, 0.0}})
    for (const scheme_kind scheme : {scheme_kind::multilevel, scheme_kind::sequential})
      expect_as_predicted(planned({.block_bits = 512,
                                   .bits_set = 13,
                                   .scheme = scheme,
                                   .choices = 3,
                                   .rule = rule,
                                   .threshold = 24,
                                   .admit_probability = probability,
                                   .tracking_bits = 8},
                                  27, 200'000),
                          0);
}

}  // namespace
