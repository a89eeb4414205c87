// What the page asks for: plans, in the very words of `oneprobe plan ... --json`, and the curves
// around them. No number is made here: all come from the planner and the models.
#pragma once

#include <string>

#include "explorer/server.hpp"

namespace oneprobe::explorer {

/// A value of a query that cannot be used has status 400 and says why.
///
///   /                       the page, and the files that it consists of
///   /api/plan/filter        as `oneprobe plan filter --json`; options are names of the query
///   /api/plan/table
///   /api/frontier/filter    error and accesses against bits per element, from tables
///   /api/frontier/table     overflow against the load factor, for every number of choices
///   /api/picture/table      levels, loads and costs of the table that is planned
reply answer(const std::string& path, const query& asked);

/// Prepares what the first visit needs, and then every curve that the page's controls ask for.
/// Takes seconds: for a thread of its own.
void warm_up();

}  // namespace oneprobe::explorer
