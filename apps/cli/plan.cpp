#include "plan.hpp"

#include "group.hpp"
#include "plan/commands.hpp"

namespace oneprobe::cli {
namespace {

const command_group plan_group{
    .name = "plan",
    .summary = "needs in, parameters and predictions out",
    .text = "from what is needed to a plan of it, with what it will cost and what it beat",
    .more = "",
    .example = "filter --elements 100M --fpr 1e-4",
    .commands = {&plan_filter_command, &plan_table_command, &plan_summary_command},
};

}  // namespace

void add_plan(CLI::App& app) { add_group(app, plan_group); }

}  // namespace oneprobe::cli
