#include "model.hpp"

#include <CLI/CLI.hpp>

#include "model/common.hpp"

namespace oneprobe::cli {

void add_model(CLI::App& app) {
  CLI::App* model = app.add_subcommand("model", "any formula of the papers");
  model->require_subcommand(1);
  describe(*model, "any formula of the papers, for large tables unless it asks for a size",
           "The papers: ECB, Energy-Constrained Balancing; BBF, Access-Efficient Balanced Bloom "
           "Filters; OFH, Optimal Fast Hashing; SSH, Simple Summaries for Hashing With Choices; "
           "LEC, lecture notes on balls and bins.",
           "cutoff --scheme multilevel --load-factor 1 --bucket-capacity 4 --choices 4");
  for (const command* each :
       {&overflow_bound_command, &cutoff_command, &fluid_command, &least_overflow_command,
        &finite_size_command, &churn_command, &balance_bound_command, &balance_command,
        &filter_command, &crisis_command, &summary_command, &reconstruction_command,
        &balls_command})
    add_command(*model, *each);
}

}  // namespace oneprobe::cli
