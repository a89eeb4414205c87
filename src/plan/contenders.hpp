// The best filter of each kind for one goal. Private to src/plan.
#pragma once

#include <cstdint>
#include <optional>

#include "cost.hpp"
#include "oneprobe/filter/plan.hpp"
#include "oneprobe/model/balanced.hpp"
#include "oneprobe/model/fingerprint.hpp"
#include "oneprobe/plan/filter.hpp"

namespace oneprobe::inline v0_1::planning {

/// Needs with the defaults filled in: an error to reach with the least memory, or memory to reach
/// the least error with.
struct goal {
  std::uint64_t elements = 0;
  std::optional<double> fpr{};
  std::uint64_t bytes = 0;  // where no error is given; otherwise the most that any filter may have
  double accesses = default_miss_accesses;
  double list_accesses = 1;             // so many accesses a look into the overflow list costs
  double absorbed = absorbed_overfill;  // times the elements, without forcing any

  double n() const { return static_cast<double>(elements); }
  /// Whether the plan does what was asked.
  bool met_by(const filter_plan& plan) const;
  /// Whether plan `a` is to be preferred to `b`; both meet the goal.
  bool prefers(const filter_plan& a, const filter_plan& b) const {
    return fpr ? a.memory().total() < b.memory().total() : a.predicted.fpr < b.predicted.fpr;
  }
};

/// Accesses of blocks, and looks into the overflow list.
struct filter_work {
  operation_work positive{};
  operation_work negative{};
  operation_work insert{};
};
/// Of a plan that has its predictions.
filter_work work_of(const filter_plan& plan);

/// What a filter of this kind absorbs, in times the elements: as asked for, or its default.
double absorbed_by(const filter_needs& needs, filter_kind kind);

/// No plan has more than this; 2^40 bits.
inline constexpr std::uint64_t most_bytes = filter_plan::most_bits / 8;

/// standard, partitioned or counting.
std::optional<filter_plan> plan_scattered(const goal& what, filter_kind kind,
                                          std::uint32_t counter_bits);

std::optional<filter_plan> plan_blocked(const goal& what, std::uint32_t block_bits,
                                        block_layout layout);

struct balanced_options {
  std::uint32_t block_bits = 512;
  std::uint32_t most_choices = 3;
  lookup_rule rule = lookup_rule::popcount;
  scheme_kind scheme = scheme_kind::multilevel;
};
std::optional<filter_plan> plan_balanced(const goal& what, const balanced_options& options);

std::optional<filter_plan> plan_fingerprint(const goal& what, std::uint32_t most_choices,
                                            const std::optional<fingerprint_bucket_shape>& only);

/// Gives the first level the blocks that fit beside the others and the list; false if none does.
bool use_exactly(filter_plan& plan, std::uint64_t bytes);

/// The block of a balanced plan, or a bucket of fingerprints, as the model knows it.
model::balanced_shape shape_of(const filter_plan& plan);
model::fingerprint_shape shape_of(const fingerprint_bucket_shape& fingerprint_bucket);

/// What a filter of this plan does with so many elements.
overfill_forecast forecast_unchecked(const filter_plan& plan, double elements);
/// Writes that for the planned number into the plan.
void predict(filter_plan& plan);

/// The overflow list of a plan that has one.
overflow_forecast overflow_of(const filter_plan& plan);

}  // namespace oneprobe::inline v0_1::planning
