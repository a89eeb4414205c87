// What a command answers: named values in order, printed as one JSON object or as a table to read.
//
//   report out("Cut-off of multilevel placement", "OFH, Theorem 6");
//   out.number("mean_accesses", 1.697, "buckets per element");
//   out.fraction("overflow_fraction", 0.0345);
//   out.fractions("level_fractions", {0.6, 0.4}, "level");
//   fmt::print("{}", out.table());
//
// JSON keeps every digit of a double and never holds nan or infinity: they become null. The table
// rounds, writes fractions in percent and keeps within 80 columns.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace oneprobe::cli {

class report {
 public:
  explicit report(std::string title, std::string source = {});

  // One value. `unit` stands behind it in the table.
  report& number(std::string key, double value, std::string unit = {});
  report& fraction(std::string key, double value, std::string unit = {});
  /// Shown with its inverse, "1 in 9,600".
  report& probability(std::string key, double value);
  report& whole(std::string key, std::uint64_t value, std::string unit = {});
  report& text(std::string key, std::string value);
  report& yes_no(std::string key, bool value);
  /// null in JSON; `shown` in the table.
  report& nothing(std::string key, std::string shown);
  report& whole_or(std::string key, const std::optional<unsigned>& value, std::string otherwise,
                   std::string unit = {});
  /// Whole if it is, for counts that come as doubles.
  report& amount(std::string key, double value, std::string unit = {});

  // Lists. `row` names what the entries stand for ("load", "level"); neighbours with the same `row`
  // share one table. Rows count from `first`.
  report& numbers(std::string key, std::vector<double> values, std::string row, unsigned first = 1);
  report& fractions(std::string key, std::vector<double> values, std::string row,
                    unsigned first = 1);
  report& wholes(std::string key, std::vector<std::uint64_t> values, std::string row,
                 unsigned first = 1);
  /// One column of fractions per list.
  report& grid(std::string key, std::vector<std::vector<double>> columns, std::string column,
               std::string row, unsigned first = 1);
  /// A list of reports, each an object in JSON. Not in the table.
  report& objects(std::string key, const std::vector<report>& values);
  /// A list of sentences in JSON, likewise.
  report& texts(std::string key, const std::vector<std::string>& values);
  /// A report inside a report, likewise.
  report& object(std::string key, const report& value);

  /// A sentence below the table; not in JSON.
  report& note(std::string sentence);
  /// Replaces the table by a text laid out by hand, or by nothing if it is empty.
  report& layout(std::string text);
  /// The answer is no: the tool prints it and ends with exit code 1.
  report& negative();
  bool is_negative() const { return negative_; }

  std::string json() const;
  std::string table() const;

 private:
  enum class style { number, fraction, probability };
  struct list {
    std::vector<std::vector<double>> columns;
    std::string column;  // heading of each column, numbered; empty: the key
    std::string row;
    unsigned first;
    bool nested;  // a list of lists in JSON
    bool whole;
  };
  struct hidden {
    std::string json;
  };
  struct none {
    std::string shown;
  };
  struct field {
    std::string key;
    std::variant<none, double, std::uint64_t, bool, std::string, list, hidden> value;
    style how = style::number;
    std::string unit{};
  };

  report& add(field item);
  nlohmann::ordered_json to_json() const;
  static nlohmann::ordered_json to_json(const field& item);
  static std::string shown(double value, style how);
  static std::string shown(const field& item);
  static std::string unit_of(const field& item);
  static std::string list_table(const std::vector<const field*>& fields);

  std::string title_;
  std::string source_;
  std::vector<field> fields_;
  std::vector<std::string> notes_;
  std::optional<std::string> layout_;
  bool negative_ = false;
};

// The rounding of the tables, for texts laid out by hand.

/// "1,234,567".
std::string grouped(double value);
/// "3.454 %"; scientific below a thousandth of a percent.
std::string percent(double fraction);
/// Up to six digits; from 100,000 up whole and grouped.
std::string rounded(double value);
/// "1 in 9,600"; empty where that would not help.
std::string one_in(double probability);
/// `text` broken into lines of at most `width`, each starting with `indent` spaces.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

}  // namespace oneprobe::cli
