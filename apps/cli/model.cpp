#include "model.hpp"

#include "group.hpp"
#include "model/common.hpp"

namespace oneprobe::cli {
namespace {

const command_group model_group{
    .name = "model",
    .summary = "any formula of the papers",
    .text = "any formula of the papers, for large tables unless it asks for a size",
    .more =
        "The papers: ECB, Energy-Constrained Balancing; BBF, Access-Efficient Balanced Bloom "
        "Filters; OFH, Optimal Fast Hashing; SSH, Simple Summaries for Hashing With Choices; "
        "LEC, lecture notes on balls and bins.",
    .example = "cutoff --scheme multilevel --load-factor 1 --bucket-capacity 4 --choices 4",
    .commands = {&overflow_bound_command, &cutoff_command, &fluid_command, &least_overflow_command,
                 &finite_size_command, &churn_command, &balance_bound_command, &balance_command,
                 &filter_command, &crisis_command, &summary_command, &reconstruction_command,
                 &balls_command},
};

}  // namespace

void add_model(CLI::App& app) { add_group(app, model_group); }

}  // namespace oneprobe::cli
