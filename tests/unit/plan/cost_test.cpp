#include "oneprobe/plan/cost.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include "oneprobe/plan/filter.hpp"
#include "oneprobe/plan/summary.hpp"
#include "oneprobe/plan/table.hpp"

namespace {

using namespace oneprobe;

constexpr std::uint64_t million = 1'000'000;

filter_plan planned(filter_needs needs) {
  needs.detail = plan_detail::plan_only;
  return plan_filter(needs).plan.value();
}
table_plan planned(table_needs needs) {
  needs.detail = plan_detail::plan_only;
  return plan_table(needs).plan.value();
}

// An overflow that is as dear as an access is one: then costs are the predicted accesses.
TEST(cost, of_a_filter_is_that_of_its_accesses) {
  const filter_plan plan = planned({.elements = million,
                                    .bits_per_element = 24,
                                    .largest_choices = 2,
                                    .kind = filter_kind::balanced});
  ASSERT_GT(plan.predicted.overflow_fraction, 1e-6);
  const operation_costs same = cost_of(plan, {.access = 1, .overflow = 1});
  EXPECT_NEAR(same.hit, plan.predicted.hit_accesses, 1e-12);
  EXPECT_NEAR(same.miss, plan.predicted.miss_accesses, 1e-12);
  EXPECT_NEAR(same.insert, plan.predicted.insert_accesses, 1e-12);
  EXPECT_NEAR(same.mean, (same.hit + same.miss + same.insert) / 3, 1e-12);
  // A dearer overflow: only what is looked for in it costs more.
  const operation_costs dear = cost_of(plan, {.access = 100, .overflow = 2100});
  EXPECT_NEAR(dear.hit, 100 * same.hit + 2000 * plan.predicted.overflow_fraction, 1e-6);
  EXPECT_NEAR(dear.insert, 100 * same.insert + 2000 * plan.predicted.overflow_fraction, 1e-6);
  EXPECT_GT(dear.miss, 100 * same.miss);
}

TEST(cost, of_a_table_counts_the_overflow_apart) {
  const table_plan plan =
      planned({.elements = million, .overflow_fraction = 0.01, .largest_choices = 2});
  const double overflow = plan.predicted.overflow_fraction;
  ASSERT_GT(overflow, 1e-4);
  const operation_costs free = cost_of(plan, {.access = 1, .overflow = 0});
  EXPECT_NEAR(free.hit, plan.predicted.hit_accesses, 1e-12);
  EXPECT_NEAR(free.miss, plan.predicted.miss_accesses, 1e-12);
  EXPECT_NEAR(free.insert, plan.predicted.insert_accesses, 1e-12);
  const operation_costs dear = cost_of(plan, {.access = 1, .overflow = 20});
  EXPECT_NEAR(dear.hit, free.hit + 20 * overflow, 1e-12);
  // An absent key goes past the last bucket for a note of its kind: oftener than elements do, but
  // not for every bucket that is full.
  const double past = (dear.miss - free.miss) / 20;
  EXPECT_GT(past, 0.1 * overflow);
  EXPECT_LT(past, 0.1);
  EXPECT_NEAR(dear.insert, free.insert + 20 * (overflow + past), 1e-12);
  // As many of each operation as there are.
  const operation_costs hits_only =
      cost_of(plan, {.access = 1, .overflow = 20, .hits = 3, .misses = 0, .inserts = 0});
  EXPECT_DOUBLE_EQ(hits_only.mean, hits_only.hit);
}

TEST(cost, of_a_summary_is_one_access_and_hardly_any_for_an_absent_key) {
  const summary_plan plan = *plan_summary({.elements = 10'000}).plan;
  const operation_costs each = cost_of(plan, {.access = 70, .overflow = 1});
  EXPECT_NEAR(each.hit, 70, 1e-6);
  EXPECT_NEAR(each.miss, 70 * plan.predicted.absent_read_probability, 1e-6);
  EXPECT_NEAR(each.insert, 70 + each.miss, 1e-6);
}

TEST(cost, a_budget_for_filters_is_kept_in_its_unit) {
  const auto within = [](double overflow, double budget) {
    return filter_needs{.elements = million,
                        .bits_per_element = 24,
                        .costs = access_costs{.access = 100, .overflow = overflow},
                        .budget = budget,
                        .kind = filter_kind::balanced};
  };
  for (const double overflow : {100.0, 10'000.0, 1e6}) {
    const filter_plan plan = planned(within(overflow, 115));
    EXPECT_LE(cost_of(plan, {.access = 100, .overflow = overflow}).miss, 115 * (1 + 1e-9))
        << overflow;
  }
  // The same as the accesses that it buys.
  const filter_plan accesses = planned({.elements = million,
                                        .bits_per_element = 24,
                                        .accesses = 1.15,
                                        .kind = filter_kind::balanced});
  EXPECT_TRUE(same_shape(planned(within(100, 115)), accesses));
  // A dear list is avoided, and that costs error.
  EXPECT_GE(planned(within(1e6, 115)).predicted.fpr, accesses.predicted.fpr);
  EXPECT_LT(cost_of(planned(within(1e6, 115)), {.access = 100, .overflow = 1e6}).miss,
            cost_of(accesses, {.access = 100, .overflow = 1e6}).miss + 1e-9);
}

TEST(cost, nonsense_is_refused_by_name) {
  const auto refusal = [](const access_costs& costs) -> std::string {
    try {
      plan_table({.elements = 1000, .costs = costs});
    } catch (const std::invalid_argument& refused) {
      return refused.what();
    }
    return "";
  };
  EXPECT_EQ(refusal({.access = 0}).find("access_cost"), 0u);
  EXPECT_EQ(refusal({.overflow = -1}).find("overflow_cost"), 0u);
  EXPECT_EQ(refusal({.hits = 0, .misses = 0, .inserts = 0}).find("operations"), 0u);
  EXPECT_THROW(plan_filter({.elements = 5, .fpr = 0.1, .budget = 3}), std::invalid_argument);
  EXPECT_THROW(plan_table({.elements = 5, .budget = 3}), std::invalid_argument);
  EXPECT_THROW(plan_table({.elements = 5, .costs = access_costs{}, .budget = 0.5}),
               std::invalid_argument);
  EXPECT_THROW(plan_filter({.elements = 5, .fpr = 0.1, .costs = access_costs{}, .budget = 0.5}),
               std::invalid_argument);
}

TEST(cam, has_room_for_the_tail_that_is_asked_for) {
  const table_proposal proposal =
      plan_table({.elements = 20 * million, .overflow_fraction = 1e-3, .overfill = 0});
  ASSERT_TRUE(proposal.plan);
  EXPECT_DOUBLE_EQ(proposal.cam.mean_entries, proposal.plan->predicted.overflow_mean);
  EXPECT_GT(static_cast<double>(proposal.cam.entries),
            proposal.cam.mean_entries + 4 * proposal.plan->predicted.overflow_deviation);
  EXPECT_LE(proposal.cam.entries, proposal.cam.entries_over_full);
  EXPECT_EQ(proposal.cam.entry_bits, 128u);
  EXPECT_EQ(proposal.cam.tail_probability, 1e-9);
  const filter_proposal filter = plan_filter({.elements = 10 * million,
                                              .bits_per_element = 40,
                                              .largest_choices = 2,
                                              .kind = filter_kind::balanced});
  EXPECT_GT(static_cast<double>(filter.cam.entries), filter.cam.mean_entries);
}

TEST(cam, of_a_summary_takes_whatever_fails) {
  // Nothing does, but in one table of a billion.
  const summary_proposal sure = plan_summary({.elements = 10'000, .failure_probability = 1e-10});
  EXPECT_EQ(sure.cam.entries, 0u);
  EXPECT_GE(sure.cam.entries_over_full, sure.cam.entries);
  EXPECT_EQ(sure.cam.entry_bits, 128u);
  // P(more than 2 of a Poisson number of mean 1e-3) is 1.7e-10, P(more than 1) 5e-7.
  const summary_proposal often = plan_summary({.elements = 10'000, .failure_probability = 1e-3});
  EXPECT_NEAR(often.cam.mean_entries, 1e-3, 5e-4);
  EXPECT_EQ(often.cam.entries, 2u);
  // What waits during a reconstruction is there too.
  const summary_proposal lazy = plan_summary(
      {.elements = 10'000, .deletion = summary_deletion::lazy, .failure_probability = 1e-3});
  EXPECT_GT(lazy.cam.mean_entries, lazy.plan->predicted.reconstruction_moves);
  EXPECT_GT(lazy.cam.entries, 100u);
}

}  // namespace
