// The commands below `oneprobe plan`.
#pragma once

#include "command.hpp"

namespace oneprobe::cli {

extern const command plan_filter_command;
extern const command plan_summary_command;
extern const command plan_table_command;

}  // namespace oneprobe::cli
