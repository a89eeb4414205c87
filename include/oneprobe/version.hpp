// The version of the library, for the preprocessor and for code. Equal to the CMake project's.
#pragma once

#include <string_view>

/// The version by its parts, and as text.
#define ONEPROBE_VERSION_MAJOR 0
#define ONEPROBE_VERSION_MINOR 1
#define ONEPROBE_VERSION_PATCH 0
#define ONEPROBE_VERSION_STRING "0.1.0"

namespace oneprobe::inline v0_1 {

/// The version as text.
inline constexpr std::string_view version = ONEPROBE_VERSION_STRING;

}  // namespace oneprobe::inline v0_1
