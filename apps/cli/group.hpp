// How commands become the tool: what is below what, and what the parser knows of it. Commands
// themselves need only command.hpp; of the parser's own header, only two files do.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "command.hpp"

namespace oneprobe::cli {

/// A command that only has others below it. The texts must be literals.
struct command_group {
  std::string_view name;
  std::string_view summary;  // one line in the list of commands
  std::string_view text;     // the first line of its own help
  std::string_view more;     // below the names of the others; may be empty
  std::string_view example;  // arguments after the name
  std::vector<const command*> commands;
};

/// Puts the group below `parent`, and its commands below it.
void add_group(CLI::App& parent, const command_group& what);

/// The name of a command or of a group, and its help.
std::string name_of(const CLI::App& app);
std::string help_of(const CLI::App& app);

/// Where print_now writes from now on.
void print_to(std::FILE* answers);

}  // namespace oneprobe::cli
