// What a benchmark of tables says: all of it as JSON, the essential as tables.
#pragma once

#include "bench/machine.hpp"
#include "bench/table_contest.hpp"
#include "output.hpp"

namespace oneprobe::cli {

/// `machine` as it was before the first round.
report report_of(const table_contest& contest, const machine_facts& machine);

}  // namespace oneprobe::cli
