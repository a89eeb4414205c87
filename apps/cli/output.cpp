#include "output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace oneprobe::cli {
namespace {

using json_value = nlohmann::ordered_json;

constexpr std::size_t line_width = 80;
// A long list is thinned to this many rows; JSON has all of them.
constexpr std::size_t most_rows = 32;
// Entries at either end of a longer list that are smaller, relative to the largest, are left out.
constexpr double smallest_shown = 1e-9;
constexpr std::size_t always_shown = 8;

json_value number_json(double value) {
  // Adding zero turns -0 into 0.
  return std::isfinite(value) ? json_value(value + 0.0) : json_value(nullptr);
}

std::string label_of(std::string_view key) {
  std::string label(key);
  std::replace(label.begin(), label.end(), '_', ' ');
  return label;
}

bool is_whole(double value) { return value == std::floor(value) && std::abs(value) < 0x1p53; }

struct column {
  std::string heading;
  std::vector<std::string> cells;
};

std::size_t width_of(const column& c) {
  std::size_t width = c.heading.size();
  for (const auto& cell : c.cells) width = std::max(width, cell.size());
  return width;
}

/// Rows first..last (past the end) without the ends of a long list where nothing can be seen.
std::pair<std::size_t, std::size_t> visible_rows(const std::vector<const std::vector<double>*>& all,
                                                 std::size_t rows) {
  if (rows <= always_shown) return {0, rows};
  double largest = 0;
  for (const auto* values : all)
    for (const double x : *values) largest = std::max(largest, std::abs(x));
  const auto visible = [&](std::size_t i) {
    return std::any_of(all.begin(), all.end(), [&](const auto* values) {
      return i < values->size() && std::abs((*values)[i]) >= smallest_shown * largest;
    });
  };
  std::size_t first = 0, last = rows;
  while (first + 1 < last && !visible(first)) ++first;
  while (last > first + 1 && !visible(last - 1)) --last;
  return {first, last};
}

std::string lay_out(const std::vector<column>& columns) {
  std::string text;
  std::size_t used = 2, count = 0;
  for (; count < columns.size(); ++count) {
    const std::size_t next = used + width_of(columns[count]) + (count == 0 ? 0 : 3);
    if (next > line_width && count > 1) break;
    used = next;
  }
  const auto line = [&](auto&& cell_of) {
    std::string row = "  ";
    for (std::size_t c = 0; c < count; ++c)
      row +=
          fmt::format("{}{:>{}}", c == 0 ? "" : "   ", cell_of(columns[c]), width_of(columns[c]));
    row.erase(row.find_last_not_of(' ') + 1);
    text += row + '\n';
  };
  line([](const column& c) { return c.heading; });
  for (std::size_t r = 0; r < columns.front().cells.size(); ++r)
    line([r](const column& c) { return r < c.cells.size() ? c.cells[r] : std::string(); });
  if (count < columns.size())
    text += fmt::format("  {} more columns with --json\n", columns.size() - count);
  return text;
}

}  // namespace

std::string grouped(double value) {
  std::string digits = fmt::format("{:.0f}", std::abs(value));
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, 1, ',');
  return fmt::format("{}{}", value < 0 ? "-" : "", digits);
}

std::string rounded(double value) {
  if (!std::isfinite(value)) return "none";
  if (value == 0) return "0";
  const double size = std::abs(value);
  if (size >= 1e5 && size < 1e15) return grouped(value);
  return fmt::format("{:.6g}", value);
}

std::string percent(double fraction) {
  if (!std::isfinite(fraction)) return "none";
  if (fraction != 0 && std::abs(fraction) < 1e-5) return fmt::format("{:.4g}", fraction);
  return fmt::format("{:.4g} %", 100 * fraction);
}

std::string one_in(double probability) {
  if (!(probability >= 1e-12 && probability <= 0.2)) return {};
  // Three digits say enough: 9,600 rather than 9,613.
  const double inverse = 1 / probability;
  const double step = std::pow(10, std::max(0.0, std::floor(std::log10(inverse)) - 2));
  return fmt::format("1 in {}", grouped(std::round(inverse / step) * step));
}

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  const std::string margin(indent, ' ');
  std::string lines, line = margin;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string_view next = text.substr(0, space);
    if (line.size() > indent && line.size() + 1 + next.size() > width) {
      lines += line + '\n';
      line = margin;
    }
    if (line.size() > indent) line += ' ';
    line += next;
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return lines + line + '\n';
}

