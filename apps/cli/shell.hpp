// What shells and manuals want to know of the tool, written from its commands: a command that is
// added is in all of it.
#pragma once

#include <string>
#include <string_view>

namespace CLI {
class App;
}

namespace oneprobe::cli {

/// A script for bash, or for zsh, that completes names, options and file names.
std::string bash_completion(const CLI::App& root);
std::string zsh_completion(const CLI::App& root);

/// The manual page, section 1: every command's own help.
std::string man_page(const CLI::App& root);

}  // namespace oneprobe::cli
