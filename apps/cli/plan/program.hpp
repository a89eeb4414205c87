// A plan as a whole C++ program: what `oneprobe plan ... --cpp` prints, and what the explorer
// shows.
//
// The program needs Oneprobe's headers and nothing to link: the plan's numbers are written out in
// it. It builds what was planned, fills it with as many made-up keys as were planned for, and
// prints what it finds beside what was predicted; its exit code is 0 if nothing was lost.
#pragma once

#include <cstdint>
#include <string>

#include "oneprobe/filter/plan.hpp"
#include "oneprobe/map/plan.hpp"
#include "oneprobe/one_probe/plan.hpp"

namespace oneprobe::cli {

// REQUIRES of all: a plan without a fault.

std::string program_of(const filter_plan& plan);

/// A map, or without value bytes a set. Keys and values are integers, or arrays of them, as the
/// planner lays them out (`slot_bytes_of`).
std::string program_of(const table_plan& plan, std::uint32_t key_bytes, std::uint32_t value_bytes);

/// A map whose keys have eight bytes, or all bytes of an element that has no more.
std::string program_of(const summary_plan& plan, std::uint32_t element_bytes);

}  // namespace oneprobe::cli
