#include "oneprobe/map/default_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "oneprobe/plan/table.hpp"

namespace {

using namespace oneprobe;

table_plan planned(std::uint64_t elements, std::uint32_t bucket_capacity) {
  const table_proposal proposal = plan_table(
      {.elements = elements, .bucket_capacity = bucket_capacity, .detail = plan_detail::plan_only});
  if (!proposal.plan) throw std::logic_error(proposal.reason);
  return *proposal.plan;
}

TEST(default_table_plan, is_what_the_planner_says) {
  for (const std::uint32_t capacity : {1u, 4u, 8u, 13u, 16u})
    for (const std::uint64_t n : {1ull, 2ull, 16ull, 17ull, 100ull, 999ull, 12'345ull, 1'000'000ull,
                                  20'000'000ull, 123'456'789ull, 1'000'000'000ull}) {
      const table_plan plan = default_table_plan(n, capacity);
      const table_plan best = planned(n, capacity);
      ASSERT_FALSE(find_fault(plan)) << *find_fault(plan);
      EXPECT_EQ(plan.elements, n);
      EXPECT_EQ(plan.bucket_capacity, capacity);
      EXPECT_EQ(plan.scheme, best.scheme);
      EXPECT_EQ(plan.workload, best.workload);
      ASSERT_EQ(plan.levels, best.levels);
      for (std::uint32_t level = 0; level < plan.levels; ++level)
        EXPECT_NEAR(static_cast<double>(plan.level_buckets[level]),
                    static_cast<double>(best.level_buckets[level]), 1)
            << n << ' ' << capacity;
      EXPECT_GE(plan.overflow_reserve, best.overflow_reserve) << n << ' ' << capacity;
      EXPECT_LE(plan.overflow_reserve, best.overflow_reserve + best.overflow_reserve / 10 + 4)
          << n << ' ' << capacity;

      // The planner's model of the very same table.
      const table_prediction& said = plan.predicted;
      const table_prediction model = forecast(plan, n, 16).predicted;
      const auto agree = [&](double found, double expected, double tolerance) {
        EXPECT_NEAR(found, expected, tolerance * expected) << n << ' ' << capacity;
      };
      agree(said.insert_accesses, model.insert_accesses, 1e-9);
      agree(said.hit_accesses, model.hit_accesses, 1e-9);
      agree(said.miss_accesses, model.miss_accesses, 1e-9);
      agree(said.overflow_fraction, model.overflow_fraction, 1e-6);
      agree(said.overflow_mean, model.overflow_mean, 1e-6);
      // Bursts are taken as large as those of an over-full table; far below they are single.
      EXPECT_GE(said.overflow_deviation, 0.98 * model.overflow_deviation) << n << ' ' << capacity;
      EXPECT_LE(said.overflow_deviation, 1.3 * model.overflow_deviation) << n << ' ' << capacity;
      EXPECT_LE(said.exceed_probability, 1e-9);
      EXPECT_LE(model.exceed_probability, 1e-9);
    }
}

TEST(default_table_plan, refuses_what_is_outside_the_limits) {
  EXPECT_THROW(default_table_plan(0), std::invalid_argument);
  EXPECT_THROW(default_table_plan((std::uint64_t{1} << 40) + 1), std::invalid_argument);
  EXPECT_THROW(default_table_plan(std::uint64_t{1} << 40, 1), std::invalid_argument);
  EXPECT_THROW(default_table_plan(10, 0), std::invalid_argument);
  EXPECT_THROW(default_table_plan(10, 17), std::invalid_argument);
  EXPECT_FALSE(find_fault(default_table_plan(std::uint64_t{1} << 40)));
}

}  // namespace
