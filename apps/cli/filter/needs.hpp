// The options that say what a filter must do, and the plan that follows from them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "arguments.hpp"
#include "command.hpp"
#include "oneprobe/plan/filter.hpp"

namespace oneprobe::cli {

/// Without --fpr, --bits-per-element and --bytes.
inline constexpr double default_fpr = 1e-3;

/// For the help of a command that takes them. --elements is not among them.
std::vector<option_use> need_options();

/// What was asked for; `elements` stays 0. Throws usage_error.
filter_needs read_needs(const arguments& in);

/// What the planner proposes. Needs that it refuses are a usage_error in the names of the options.
filter_proposal plan_needs(const filter_needs& needs);

/// The plan for these needs. What is refused, or cannot be met, is a usage_error in the names of
/// the options, with what could be had instead.
filter_plan plan_or_refuse(const filter_needs& needs);

}  // namespace oneprobe::cli
