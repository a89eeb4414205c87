// Where and how something was measured.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "output.hpp"

namespace oneprobe::cli {

struct machine_facts {
  std::string cpu;  // "unknown" where the system does not say
  unsigned cores = 0;
  std::vector<double> load_average;  // over 1, 5 and 15 minutes, when it was asked
  std::string vector_instructions;   // what the filters use
  std::string compiler;
  std::string flags;
  std::optional<std::string> commit{};  // if it was named when the tool was built
};

machine_facts describe_machine();

/// As JSON, and as a sentence.
report object_of(const machine_facts& facts);
std::string text_of(const machine_facts& facts);

}  // namespace oneprobe::cli
