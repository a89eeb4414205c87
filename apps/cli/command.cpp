#include "command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <string>

namespace oneprobe::cli {
namespace {

constexpr std::size_t help_width = 80;
constexpr std::size_t help_column = 30;

constexpr option help{"--help", "", "this text"};

std::string path_of(const CLI::App& command) {
  const CLI::App* parent = command.get_parent();
  return parent == nullptr ? command.get_name() : path_of(*parent) + ' ' + command.get_name();
}

std::string option_lines(const option& what) {
  const std::string name = fmt::format("  {} {}", what.flag, what.value);
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
  if (how == need::optional) lines += option_lines(json_output) + option_lines(help);
  return lines.empty() ? lines : fmt::format("\n{}:\n{}", heading, lines);
}

std::string help_of(const command& what, std::string_view path) {
  std::string text = fmt::format("{}: {}\n", path, what.summary);
  if (!what.details.empty()) text += '\n' + wrapped(what.details, help_width, 0);
  if (!what.source.empty())
    text += '\n' + wrapped(fmt::format("Computes: {}.", what.source), help_width, 0);
  if (what.words != nullptr) text += "\nArguments:\n" + option_lines(*what.words);
  text += option_group("Required", what, need::required);
  text += option_group("Options", what, need::optional);
  return text + fmt::format("\nExample:\n  {} {}\n", path, what.example);
}

void add_option(CLI::App& app, const option& what) {
  const std::string flag(what.flag);
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
  take(json_output.flag);
  return in;
}

void print(const report& answer, bool as_json) {
  const std::string text = as_json ? answer.json() : answer.table();
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (!written || std::fflush(stdout) != 0) throw output_error("cannot write to standard output");
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

}  // namespace

void add_command(CLI::App& parent, const command& what) {
  CLI::App* app = parent.add_subcommand(std::string(what.name), std::string(what.summary));
  for (const option_use& use : what.options) add_option(*app, *use.what);
  add_option(*app, json_output);
  if (what.words != nullptr)
    app->add_option(std::string(what.words->flag))->expected(CLI::detail::expected_max_vector_size);
  // `what` lives in a table that outlives the parser.
  app->formatter_fn([app, &what](const CLI::App*, std::string, CLI::AppFormatMode) {
    return help_of(what, path_of(*app));
  });
  app->callback([app, &what] { run(*app, what); });
}

void describe(CLI::App& group, std::string_view text, std::string_view more,
              std::string_view example) {
  group.formatter_fn(
      [&group, text, more, example](const CLI::App*, std::string, CLI::AppFormatMode) {
        const std::string path = path_of(group);
        std::string lines = fmt::format("{}: {}\n\nNames:\n", path, text);
        for (const CLI::App* each : group.get_subcommands([](const CLI::App*) { return true; }))
          lines += option_lines({each->get_name(), "", each->get_description()});
        if (!more.empty()) lines += '\n' + wrapped(more, help_width, 0);
        return lines + fmt::format("\nExamples:\n  {0} {1}\n  {0} NAME --help\n", path, example);
      });
}

}  // namespace oneprobe::cli
