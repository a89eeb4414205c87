#include "tool.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench.hpp"
#include "command.hpp"
#include "demo.hpp"
#include "explore.hpp"
#include "filter.hpp"
#include "group.hpp"
#include "model.hpp"
#include "oneprobe/version.hpp"
#include "options.hpp"
#include "plan.hpp"
#include "redis.hpp"
#include "reproduce.hpp"
#include "shell.hpp"
#include "simulate.hpp"
#include "store.hpp"

namespace oneprobe::cli {
namespace {

/// The innermost command that was named, and its full name.
struct chosen_command {
  const CLI::App* app;
  std::string path;
};

chosen_command chosen(const CLI::App& root) {
  chosen_command result{&root, root.get_name()};
  while (true) {
    const auto below = result.app->get_subcommands();
    if (below.empty()) return result;
    result.app = below.front();
    result.path += ' ' + result.app->get_name();
  }
}

std::string suggestion(std::string_view typed, const std::vector<std::string>& words) {
  const auto meant = nearest_word(typed.substr(0, typed.find('=')), words);
  return meant ? fmt::format("; did you mean {}?", *meant) : std::string();
}

std::string about_name(std::string_view found, const std::vector<std::string>& names) {
  return fmt::format("unknown name {}{}; one of {}", in_quotes(found), suggestion(found, names),
                     fmt::join(names, ", "));
}

/// What is wrong with the first argument that no command knows.
std::string about_unknown(const CLI::App& app) {
  const std::vector<std::string> left = app.remaining(true);
  const std::string first = left.empty() ? std::string() : left.front();
  const auto names = names_below(app);
  if (first.starts_with('-'))
    return fmt::format("unknown option {}{}", in_quotes(first), suggestion(first, flags_of(app)));
  if (names.empty()) return fmt::format("unexpected argument {}", in_quotes(first));
  return about_name(first, names);
}

/// Where a name is expected and something else stands, with the path to there. CLI11 would go on to
/// the next word that is a name.
std::optional<std::pair<std::string, std::string>> unknown_name(
    const CLI::App& root, const std::vector<std::string>& words) {
  const CLI::App* app = &root;
  std::string path = root.get_name();
  for (const std::string& word : words) {
    const auto names = names_below(*app);
    if (names.empty() || word.starts_with('-')) return std::nullopt;
    if (std::find(names.begin(), names.end(), word) == names.end())
      return std::pair(path, about_name(word, names));
    app = app->get_subcommand(word);
    path += ' ' + word;
  }
  return std::nullopt;
}

/// `oneprobe help plan filter` is `oneprobe plan filter --help`.
std::vector<std::string> words_of(std::span<const std::string> call) {
  std::vector<std::string> words(call.begin(), call.end());
  if (words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  return words;
}

/// Fit for a terminal: CLI11 repeats what was typed as it is.
std::string on_one_line(std::string message) {
  constexpr std::size_t longest = 300;
  if (message.size() > longest) message.replace(longest, std::string::npos, "...");
  std::replace(message.begin(), message.end(), '\n', ' ');
  std::replace_if(
      message.begin(), message.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return message;
}

/// CLI11's message, in our words where they are clearer, always on one line.
std::string about(const CLI::ParseError& error, const CLI::App& app) {
  if (app.remaining_size(true) > 0) return about_unknown(app);
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr)
    return fmt::format("a name is missing; one of {}", fmt::join(names_below(app), ", "));
  std::string message = error.what();
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    // "--load-factor: 1 required TEXT missing" or "json was given a disallowed flag override".
    if (const auto colon = message.find(':'); colon != std::string::npos)
      return message.substr(0, colon) + " needs a value";
    return fmt::format("--{} takes no value", message.substr(0, message.find(' ')));
  }
  return on_one_line(std::move(message));
}

/// Whether all of it was written. Unlike fmt::print it does not throw: complaints are made inside
/// handlers, where no code would catch that.
bool written(std::FILE* to, std::string_view text) {
  return std::fwrite(text.data(), 1, text.size(), to) == text.size() && std::fflush(to) == 0;
}

/// A caller that closed the stream of complaints still gets the exit code.
exit_code complain(const streams& to, std::string_view path, std::string_view message,
                   exit_code code) {
  written(to.complaints, fmt::format("{}: {}\n", path, message));
  return code;
}

exit_code show(const streams& to, const CLI::App& root, std::string_view text) {
  if (written(to.answers, text)) return exit_code::answered;
  return complain(to, chosen(root).path, "cannot write to standard output", exit_code::failure);
}

}  // namespace

exit_code run(std::span<const std::string> call, const streams& to) {
  print_to(to.answers);
  CLI::App root("", "oneprobe");
  root.set_version_flag("--version", "oneprobe " + std::string(version));
  root.require_subcommand(0, 1);
  std::string shell;
  root.add_option("--completion", shell);
  bool manual = false;
  root.add_flag("--manual", manual);
  describe(
      root, "hashing on an access budget: what overflows, what errs, what it costs",
      "oneprobe --completion bash (or zsh) prints a script that completes names and options, "
      "oneprobe --manual a manual page, oneprobe --version the version. Exit codes: 0; 1 for an "
      "answer that is no, or a check that failed; 2 for a call or an input that is wrong; 3 for "
      "what went wrong on the way, a full disk or too little memory.",
      "plan filter --elements 10M --fpr 1e-4");
  add_bench(root);
  add_demo(root);
  add_explore(root);
  add_filter(root);
  add_model(root);
  add_plan(root);
  add_redis(root);
  add_reproduce(root);
  add_simulate(root);
  add_store(root);

  try {
    if (call.empty()) return show(to, root, root.help());
    std::vector<std::string> words = words_of(call);
    if (const auto unknown = unknown_name(root, words))
      return complain(to, unknown->first, unknown->second, exit_code::usage);
    std::reverse(words.begin(), words.end());  // as CLI11 wants them
    root.parse(words);
    if (manual) return show(to, root, man_page(root));
    if (shell == "bash") return show(to, root, bash_completion(root));
    if (shell == "zsh") return show(to, root, zsh_completion(root));
    if (!shell.empty())
      throw usage_error("--completion must be bash or zsh; found " + in_quotes(shell));
    return exit_code::answered;
  } catch (const CLI::CallForHelp&) {
    return show(to, root, root.help());
  } catch (const CLI::CallForVersion& asked) {
    return show(to, root, std::string(asked.what()) + '\n');
  } catch (const CLI::ParseError& error) {
    return complain(to, chosen(root).path, about(error, *chosen(root).app), exit_code::usage);
  } catch (const complaint& why) {
    return complain(to, chosen(root).path, why.what(), why.code());
  } catch (const std::invalid_argument& error) {
    return complain(to, chosen(root).path, error.what(), exit_code::usage);
  } catch (const std::bad_alloc&) {
    return complain(to, chosen(root).path, "not enough memory for these parameters",
                    exit_code::failure);
  } catch (const negative_answer&) {
    return exit_code::negative;
  } catch (const std::exception& error) {
    // The models refuse bad parameters by std::invalid_argument; anything else is our fault.
    return complain(to, chosen(root).path, fmt::format("internal error: {}", error.what()),
                    exit_code::failure);
  }
}

}  // namespace oneprobe::cli
