#include "oneprobe/plan/chain.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

#include "oneprobe/detail/placement/schemes.hpp"
#include "oneprobe/hash.hpp"
#include "oneprobe/map/chained_map.hpp"
#include "oneprobe/model/balance.hpp"

using namespace oneprobe;

namespace {

template <class Scheme>
chain_stats filled(const chain_plan& plan, std::uint64_t seed) {
  chained_map<std::uint64_t, int, seeded_hash, std::equal_to<>, Scheme> map(plan,
                                                                            seeded_hash(seed));
  for (std::uint64_t key = 0; key < plan.elements; ++key) map.insert(key, 1);
  return map.stats();
}

TEST(plan_chains, reaches_the_bound_on_its_budget) {
  for (const double accesses : {1.05, 1.2, 1.5, 2.0})
    for (const std::uint32_t choices : {2u, 3u, 4u}) {
      SCOPED_TRACE(std::to_string(accesses) + " of " + std::to_string(choices));
      const chain_plan plan =
          plan_chains({.elements = 800'000, .accesses = accesses, .choices = choices});
      EXPECT_FALSE(find_fault(plan));
      EXPECT_EQ(plan.buckets(), 100'000u);
      EXPECT_NEAR(plan.predicted.placement_accesses, accesses, 1e-9);
      const model::balance_bound bound =
          model::lower_bound_loads(8, accesses, plan.predicted.overflow_fraction);
      EXPECT_NEAR(plan.predicted.length_variance, bound.loads.variance(), 1e-9);
      EXPECT_LT(plan.predicted.length_variance, plan.predicted.single_variance);
    }
}

// Chains of 20,000 buckets: the variance of a table strays by about two percent.
TEST(plan_chains, predicts_what_a_map_does) {
  const chain_plan plan = plan_chains({.elements = 160'000});
  const chain_stats seen = filled<multilevel>(plan, 1);
  const double overflowed = 160'000 * plan.predicted.overflow_fraction;
  EXPECT_NEAR(seen.placement_accesses / plan.predicted.placement_accesses, 1, 0.01);
  EXPECT_NEAR(seen.length_mean / plan.predicted.length_mean, 1, 0.01);
  EXPECT_NEAR(seen.length_variance / plan.predicted.length_variance, 1, 0.06);
  EXPECT_NEAR(static_cast<double>(seen.overflow), overflowed, 6 * std::sqrt(overflowed) + 50);
  // Elements that no bucket admits are in chains of their own, no longer than the others on
  // average.
  EXPECT_NEAR(overflowed / static_cast<double>(plan.overflow_buckets), 8, 1);
}

TEST(plan_chains, of_one_choice_are_the_ordinary_table) {
  const chain_plan plan = plan_chains({.elements = 160'000, .accesses = 1, .choices = 1});
  EXPECT_EQ(plan.scheme, scheme_kind::single);
  EXPECT_EQ(plan.predicted.length_variance, plan.predicted.single_variance);
  EXPECT_NEAR(filled<single>(plan, 1).length_variance / plan.predicted.length_variance, 1, 0.06);
  // A budget of one access leaves no choice.
  EXPECT_EQ(plan_chains({.elements = 160'000, .accesses = 1}).scheme, scheme_kind::single);
}

TEST(plan_chains, of_very_few_elements_have_a_chain_per_level) {
  const chain_plan plan = plan_chains({.elements = 1, .choices = 8});
  EXPECT_EQ(plan.buckets(), 8u);
  EXPECT_EQ(filled<multilevel>(plan, 1).size, 1u);
}

TEST(plan_chains, name_what_is_out_of_range) {
  const auto refusal = [](const chain_needs& needs) -> std::string {
    try {
      plan_chains(needs);
    } catch (const std::invalid_argument& refused) {
      return refused.what();
    }
    return "accepted";
  };
  EXPECT_EQ(refusal({.elements = 0}), "elements must be from 1 to 4294967296; found 0");
  EXPECT_EQ(refusal({.elements = 5, .accesses = 3.5}), "accesses must be from 1 to 3; found 3.5");
  EXPECT_EQ(refusal({.elements = 5, .choices = 9}), "choices must be from 1 to 8; found 9");
  EXPECT_EQ(refusal({.elements = 5, .elements_per_chain = 0}),
            "elements_per_chain must be from 0.001 to 1000; found 0");
  EXPECT_EQ(refusal({.elements = 5, .accesses = std::nan("")}),
            "accesses must be from 1 to 3; found nan");
}

}  // namespace