report::report(std::string title, std::string source)
    : title_(std::move(title)), source_(std::move(source)) {}

report& report::add(field item) {
  fields_.push_back(std::move(item));
  return *this;
}

report& report::number(std::string key, double value, std::string unit) {
  return add({std::move(key), value, style::number, std::move(unit)});
}

report& report::fraction(std::string key, double value, std::string unit) {
  return add({std::move(key), value, style::fraction, std::move(unit)});
}

report& report::probability(std::string key, double value) {
  return add({std::move(key), value, style::probability});
}

report& report::whole(std::string key, std::uint64_t value, std::string unit) {
  return add({std::move(key), value, style::number, std::move(unit)});
}

report& report::text(std::string key, std::string value) {
  return add({std::move(key), std::move(value)});
}

report& report::yes_no(std::string key, bool value) { return add({std::move(key), value}); }

report& report::nothing(std::string key, std::string shown) {
  return add({std::move(key), none{std::move(shown)}});
}

report& report::whole_or(std::string key, const std::optional<unsigned>& value,
                         std::string otherwise, std::string unit) {
  if (!value) return nothing(std::move(key), std::move(otherwise));
  return whole(std::move(key), *value, std::move(unit));
}

report& report::amount(std::string key, double value, std::string unit) {
  if (value >= 0 && is_whole(value))
    return whole(std::move(key), static_cast<std::uint64_t>(value), std::move(unit));
  return number(std::move(key), value, std::move(unit));
}

report& report::numbers(std::string key, std::vector<double> values, std::string row,
                        unsigned first) {
  return add({std::move(key), list{{std::move(values)}, {}, std::move(row), first, false, false}});
}

report& report::fractions(std::string key, std::vector<double> values, std::string row,
                          unsigned first) {
  return add({std::move(key), list{{std::move(values)}, {}, std::move(row), first, false, false},
              style::fraction});
}

report& report::wholes(std::string key, std::vector<std::uint64_t> values, std::string row,
                       unsigned first) {
  return add({std::move(key), list{{std::vector<double>(values.begin(), values.end())},
                                   {},
                                   std::move(row),
                                   first,
                                   false,
                                   true}});
}

report& report::grid(std::string key, std::vector<std::vector<double>> columns, std::string column,
                     std::string row, unsigned first) {
  return add({std::move(key),
              list{std::move(columns), std::move(column), std::move(row), first, true, false},
              style::fraction});
}

report& report::objects(std::string key, const std::vector<report>& values) {
  json_value items = json_value::array();
  for (const report& value : values) items.push_back(value.to_json());
  return add({std::move(key), hidden{items.dump()}});
}

report& report::texts(std::string key, const std::vector<std::string>& values) {
  return add({std::move(key), hidden{json_value(values).dump()}});
}

report& report::object(std::string key, const report& value) {
  return add({std::move(key), hidden{value.to_json().dump()}});
}

report& report::note(std::string sentence) {
  notes_.push_back(std::move(sentence));
  return *this;
}

report& report::layout(std::string text) {
  layout_ = std::move(text);
  return *this;
}

report& report::negative() {
  negative_ = true;
  return *this;
}

nlohmann::ordered_json report::to_json(const field& item) {
  struct convert {
    json_value operator()(const none&) const { return nullptr; }
    json_value operator()(double value) const { return number_json(value); }
    json_value operator()(std::uint64_t value) const { return value; }
    json_value operator()(bool value) const { return value; }
    json_value operator()(const std::string& value) const { return value; }
    json_value operator()(const hidden& value) const { return json_value::parse(value.json); }
    json_value operator()(const list& value) const {
      json_value columns = json_value::array();
      for (const auto& numbers : value.columns) {
        json_value entries = json_value::array();
        for (const double x : numbers)
          entries.push_back(value.whole ? json_value(static_cast<std::uint64_t>(x))
                                        : number_json(x));
        columns.push_back(std::move(entries));
      }
      return value.nested ? columns : columns.front();
    }
  };
  return std::visit(convert{}, item.value);
}

