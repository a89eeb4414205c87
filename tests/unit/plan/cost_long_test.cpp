// Plans of tables by what they cost: each of them looks at many tables, and takes seconds.
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "oneprobe/plan/cost.hpp"
#include "oneprobe/plan/table.hpp"

namespace {

using namespace oneprobe;

constexpr std::uint64_t million = 1'000'000;

table_plan planned(table_needs needs) {
  needs.detail = plan_detail::plan_only;
  return plan_table(needs).plan.value();
}

TEST(cost, tables_overflow_more_where_that_is_cheap_and_less_where_it_is_dear) {
  const auto with = [](double overflow) {
    return table_needs{.elements = million,
                       .overflow_fraction = 0.05,
                       .costs = access_costs{.access = 100, .overflow = overflow}};
  };
  const table_plan usual = planned(table_needs{.elements = million});
  double before = 1;
  for (const double overflow : {100.0, 2000.0, 1e5, 1e7}) {
    const table_plan plan = planned(with(overflow));
    const access_costs costs = *with(overflow).costs;
    EXPECT_LE(plan.memory(16).total(), usual.memory(16).total()) << overflow;
    EXPECT_LE(cost_of(plan, costs).mean, cost_of(usual, costs).mean * (1 + 1e-9)) << overflow;
    EXPECT_LE(plan.predicted.overflow_fraction, before) << overflow;
    before = plan.predicted.overflow_fraction;
  }
  EXPECT_GT(planned(with(100)).predicted.overflow_fraction,
            100 * usual.predicted.overflow_fraction);
  EXPECT_LT(planned(with(1e7)).predicted.overflow_fraction, 1e-6);
  // The alternatives say by how much they are dearer; none is cheaper.
  const table_proposal proposal = plan_table(with(2000));
  const double best = cost_of(*proposal.plan, *with(2000).costs).mean;
  ASSERT_GE(proposal.alternatives.size(), 4u);
  for (const table_alternative& other : proposal.alternatives)
    if (other.plan) {
      EXPECT_GE(cost_of(*other.plan, *with(2000).costs).mean, best) << other.name;
    }
}

TEST(cost, a_budget_for_tables_is_kept_in_the_least_memory) {
  const access_costs costs{.access = 100, .overflow = 2000};
  const auto within = [&](double budget) {
    return table_needs{.elements = million,
                       .overflow_fraction = 0.05,
                       .largest_choices = 3,
                       .costs = costs,
                       .budget = budget};
  };
  std::uint64_t before = std::numeric_limits<std::uint64_t>::max();
  for (const double budget : {108.0, 120.0, 140.0}) {
    const table_plan plan = planned(within(budget));
    const std::uint64_t bytes = plan.memory(16).total();
    EXPECT_LE(cost_of(plan, costs).mean, budget);
    EXPECT_LT(bytes, before) << budget;
    before = bytes;
    // In a few percent less it cannot be kept.
    table_needs less = within(budget);
    less.bytes = static_cast<std::uint64_t>(0.96 * static_cast<double>(bytes));
    const table_proposal refused = plan_table(less);
    EXPECT_FALSE(refused.plan) << budget;
    ASSERT_TRUE(refused.nearest && refused.nearest->budget) << refused.reason;
    EXPECT_GT(*refused.nearest->budget, budget);
    EXPECT_TRUE(plan_table(*refused.nearest).plan);
  }
  // An insertion of a new key reads a bucket, and so does a hit: less than that is not to be had.
  const table_proposal never = plan_table(within(100));
  EXPECT_FALSE(never.plan);
  ASSERT_TRUE(never.nearest && never.nearest->budget);
  EXPECT_TRUE(plan_table(*never.nearest).plan);
}

}  // namespace
