// The commands below `oneprobe bench` that have a file of their own.
#pragma once

#include "command.hpp"

namespace oneprobe::cli {

extern const command bench_readers_command;
extern const command bench_store_command;
extern const command bench_tables_command;

}  // namespace oneprobe::cli
