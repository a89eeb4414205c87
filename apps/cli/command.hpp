// A command of the tool: what its help says, which options it takes, and the function that answers.
#pragma once

#include <CLI/CLI.hpp>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "arguments.hpp"
#include "output.hpp"

namespace oneprobe::cli {

/// How an option stands in the help. Whether it is needed in a given call, the command finds out
/// when it reads it.
enum class need { required, optional };

struct option_use {
  const option* what;
  need how = need::required;
};

struct command {
  std::string_view name;
  std::string_view summary;  // one line in the list of commands
  std::string_view details;  // more for its own help; may be empty
  std::string_view source;   // paper and section that it computes; may be empty
  std::string_view example;  // arguments after the name
  std::vector<option_use> options;
  /// What may follow without a flag, any number of times; its `flag` is what the help calls it.
  const option* words = nullptr;
  report (*answer)(const arguments& in);
};

/// Every command takes it. What is answered does not depend on it, except where keys are printed.
inline constexpr option json_output{"--json", "", "one JSON object instead of a table"};

/// The answer could not be written: a failure, not the caller's fault.
struct output_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The answer, which has been printed, is no: exit code 1 without a further word.
struct negative_answer {};

/// Puts the command below `parent`. When it is chosen, parsing runs it and prints its report.
void add_command(CLI::App& parent, const command& what);

/// The help of a command that only has others below it; `more` stands below their names and may be
/// empty. The texts must be literals.
void describe(CLI::App& group, std::string_view text, std::string_view more,
              std::string_view example);

}  // namespace oneprobe::cli
