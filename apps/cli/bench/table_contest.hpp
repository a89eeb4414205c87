// A contest of tables: which took part, what was aimed at, and whether the answers were right.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/race.hpp"
#include "bench/table_contender.hpp"
#include "bench/table_peers.hpp"
#include "bench/table_race.hpp"

namespace oneprobe::cli {

/// One table and what it did.
struct table_entry {
  table_facts facts;
  table_result result;
};

struct table_contest {
  table_contest_size size;
  table_race_settings settings;
  std::vector<table_entry> entries;
  std::vector<absent_peer> absent;

  /// Null if it did not take part.
  const table_entry* find(table_kind kind, table_role role = table_role::ordinary) const;
};

/// Memory over the elements that were there when the table was filled.
double bytes_per_element(const table_result& result);

/// What is wrong with the answers, as sentences; none if all of them were as they must be.
std::vector<std::string> faults_of(const table_entry& entry);

enum class table_verdict { held, missed, not_measured };
std::string_view name_of(table_verdict verdict);

/// One of the things aimed at, six of them in several parts each.
struct table_target {
  unsigned number = 0;
  std::string what;
  double most = 0;                   // the measured figure must not exceed it
  std::optional<double> measured{};  // ratios: the median of the rounds
  std::optional<ratio> spread{};     // over the rounds
  std::string why_not{};             // it was not measured
  table_verdict verdict() const;
};

std::vector<table_target> table_targets(const table_contest& contest);

}  // namespace oneprobe::cli
