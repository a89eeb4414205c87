// A plan for tables that tests fill to the brim.
#pragma once

#include <cstdint>

#include "oneprobe/map/plan.hpp"

/// A plan whose table is full soon: levels of 12, 4 and 2 buckets, one or a few of overflow.
inline oneprobe::table_plan small_plan(
    std::uint32_t capacity, oneprobe::scheme_kind scheme = oneprobe::scheme_kind::multilevel,
    std::uint64_t overflow_buckets = 2) {
  using oneprobe::scheme_kind;
  oneprobe::table_plan plan;
  plan.bucket_capacity = capacity;
  plan.scheme = scheme;
  plan.elements = 14 * capacity;
  plan.overflow_buckets = overflow_buckets;
  plan.overflow_reserve = capacity;
  switch (scheme) {
    case scheme_kind::multilevel:
      plan.levels = plan.choices = 3;
      plan.level_buckets = {12, 4, 2};
      break;
    case scheme_kind::d_left:
      plan.levels = plan.choices = 3;
      plan.level_buckets = {6, 6, 6};
      break;
    case scheme_kind::single:
      plan.levels = plan.choices = 1;
      plan.level_buckets = {18};
      break;
    default:
      plan.levels = 1;
      plan.choices = 3;
      plan.level_buckets = {18};
  }
  return plan;
}
