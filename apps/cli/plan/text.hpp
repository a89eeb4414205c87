// What the tables of all plans have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arguments.hpp"
#include "oneprobe/plan/filter.hpp"
#include "output.hpp"

namespace oneprobe::cli {

inline constexpr std::size_t line_width = 80;

inline constexpr option cpp_output{"--cpp", "", "a C++ program that builds it, instead of a table"};
/// Whether that was asked for. Throws usage_error if --json was as well.
bool wants_program(const arguments& in);

/// "236.4 MiB", "1.2 KiB".
std::string sized(std::uint64_t bytes);

/// "1 in 9,600", or the number where that says more.
std::string error_text(double fpr);

/// A label and what it stands for, broken into lines below each other.
std::string line(std::string_view label, std::string_view value);

/// The planner's warnings below a table; nothing where there are none.
std::string warnings_text(const std::vector<std::string>& warnings);

/// The overflow as hardware would keep it, in words and in JSON.
std::string cam_text(const cam_forecast& cam,
                     std::string_view over_full = "the over-fill that is planned for");
void add_cam(report& out, const cam_forecast& cam);

/// Throws a planner's refusal of needs as a usage_error, with the option for the library's name.
[[noreturn]] void refuse_in_options(
    std::string_view sentence,
    std::span<const std::pair<std::string_view, std::string_view>> flags_of_names);

}  // namespace oneprobe::cli
