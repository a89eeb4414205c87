// `oneprobe plan`: needs in, parameters and predictions out.
#pragma once

#include <CLI/CLI.hpp>

namespace oneprobe::cli {

void add_plan(CLI::App& app);

}  // namespace oneprobe::cli
