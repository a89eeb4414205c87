// The report of a run as one page: no scripts, no files beside it, light and dark.
#pragma once

#include <string>

#include "reproduce/result.hpp"

namespace oneprobe::cli {

std::string html_of(const run_result& run);

}  // namespace oneprobe::cli
