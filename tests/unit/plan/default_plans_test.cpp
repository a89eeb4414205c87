#include "oneprobe/filter/default_plan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <stdexcept>

#include "oneprobe/model/bloom.hpp"
#include "oneprobe/plan/filter.hpp"

namespace {

using namespace oneprobe;

constexpr filter_kind kinds[] = {filter_kind::standard, filter_kind::partitioned,
                                 filter_kind::blocked,  filter_kind::counting,
                                 filter_kind::balanced, filter_kind::fingerprint};

/// Ends of cells, their middles, and what people type.
constexpr double errors[] = {1e-9,   1.3e-9, 2.2e-8, 1e-6, 1e-5, 4.4e-5, 1e-4,
                             2.5e-4, 1e-3,   3e-3,   0.01, 0.05, 0.2,    0.5};

TEST(default_plans, keep_the_error_and_the_predictions_are_the_models) {
  for (const filter_kind kind : kinds)
    for (const double fpr : errors) {
      const filter_plan plan = default_filter_plan(kind, 10'000'000, fpr);
      ASSERT_FALSE(find_fault(plan)) << *find_fault(plan);
      const overfill_forecast by_model = forecast(plan, plan.elements);
      // Interpolated between points of the model.
      EXPECT_LE(by_model.predicted.fpr, 1.005 * fpr) << name_of(kind) << ' ' << fpr;
      EXPECT_NEAR(by_model.predicted.fpr, plan.predicted.fpr, 0.01 * fpr) << name_of(kind);
      EXPECT_NEAR(by_model.predicted.miss_accesses, plan.predicted.miss_accesses,
                  0.002 * plan.predicted.miss_accesses)
          << name_of(kind) << ' ' << fpr;
      EXPECT_NEAR(by_model.predicted.hit_accesses, plan.predicted.hit_accesses,
                  0.002 * plan.predicted.hit_accesses)
          << name_of(kind) << ' ' << fpr;
      if (plan.has_candidates()) {
        EXPECT_LE(by_model.predicted.miss_accesses, 1.2001) << fpr;
        EXPECT_EQ(plan.scheme, scheme_kind::multilevel);
        EXPECT_LE(plan.choices, 3u);
        const std::uint64_t absorbed = kind == filter_kind::fingerprint ? 10'450'000 : 10'150'000;
        EXPECT_NE(forecast(plan, absorbed).condition, filter_condition::degraded) << fpr;
      }
    }
}

TEST(default_plans, need_hardly_more_memory_than_the_planners) {
  for (const filter_kind kind : kinds)
    for (const double fpr : {1e-8, 1.4e-6, 1e-4, 2.2e-3}) {
      const filter_plan plan = default_filter_plan(kind, 10'000'000, fpr);
      const filter_proposal best = plan_filter(
          {.elements = 10'000'000, .fpr = fpr, .kind = kind, .detail = plan_detail::plan_only});
      ASSERT_TRUE(best.plan);
      // A cell has one block for all its errors: that costs most where blocks are few and crowded.
      const double spared = fpr < 1e-7 ? 0.03 : 0.015;
      EXPECT_LE(plan.bits_per_element(), (1 + spared) * best.plan->bits_per_element())
          << name_of(kind) << ' ' << fpr;
      EXPECT_GE(plan.bits_per_element(), 0.995 * best.plan->bits_per_element())
          << name_of(kind) << ' ' << fpr;
    }
}

TEST(default_plans, small_filters_err_no_more_than_asked) {
  for (const filter_kind kind : kinds)
    for (const std::uint64_t n : {1u, 2u, 10u, 100u, 3000u, 100'000u})
      for (const double fpr : {1e-6, 1e-3, 0.1}) {
        const filter_plan plan = default_filter_plan(kind, n, fpr);
        ASSERT_FALSE(find_fault(plan)) << *find_fault(plan);
        EXPECT_LE(forecast(plan, n).predicted.fpr, 1.005 * fpr) << name_of(kind) << ' ' << n;
        // The exact error of so few bits is a little above that of the formula.
        if (kind == filter_kind::standard) {
          EXPECT_LE(model::standard_error_exact(plan.cells, n, plan.bits_set), 1.001 * fpr) << n;
        }
      }
}

TEST(default_plans, refuse_what_is_outside_the_limits) {
  for (const filter_kind kind : kinds) {
    EXPECT_THROW(default_filter_plan(kind, 0, 0.01), std::invalid_argument);
    EXPECT_THROW(default_filter_plan(kind, 10, 0.6), std::invalid_argument);
    EXPECT_THROW(default_filter_plan(kind, 10, 0.9e-9), std::invalid_argument);
    EXPECT_THROW(default_filter_plan(kind, 10, std::numeric_limits<double>::quiet_NaN()),
                 std::invalid_argument);
    EXPECT_THROW(default_filter_plan(kind, std::uint64_t{1} << 40, 0.01), std::invalid_argument);
  }
}

}  // namespace
