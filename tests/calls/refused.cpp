#include "refused.hpp"

#include <algorithm>

namespace oneprobe::cli {
namespace {

constexpr std::size_t longest_line = 400;
constexpr std::size_t most_repeated = 200;

std::string beginning_of(const std::string& text) {
  return "'" + text.substr(0, most_repeated) + "'";
}

}  // namespace

bool is_one_line(const std::string& complaints) {
  constexpr std::string_view tool = "oneprobe";
  const auto in_command = [](char c) { return (c >= 'a' && c <= 'z') || c == ' ' || c == '-'; };
  const auto printable = [](char c) { return c >= ' ' && c <= '~'; };
  if (!complaints.starts_with(tool) || !complaints.ends_with('\n')) return false;
  if (complaints.size() >= longest_line) return false;
  const auto colon =
      std::find_if_not(complaints.begin() + tool.size(), complaints.end(), in_command);
  const std::string_view rest(colon, complaints.end() - 1);
  return rest.starts_with(": ") && rest.size() > 2 &&
         std::all_of(rest.begin(), rest.end(), printable);
}

std::string wrongly_refused(const call_outcome& found) {
  if (found.code != 2)
    return "exit code " + std::to_string(found.code) + ": " + beginning_of(found.answers) +
           beginning_of(found.complaints);
  if (!found.answers.empty()) return "answers " + beginning_of(found.answers);
  if (!is_one_line(found.complaints)) return "complains " + beginning_of(found.complaints);
  if (found.cpu_seconds >= most_seconds_to_refuse)
    return "takes " + std::to_string(found.cpu_seconds) + " s";
  return {};
}

}  // namespace oneprobe::cli
