#include "filter.hpp"

#include <CLI/CLI.hpp>

#include "filter/commands.hpp"

namespace oneprobe::cli {

void add_filter(CLI::App& app) {
  CLI::App* filter = app.add_subcommand("filter", "filter files: build, query, info");
  filter->require_subcommand(1);
  describe(
      *filter, "files of keys to a filter file, and answers from it",
      "A filter says of a key \"surely not\" or \"perhaps\", from a few bits per key. It never "
      "says \"surely not\" of a key it was built from.",
      "build keys.txt -o seen.filter --fpr 0.0001");
  for (const command* each : {&filter_build_command, &filter_query_command, &filter_info_command})
    add_command(*filter, *each);
}

}  // namespace oneprobe::cli
