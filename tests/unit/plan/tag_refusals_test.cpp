#include "oneprobe/detail/planning/tag_refusals.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "oneprobe/model/churn.hpp"
#include "oneprobe/model/grouped_slots.hpp"
#include "oneprobe/model/poisson.hpp"

namespace {

using namespace oneprobe;
using detail::tag_refusals;
using detail::tag_refusals_of;

struct refused {
  double all;
  double for_tags;
};

refused by_model(table_workload workload, const model::grouped_slots& bucket, double arrivals) {
  const bool churns = workload == table_workload::churn;
  const double all =
      churns ? model::refused_churning(bucket, arrivals) : model::refused_filling(bucket, arrivals);
  const double when_full = churns ? model::erlang_b(bucket.slots, arrivals)
                                  : model::poisson_excess(arrivals, bucket.slots) / arrivals;
  return {.all = all, .for_tags = all - when_full};
}

TEST(tag_refusals, are_the_models) {
  for (const table_workload workload : {table_workload::churn, table_workload::fill_only})
    for (const std::uint32_t slot_bytes : {8u, 16u})
      for (const std::uint32_t slots : {8u, 12u, 16u}) {
        const tag_refusals* refusals = tag_refusals_of(workload, slots, slot_bytes);
        const model::grouped_slots bucket{.slots = slots,
                                          .group_slots = group_slots_of(slot_bytes, slots)};
        ASSERT_EQ(refusals != nullptr, bucket.group_slots < slots);
        if (refusals == nullptr) continue;
        const auto compare = [&](double load, double tolerance) {
          const double arrivals = load * slots;
          const refused expected = by_model(workload, bucket, arrivals);
          const tag_refusals::value found = refusals->at(arrivals);
          EXPECT_NEAR(found.fraction, expected.for_tags, tolerance * expected.all)
              << name_of(workload) << ' ' << slots << ' ' << arrivals;
          const double beside = refusals->at(arrivals * (1 + 1e-6)).fraction;
          EXPECT_NEAR(found.slope, std::log(beside / found.fraction) / 1e-6, 1e-3)
              << name_of(workload) << ' ' << slots << ' ' << arrivals;
        };
        for (double load = 0.005; load < 2; load *= 1.23) compare(load, 1e-4);
        for (const double beyond : {0.002, 0.004, 2.5, 5.0}) compare(beyond, 0.05);
      }
}

TEST(tag_refusals, are_none_where_slots_are_one_group) {
  for (const std::uint64_t slot_bytes : {0u, 4u, 24u, 32u, 64u})
    EXPECT_EQ(tag_refusals_of(table_workload::churn, 16, slot_bytes), nullptr) << slot_bytes;
  EXPECT_EQ(tag_refusals_of(table_workload::churn, 4, 16), nullptr);
  EXPECT_EQ(tag_refusals_of(table_workload::churn, 15, 16), nullptr);
}

}  // namespace
