#include "command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "group.hpp"

namespace oneprobe::cli {
namespace {

constexpr std::size_t help_width = 80;
constexpr std::size_t help_column = 24;

constexpr option help{"--help", "", "this text"};

std::string path_of(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : path_of(*parent) + ' ' + command.get_name();
}

/// A call, broken before options so that it fits a screen and can still be pasted.
std::string call_lines(std::string_view call) {
  std::string lines, line = "  ";
  for (std::size_t at = 0; at < call.size();) {
    const std::size_t end = std::min(call.find(" --", at + 1), call.size());
    const std::string_view piece = call.substr(at, end - at);
    constexpr std::size_t room_for_mark = 2;
    if (line.size() + piece.size() + room_for_mark > help_width && line.size() > 4) {
      lines += line + " \\\n";
      line = "   ";
    }
    line += piece;
    at = end;
  }
  return lines + line + '\n';
}

bool has_json(const command& what) { return what.form == output_form::table_or_json; }

std::string option_lines(const option& what) {
  const std::string name =
      fmt::format("  {}{}{} {}", what.flag, what.also.empty() ? "" : ", ", what.also, what.value);
  // The first line of the text moves up beside the name.
  std::string lines = wrapped(what.help, help_width, help_column);
  if (name.size() + 2 > help_column) return name + '\n' + lines;
  lines.replace(0, name.size(), name);
  return lines;
}

std::string option_group(std::string_view heading, const command& what, need how) {
  std::string lines;
  for (const option_use& use : what.options)
    if (use.how == how) lines += option_lines(*use.what);
  if (how == need::optional) {
    if (has_json(what)) lines += option_lines(json_output);
    lines += option_lines(help);
  }
  return lines.empty() ? lines : fmt::format("\n{}:\n{}", heading, lines);
}

/// The ids of docs/papers.md, and what they stand for.
constexpr std::array<std::pair<std::string_view, std::string_view>, 5> papers{{
    {"OFH", "Optimal Fast Hashing"},
    {"ECB", "Energy-Constrained Balancing"},
    {"BBF", "Balanced Bloom Filters"},
    {"SSH", "Simple Summaries"},
    {"LEC", "lecture notes on balls and bins"},
}};

/// "OFH, Theorem 6" as "Optimal Fast Hashing (OFH), Theorem 6"; a second mention stays short.
std::string with_titles(std::string_view source) {
  std::string text(source);
  for (const auto& [id, title] : papers)
    if (const auto at = text.find(id); at != std::string::npos)
      text.replace(at, id.size(), fmt::format("{} ({})", title, id));
  return text;
}

std::string help_of(const command& what, std::string_view path) {
  std::string text = wrapped(fmt::format("{}: {}", path, what.summary), help_width, 0);
  if (!what.details.empty()) text += '\n' + wrapped(what.details, help_width, 0);
  if (!what.source.empty())
    text += '\n' + wrapped(fmt::format("Computes: {}.", with_titles(what.source)), help_width, 0);
  if (what.words != nullptr) text += "\nArguments:\n" + option_lines(*what.words);
  text += option_group("Required", what, need::required);
  text += option_group("Options", what, need::optional);
  return text + "\nExample:\n" + call_lines(fmt::format("{} {}", path, what.example));
}

void add_option(CLI::App& app, const option& what) {
  std::string flag(what.flag);
  if (!what.also.empty()) flag.append(",").append(what.also);
  if (what.value.empty())
    app.add_flag(flag)->disable_flag_override();
  else  // The same option twice gets our message, not CLI11's.
    app.add_option(flag)->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

arguments collect(const CLI::App& app, const command& what) {
  arguments in;
  const auto take = [&](std::string_view flag) {
    const CLI::Option* typed = app.get_option(std::string(flag));
    if (typed->count() > 0) in.give(flag, typed->results());
  };
  for (const option_use& use : what.options) take(use.what->flag);
  if (what.words != nullptr) take(what.words->flag);
  if (has_json(what)) take(json_output.flag);
  return in;
}

void print(const report& answer, bool as_json) {
  print_now(as_json ? answer.json() : answer.table());
}

void run(const CLI::App& app, const command& what) {
  const arguments in = collect(app, what);
  const bool as_json = in.is_set(json_output);
  report answer = what.answer(in);
  in.refuse_unread();
  if (!in.ignored().empty())
    answer.text("ignored", fmt::format("{}", fmt::join(in.ignored(), " ")));
  print(answer, as_json);
  if (answer.is_negative()) throw negative_answer();
}

std::string& called_name() {
  static std::string name = "oneprobe";
  return name;
}

std::FILE*& answers_go_to() {
  static std::FILE* stream = stdout;
  return stream;
}

}  // namespace

void print_now(std::string_view text) {
  std::FILE* const to = answers_go_to();
  if (std::fwrite(text.data(), 1, text.size(), to) != text.size() || std::fflush(to) != 0)
    throw system_failure(fmt::format("cannot write to standard output: {}", std::strerror(errno)));
}

void print_to(std::FILE* answers) { answers_go_to() = answers; }

const std::string& tool_name() { return called_name(); }

void set_tool_name(std::string_view called) {
  if (called.find('/') != std::string_view::npos) called_name() = called;
}

void add_command(CLI::App& parent, const command& what) {
  CLI::App* app = parent.add_subcommand(std::string(what.name), std::string(what.summary));
  for (const option_use& use : what.options) add_option(*app, *use.what);
  if (has_json(what)) add_option(*app, json_output);
  if (what.words != nullptr)
    app->add_option(std::string(what.words->flag))->expected(CLI::detail::expected_max_vector_size);
  // `what` lives in a table that outlives the parser.
  app->formatter_fn([app, &what](const CLI::App*, const std::string&, CLI::AppFormatMode) {
    return help_of(what, path_of(*app));
  });
  app->callback([app, &what] { run(*app, what); });
}

void describe(CLI::App& group, std::string_view text, std::string_view more,
              std::string_view example) {
  group.formatter_fn([&group, text, more, example](const CLI::App*, const std::string&,
                                                   CLI::AppFormatMode) {
    const std::string path = path_of(group);
    std::string lines = wrapped(fmt::format("{}: {}", path, text), help_width, 0) + "\nNames:\n";
    for (const CLI::App* each : commands_below(group))
      lines += option_lines({each->get_name(), "", each->get_description()});
    if (!more.empty()) lines += '\n' + wrapped(more, help_width, 0);
    return lines + "\nExamples:\n" + call_lines(fmt::format("{} {}", path, example)) +
           fmt::format("  {} NAME --help\n", path);
  });
}

void add_group(CLI::App& parent, const command_group& what) {
  CLI::App* group = parent.add_subcommand(std::string(what.name), std::string(what.summary));
  group->require_subcommand(1);
  describe(*group, what.text, what.more, what.example);
  for (const command* each : what.commands) add_command(*group, *each);
}

std::string name_of(const CLI::App& app) { return app.get_name(); }

std::string help_of(const CLI::App& app) { return app.help(); }

std::vector<const CLI::App*> commands_below(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> names_below(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* each : commands_below(app)) names.push_back(each->get_name());
  return names;
}

std::vector<std::string> flags_of(const CLI::App& app) {
  std::vector<std::string> flags;
  for (const CLI::Option* each : app.get_options())
    for (const std::string& name : each->get_lnames()) flags.push_back("--" + name);
  return flags;
}

}  // namespace oneprobe::cli
