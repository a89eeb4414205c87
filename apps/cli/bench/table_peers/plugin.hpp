// The one function of the plug-in.
#pragma once

#include <vector>

#include "bench/table_peers.hpp"

extern "C" void oneprobe_add_table_peers(const oneprobe::cli::table_contest_size& size,
                                         const std::vector<oneprobe::cli::table_kind>& kinds,
                                         oneprobe::cli::table_peers& found);
