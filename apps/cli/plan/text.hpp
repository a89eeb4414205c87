// What the tables of all plans have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace oneprobe::cli {

inline constexpr std::size_t line_width = 80;

/// "236.4 MiB", "1.2 KiB".
std::string sized(std::uint64_t bytes);

/// A label and what it stands for, broken into lines below each other.
std::string line(std::string_view label, std::string_view value);

}  // namespace oneprobe::cli
