// Filter sizes and hash counts that keep a summary's errors. Private to src/plan.
#pragma once

#include <cstdint>
#include <vector>

#include "oneprobe/one_probe/plan.hpp"
#include "summary_levels.hpp"

namespace oneprobe::inline v0_1::planning {

/// Cells and hashes.
struct filter_size {
  double cells = 0;
  std::uint32_t hashes = 0;
};

/// (1 - (1 - k/m)^n)^k: all cells of an element are raised by n others, each hash with a part of
/// the cells for itself.
double all_raised(const filter_size& filter, double elements);
/// The same, each hash over all cells.
double all_set(const filter_size& filter, double elements);
/// The mean of all_raised over a Poisson number of elements.
double mean_all_raised(const filter_size& filter, double mean_elements);

/// Of one element, how often it fails. While elements only come, it is misdirected in the end or it
/// is not. While they come and go, it may be misdirected when it comes, and at any time after that:
/// as often as an element that is misdirected ceases to be, which it does when the last holder of
/// one of its cells leaves.
double failing(const filter_size& filter, double mean_elements, bool churns);

/// Elements that fail, on average, of those in each level but the last, or for either reason that
/// strings have; while elements come and go those that come while all elements leave once. As many
/// are in the overflow at a time.
std::vector<double> expected_failures(const summary_plan& plan, const level_loads& loads);

/// The smallest filters or strings of this kind for a failure and a false positive probability.
void size_filters(summary_plan& plan, const level_loads& loads, double failure,
                  double false_positive);
/// The widths of counters, such that on average no more than `allowed` of a filter overflow.
void size_counters(summary_plan& plan, const level_loads& loads, double allowed);

}  // namespace oneprobe::inline v0_1::planning
