#include "simulate/findings_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace oneprobe::cli {
namespace {

constexpr std::size_t line_width = 80;
// More loads than this and the table shows every second, third, ... of them.
constexpr std::size_t most_rows = 20;

/// A value that was simulated, beside what was said about it.
struct comparison {
  sim::estimate found;
  std::optional<double> predicted;
  std::optional<double> predicted_error;  // of the mean, by the model

  /// How many standard errors the mean is above the prediction.
  std::optional<double> deviation() const {
    // Samples that are all the same differ by rounding at most, and say nothing of their error.
    constexpr double rounding = 1e-12;
    double error = found.standard_error;
    if (error <= rounding * std::abs(found.mean)) error = predicted_error.value_or(0);
    if (!predicted || !(error > 0)) return std::nullopt;
    return (found.mean - *predicted) / error;
  }
};

enum class shape { number, fraction };

struct named_comparison {
  const char* key;
  const char* label;
  shape how;
  comparison value;
};

std::vector<named_comparison> scalars_of(const sim::look& found, const predicted_look& said,
                                         double tables) {
  std::optional<double> overflow_error;
  if (said.overflow_deviation) overflow_error = *said.overflow_deviation / std::sqrt(tables);
  return {
      {"overflow_fraction",
       "overflow",
       shape::fraction,
       {found.overflow_fraction, said.overflow_fraction, overflow_error}},
      {"cumulative_overflow_fraction",
       "overflow of those handled",
       shape::fraction,
       {found.cumulative_overflow_fraction, said.cumulative_overflow_fraction, {}}},
      {"mean_accesses",
       "accesses per element",
       shape::number,
       {found.mean_accesses, said.mean_accesses, {}}},
      {"largest_load", "largest load", shape::number, {found.largest_load, said.largest_load, {}}},
      {"load_mean", "mean load", shape::number, {found.load_mean, said.load_mean, {}}},
      {"load_variance",
       "variance of the load",
       shape::number,
       {found.load_variance, said.load_variance, {}}},
  };
}

std::vector<comparison> list_of(const std::vector<sim::estimate>& found,
                                const std::vector<double>& said) {
  std::vector<comparison> entries;
  for (std::size_t i = 0; i < std::max(found.size(), said.size()); ++i) {
    comparison next{};
    if (i < found.size()) next.found = found[i];
    if (!said.empty()) next.predicted = i < said.size() ? said[i] : 0.0;
    entries.push_back(next);
  }
  // The model's list goes on to loads that will never be seen.
  constexpr double negligible = 1e-12;
  while (entries.size() > found.size() && entries.back().predicted.value_or(0) < negligible)
    entries.pop_back();
  return entries;
}

// --- JSON ---------------------------------------------------------------------------------------

void add_optional(report& out, const char* key, const std::optional<double>& value) {
  value ? out.number(key, *value) : out.nothing(key, "");
}

report object_of(const comparison& what) {
  report out("");
  out.number("mean", what.found.mean).number("standard_error", what.found.standard_error);
  out.number("least", what.found.least).number("most", what.found.most);
  add_optional(out, "predicted", what.predicted);
  if (what.predicted_error) out.number("predicted_standard_error", *what.predicted_error);
  add_optional(out, "deviation", what.deviation());
  return out;
}

/// Lists side by side: {"mean": [...], "standard_error": [...], "predicted": [...]}.
report object_of(const std::vector<comparison>& list) {
  std::vector<double> mean, error, predicted;
  for (const comparison& entry : list) {
    mean.push_back(entry.found.mean);
    error.push_back(entry.found.standard_error);
    if (entry.predicted) predicted.push_back(*entry.predicted);
  }
  report out("");
  out.numbers("mean", mean, "").numbers("standard_error", error, "");
  predicted.empty() ? out.nothing("predicted", "") : out.numbers("predicted", predicted, "");
  return out;
}

report object_of(const sim::look& found, const predicted_look& said, double tables) {
  report out("");
  out.number("time", found.time);
  for (const named_comparison& each : scalars_of(found, said, tables))
    out.object(each.key, object_of(each.value));
  out.object("occupancy", object_of(list_of(found.occupancy, said.occupancy)));
  if (found.levels.empty()) return out;
  std::vector<report> levels;
  for (std::size_t i = 0; i < found.levels.size(); ++i)
    levels.push_back(object_of(
        list_of(found.levels[i], i < said.levels.size() ? said.levels[i] : std::vector<double>())));
  return out.objects("levels", levels);
}

const char* word_for(sim::departure leaves) {
  switch (leaves) {
    case sim::departure::random:
      return "random";
    case sim::departure::oldest:
      return "oldest";
    case sim::departure::one_level:
      return "level";
  }
  return "unknown";
}

report churn_object(const sim::churn_settings& how) {
  report out("");
  out.text("leaves", word_for(how.leaves));
  // Levels count from 1 wherever a person sees them.
  if (how.leaves == sim::departure::one_level) out.whole("level", how.level + 1);
  return out.number("warm_up_turnovers", how.warm_up_turnovers)
      .number("batch_turnovers", how.batch_turnovers)
      .whole("batches", how.batches);
}

double samples_of(const sim::scenario& what) {
  return static_cast<double>(what.trials) * (what.churn ? what.churn->batches : 1);
}

double rate_of(const sim::findings& found) {
  return found.seconds > 0 ? static_cast<double>(found.placements) / found.seconds : 0;
}

// --- the table ----------------------------------------------------------------------------------

std::string digits(double value, shape how) {
  if (how == shape::number) return fmt::format("{:.6g}", value);
  if (value != 0 && std::abs(value) < 1e-5) return fmt::format("{:.4g}", value);
  return fmt::format("{:.5g} %", 100 * value);
}

std::string error_digits(double value, shape how) {
  if (how == shape::number || (value != 0 && value < 1e-6)) return fmt::format("{:.2g}", value);
  return fmt::format("{:.2g} %", 100 * value);
}

std::string line_of(std::string_view label, std::string_view found, std::string_view error,
                    std::string_view predicted, std::string_view deviation) {
  std::string line =
      fmt::format("  {:<26}{:>13}{:>13}{:>13}{:>11}", label, found, error, predicted, deviation);
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

std::string heading_of(std::string_view label) {
  return line_of(label, "simulated", "std. error", "predicted", "deviation");
}

std::string line_of(std::string_view label, shape how, const comparison& value, bool several) {
  const auto deviation = value.deviation();
  return line_of(label, digits(value.found.mean, how),
                 several ? error_digits(value.found.standard_error, how) : "",
                 value.predicted ? digits(*value.predicted, how) : "",
                 deviation ? fmt::format("{:+.1f}", *deviation) : "");
}

std::string lines_of(std::string_view heading, const std::vector<comparison>& list, bool several) {
  // Rows at the ends that no table had and none was expected to have say nothing.
  constexpr double visible = 1e-9;
  const auto empty = [&](const comparison& entry) {
    return entry.found.most == 0 && entry.predicted.value_or(0) < visible;
  };
  std::size_t begin = 0, end = list.size();
  while (begin < end && empty(list[begin])) ++begin;
  while (end > begin && empty(list[end - 1])) --end;
  const std::size_t stride = std::max<std::size_t>(1, (end - begin + most_rows - 1) / most_rows);
  std::string text = heading_of(heading);
  for (std::size_t i = begin; i < end; i += stride)
    text += line_of(fmt::format("{:>4}", i), shape::fraction, list[i], several);
  if (stride > 1) text += fmt::format("  (every {}th row; all of them with --json)\n", stride);
  return text;
}

std::string what_was_done(const sim::scenario& what, std::uint64_t buckets) {
  const std::string slots = !what.bucket_capacity ? "buckets without limit"
                            : *what.bucket_capacity == 1
                                ? "buckets of 1 slot"
                                : fmt::format("buckets of {} slots", *what.bucket_capacity);
  std::string text = fmt::format("{} placement, simulated: {} elements in {} {}",
                                 name_of(what.scheme), grouped(static_cast<double>(what.elements)),
                                 grouped(static_cast<double>(buckets)), slots);
  if (what.churn)
    text += fmt::format(", {} turnovers after {} of warm-up",
                        rounded(what.churn->batch_turnovers * what.churn->batches),
                        rounded(what.churn->warm_up_turnovers));
  if (what.access_budget)
    text += fmt::format(", stopped after {} accesses per element", rounded(*what.access_budget));
  text += fmt::format("; {} {}, seed {}", what.trials, what.trials == 1 ? "trial" : "trials",
                      what.seed);
  return wrapped(text, line_width, 0);
}

std::string table_of(const sim::scenario& what, std::uint64_t buckets, const sim::findings& found,
                     const prediction& said, const std::vector<std::string>& notes) {
  const double samples = samples_of(what);
  const bool several = samples > 1;
  std::string text = what_was_done(what, buckets);
  for (std::size_t i = 0; i < found.looks.size(); ++i) {
    const double time = found.looks[i].time;
    text += '\n' + heading_of(what.churn || (time == 1 && found.looks.size() == 1)
                                  ? ""
                                  : fmt::format("after {} arrived", percent(time)));
    for (const named_comparison& each : scalars_of(found.looks[i], said.looks[i], samples)) {
      // Where every element has been handled the two overflows are the same.
      const bool repeated = std::string_view(each.key) == "cumulative_overflow_fraction" &&
                            !what.access_budget && (what.churn || time == 1);
      if (!repeated) text += line_of(each.label, each.how, each.value, several);
    }
    if (what.access_budget && i + 1 == found.looks.size())
      text += line_of("handled within the budget", shape::fraction,
                      {found.budget_end, said.budget_end, {}}, several);
  }
  const auto accesses = list_of(found.accesses, said.accesses);
  text += '\n' + lines_of("accesses: arrivals", accesses, several);
  text += '\n' + lines_of("load: buckets",
                          list_of(found.end().occupancy, said.looks.back().occupancy), several);
  text += fmt::format("\n{} placements in {:.3g} s, {:.3g} million per second\n",
                      grouped(static_cast<double>(found.placements)), found.seconds,
                      rate_of(found) / 1e6);
  for (const std::string& sentence : notes) text += '\n' + wrapped(sentence, line_width, 0);
  return text;
}

}  // namespace

report report_of(const sim::scenario& what, const sim::findings& found, const prediction& said,
                 const std::vector<std::string>& notes) {
  std::uint64_t buckets = what.buckets;
  if (buckets == 0)
    for (const std::uint64_t size : what.level_sizes) buckets += size;

  report out("");
  out.text("scheme", std::string(name_of(what.scheme))).whole("buckets", buckets);
  if (!what.level_sizes.empty()) out.wholes("level_sizes", what.level_sizes, "");
  out.whole("choices", what.choices);
  what.bucket_capacity ? out.whole("bucket_capacity", *what.bucket_capacity)
                       : out.nothing("bucket_capacity", "");
  out.number("admit_probability", what.admit_probability).whole("elements", what.elements);
  add_optional(out, "access_budget", what.access_budget);
  what.churn ? out.object("churn", churn_object(*what.churn)) : out.nothing("churn", "");
  out.whole("trials", what.trials).whole("seed", what.seed);
  said.source.empty() ? out.nothing("predicted_by", "") : out.text("predicted_by", said.source);
  if (!said.missing.empty()) out.text("not_predicted", said.missing);

  std::vector<report> looks;
  for (std::size_t i = 0; i < found.looks.size(); ++i)
    looks.push_back(object_of(found.looks[i], said.looks[i], samples_of(what)));
  return out.objects("looks", looks)
      .object("accesses", object_of(list_of(found.accesses, said.accesses)))
      .object("budget_end", object_of(comparison{found.budget_end, said.budget_end, {}}))
      .whole("placements", found.placements)
      .number("seconds", found.seconds)
      .number("placements_per_second", rate_of(found))
      .layout(table_of(what, buckets, found, said, notes));
}

}  // namespace oneprobe::cli
