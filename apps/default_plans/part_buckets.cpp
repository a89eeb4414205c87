// Writes integrations/redis/module/part_buckets.hpp to standard output: the planner's buckets on a
// grid of errors, for filters that never get more elements than planned.
//
//   oneprobe_part_buckets > integrations/redis/module/part_buckets.hpp
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <stdexcept>

#include "oneprobe/plan/filter.hpp"

namespace {

using namespace oneprobe;

constexpr int first_exponent = -12;
constexpr int rows_per_decade = 10;
constexpr int rows = 118;  // the last one is at 10^-0.3, which is about 0.5
constexpr int rows_per_line = 10;
/// As reservation.cpp plans parts.
constexpr double overfill = 0.02;
/// Many, and hashes still have bits enough for the smallest error.
constexpr std::uint64_t elements = 1'000'000;

fingerprint_bucket_shape bucket_for(double fpr) {
  const filter_proposal proposal = plan_filter({.elements = elements,
                                                .fpr = std::min(fpr, 0.5),
                                                .overfill = overfill,
                                                .kind = filter_kind::fingerprint,
                                                .detail = plan_detail::plan_only});
  if (!proposal.plan) throw std::runtime_error(proposal.reason);
  return proposal.plan->fingerprint_bucket;
}

}  // namespace

int main() {
  std::printf(
      R"(// The buckets of fingerprint filters by their error, so that a part is planned in a millisecond and
// not in a fifth of a second. Written by oneprobe_part_buckets (apps/default_plans) from the
// planner; not by hand. A test holds plans with these buckets to the planner's own.
#pragma once

#include <array>

#include "oneprobe/detail/planning/fingerprint_bucket_shape.hpp"

namespace oneprobe::redis {

/// Row i is the best for an error of 10^(first_exponent + i / rows_per_decade).
inline constexpr double part_buckets_first_exponent = %d;
inline constexpr double part_buckets_per_decade = %d;

// clang-format off
inline constexpr std::array<fingerprint_bucket_shape, %d> part_buckets{{
)",
      first_exponent, rows_per_decade, rows);
  for (int row = 0; row < rows; ++row) {
    const fingerprint_bucket_shape bucket =
        bucket_for(std::pow(10.0, first_exponent + static_cast<double>(row) / rows_per_decade));
    const bool ends_line = row % rows_per_line == rows_per_line - 1 || row == rows - 1;
    std::printf("%s{%u, %u},%s", row % rows_per_line == 0 ? "    " : " ", bucket.bucket_capacity,
                bucket.remainder_bits, ends_line ? "\n" : "");
  }
  std::printf("}};\n// clang-format on\n\n}  // namespace oneprobe::redis\n");
  return 0;
}
