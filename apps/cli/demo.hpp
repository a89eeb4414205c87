// `oneprobe demo`: the theory at work on one table.
#pragma once

#include <CLI/CLI.hpp>

namespace oneprobe::cli {

void add_demo(CLI::App& app);

}  // namespace oneprobe::cli
