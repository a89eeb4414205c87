// The commands below `oneprobe filter`, and what they share.
#pragma once

#include <string_view>

#include "arguments.hpp"
#include "command.hpp"
#include "filter/key_lines.hpp"

namespace oneprobe::cli {

extern const command filter_build_command;
extern const command filter_query_command;
extern const command filter_info_command;

inline constexpr option nul_separated{"-0", "", "keys end with a NUL byte instead of a line end"};

inline key_separator read_separator(const arguments& in) {
  return in.is_set(nul_separated) ? key_separator::nul : key_separator::newline;
}

}  // namespace oneprobe::cli
