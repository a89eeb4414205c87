// Where the built tool is.
#pragma once

#include <string>

/// The path of the program `oneprobe`. A function for the reason that tests_dir() is one.
std::string tool_path();
