// The commands below `oneprobe redis`, and what they share.
#pragma once

#include "command.hpp"

namespace oneprobe::cli {

extern const command redis_build_command;
extern const command redis_query_command;
extern const command redis_import_command;

}  // namespace oneprobe::cli
