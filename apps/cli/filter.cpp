#include "filter.hpp"

#include "filter/commands.hpp"
#include "group.hpp"

namespace oneprobe::cli {
namespace {

const command_group filter_group{
    .name = "filter",
    .summary = "filter files: build, query, info",
    .text = "files of keys to a filter file, and answers from it",
    .more =
        "A filter says of a key \"surely not\" or \"perhaps\", from a few bits per key. It never "
        "says \"surely not\" of a key it was built from.",
    .example = "build keys.txt -o seen.filter --fpr 0.0001",
    .commands = {&filter_build_command, &filter_query_command, &filter_info_command},
};

}  // namespace

void add_filter(CLI::App& app) { add_group(app, filter_group); }

}  // namespace oneprobe::cli
