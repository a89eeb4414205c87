// Tables with summaries to try: the paper's, and some that are so small that they fail.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "oneprobe/one_probe/plan.hpp"
#include "oneprobe/plan/summary.hpp"

namespace summaries {

using namespace oneprobe;

inline summary_plan paper(std::string_view name) { return paper_summary(name).value(); }

/// The paper's table of 10,000 elements with one of its summaries, and another way to delete.
inline summary_plan ten_thousand(summary_kind kind, summary_deletion deletion) {
  summary_plan plan =
      paper(kind == summary_kind::single_filter ? "ssh-10k-single" : "ssh-10k-multi");
  plan.deletion = deletion;
  plan.counter_bits = kind == summary_kind::single_filter
                          ? decltype(plan.counter_bits){4, 4, 3, 2, 1}
                          : decltype(plan.counter_bits){4, 4, 4, 4, 2};
  plan.counted_once_from = 3;
  plan.overflow_reserve = 250;
  plan.deleted_limit = 900;
  plan.work_per_change = 200;
  return plan;
}

/// A table of some hundred elements whose summary is so small that failures abound, crises occur
/// and narrow counters are full.
inline summary_plan cramped(summary_kind kind, summary_deletion deletion,
                            std::uint32_t bucket_capacity) {
  summary_plan plan;
  plan.kind = kind;
  plan.deletion = deletion;
  plan.elements = 300;
  plan.bucket_capacity = bucket_capacity;
  plan.levels = 4;
  plan.level_buckets = {400 / bucket_capacity, 100 / bucket_capacity, 48 / bucket_capacity, 3};
  if (kind == summary_kind::single_filter) {
    plan.filter_cells = {600};
    plan.filter_hashes = {4};
    plan.counter_bits = {3, 2, 2, 1};
  } else if (kind == summary_kind::interpolation) {
    plan.string_blocks = 6;
    plan.remainder_bits = 6;
  } else {
    plan.filter_cells = {1'500, 250, 100, 40};
    plan.filter_hashes = {4, 5, 5, 5};
    plan.counter_bits = {3, 3, 2, 1};
    plan.counted_once_from = 2;
  }
  plan.overflow_reserve = 60;
  plan.deleted_limit = 40;
  plan.work_per_change = 60;
  return plan;
}

/// Strings so short that false positives can be counted, and yet few elements fail.
inline summary_plan with_short_strings(std::uint64_t elements) {
  summary_plan plan = plan_summary({.elements = elements,
                                    .deletion = summary_deletion::counting,
                                    .kind = summary_kind::interpolation,
                                    .detail = plan_detail::plan_only})
                          .plan.value();
  plan.remainder_bits = 14;
  plan.string_blocks = plan_interpolation(elements, plan.levels, plan.remainder_bits).blocks;
  plan.predicted = predict_summary(plan);
  plan.overflow_reserve += static_cast<std::uint64_t>(10 * plan.predicted.overflow_mean);
  return plan;
}

}  // namespace summaries
