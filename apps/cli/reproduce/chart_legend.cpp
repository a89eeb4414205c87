#include "reproduce/chart_legend.hpp"

#include <algorithm>
#include <optional>

namespace oneprobe::cli {
namespace {

/// Neighbours of one colour from `begin` on: a curve and its marks.
std::size_t family_size(const std::vector<legend_entry>& entries, std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < entries.size() && entries[end].colour == entries[begin].colour) ++end;
  return end - begin;
}

/// With so many columns; nothing if that is too wide.
std::optional<legend_layout> in_columns(const std::vector<legend_entry>& entries,
                                        std::size_t columns, double room, double gap) {
  std::vector<std::size_t> column_of, row_of;
  std::vector<double> widths(columns, 0.0);
  std::size_t column = 0, row = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const bool family_begins = i == 0 || entries[i].colour != entries[i - 1].colour;
    const std::size_t family = family_size(entries, i);
    const bool breaks = family_begins && family <= columns && column + family > columns;
    if (column == columns || breaks) {
      column = 0;
      ++row;
    }
    widths[column] = std::max(widths[column], entries[i].width);
    column_of.push_back(column++);
    row_of.push_back(row);
  }
  std::vector<double> starts;
  double x = 0;
  for (const double width : widths) {
    starts.push_back(x);
    x += width + gap;
  }
  if (x - gap > room && columns > 1) return std::nullopt;
  legend_layout layout{.places = {}, .rows = row + 1};
  for (std::size_t i = 0; i < entries.size(); ++i)
    layout.places.push_back({starts[column_of[i]], row_of[i]});
  return layout;
}

}  // namespace

legend_layout arrange(const std::vector<legend_entry>& entries, double room, double gap) {
  if (entries.empty()) return {};
  legend_layout best = *in_columns(entries, 1, room, gap);
  for (std::size_t columns = 2; columns <= entries.size(); ++columns)
    if (auto next = in_columns(entries, columns, room, gap); next && next->rows < best.rows)
      best = std::move(*next);
  return best;
}

}  // namespace oneprobe::cli
