// `oneprobe reproduce`: every table and figure of the papers, computed again.
#pragma once

#include <CLI/CLI.hpp>

namespace oneprobe::cli {

void add_reproduce(CLI::App& app);

}  // namespace oneprobe::cli
