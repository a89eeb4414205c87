// What is said about a filter, in the words of both `build` and `info`.
#pragma once

#include <cstdint>
#include <string>

#include "oneprobe/filter/plan.hpp"
#include "oneprobe/filter/results.hpp"
#include "output.hpp"

namespace oneprobe::cli {

/// "bytes, 11.9 MiB": what stands behind a number of bytes; nothing more below 1 KiB.
std::string in_larger_units(std::uint64_t bytes);

/// How it is, from its bits: elements, condition, error now and as planned, memory.
void add_state(report& out, const filter_stats& stats);
/// How it is made: kind and parameters.
void add_plan(report& out, const filter_plan& plan);
/// What was predicted when it was planned.
void add_predictions(report& out, const filter_plan& plan);
/// A sentence about a filter that holds more than it was planned for; none otherwise.
void add_warning(report& out, const filter_stats& stats);

}  // namespace oneprobe::cli
