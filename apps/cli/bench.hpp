// `oneprobe bench`: what this machine makes of the filters, the bare memory and installed peers.
#pragma once

#include <CLI/CLI.hpp>

namespace oneprobe::cli {

void add_bench(CLI::App& app);

}  // namespace oneprobe::cli