nlohmann::ordered_json report::to_json() const {
  json_value object = json_value::object();
  for (const field& item : fields_) object[item.key] = to_json(item);
  return object;
}

std::string report::json() const { return to_json().dump() + '\n'; }

std::string report::shown(double value, style how) {
  // Small probabilities are compared by their powers of ten.
  if (how == style::probability && value < 1e-3) return fmt::format("{:.4g}", value);
  return how == style::number ? rounded(value) : percent(value);
}

std::string report::shown(const field& item) {
  struct convert {
    style how;
    std::string operator()(const none& value) const { return value.shown; }
    std::string operator()(double value) const { return shown(value, how); }
    std::string operator()(std::uint64_t value) const {
      return grouped(static_cast<double>(value));
    }
    std::string operator()(bool value) const { return value ? "yes" : "no"; }
    std::string operator()(const std::string& value) const { return value; }
    std::string operator()(const hidden&) const { return {}; }
    std::string operator()(const list&) const { return {}; }
  };
  return std::visit(convert{item.how}, item.value);
}

std::string report::unit_of(const field& item) {
  if (item.how == style::probability) return one_in(std::get<double>(item.value));
  return item.unit;
}

std::string report::list_table(const std::vector<const field*>& fields) {
  std::vector<const std::vector<double>*> all;
  std::size_t rows = 0;
  for (const field* item : fields)
    for (const auto& values : std::get<list>(item->value).columns) {
      all.push_back(&values);
      rows = std::max(rows, values.size());
    }
  if (rows == 0) return {};

  const auto [first, last] = visible_rows(all, rows);
  const std::size_t stride = (last - first + most_rows - 1) / most_rows;
  const list& leader = std::get<list>(fields.front()->value);

  std::vector<column> columns{{leader.row, {}}};
  for (std::size_t i = first; i < last; i += stride)
    columns.front().cells.push_back(fmt::format("{}", i + leader.first));
  for (const field* item : fields) {
    const list& values = std::get<list>(item->value);
    for (std::size_t c = 0; c < values.columns.size(); ++c) {
      const auto& numbers = values.columns[c];
      column next{
          values.column.empty() ? label_of(item->key) : fmt::format("{} {}", values.column, c + 1),
          {}};
      for (std::size_t i = first; i < last; i += stride)
        next.cells.push_back(i >= numbers.size() ? ""
                             : values.whole      ? grouped(numbers[i])
                                                 : shown(numbers[i], item->how));
      columns.push_back(std::move(next));
    }
  }
  std::string text = lay_out(columns);
  if (stride > 1) text += fmt::format("  (every {}th row; all of them with --json)\n", stride);
  return text;
}

std::string report::table() const {
  if (layout_) return *layout_;

  std::string text = title_ + '\n';
  if (!source_.empty()) text += source_ + '\n';
  text += '\n';

  std::size_t label_width = 0, value_width = 0;
  for (const field& item : fields_) {
    if (std::holds_alternative<list>(item.value) || std::holds_alternative<hidden>(item.value))
      continue;
    label_width = std::max(label_width, item.key.size());
    value_width = std::max(value_width, std::min<std::size_t>(shown(item).size(), 16));
  }

  std::string lists;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    const field& item = fields_[i];
    if (std::holds_alternative<hidden>(item.value)) continue;
    if (const list* values = std::get_if<list>(&item.value)) {
      std::vector<const field*> together{&item};
      for (; i + 1 < fields_.size(); ++i) {
        const list* next = std::get_if<list>(&fields_[i + 1].value);
        if (next == nullptr || next->row != values->row || next->first != values->first) break;
        together.push_back(&fields_[i + 1]);
      }
      const std::string block = list_table(together);
      if (!block.empty()) lists += '\n' + block;
      continue;
    }
    std::string line = fmt::format("  {:<{}}   {:<{}}   {}", label_of(item.key), label_width,
                                   shown(item), value_width, unit_of(item));
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  text += lists;
  for (const std::string& sentence : notes_) text += '\n' + wrapped(sentence, line_width, 0);
  return text;
}

}  // namespace oneprobe::cli
