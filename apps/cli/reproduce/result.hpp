// What a run of `oneprobe reproduce` has found, for the code that writes it down.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "reproduce/experiment.hpp"

namespace oneprobe::cli {

struct document {
  std::string_view id;  // "OFH"
  std::string_view authors;
  std::string_view title;
  std::string_view gist;  // what it is about, in a sentence or two
  const std::vector<experiment>& (*experiments)();
};

/// "quick", "normal", "full".
std::string_view name_of(effort how_much);

struct experiment_result {
  experiment what;
  outcome found;
  double seconds = 0;  // wall clock
};

struct document_result {
  document of;
  std::vector<experiment_result> experiments;
};

struct run_result {
  std::vector<document_result> documents;
  effort how_much = effort::normal;
  std::uint64_t seed = 1;
  double seconds = 0;
};

}  // namespace oneprobe::cli
