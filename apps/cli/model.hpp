// `oneprobe model NAME`: any formula of the papers.
#pragma once

#include <CLI/CLI.hpp>

namespace oneprobe::cli {

void add_model(CLI::App& app);

}  // namespace oneprobe::cli
