// Rounds in which every contender does the same work on the same keys, in turn.
//
// A round fills every filter anew, then asks all of them one kind of question after the other. What
// disturbs the machine for a while disturbs neighbours in a round alike, so that the ratio of two
// of them within a round is steadier than either time; the medians are taken over the rounds.
//
//   filling    parts of the keys alternate between one by one and bulk, and the next round begins
//              with the other: both see the filter at every stage between empty and full. The last
//              2 % come one by one, each with a time of its own, and are in neither mean
//   asking     absent keys, new ones in every round, and inserted keys; one by one, then bulk
//
// Times are CPU times of the thread: on a machine that does other things as well, waiting for the
// processor is not counted; waiting for memory is.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/contender.hpp"

namespace oneprobe::cli {

enum class operation : std::uint8_t {
  insert,
  bulk_insert,
  negative,
  bulk_negative,
  positive,
  bulk_positive,
};
inline constexpr std::array<operation, 6> all_operations{
    operation::insert,        operation::bulk_insert, operation::negative,
    operation::bulk_negative, operation::positive,    operation::bulk_positive};
inline constexpr std::array<std::string_view, 6> operation_names{
    "insert", "bulk_insert", "negative", "bulk_negative", "positive", "bulk_positive"};

struct race_settings {
  std::uint64_t elements = 10'000'000;
  std::uint64_t queries = 2'500'000;  // of each kind in each round
  unsigned rounds = 5;
  std::uint64_t seed = 1;  // of the keys
};

/// How long single insertions took over the last share of a filling, by the wall clock.
struct insert_latencies {
  double p50_ns = 0;
  double p99_ns = 0;
  double p999_ns = 0;
  double p9999_ns = 0;
  double max_ns = 0;
  double max_running_ns = 0;  // without the time in which the thread did not run
};

/// What one contender did.
struct race_result {
  /// ns per operation in each round, by operation. The bare memory inserts nothing.
  std::array<std::vector<double>, 6> rounds_ns{};
  std::vector<insert_latencies> latencies{};  // of each round; the bare memory has none
  std::uint64_t negatives_asked = 0;
  std::uint64_t false_positives = 0;
  std::uint64_t false_negatives = 0;    // must stay 0
  std::uint64_t different_answers = 0;  // between one by one and bulk; must stay 0
  std::optional<double> current_fpr{};  // of the last filling
  counted_costs costs{};

  const std::vector<double>& ns(operation what) const {
    return rounds_ns[static_cast<std::size_t>(what)];
  }
};

/// Told now and then: the share that is done, and what is being done.
using race_progress = std::function<void(double, std::string_view)>;

/// Results in the order of the contenders.
std::vector<race_result> race(const contender_list& contenders, const race_settings& settings,
                              const race_progress& tell);

/// Of the rounds: the median of each percentile, and the worst. None if there are no rounds.
std::optional<insert_latencies> summary_of(const std::vector<insert_latencies>& rounds);

/// The middle one, or the mean of the two in the middle. REQUIRES: at least one value.
double median(std::vector<double> values);

/// Ratios of two results, round by round.
struct ratio {
  double median = 0;
  double least = 0;
  double most = 0;
};
/// None where either has no times.
std::optional<ratio> ratio_of(const std::vector<double>& times, const std::vector<double>& base);

}  // namespace oneprobe::cli
