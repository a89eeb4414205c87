#include "shell.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

#include "group.hpp"
#include "oneprobe/version.hpp"

namespace oneprobe::cli {
namespace {

/// A command with the names that lead to it, " plan filter", empty for the tool itself.
struct place {
  std::string path;
  const CLI::App* app;
};

void add_places(std::vector<place>& list, const std::string& path, const CLI::App& app) {
  list.push_back({path, &app});
  for (const CLI::App* each : commands_below(app))
    add_places(list, path + ' ' + name_of(*each), *each);
}

std::vector<place> places_of(const CLI::App& root) {
  std::vector<place> list;
  add_places(list, "", root);
  return list;
}

/// What may follow there: names of commands, and flags.
std::vector<std::string> words_at(const CLI::App& app) {
  std::vector<std::string> words = names_below(app);
  const std::vector<std::string> flags = flags_of(app);
  words.insert(words.end(), flags.begin(), flags.end());
  return words;
}

/// "a"|"b": the patterns of a case in either shell.
std::string paths_in_quotes(const std::vector<place>& places) {
  std::vector<std::string> quoted;
  for (const place& each : places)
    if (!each.path.empty()) quoted.push_back('"' + each.path + '"');
  return fmt::format("{}", fmt::join(quoted, "|"));
}

/// Text that troff prints as it is.
std::string in_troff(std::string_view text) {
  std::string out;
  bool at_start = true;
  for (const char c : text) {
    if (at_start && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
    at_start = c == '\n';
  }
  return out;
}

}  // namespace

std::string bash_completion(const CLI::App& root) {
  const std::vector<place> places = places_of(root);
  std::string script = fmt::format(
      "# bash completion for oneprobe\n"
      "_oneprobe() {{\n"
      "  local place= words= i\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    case \"$place ${{COMP_WORDS[i]}}\" in\n"
      "      {}) place+=\" ${{COMP_WORDS[i]}}\" ;;\n"
      "    esac\n"
      "  done\n"
      "  case $place in\n",
      paths_in_quotes(places));
  for (const place& each : places)
    script += fmt::format("    \"{}\") words=\"{}\" ;;\n", each.path,
                          fmt::join(words_at(*each.app), " "));
  return script +
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
         "  ((${#COMPREPLY[@]})) || COMPREPLY=($(compgen -f -- \"${COMP_WORDS[COMP_CWORD]}\"))\n"
         "}\n"
         "complete -o filenames -F _oneprobe oneprobe\n";
}

std::string zsh_completion(const CLI::App& root) {
  const std::vector<place> places = places_of(root);
  std::string script = fmt::format(
      "#compdef oneprobe\n"
      "local place= word\n"
      "for word in ${{words[2,CURRENT-1]}}; do\n"
      "  case \"$place $word\" in\n"
      "    ({}) place+=\" $word\" ;;\n"
      "  esac\n"
      "done\n"
      "case $place in\n",
      paths_in_quotes(places));
  for (const place& each : places)
    script += fmt::format("  (\"{}\") compadd -- {} ;;\n", each.path,
                          fmt::join(words_at(*each.app), " "));
  return script + "esac\n_files\n";
}

std::string man_page(const CLI::App& root) {
  std::string page = fmt::format(
      ".TH ONEPROBE 1 \"\" \"oneprobe {}\" \"User Commands\"\n"
      ".SH NAME\n"
      "oneprobe \\- hashing on an access budget\n"
      ".SH SYNOPSIS\n"
      ".B oneprobe\n"
      "NAME [OPTION]...\n"
      ".SH DESCRIPTION\n"
      "Plans, builds, measures and predicts hash tables, filters and balancers that promise how\n"
      "many memory accesses an operation may cost.\n"
      ".SH COMMANDS\n",
      version);
  for (const place& each : places_of(root))
    page += fmt::format(".SS oneprobe{}\n.nf\n{}.fi\n", in_troff(each.path),
                        in_troff(help_of(*each.app)));
  return page +
         ".SH EXIT STATUS\n"
         "0; 1 for an answer that is no, or a check that failed; 2 for a call or an input that is\n"
         "wrong, missing or malformed; 3 for a read or write error, a full disk, too little "
         "memory,\n"
         "a server that does not answer, or an internal error. With 2 and 3 one line on the error\n"
         "output says why.\n";
}

}  // namespace oneprobe::cli
