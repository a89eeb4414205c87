// The curves that the page draws, as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "arguments.hpp"

namespace oneprobe::explorer {

/// For every kind of filter: the planner's least error, and the accesses of a negative query, on a
/// grid of bits per element, with the place on the curve that a need asks for. From tables that the
/// planner made before (apps/default_plans/frontier.cpp), so that it takes no time.
nlohmann::ordered_json filter_frontier(const cli::arguments& in);
const std::vector<cli::option>& filter_frontier_options();

/// For every number of choices: the least overflow that levels can reach, on a grid of load
/// factors.
nlohmann::ordered_json table_frontier(const cli::arguments& in);
const std::vector<cli::option>& table_frontier_options();

/// Of the table that `oneprobe plan table` would propose for the same options: its levels, the
/// loads of their buckets, and its overflow and accesses at other load factors, beside the least
/// overflow that any scheme can reach with as many accesses. Null where there is no plan.
nlohmann::ordered_json table_picture(const cli::arguments& in);

}  // namespace oneprobe::explorer
