// The tool, called: in this process, or in one of its own.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "nonsense_calls.hpp"

namespace oneprobe::cli {

struct call_outcome {
  int code = 0;  // -1: ended by a signal
  std::string answers;
  std::string complaints;
  double cpu_seconds = 0;  // of all threads
};

/// In this process, as often as one likes.
call_outcome called_here(const words& call);

/// What a process of its own finds.
struct surroundings {
  std::vector<std::string> environment{};
  std::vector<int> closed{};  // of standard input (0), output (1) and error (2)
};

/// In a process of its own.
call_outcome called_apart(const words& call, const surroundings& around = {});

}  // namespace oneprobe::cli
