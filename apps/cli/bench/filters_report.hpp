// What a benchmark of filters says: all of it as JSON, the essential as tables.
#pragma once

#include <vector>

#include "bench/contest.hpp"
#include "bench/machine.hpp"
#include "output.hpp"

namespace oneprobe::cli {

/// `machine` as it was before the first round. REQUIRES: at least one contest.
report report_of(const std::vector<filter_contest>& contests, const machine_facts& machine);

}  // namespace oneprobe::cli
