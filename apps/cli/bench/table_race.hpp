// Rounds in which every table does the same work on the same keys, in turn.
//
// In a round each table is built, filled, asked, churned, asked again and dropped before the next
// one is built: all of them at once would not fit the memory of small machines at large sizes. Each
// round begins with another table, and ratios are taken within a round.
//
//   filling    all keys; the last 2 % are watched one by one
//   asking     keys that are there, in random order, and others that are not
//   erasing    a sixteenth of the keys, which then come back and are watched
//   churning   one random key leaves and a new one comes, at constant size; insertions are watched
//   asking     again, and inserting again: a sixteenth of the keys leaves and as many others come
//   filling    once more, every insertion watched
//   counting   in the last round, what insertions visit in a filling of its own, which is not timed
//
// Times of many operations are CPU times of the thread; those of single ones are wall-clock times,
// for the worst of them also without the time in which the thread did not run.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "bench/table_contender.hpp"

namespace oneprobe::cli {

enum class table_metric : std::uint8_t {
  insert,
  hit,
  miss,
  dependent_hit,
  bulk_hit,
  bulk_miss,
  bulk64_hit,
  bulk64_miss,
  erase,
  churned_insert,
  churned_hit,
  churned_miss,
  // Single insertions, six figures for each phase and always in this order: the end of the filling,
  insert_p50,
  insert_p99,
  insert_p999,
  insert_p9999,
  insert_max,
  insert_max_running,
  // a filling of its own that is watched from beginning to end,
  fill_insert_p50,
  fill_insert_p99,
  fill_insert_p999,
  fill_insert_p9999,
  fill_insert_max,
  fill_insert_max_running,
  // a sixteenth that comes back into the filled table,
  rated_insert_p50,
  rated_insert_p99,
  rated_insert_p999,
  rated_insert_p9999,
  rated_insert_max,
  rated_insert_max_running,
  // and the churn.
  churn_insert_p50,
  churn_insert_p99,
  churn_insert_p999,
  churn_insert_p9999,
  churn_insert_max,
  churn_insert_max_running,
};
inline constexpr auto table_metric_names = std::to_array<std::string_view>({
    "insert",
    "hit",
    "miss",
    "dependent_hit",
    "bulk_hit",
    "bulk_miss",
    "bulk64_hit",
    "bulk64_miss",
    "erase",
    "churned_insert",
    "churned_hit",
    "churned_miss",
    "insert_p50",
    "insert_p99",
    "insert_p999",
    "insert_p9999",
    "insert_max",
    "insert_max_running",
    "fill_insert_p50",
    "fill_insert_p99",
    "fill_insert_p999",
    "fill_insert_p9999",
    "fill_insert_max",
    "fill_insert_max_running",
    "rated_insert_p50",
    "rated_insert_p99",
    "rated_insert_p999",
    "rated_insert_p9999",
    "rated_insert_max",
    "rated_insert_max_running",
    "churn_insert_p50",
    "churn_insert_p99",
    "churn_insert_p999",
    "churn_insert_p9999",
    "churn_insert_max",
    "churn_insert_max_running",
});
inline constexpr std::size_t table_metrics = table_metric_names.size();
static_assert(table_metrics ==
              static_cast<std::size_t>(table_metric::churn_insert_max_running) + 1);

struct table_race_settings {
  std::uint64_t queries = 500'000;  // of each kind in each round
  double churn = 10;                // operations per element in each round; 0: none
  unsigned rounds = 3;
  std::uint64_t seed = 1;  // of the keys
};

/// What one table did.
struct table_result {
  /// ns per operation in each round. Empty where the table has no such operation.
  std::array<std::vector<double>, table_metrics> rounds_ns{};
  const std::vector<double>& ns(table_metric what) const {
    return rounds_ns[static_cast<std::size_t>(what)];
  }

  double load_factor = 0;  // when it was filled
  std::uint64_t filled_size = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t churned_memory_bytes = 0;
  /// Insertions refused in all rounds.
  std::uint64_t fill_failures = 0;
  std::uint64_t churn_failures = 0;
  /// Elements there over elements wanted when an insertion was refused first.
  std::optional<double> first_failure{};

  // Of the last round; none for peers.
  std::optional<double> insert_accesses{};  // buckets per insertion while it is filled
  std::optional<table_costs> costs{};
  std::optional<table_costs> half_churned_costs{};
  std::optional<table_costs> churned_costs{};
  std::optional<double> overflow_fraction{};
  std::optional<double> churned_overflow_fraction{};  // a mean over the second half of the churn
  std::optional<double> predicted_overflow_fraction{};

  // Wrong answers: all of these must stay 0.
  std::uint64_t not_found = 0;  // or with another value
  std::uint64_t found_wrongly = 0;
  std::uint64_t not_erased = 0;
  std::uint64_t wrong_size = 0;
};

/// Told now and then: the share that is done, and what is being done.
using table_progress = std::function<void(double, std::string_view)>;

/// Results in the order of the tables.
std::vector<table_result> race_tables(const table_list& tables, const table_race_settings& settings,
                                      const table_progress& tell);

}  // namespace oneprobe::cli
