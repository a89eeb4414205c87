// The tool as a function: main calls it once, and tests as often as they like in one process.
//
//   const std::vector<std::string> call{"model", "balls", "--balls", "23", "--bins", "365"};
//   const exit_code code = run(call, {.answers = stdout, .complaints = stderr});
#pragma once

#include <cstdio>
#include <span>
#include <string>

#include "exit_code.hpp"

namespace oneprobe::cli {

/// Where a call writes.
struct streams {
  std::FILE* answers;
  std::FILE* complaints;
};

/// A call of the tool; `call` is what stands behind its name. Throws nothing that a call can cause;
/// where there is no answer, one line of complaint says why. Leaves nothing behind that a later
/// call would notice. One call at a time: the commands write to one place. `explore` returns only
/// when it is refused.
exit_code run(std::span<const std::string> call, const streams& to);

}  // namespace oneprobe::cli
