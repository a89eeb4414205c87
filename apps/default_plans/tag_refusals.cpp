// Writes include/oneprobe/detail/generated/tag_refusals_table.hpp to standard output: what buckets
// refuse for a tag, by the model, for every kind of bucket that has several groups of slots.
//
//   oneprobe_tag_refusals > include/oneprobe/detail/generated/tag_refusals_table.hpp
#include <cmath>
#include <cstdio>
#include <vector>

#include "oneprobe/map/plan.hpp"
#include "oneprobe/model/grouped_slots.hpp"
#include "oneprobe/model/poisson.hpp"

namespace {

using namespace oneprobe;

constexpr unsigned knots = 33;
constexpr double fewest_arrivals = 0.005;  // of the slots of a bucket
constexpr double step = 0.1875;            // of the logarithm; ends at twice the slots

double refused_for_tags(table_workload workload, const model::grouped_slots& bucket,
                        double arrivals) {
  return workload == table_workload::churn
             ? model::refused_churning(bucket, arrivals) - model::erlang_b(bucket.slots, arrivals)
             : model::refused_filling(bucket, arrivals) -
                   model::poisson_excess(arrivals, bucket.slots) / arrivals;
}

void write_row(table_workload workload, const model::grouped_slots& bucket) {
  std::printf("    {table_workload::%s, %u, %u,\n     {{",
              workload == table_workload::churn ? "churn" : "fill_only", bucket.slots,
              bucket.group_slots);
  for (unsigned i = 0; i < knots; ++i) {
    const double arrivals = bucket.slots * fewest_arrivals * std::exp(i * step);
    std::printf("%.10g%s", -std::log(refused_for_tags(workload, bucket, arrivals)),
                i + 1 == knots ? "}}},\n"
                : i % 7 == 6   ? ",\n      "
                               : ", ");
  }
}

/// Every kind of bucket whose slots are in several groups.
std::vector<model::grouped_slots> all_buckets() {
  std::vector<model::grouped_slots> all;
  for (const unsigned slot_bytes : {16u, 8u})
    for (unsigned slots = 1; slots <= table_plan::most_bucket_capacity; ++slots)
      if (const unsigned group = group_slots_of(slot_bytes, slots); group < slots)
        all.push_back({.slots = slots, .group_slots = group});
  return all;
}

}  // namespace

int main() {
  const std::vector<model::grouped_slots> buckets = all_buckets();
  std::printf(
      R"(// What buckets refuse for a tag, one row for each kind of bucket that has several groups of slots.
// Written by oneprobe_tag_refusals (apps/default_plans) from the model; not by hand. A test writes
// it again and compares.
#pragma once

#include <array>
#include <cstdint>

#include "oneprobe/map/plan.hpp"

namespace oneprobe::inline v0_1::detail {

struct tag_refusals_row {
  static constexpr unsigned knots = %u;
  static constexpr double fewest_arrivals = %g;  // at the first knot, of the slots of a bucket
  static constexpr double step = %g;            // of the arrivals' logarithm, from knot to knot

  table_workload workload;
  std::uint32_t bucket_capacity;
  std::uint32_t group_slots;
  std::array<double, knots> minus_logs;  // -log of the fraction that is refused for a tag
};

// clang-format off
inline constexpr std::array<tag_refusals_row, %zu> tag_refusals_rows{{
)",
      knots, fewest_arrivals, step, 2 * buckets.size());
  for (const table_workload workload : {table_workload::churn, table_workload::fill_only})
    for (const model::grouped_slots& bucket : buckets) write_row(workload, bucket);
  std::printf("}};\n// clang-format on\n\n}  // namespace oneprobe::inline v0_1::detail\n");
  return 0;
}
