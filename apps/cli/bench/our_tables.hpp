// Our own tables as contenders, from the default plan.
#pragma once

#include "bench/table_contender.hpp"

namespace oneprobe::cli {

/// bounded_map with buckets of 16, which the others are compared with, and with buckets of 8.
table_list make_our_tables(const table_contest_size& size);

}  // namespace oneprobe::cli
