#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "explorer/curves.hpp"
#include "explorer/page_files.hpp"
#include "oneprobe/plan/filter.hpp"

namespace oneprobe::explorer {
namespace {

using json = nlohmann::ordered_json;
using cli::option;
using cli::usage_error;

constexpr option choices{"--choices", "D", "most blocks that one key may lie in"};
constexpr option accesses{"--accesses", "A", "largest mean accesses of a negative query"};
constexpr option overfill{"--overfill", "X", "more elements than planned, as a fraction"};
constexpr option fpr{"--fpr", "P", "the error that is asked for"};
constexpr option bits{"--bits-per-element", "B", "the memory that is asked for"};

/// The file that apps/default_plans/frontier.cpp wrote.
const json& frontier() {
  static const json read = [] {
    for (const page_file& file : page_files())
      if (file.path == "/filter_frontier.json") return json::parse(file.text);
    throw std::logic_error("filter_frontier.json is not part of the program");
  }();
  return read;
}

/// The values of a slider, from the curves that have them.
std::vector<double> values_of(std::string_view name) {
  std::vector<double> values;
  for (const json& curve : frontier()["curves"])
    if (curve.contains(name))
      if (const double value = curve[std::string(name)];
          std::find(values.begin(), values.end(), value) == values.end())
        values.push_back(value);
  return values;
}

/// A number that must be one of those of the table.
double on_the_grid(const cli::arguments& in, const option& what, double otherwise) {
  const double value = in.maybe_number(what).value_or(otherwise);
  const std::vector<double> values = values_of(what.flag.substr(2));
  for (const double each : values)
    if (std::abs(each - value) < 1e-9) return each;
  throw usage_error(fmt::format("{} must be one of {} here; found {}", what.flag,
                                fmt::join(values, ", "), value));
}

/// Two neighbours of the grid, and how far between them.
struct place {
  std::size_t cell;
  double share;
};

/// Where a list reaches a value; none if it does not. Falling lists are those of errors.
std::optional<place> place_of(const std::vector<double>& values, double wanted) {
  for (std::size_t i = 0; i + 1 < values.size(); ++i) {
    const double low = values[i], high = values[i + 1];
    if (!(std::min(low, high) <= wanted && wanted <= std::max(low, high))) continue;
    return place{i, low == high ? 0 : (wanted - low) / (high - low)};
  }
  return std::nullopt;
}

double at(const std::vector<double>& values, const place& where) {
  return values[where.cell] + where.share * (values[where.cell + 1] - values[where.cell]);
}

struct points {
  std::vector<double> bits, log_fpr, accesses;  // where there is a plan
};

points points_of(const json& curve) {
  points seen;
  for (std::size_t i = 0; i < curve["fpr"].size(); ++i) {
    if (curve["fpr"][i].is_null()) continue;
    seen.bits.push_back(frontier()["bits_per_element"][i]);
    seen.log_fpr.push_back(std::log(curve["fpr"][i].get<double>()));
    seen.accesses.push_back(curve["miss_accesses"][i]);
  }
  return seen;
}

/// What a curve says of the need: between the points of the grid errors are straight lines on a
/// logarithmic scale.
json asked_of(const json& curve, const std::optional<double>& error,
              const std::optional<double>& memory) {
  const points seen = points_of(curve);
  std::optional<place> where;
  if (error) where = place_of(seen.log_fpr, std::log(*error));
  if (memory) where = place_of(seen.bits, *memory);
  if (!where) return nullptr;
  return {{"bits_per_element", at(seen.bits, *where)},
          {"fpr", std::exp(at(seen.log_fpr, *where))},
          {"miss_accesses", at(seen.accesses, *where)}};
}

}  // namespace

/// What the page begins with (page/state.js); the planner's default depends on the kind.
constexpr double start_of_overfill = 0.05;

const std::vector<cli::option>& filter_frontier_options() {
  static const std::vector<cli::option> options{choices, accesses, overfill, fpr, bits};
  return options;
}

json filter_frontier(const cli::arguments& in) {
  const filter_needs defaults;
  const double d = on_the_grid(in, choices, defaults.largest_choices);
  const double a = on_the_grid(in, accesses, default_miss_accesses);
  const double x = on_the_grid(in, overfill, start_of_overfill);
  const std::optional<double> error = in.maybe_number(fpr), memory = in.maybe_number(bits);
  if (error && memory)
    throw usage_error(fmt::format("give either {} or {}, not both", fpr.flag, bits.flag));
  if (error && !(*error > 0)) throw usage_error("--fpr must be above 0");
  in.refuse_unread();

  const auto is_asked = [&](const json& curve) {
    return !curve.contains("choices") ||
           (curve["choices"] == d && curve["accesses"] == a && curve["overfill"] == x);
  };
  json out{{"elements", frontier()["elements"]},
           {"bits_per_element", frontier()["bits_per_element"]},
           {"curves", json::array()}};
  for (const json& curve : frontier()["curves"])
    if (is_asked(curve))
      out["curves"].push_back({{"kind", curve["kind"]},
                               {"fpr", curve["fpr"]},
                               {"miss_accesses", curve["miss_accesses"]},
                               {"asked", asked_of(curve, error, memory)}});
  return out;
}

}  // namespace oneprobe::explorer
