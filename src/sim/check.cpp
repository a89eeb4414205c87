#include "check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "oneprobe/detail/placement/admission.hpp"

namespace oneprobe::inline v0_1::sim::detail {
namespace {

// 2^40 counters are a terabyte; what the machine has is less, and then std::bad_alloc says so.
constexpr std::uint64_t most_buckets = std::uint64_t{1} << 40;
constexpr std::uint64_t most_elements = std::uint64_t{1} << 40;
constexpr unsigned most_trials = 100'000'000;
constexpr double most_turnovers = 1e6;
constexpr double most_mean_load = 1e6;  // where it is not bounded by a capacity

/// Whole numbers as such, others and very large ones with a few digits.
std::string show(double value) {
  std::array<char, 32> text{};
  const bool whole = value == std::floor(value) && std::abs(value) < 1e15;
  std::snprintf(text.data(), text.size(), whole ? "%.0f" : "%g", value);
  return text.data();
}

[[noreturn]] void refuse(const std::string& parameter, const std::string& allowed, double found) {
  throw std::invalid_argument(parameter + " must be " + allowed + "; found " + show(found));
}

void check_range(const std::string& parameter, double value, double low, double high) {
  if (!(value >= low && value <= high))
    refuse(parameter, "from " + show(low) + " to " + show(high), value);
}

unsigned choices_of(const scenario& what) {
  if (what.scheme == scheme_kind::single) return 1;
  if (what.scheme == scheme_kind::multilevel) return static_cast<unsigned>(what.level_sizes.size());
  return what.choices;
}

bool parallel(scheme_kind scheme) {
  return scheme == scheme_kind::d_random || scheme == scheme_kind::d_left;
}

void check_buckets(const scenario& what) {
  if (what.scheme != scheme_kind::multilevel) {
    if (!what.level_sizes.empty())
      throw std::invalid_argument("level_sizes are for multilevel, not for " +
                                  std::string(name_of(what.scheme)));
    check_range("buckets", static_cast<double>(what.buckets), 1, static_cast<double>(most_buckets));
    if (what.scheme == scheme_kind::single) return;
    check_range("choices", what.choices, 1, largest_choices);
    if (what.scheme == scheme_kind::d_left && what.buckets < what.choices)
      refuse("buckets", "at least one for each choice", static_cast<double>(what.buckets));
    return;
  }
  check_range("number of level_sizes", static_cast<double>(what.level_sizes.size()), 1,
              largest_choices);
  double sum = 0;
  for (const std::uint64_t size : what.level_sizes) {
    check_range("each of level_sizes", static_cast<double>(size), 1,
                static_cast<double>(most_buckets));
    sum += static_cast<double>(size);
  }
  if (sum > static_cast<double>(most_buckets))
    refuse("sum of level_sizes", "at most " + show(static_cast<double>(most_buckets)), sum);
  if (what.buckets != 0 && static_cast<double>(what.buckets) != sum)
    refuse("buckets", "0 or the sum of level_sizes, " + show(sum),
           static_cast<double>(what.buckets));
}

void check_admission(const scenario& what) {
  if (what.bucket_capacity)
    check_range("bucket_capacity", *what.bucket_capacity, 0, admission::largest_threshold - 1);
  check_range("admit_probability", what.admit_probability, 0, 1);
  if (what.admit_probability == 0) return;
  if (!what.bucket_capacity)
    throw std::invalid_argument("admit_probability needs a bucket_capacity");
  if (parallel(what.scheme))
    throw std::invalid_argument("admit_probability must be 0 for " +
                                std::string(name_of(what.scheme)));
}

/// Every load up to the largest is listed in the findings, so it must not be absurd.
void check_unbounded(const scenario& what) {
  const double first_level = static_cast<double>(
      what.scheme == scheme_kind::multilevel ? what.level_sizes.front() : what.buckets);
  const double most =
      std::min(most_mean_load * first_level, static_cast<double>(admission::largest_threshold));
  if (static_cast<double>(what.elements) > most)
    refuse("elements", "at most " + show(most) + " where these buckets have no capacity",
           static_cast<double>(what.elements));
}

void check_looks(const scenario& what) {
  if (what.looks.empty()) throw std::invalid_argument("looks must have at least one entry");
  double before = 0;
  for (const double share : what.looks) {
    check_range("each of looks", share, 0, 1);
    if (share < before) refuse("looks", "ascending", share);
    before = share;
  }
}

void check_churn(const scenario& what) {
  if (!what.churn) return;
  if (what.access_budget)
    throw std::invalid_argument("access_budget is for filling, not for churn");
  check_range("warm_up_turnovers", what.churn->warm_up_turnovers, 0, most_turnovers);
  check_range("batch_turnovers", what.churn->batch_turnovers, 0, most_turnovers);
  check_range("batches", what.churn->batches, 1, 1'000'000);
  if (what.churn->batch_turnovers * static_cast<double>(what.elements) < 1)
    refuse("batch_turnovers", "at least one element per batch", what.churn->batch_turnovers);
  if (what.churn->leaves == departure::one_level)
    check_range("level", what.churn->level, 0, choices_of(what) - 1);
}

}  // namespace

void check(const scenario& what) {
  check_buckets(what);
  check_admission(what);
  check_range("elements", static_cast<double>(what.elements), 1,
              static_cast<double>(most_elements));
  if (!what.bucket_capacity) check_unbounded(what);
  if (what.access_budget) check_range("access_budget", *what.access_budget, 0, largest_choices);
  check_range("trials", what.trials, 1, most_trials);
  check_looks(what);
  check_churn(what);
}

}  // namespace oneprobe::inline v0_1::sim::detail
