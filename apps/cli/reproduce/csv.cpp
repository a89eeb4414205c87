#include "reproduce/csv.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

namespace oneprobe::cli {
namespace {

std::string number(double value) { return std::isfinite(value) ? fmt::format("{}", value) : ""; }

std::string number(const std::optional<double>& value) { return value ? number(*value) : ""; }

std::string_view name_of(series::kind how) {
  switch (how) {
    case series::kind::line:
      return "line";
    case series::kind::marks:
      return "marks";
    case series::kind::steps:
      return "steps";
    case series::kind::bars:
      break;
  }
  return "bars";
}

}  // namespace

std::string csv_field(std::string_view text) {
  if (text.find_first_of("\",\r\n") == text.npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + '"';
}

std::string csv_of(const chart& what) {
  std::string lines = "series,kind,x,y,standard_error\n";
  for (const series& each : what.lines)
    for (const point& at : each.points)
      lines += fmt::format("{},{},{},{},{}\n", csv_field(each.name), name_of(each.how),
                           number(at.x), number(at.y), at.error > 0 ? number(at.error) : "");
  return lines;
}

std::string csv_heading() {
  return "experiment,source,what,printed,printed_value,model,simulated,standard_error,verdict,"
         "remark\n";
}

std::string csv_of(std::string_view experiment_id, const std::vector<row>& rows) {
  std::string lines;
  for (const row& each : rows) {
    std::optional<double> printed, simulated, error;
    if (each.printed) printed = each.printed->value;
    if (each.simulated) {
      simulated = each.simulated->mean;
      error = each.simulated->standard_error;
    }
    lines += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", csv_field(experiment_id),
                         csv_field(each.source), csv_field(each.what),
                         csv_field(each.printed ? each.printed->text : ""), number(printed),
                         number(each.model), number(simulated), number(error),
                         csv_field(verdict(each)), csv_field(each.remark));
  }
  return lines;
}

}  // namespace oneprobe::cli
