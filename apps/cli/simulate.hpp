// `oneprobe simulate`: a table filled or churned by the code of the products, beside the model.
#pragma once

#include <CLI/CLI.hpp>

namespace oneprobe::cli {

void add_simulate(CLI::App& app);

}  // namespace oneprobe::cli
