#include "bench/contest.hpp"

#include <fmt/format.h>

#include <cmath>

#include "output.hpp"

namespace oneprobe::cli {

std::vector<std::string> faults_of(const contest_entry& entry) {
  const auto& [facts, result] = entry;
  std::vector<std::string> faults;
  if (facts.kind == contender_kind::memory) return faults;
  if (result.false_negatives != 0)
    faults.push_back(fmt::format("{}: {} false negatives", facts.name,
                                 grouped(static_cast<double>(result.false_negatives))));
  if (result.different_answers != 0)
    faults.push_back(fmt::format("{}: bulk and single lookups differ in {} answers", facts.name,
                                 grouped(static_cast<double>(result.different_answers))));
  if (!result.current_fpr) return faults;
  // Given the bits as they are, queries are independent: Bernstein's inequality bounds how far
  // their number of false positives strays, whatever the rate, but once in a million times.
  const double log_odds = std::log(1e6);
  const double expected = *result.current_fpr * static_cast<double>(result.negatives_asked);
  const double allowed =
      log_odds / 3 + std::sqrt(log_odds * log_odds / 9 + 2 * log_odds * expected);
  if (std::abs(static_cast<double>(result.false_positives) - expected) > allowed)
    faults.push_back(
        fmt::format("{}: {} false positives where its bits let expect {:.1f} +- {:.1f}", facts.name,
                    result.false_positives, expected, allowed));
  return faults;
}

}  // namespace oneprobe::cli
