#include "reproduce/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "output.hpp"

namespace oneprobe::cli {
namespace {

constexpr std::size_t table_width = 100;
constexpr std::size_t narrowest_name = 24;
constexpr std::size_t widest_printed = 20;
constexpr std::size_t gap = 2;

using cells = std::array<std::string, 5>;  // number, printed, model, simulated, verdict

/// Columns that a text takes: letters, not bytes.
std::size_t columns_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string padded(std::string_view text, std::size_t width, bool to_the_right) {
  const std::size_t used = columns_of(text);
  const std::string room(used < width ? width - used : 0, ' ');
  return to_the_right ? room + std::string(text) : std::string(text) + room;
}

std::string line_of(const cells& row, const std::array<std::size_t, 5>& widths) {
  std::string line = "  ";
  for (std::size_t c = 0; c < row.size(); ++c) {
    const bool number = c >= 1 && c <= 3;
    line += padded(row[c], widths[c], number) + std::string(c + 1 < row.size() ? gap : 0, ' ');
  }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

/// The lines of a text that is broken at `width`.
std::vector<std::string> lines_of(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  std::string all = wrapped(text, width, 0);
  for (; !all.empty(); all.erase(0, all.find('\n') + 1))
    lines.push_back(all.substr(0, all.find('\n')));
  return lines;
}

std::string lay_out(const std::vector<cells>& rows) {
  std::array<std::size_t, 5> widths{};
  for (const cells& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c)
      widths[c] = std::max(widths[c], columns_of(row[c]));
  widths[1] = std::min(widths[1], widest_printed);
  std::size_t others = 2;
  for (std::size_t c = 1; c < widths.size(); ++c) others += gap + widths[c];
  const std::size_t room = table_width > others ? table_width - others : 0;
  widths[0] = std::min(widths[0], std::max(narrowest_name, room));

  std::string text;
  for (const cells& row : rows) {
    // Long words go on below; the numbers stand beside their first line.
    const auto names = lines_of(row[0], widths[0]), printed = lines_of(row[1], widths[1]);
    for (std::size_t i = 0; i < std::max(names.size(), printed.size()); ++i) {
      cells line = i == 0 ? row : cells{};
      line[0] = i < names.size() ? names[i] : "";
      line[1] = i < printed.size() ? printed[i] : "";
      text += line_of(line, widths);
    }
  }
  return text;
}

}  // namespace

std::string table_of(const experiment_result& what) {
  std::string text = fmt::format("{}  {}\n", what.what.id, what.what.title);
  const shown_rows rows = rows_to_show(what.found.rows);
  std::vector<cells> table{{"", "printed", "model", "simulated", "verdict"}};
  std::string reasons;
  for (const row* each : rows.open) {
    const row_text shown = text_of(*each);
    std::string how = verdict(*each);
    // The reason for a disagreement would widen the table: it stands below.
    if (const auto colon = how.find(": "); colon != how.npos) {
      reasons += wrapped(fmt::format("{}: {}", each->what, how.substr(colon + 2)), table_width, 2);
      how.resize(colon);
    }
    table.push_back({each->what, shown.printed, shown.model, shown.simulated, how});
  }
  if (!rows.open.empty()) text += lay_out(table);
  text += reasons;
  if (!rows.folded.empty())
    text += fmt::format("  {}{} points where model and simulation are compared: all agree\n",
                        rows.open.empty() ? "" : "and ", rows.folded.size());
  return text;
}

std::string sentence_of(const verdict_counts& counts) {
  const auto number = [](std::size_t value) { return grouped(static_cast<double>(value)); };
  return fmt::format("{} {}: {} {}, {} explained by an erratum, {}.", number(counts.all()),
                     counts.all() == 1 ? "number" : "numbers", number(counts.agree),
                     counts.agree == 1 ? "agrees" : "agree", number(counts.errata),
                     counts.disagree == 0   ? std::string("none disagrees")
                     : counts.disagree == 1 ? std::string("1 DISAGREES")
                                            : fmt::format("{} DISAGREE", number(counts.disagree)));
}

}  // namespace oneprobe::cli
