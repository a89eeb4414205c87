// A command of the tool: what its help says, which options it takes, and the function that answers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "arguments.hpp"
#include "output.hpp"

namespace CLI {
class App;
}

namespace oneprobe::cli {

/// How an option stands in the help. Whether it is needed in a given call, the command finds out
/// when it reads it.
enum class need { required, optional };

struct option_use {
  const option* what;
  need how = need::required;
};

/// Whether a command has an answer that could also be JSON.
enum class output_form { table_or_json, none };

struct command {
  std::string_view name;
  std::string_view summary;  // one line in the list of commands
  std::string_view details;  // more for its own help; may be empty
  std::string_view source;   // paper and section that it computes; may be empty
  std::string_view example;  // arguments after the name
  std::vector<option_use> options;
  /// What may follow without a flag, any number of times; its `flag` is what the help calls it.
  const option* words = nullptr;
  output_form form = output_form::table_or_json;
  report (*answer)(const arguments& in);
};

/// Every command takes it that has an answer. What is answered does not depend on it, except where
/// keys are printed.
inline constexpr option json_output{"--json", "", "one JSON object instead of a table"};

/// The answer, which has been printed, is no: exit code 1 without a further word.
struct negative_answer {};

/// Writes to standard output now, or throws a system_failure.
void print_now(std::string_view text);

/// What to type for the tool: the path by which it was called, or else its name.
const std::string& tool_name();
void set_tool_name(std::string_view called);

/// Puts the command below `parent`. When it is chosen, parsing runs it and prints its report.
void add_command(CLI::App& parent, const command& what);

/// The help of a command that only has others below it; `more` stands below their names and may be
/// empty. The texts must be literals.
void describe(CLI::App& group, std::string_view text, std::string_view more,
              std::string_view example);

/// The commands below one, and their names; the flags that it takes itself.
std::vector<const CLI::App*> commands_below(const CLI::App& app);
std::vector<std::string> names_below(const CLI::App& app);
std::vector<std::string> flags_of(const CLI::App& app);

}  // namespace oneprobe::cli
