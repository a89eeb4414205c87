// The plans whose error is measured, and what the models say of them.
#pragma once

#include <array>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>

#include "oneprobe/filter/plan.hpp"
#include "oneprobe/model/bloom.hpp"
#include "oneprobe/plan/filter.hpp"

namespace filters {

inline constexpr std::array measured_bits{8, 12, 16, 20, 24, 32};
/// Where a fingerprint filter is held against a standard one.
inline constexpr std::array fingerprint_bits_per_element{10, 11, 12, 14, 16, 18, 20, 24};

/// A plan of the planner for so many bits per element, all memory counted.
inline oneprobe::filter_plan planned(oneprobe::filter_needs needs) {
  const oneprobe::filter_proposal proposal = oneprobe::plan_filter(needs);
  if (!proposal.plan) throw std::logic_error("no plan: " + proposal.reason);
  return *proposal.plan;
}

/// The same without the planner, which looks at all alternatives and takes half a second; not for
/// balanced filters. The k is the best one of the model.
inline oneprobe::filter_plan plain_plan(
    oneprobe::filter_kind kind, std::uint64_t elements, int bits, std::uint32_t block_bits = 512,
    oneprobe::block_layout layout = oneprobe::block_layout::independent) {
  namespace model = oneprobe::model;
  oneprobe::filter_plan plan;
  plan.kind = kind;
  plan.elements = elements;
  const std::uint64_t all_bits = elements * static_cast<std::uint64_t>(bits);
  if (kind == oneprobe::filter_kind::blocked) {
    plan.block_bits = block_bits;
    plan.layout = layout;
    plan.level_buckets[0] = all_bits / block_bits;
    const auto error = [&](std::uint32_t k) {
      return model::blocked_error({static_cast<double>(bits), block_bits, k, layout});
    };
    if (layout == oneprobe::block_layout::lanes)
      plan.bits_set =
          error(block_bits / 64) < error(block_bits / 32) ? block_bits / 64 : block_bits / 32;
    else
      plan.bits_set = model::best_bits_set_blocked(bits, block_bits, layout);
    return plan;
  }
  plan.counter_bits = kind == oneprobe::filter_kind::counting ? 4 : 1;
  plan.cells = all_bits / plan.counter_bits;
  plan.bits_set = model::best_bits_set_standard(static_cast<double>(plan.cells) /
                                                static_cast<double>(elements));
  if (kind == oneprobe::filter_kind::partitioned) plan.cells -= plan.cells % plan.bits_set;
  return plan;
}

/// The model's rate of false positives for the plan, as exact as there is one.
inline double model_fpr(const oneprobe::filter_plan& plan) {
  using oneprobe::filter_kind;
  namespace model = oneprobe::model;
  switch (plan.kind) {
    case filter_kind::standard:
    case filter_kind::counting:
      return model::standard_error_exact(plan.cells, plan.elements, plan.bits_set);
    case filter_kind::partitioned:
      return model::partitioned_error(static_cast<double>(plan.cells),
                                      static_cast<double>(plan.elements), plan.bits_set);
    case filter_kind::blocked:
      return model::blocked_error_finite(plan.elements, plan.blocks(), plan.block_bits,
                                         plan.bits_set, plan.layout);
    case filter_kind::balanced:
    case filter_kind::fingerprint:
      break;
  }
  return oneprobe::forecast(plan, plan.elements).predicted.fpr;
}

/// Mean accesses of a query for an absent key.
inline double model_miss_accesses(const oneprobe::filter_plan& plan) {
  using oneprobe::filter_kind;
  if (plan.kind == filter_kind::blocked) return 1;
  if (plan.has_candidates()) return oneprobe::forecast(plan, plan.elements).predicted.miss_accesses;
  // A partitioned filter reads one bit of each part, and the parts are as full as the whole.
  return oneprobe::model::standard_miss_accesses(
      static_cast<double>(plan.cells) / static_cast<double>(plan.elements), plan.bits_set);
}

/// Mean accesses of a query for an element.
inline double model_hit_accesses(const oneprobe::filter_plan& plan) {
  if (plan.kind == oneprobe::filter_kind::blocked) return 1;
  if (plan.has_candidates()) return oneprobe::forecast(plan, plan.elements).predicted.hit_accesses;
  return plan.bits_set;
}

inline std::string name_of_plan(const oneprobe::filter_plan& plan) {
  std::string name(oneprobe::name_of(plan.kind));
  // Piece by piece: of "text" + std::to_string(...) g++ 12 may warn wrongly (its bug 105651).
  const auto add = [&](std::string_view before, std::string_view what) {
    name.append(before).append(what);
  };
  if (plan.in_blocks()) add(" ", std::to_string(plan.block_bits));
  if (plan.kind == oneprobe::filter_kind::blocked) add(" ", oneprobe::name_of(plan.layout));
  if (plan.kind == oneprobe::filter_kind::balanced) {
    add(" ", oneprobe::name_of(plan.scheme));
    add(" ", oneprobe::name_of(plan.state.rule));
  }
  if (plan.kind == oneprobe::filter_kind::fingerprint) {
    add(" f=", std::to_string(plan.fingerprint_bucket.remainder_bits));
    add(" h=", std::to_string(plan.fingerprint_bucket.bucket_capacity));
  }
  char bits[32];
  std::snprintf(bits, sizeof bits, " %.2f bits", plan.bits_per_element());
  name += bits;
  if (plan.sets_bits()) add(" k=", std::to_string(plan.bits_set));
  return name;
}

}  // namespace filters
