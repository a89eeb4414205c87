#include "plan.hpp"

#include <CLI/CLI.hpp>

#include "command.hpp"
#include "plan/commands.hpp"

namespace oneprobe::cli {

void add_plan(CLI::App& app) {
  CLI::App* plan = app.add_subcommand("plan", "needs in, parameters and predictions out");
  plan->require_subcommand(1);
  describe(*plan, "from what is needed to a plan of it, with what it will cost and what it beat",
           "", "filter --elements 100M --fpr 1e-4");
  add_command(*plan, plan_filter_command);
  add_command(*plan, plan_table_command);
  add_command(*plan, plan_summary_command);
}

}  // namespace oneprobe::cli
