// The peers of our tables, from a plug-in beside the tool.
//
// They are not part of the tool itself: it would then ask for DPDK's, TBB's and Abseil's libraries
// whenever it starts, also for a model or a filter, and not start at all where one of them is gone;
// and DPDK brings threads, signal handlers and its own log. The plug-in is built beside the tool
// with those peers that CMake finds, is opened by `oneprobe bench tables` alone, and its peers go
// by the same loops and flags as our tables.
#pragma once

#include <string>
#include <vector>

#include "bench/table_contender.hpp"

namespace oneprobe::cli {

struct absent_peer {
  table_kind kind;
  std::string name;
  std::string package;  // Debian's; empty: none is needed
  std::string why;
};

struct table_peers {
  table_list list;
  std::vector<absent_peer> absent;
};

/// Those of the given kinds. Their code is never unloaded.
table_peers load_table_peers(const table_contest_size& size, const std::vector<table_kind>& kinds);

}  // namespace oneprobe::cli
