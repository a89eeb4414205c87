// Searches of many shapes: seconds each.
#include <gtest/gtest.h>

#include <stdexcept>

#include "oneprobe/plan/filter.hpp"

namespace {

using namespace oneprobe;

constexpr std::uint64_t million = 1'000'000;

filter_plan planned(filter_needs needs) {
  needs.detail = plan_detail::plan_only;
  const filter_proposal proposal = plan_filter(needs);
  EXPECT_TRUE(proposal.plan) << proposal.reason;
  if (!proposal.plan) throw std::logic_error(proposal.reason);
  EXPECT_FALSE(find_fault(*proposal.plan)) << *find_fault(*proposal.plan);
  return *proposal.plan;
}

TEST(plan_filter, keeps_to_the_accesses_and_the_choices) {
  for (const double accesses : {1.02, 1.3})
    for (const std::uint32_t choices : {1u, 4u}) {
      const filter_plan plan = planned({.elements = million,
                                        .bits_per_element = 28,
                                        .accesses = accesses,
                                        .largest_choices = choices,
                                        .kind = filter_kind::balanced});
      EXPECT_LE(plan.predicted.miss_accesses, accesses);
      EXPECT_LE(plan.choices, choices);
    }
  const filter_plan scattered =
      planned({.elements = million, .fpr = 1e-3, .accesses = 1.5, .kind = filter_kind::standard});
  EXPECT_LE(scattered.predicted.miss_accesses, 1.5);
}

TEST(plan_filter, every_rule_and_scheme_that_the_model_covers_has_a_plan) {
  for (const lookup_rule rule : {lookup_rule::counter, lookup_rule::coin, lookup_rule::flag,
                                 lookup_rule::coin_flag, lookup_rule::tracking}) {
    const filter_plan plan =
        planned({.elements = million, .fpr = 1e-4, .kind = filter_kind::balanced, .rule = rule});
    EXPECT_EQ(plan.state.rule, rule);
    EXPECT_LE(plan.predicted.fpr, 1e-4);
    EXPECT_LE(plan.predicted.miss_accesses, 1.2);
  }
  for (const scheme_kind scheme : {scheme_kind::single, scheme_kind::sequential}) {
    const filter_plan plan = planned(
        {.elements = million, .fpr = 1e-4, .kind = filter_kind::balanced, .scheme = scheme});
    EXPECT_EQ(plan.scheme, scheme);
    EXPECT_EQ(plan.levels, 1u);
    EXPECT_LE(plan.predicted.fpr, 1e-4);
  }
}

TEST(plan_filter, a_balanced_filter_that_is_too_small_gets_the_nearest_size) {
  const filter_proposal proposal =
      plan_filter({.elements = 10, .bytes = 180, .kind = filter_kind::balanced});
  EXPECT_FALSE(proposal.plan);
  ASSERT_TRUE(proposal.nearest);
  EXPECT_TRUE(plan_filter(*proposal.nearest).plan);
}

}  // namespace
