// What every call has in common that the tool refuses.
#pragma once

#include <string>

#include "called.hpp"

namespace oneprobe::cli {

/// CPU time in which a call is refused, whatever it is; a sanitizer makes it slower.
#ifdef ONEPROBE_SANITIZED
inline constexpr double most_seconds_to_refuse = 40;
#else
inline constexpr double most_seconds_to_refuse = 2;
#endif

/// What is wrong with the way a call was refused; empty if nothing is: exit code 2, nothing on
/// standard output, one line on standard error that begins with the command, and at once.
std::string wrongly_refused(const call_outcome& found);

/// Whether it is one line that begins with the command, can be printed, and is not too long.
bool is_one_line(const std::string& complaints);

}  // namespace oneprobe::cli
