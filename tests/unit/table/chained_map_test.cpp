// Chains: as any map, and as even as they were planned to be.
#include "oneprobe/table/chained_map.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "oneprobe/core/levels.hpp"
#include "oneprobe/model/balance.hpp"
#include "support/sampled.hpp"

using namespace oneprobe;

namespace {

using number = std::uint64_t;

chain_plan plan_of(scheme_kind scheme, std::uint64_t buckets = 64) {
  chain_plan plan;
  plan.elements = 4 * buckets;
  plan.scheme = scheme;
  plan.choices = scheme == scheme_kind::single ? 1 : 3;
  plan.overflow_buckets = 4;
  if (scheme == scheme_kind::multilevel || scheme == scheme_kind::d_left) {
    plan.levels = 3;
    plan.level_buckets = {buckets / 3 + buckets % 3, buckets / 3, buckets / 3};
    if (scheme == scheme_kind::d_left) plan.level_buckets = {22, 21, 21};
  } else {
    plan.level_buckets = {buckets};
  }
  if (scheme == scheme_kind::multilevel || scheme == scheme_kind::sequential) {
    plan.threshold = 4;
    plan.admit_probability = 0.3;
  }
  return plan;
}

template <class Scheme>
void agrees_with_its_twin(scheme_kind kind) {
  chained_map<number, std::string, seeded_hash, std::equal_to<>, Scheme> map(plan_of(kind),
                                                                             seeded_hash(1));
  std::unordered_map<number, std::string> twin;
  std::mt19937_64 random(2);
  for (int i = 0; i < 60'000; ++i) {
    const number key = random() % 700;
    const std::string value = "a value that needs memory: " + std::to_string(random() % 100);
    switch (random() % 4) {
      case 0: {
        const auto found = map.insert(key, value);
        ASSERT_EQ(found.outcome == insertion::present, twin.contains(key));
        twin.emplace(key, value);
        ASSERT_EQ(found.element->value, twin.at(key));
        break;
      }
      case 1:
        map.insert_or_assign(key, value);
        twin[key] = value;
        break;
      case 2:
        ASSERT_EQ(map.erase(key) == erase_outcome::erased, twin.erase(key) == 1);
        break;
      default: {
        const auto* found = map.find(key);
        ASSERT_EQ(found != nullptr, twin.contains(key));
        if (found != nullptr) {
          ASSERT_EQ(found->value, twin.at(key));
        }
        const chain_path path = map.explain(key);
        ASSERT_EQ(path.found, found != nullptr);
        ASSERT_LE(path.accesses, map.plan().choices + 1);
      }
    }
    ASSERT_EQ(map.size(), twin.size());
  }
  std::size_t seen = 0;
  map.for_each([&](const auto& element) {
    ++seen;
    EXPECT_EQ(twin.at(element.key), element.value);
  });
  EXPECT_EQ(seen, twin.size());
  for (number key = 0; key < 700; ++key) map.erase(key);
  EXPECT_TRUE(map.empty());
  EXPECT_EQ(map.explain(1).accesses, 1u) << "a note was left";
  EXPECT_EQ(map.stats().longest, 0u);
}

TEST(chained_map, agrees_with_its_twin_under_every_scheme) {
  agrees_with_its_twin<single>(scheme_kind::single);
  agrees_with_its_twin<sequential>(scheme_kind::sequential);
  agrees_with_its_twin<multilevel>(scheme_kind::multilevel);
  agrees_with_its_twin<d_random>(scheme_kind::d_random);
  agrees_with_its_twin<d_left>(scheme_kind::d_left);
}

TEST(chained_map, is_as_before_when_a_constructor_throws) {
  struct thrower {
    explicit thrower(bool throws) {
      if (throws) throw std::runtime_error("no");
    }
  };
  chained_map<number, thrower> map(plan_of(scheme_kind::multilevel), seeded_hash(1));
  for (number key = 0; key < 500; ++key) {
    EXPECT_THROW(map.try_emplace(key, true), std::runtime_error);
    EXPECT_FALSE(map.contains(key));
    if (key % 2 == 0) map.try_emplace(key, false);
  }
  EXPECT_EQ(map.size(), 250u);
  for (number key = 0; key < 500; ++key) map.erase(key);
  EXPECT_EQ(map.explain(1).accesses, 1u);
}

TEST(chained_map, has_chains_as_even_as_the_bound_allows) {
  const std::uint64_t buckets = 20'000;
  const double length = 8;
  constexpr int tables = 8;
  for (const double accesses : {1.1, 1.2, 1.3}) {
    SCOPED_TRACE(accesses);
    const model::balance_plan best = model::multilevel_balance(
        {.elements_per_bucket = length, .choices = 3, .accesses = accesses});
    chain_plan plan;
    plan.elements = static_cast<std::uint64_t>(length * static_cast<double>(buckets));
    plan.scheme = scheme_kind::multilevel;
    plan.levels = plan.choices = 3;
    const auto sizes = split_into_levels(buckets, best.level_fractions);
    std::copy(sizes.begin(), sizes.end(), plan.level_buckets.begin());
    plan.threshold = best.threshold;
    plan.admit_probability = best.admit_probability;
    plan.overflow_buckets = buckets / 100;

    // The variance of one table strays by about its fourth moment over the buckets; from several
    // tables its standard error is seen, not assumed.
    std::vector<double> even, ordinary;
    double mean_accesses = 0;
    for (std::uint64_t seed = 1; seed <= tables; ++seed) {
      chained_map<number, number> map(plan, seeded_hash(seed));
      for (number key = 0; key < plan.elements; ++key) map.insert(key, key);
      even.push_back(map.stats().length_variance);
      mean_accesses += map.stats().insert_accesses / tables;
      chained_map<number, number, seeded_hash, std::equal_to<>, single> one_choice(
          plan_of(scheme_kind::single, buckets), seeded_hash(seed));
      for (number key = 0; key < plan.elements; ++key) one_choice.insert(key, key);
      ordinary.push_back(one_choice.stats().length_variance);
    }
    const auto [mean, error] = sampled::of(even);
    const auto [single_mean, single_error] = sampled::of(ordinary);
    const double bound =
        model::lower_bound_loads(length, accesses, best.overflow_fraction).loads.variance();
    EXPECT_NEAR(mean, bound, 3 * error);
    EXPECT_NEAR(mean_accesses, accesses, 0.01);
    const double ratio = single_mean / mean;
    const double ratio_error = ratio * std::hypot(error / mean, single_error / single_mean);
    EXPECT_NEAR(ratio, length / bound, 3 * ratio_error);
  }
}

}  // namespace
