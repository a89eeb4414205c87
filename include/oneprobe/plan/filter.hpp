// From what a filter must do to a plan of it: parameters, predictions, what over-fill would do and
// which alternatives were beaten; or the reason why not, with the nearest need that can be met.
//
//   filter_proposal proposal = plan_filter({.elements = 100'000'000, .fpr = 1e-4});
//   if (!proposal.plan) { std::puts(proposal.reason.c_str()); return; }
//   balanced_filter filter(*proposal.plan);           // if needs.kind was filter_kind::balanced
//   any_filter any = make_any(*proposal.plan);        // whatever it is: filter/any_filter.hpp
//
// Memory counts everything: slack, notes and the overflow list. Where bits per element or bytes are
// given, plan->memory().total() does not exceed them. Predictions are for exactly `elements`
// elements in the levels as they are, slack included, and for hashes without a pattern.
//
// Limits: elements from 1 to 2^40, error from 1e-12 to 0.5, all memory up to 2^40 bits. Predictions
// are limits of many blocks; a filter of a few hundred elements deviates by some percent.
// Pure and thread-safe; nothing is kept between calls. A plan takes about a second.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "oneprobe/detail/planning/balanced_layout.hpp"
#include "oneprobe/detail/planning/fingerprint_bucket_shape.hpp"
#include "oneprobe/filter/plan.hpp"
#include "oneprobe/filter/results.hpp"
#include "oneprobe/plan/cost.hpp"

namespace oneprobe::inline v0_1 {

/// How much of a proposal is worth its time. A plan alone leaves out alternatives, forecasts and
/// the search for the nearest need.
/// `full`: everything; `plan_only`: the plan.
enum class plan_detail : std::uint8_t { full, plan_only };

/// What a filter must do. Exactly one of `fpr`, `bits_per_element` and `bytes` is given.
struct filter_needs {
  std::uint64_t elements = 0;                // n
  std::optional<double> fpr{};               // the largest error
  std::optional<double> bits_per_element{};  // of all memory
  std::optional<std::uint64_t> bytes{};      // of all memory

  /// Largest mean number of accesses of a negative query, the overflow list counted as one. None:
  /// 1.2 for the kinds made of blocks, any number for the others.
  std::optional<double> accesses{};
  /// The same in time or energy: what an access and a look into the overflow list cost, and the
  /// largest mean cost of a negative query instead of `accesses`.
  std::optional<access_costs> costs{};
  std::optional<double> budget{};     // the largest mean cost
  std::uint32_t largest_choices = 3;  // 1 to filter_plan::most_levels
  /// Balanced and fingerprint: so many more elements than planned, as a fraction up to 0.5, before
  /// any is forced into a block that had refused it, or saturates a bucket. The error grows before
  /// that, though gently. None: 0.02, and 0.05 for a fingerprint filter that has to keep an error.
  std::optional<double> overfill{};

  std::optional<filter_kind> kind{};  // none: the best of those made of blocks
  /// Fingerprint: these buckets, filled as the need allows, in a thousandth of the time. None: the
  /// best of all.
  std::optional<fingerprint_bucket_shape> fingerprint_bucket{};
  std::optional<std::uint32_t> block_bits{};  // 512 or 256; none: 512, which errs less
  std::optional<block_layout> layout{};       // blocked; lanes: most speed. None: independent
  std::optional<lookup_rule> rule{};          // balanced; none: popcount, which errs least
  std::optional<scheme_kind> scheme{};        // balanced; none: the better of multilevel and single
  std::optional<std::uint32_t> counter_bits{};  // counting; none: 4

  plan_detail detail = plan_detail::full;
};

/// The limit on the accesses of a miss where the need has none, for the kinds made of blocks.
inline constexpr double default_miss_accesses = 1.2;

/// What the planned filter does with more elements than it was planned for.
struct overfill_forecast {
  double factor = 1;              // elements over planned elements
  std::uint64_t elements = 0;     // factor times those planned
  filter_prediction predicted{};  // with so many elements
  double forced_fraction = 0;     // of the elements: forced into blocks that had refused them
  filter_condition condition = filter_condition::as_planned;  // it is then in
};

/// The overflow list of a balanced or a fingerprint filter, in elements.
struct overflow_forecast {
  double mean = 0;              // elements in the list
  double deviation = 0;         // standard deviation from filter to filter
  double tail_probability = 0;  // that more overflow than the list has reserved
};

/// Another filter for the same need.
struct filter_alternative {
  std::string name;                   // "blocked, 512-bit blocks"
  std::optional<filter_plan> plan{};  // none: it cannot meet the need
  std::string why;                    // why it is not the answer
};

/// An overflow in an associative memory (CAM) beside the table, as hardware has it.
struct cam_forecast {
  double mean_entries = 0;              // entries at a random moment
  std::uint64_t entries = 0;            // exceeded with the probability below
  double tail_probability = 0;          // that more entries are needed
  std::uint64_t entries_over_full = 0;  // likewise with as many more elements as are absorbed
  std::uint32_t entry_bits = 0;         // a fingerprint for a filter, an element for a table
};

/// The answer to a need.
struct filter_proposal {
  std::optional<filter_plan> plan{};      // none: the need cannot be met
  std::string reason;                     // why this plan, or why none
  std::optional<filter_needs> nearest{};  // without a plan: the nearest need that can be met

  overflow_forecast overflow{};   // the list, in elements
  cam_forecast cam{};             // the same in a CAM
  std::uint64_t slack_bytes = 0;  // what the slack of the later levels and the list costs
  std::array<overfill_forecast, 3> overfill{};     // 1 %, 5 % and 20 % more elements
  std::vector<filter_alternative> alternatives{};  // other filters for the same need
  std::vector<std::string> warnings{};             // sentences: too small, sensitive to over-fill
};

/// The tail of a CAM's size unless another is stated: it overflows so rarely.
inline constexpr double default_cam_tail = 1e-9;

/// Throws std::invalid_argument where the needs contradict themselves or are out of range; a need
/// that is sound and cannot be met gets a proposal without a plan.
filter_proposal plan_filter(const filter_needs& needs);

/// What a filter of this plan does with `elements` elements, by the model. Throws
/// std::invalid_argument for a plan with a fault, or of a scheme that no model covers.
overfill_forecast forecast(const filter_plan& plan, std::uint64_t elements);

}  // namespace oneprobe::inline v0_1
