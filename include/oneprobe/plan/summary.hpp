// From what a table with a summary must do to a plan of it: level sizes, filter sizes, hash counts
// and counter widths, with what they will do; or the reason why not, with the nearest need that can
// be met. And the designs of SSH by name.
//
//   summary_proposal proposal = plan_summary({.elements = 10'000, .failure_probability = 1e-11});
//   if (!proposal.plan) { std::puts(proposal.reason.c_str()); return; }
//   one_probe_map<std::uint64_t, route, multi_filter_summary> routes(*proposal.plan);
//
//   summary_plan theirs = *paper_summary("ssh-10k-multi");
//
// Buckets of one slot that only fill, and lazy deletion, are predicted by the exact calculators of
// SSH (model/summary.hpp). Larger buckets, and counting deletion, where elements come and go, are
// predicted from the mean load of each level and Poisson numbers above it: limits of many buckets.
// Hashes have 64 bits: two equal ones are a failure that no summary avoids, and are predicted
// apart.
//
// Pure and thread-safe. A plan takes up to some seconds for a million elements.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oneprobe/one_probe/plan.hpp"
#include "oneprobe/plan/filter.hpp"

namespace oneprobe::inline v0_1 {

/// What a table with a summary must do. At most one of `summary_bytes` and `failure_probability` is
/// given.
struct summary_needs {
  std::uint64_t elements = 0;         // n
  std::uint32_t bucket_capacity = 1;  // 1 to 16
  std::uint32_t element_bytes = 16;   // of key and value

  summary_deletion deletion = summary_deletion::none;
  summary_departures departures = summary_departures::any;
  double deleted_fraction = 0.1;  // lazy: of the elements, so many more may be marked; 0.001 to 1

  std::optional<summary_kind> kind{};            // none: whichever takes less fast memory
  double false_positive_probability = 0.01;      // the most for one absent key
  std::optional<double> failure_probability{};   // of the whole table; none: 1e-9
  std::optional<std::uint64_t> summary_bytes{};  // all of the fast memory
  std::optional<std::uint64_t> slow_bytes{};  // slots and what lies beside them; none: 6 slots of
                                              // buckets of one per element, or as few as will do
  plan_detail detail = plan_detail::full;
};

/// Another summary for the same need.
struct summary_alternative {
  std::string name;                    // what it is
  std::optional<summary_plan> plan{};  // none: it cannot meet the need
  std::string why;                     // why it is not the answer
};

/// The answer to a need.
struct summary_proposal {
  std::optional<summary_plan> plan{};      // none: the need cannot be met
  std::string reason;                      // why this plan, or why none
  std::optional<summary_needs> nearest{};  // without a plan: the nearest need that can be met
  std::vector<summary_alternative> alternatives{};  // other summaries for the same need
  cam_forecast cam{};                   // the overflow in one; over-full: with 5 % more elements
  double over_full_failure = 0;         // P(any fails or finds no room) with 5 % more elements
  std::vector<std::string> warnings{};  // sentences: too small, sensitive to over-fill
};

/// The failure probability where the need has none.
inline constexpr double default_summary_failure = 1e-9;

/// Throws std::invalid_argument where the needs contradict themselves or are out of range; a need
/// that is sound and cannot be met gets a proposal without a plan.
summary_proposal plan_summary(const summary_needs& needs);

/// What a table and summary of this shape will do: the plan's `predicted`. Throws
/// std::invalid_argument for a plan with a fault.
summary_prediction predict_summary(const summary_plan& plan);

/// Elements in each level, on average, of as many as are planned for (lazy: marked ones included).
std::vector<double> expected_levels(const summary_plan& plan);

/// A design that SSH states.
struct named_summary {
  std::string_view name;    // by which paper_summary knows it
  std::string_view source;  // where in the paper it is
  summary_plan plan;        // as the paper has it
};
/// All of them, without predictions.
const std::vector<named_summary>& paper_summaries();
/// One of them, with predictions.
std::optional<summary_plan> paper_summary(std::string_view name);

}  // namespace oneprobe::inline v0_1
