#include "bench/tables_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bench/tick_clock.hpp"
#include "bench/time_cell.hpp"

namespace oneprobe::cli {
namespace {

constexpr std::size_t line_width = 80;
constexpr std::size_t name_width = 18;

using enum table_metric;

std::optional<double> median_of(const table_result& result, table_metric what) {
  if (result.ns(what).empty()) return std::nullopt;
  return median(result.ns(what));
}

/// The worst of all rounds, where that is what is asked for; else the median of the rounds.
std::optional<double> figure_of(const table_result& result, table_metric what) {
  const std::vector<double>& rounds = result.ns(what);
  const std::string_view name = table_metric_names[static_cast<std::size_t>(what)];
  const bool is_worst = name.ends_with("_max") || name.ends_with("_max_running");
  if (rounds.empty() || !is_worst) return median_of(result, what);
  return *std::max_element(rounds.begin(), rounds.end());
}

std::optional<double> cost_of(const std::optional<table_costs>& costs, double table_costs::*which) {
  if (!costs) return std::nullopt;
  return *costs.*which;
}

// --- JSON ---------------------------------------------------------------------------------------

void add_optional(report& out, std::string key, const std::optional<double>& value) {
  if (value)
    out.number(std::move(key), *value);
  else
    out.nothing(std::move(key), "");
}

void add_times(report& out, const table_result& result, std::initializer_list<table_metric> all) {
  for (const table_metric what : all)
    add_optional(out, fmt::format("{}_ns", table_metric_names[static_cast<std::size_t>(what)]),
                 figure_of(result, what));
}

report row_of(const table_entry& entry) {
  const auto& [facts, result] = entry;
  report out("");
  out.text("name", facts.name);
  out.number("load_factor", result.load_factor);
  out.number("bytes_per_element", bytes_per_element(result));
  add_times(out, result,
            {insert, hit, miss, dependent_hit, bulk_hit, bulk_miss, insert_p50, insert_p99,
             insert_p999, insert_p9999, insert_max, churn_insert_p999, churn_insert_max});
  add_optional(out, "insert_accesses", result.insert_accesses);
  add_optional(out, "hit_accesses", cost_of(result.costs, &table_costs::hit_accesses));
  add_optional(out, "miss_accesses", cost_of(result.costs, &table_costs::miss_accesses));
  add_optional(out, "hit_lines", cost_of(result.costs, &table_costs::hit_lines));
  add_optional(out, "miss_lines", cost_of(result.costs, &table_costs::miss_lines));
  add_optional(out, "overflow_fraction", result.overflow_fraction);
  out.whole("failures", result.fill_failures + result.churn_failures);

  out.whole("elements", facts.elements);
  out.whole("filled_size", result.filled_size);
  out.whole("memory_bytes", result.memory_bytes);
  out.text("version", facts.version);
  add_times(out, result,
            {erase,
             bulk64_hit,
             bulk64_miss,
             churned_insert,
             churned_hit,
             churned_miss,
             churn_insert_p50,
             churn_insert_p99,
             churn_insert_p9999,
             insert_max_running,
             churn_insert_max_running,
             fill_insert_p50,
             fill_insert_p99,
             fill_insert_p999,
             fill_insert_p9999,
             fill_insert_max,
             fill_insert_max_running,
             rated_insert_p50,
             rated_insert_p99,
             rated_insert_p999,
             rated_insert_p9999,
             rated_insert_max,
             rated_insert_max_running});
  out.whole("fill_failures", result.fill_failures);
  out.whole("churn_failures", result.churn_failures);
  add_optional(out, "first_failure_fraction", result.first_failure);
  add_optional(out, "churned_bytes_per_element",
               result.ns(churned_hit).empty()
                   ? std::nullopt
                   : std::optional(static_cast<double>(result.churned_memory_bytes) /
                                   static_cast<double>(result.filled_size)));
  add_optional(out, "churn_overflow_fraction", result.churned_overflow_fraction);
  add_optional(out, "churn_overflow_predicted", result.predicted_overflow_fraction);
  add_optional(out, "churned_hit_accesses",
               cost_of(result.churned_costs, &table_costs::hit_accesses));
  add_optional(out, "half_churned_miss_accesses",
               cost_of(result.half_churned_costs, &table_costs::miss_accesses));
  add_optional(out, "churned_miss_accesses",
               cost_of(result.churned_costs, &table_costs::miss_accesses));
  add_optional(out, "churned_hit_lines", cost_of(result.churned_costs, &table_costs::hit_lines));
  add_optional(out, "churned_miss_lines", cost_of(result.churned_costs, &table_costs::miss_lines));
  add_optional(out, "hit_unread_lines", cost_of(result.costs, &table_costs::hit_unread_lines));
  add_optional(out, "miss_unread_lines", cost_of(result.costs, &table_costs::miss_unread_lines));
  add_optional(out, "churned_hit_unread_lines",
               cost_of(result.churned_costs, &table_costs::hit_unread_lines));
  add_optional(out, "churned_miss_unread_lines",
               cost_of(result.churned_costs, &table_costs::miss_unread_lines));
  report rounds("");
  for (std::size_t i = 0; i < table_metrics; ++i)
    rounds.numbers(std::string(table_metric_names[i]), result.rounds_ns[i], "");
  out.object("rounds_ns", rounds);
  return out;
}

report object_of(const ratio& found) {
  report of("");
  of.number("median", found.median).number("least", found.least).number("most", found.most);
  return of;
}

/// Ours over one peer: {"name": ..., "hit": {"median": ..., "least": ..., "most": ...}, ...}.
report ratios_of(const table_entry& ours, const table_entry& peer) {
  report out("");
  out.text("name", peer.facts.name);
  out.number("bytes_per_element", bytes_per_element(ours.result) / bytes_per_element(peer.result));
  for (std::size_t i = 0; i < table_metrics; ++i) {
    const std::string name(table_metric_names[i]);
    if (const auto found = ratio_of(ours.result.rounds_ns[i], peer.result.rounds_ns[i]))
      out.object(name, object_of(*found));
    else
      out.nothing(name, "");
  }
  return out;
}

report object_of(const table_target& target) {
  report out("");
  out.whole("number", target.number).text("what", target.what).number("at_most", target.most);
  add_optional(out, "measured", target.measured);
  if (target.spread)
    out.number("least", target.spread->least).number("most", target.spread->most);
  else
    out.nothing("least", "").nothing("most", "");
  out.text("verdict", std::string(name_of(target.verdict())));
  if (!target.why_not.empty()) out.text("why_not", target.why_not);
  return out;
}

report object_of(const absent_peer& peer) {
  return report("").text("name", peer.name).text("package", peer.package).text("why", peer.why);
}

// --- tables -------------------------------------------------------------------------------------

std::string without_trailing_spaces(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

std::string plain_cell(const std::optional<double>& value, int width) {
  if (!value) return fmt::format("{:>{}}", "", width);
  return fmt::format("{:{}.{}f}", *value, width, *value < 100 ? 1 : 0);
}

/// One line for each table; `cells` makes its text from the entry.
template <class Cells>
std::string table_of(const table_contest& contest, const std::string& heading, Cells cells) {
  std::string text = fmt::format("  {:{}}{}\n", "", name_width, heading);
  for (const table_entry& entry : contest.entries)
    text += without_trailing_spaces(
                fmt::format("  {:{}}{}", entry.facts.name, name_width, cells(entry.result))) +
            '\n';
  return text;
}

std::string headings(std::initializer_list<const char*> all, int width) {
  std::string text;
  for (const char* each : all) text += fmt::format("{:>{}}", each, width);
  return text;
}

std::string times_table(const table_contest& contest) {
  return table_of(
      contest,
      fmt::format("{:>6}{:>6}", "load", "B/el") + headings({"insert"}, 7) +
          headings({"hit", "miss", "chain", "hit*", "miss*", "erase"}, 6),
      [](const table_result& result) {
        std::string line =
            fmt::format("{:6.3f}{:6.1f}", result.load_factor, bytes_per_element(result));
        line += plain_cell(figure_of(result, insert), 7);
        for (const table_metric what : {hit, miss, dependent_hit, bulk_hit, bulk_miss, erase})
          line += plain_cell(figure_of(result, what), 6);
        return line;
      });
}

std::string latencies_table(const table_contest& contest) {
  return table_of(
      contest, headings({"p50", "p99", "p99.9", "p99.99", "max", "max*", "failed"}, 8),
      [](const table_result& result) {
        std::string line;
        for (const table_metric what :
             {insert_p50, insert_p99, insert_p999, insert_p9999, insert_max, insert_max_running})
          line += time_cell(figure_of(result, what), 8);
        return line + fmt::format("{:>8}", grouped(static_cast<double>(result.fill_failures)));
      });
}

std::string phases_table(const table_contest& contest) {
  return table_of(
      contest, headings({"p50", "p99.9", "max", "p50*", "p99.9*", "max*"}, 8),
      [](const table_result& result) {
        std::string line;
        for (const table_metric what : {fill_insert_p50, fill_insert_p999, fill_insert_max,
                                        rated_insert_p50, rated_insert_p999, rated_insert_max})
          line += time_cell(figure_of(result, what), 8);
        return line;
      });
}

std::string churn_table(const table_contest& contest) {
  return table_of(contest,
                  headings({"p50", "p99.9", "max", "max*", "failed"}, 8) + headings({"insert"}, 7) +
                      headings({"hit", "miss"}, 6),
                  [](const table_result& result) {
                    std::string line;
                    for (const table_metric what : {churn_insert_p50, churn_insert_p999,
                                                    churn_insert_max, churn_insert_max_running})
                      line += time_cell(figure_of(result, what), 8);
                    line +=
                        fmt::format("{:>8}", grouped(static_cast<double>(result.churn_failures)));
                    line += plain_cell(figure_of(result, churned_insert), 7);
                    for (const table_metric what : {churned_hit, churned_miss})
                      line += plain_cell(figure_of(result, what), 6);
                    return line;
                  });
}

std::string costs_table(const table_contest& contest) {
  std::string text = fmt::format("  {:{}}{:>15}{:>15}{:>21}\n  {:{}}", "", name_width, "accesses",
                                 "lines", "overflow", "", name_width) +
                     headings({"hit", "miss", "hit", "miss"}, 7) +
                     fmt::format("{:>12}{:>12}\n", "measured", "model");
  const auto cells = [](const std::optional<table_costs>& costs,
                        const std::optional<double>& overflow,
                        const std::optional<double>& predicted) {
    std::string line;
    for (const auto which : {&table_costs::hit_accesses, &table_costs::miss_accesses,
                             &table_costs::hit_lines, &table_costs::miss_lines})
      line += fmt::format("{:7.3f}", cost_of(costs, which).value_or(0));
    for (const auto& each : {overflow, predicted})
      line += each ? fmt::format("{:12.1e}", *each) : std::string();
    return line;
  };
  for (const auto& [facts, result] : contest.entries) {
    if (result.costs)
      text += fmt::format("  {:{}}{}\n", facts.name, name_width,
                          cells(result.costs, result.overflow_fraction, std::nullopt));
    if (result.churned_costs)
      text += fmt::format("  {:{}}{}\n", "  after churn", name_width,
                          cells(result.churned_costs, result.churned_overflow_fraction,
                                result.predicted_overflow_fraction));
  }
  return text;
}

std::string ratios_table(const table_contest& contest, const table_entry& ours) {
  constexpr std::array<table_metric, 6> shown{insert, hit, miss, dependent_hit, erase, insert_p999};
  std::string text = fmt::format("  {:{}}", "", name_width) +
                     headings({"bytes", "insert", "hit", "miss", "chain", "erase", "p99.9"}, 8) +
                     '\n';
  for (const table_entry& peer : contest.entries) {
    if (&peer == &ours) continue;
    std::string line = fmt::format("  {:{}}{:8.2f}", peer.facts.name, name_width,
                                   bytes_per_element(ours.result) / bytes_per_element(peer.result));
    for (const table_metric what : shown) {
      const auto found = ratio_of(ours.result.ns(what), peer.result.ns(what));
      line += found ? fmt::format("{:8.{}f}", found->median, found->median < 0.1 ? 4 : 2)
                    : fmt::format("{:>8}", "");
    }
    text += without_trailing_spaces(line) + '\n';
  }
  return text;
}

std::string targets_text(const std::vector<table_target>& targets) {
  std::string text;
  for (const table_target& each : targets) {
    const std::string figure =
        each.measured
            ? fmt::format("{:.4g}, at most {:g}: {}", *each.measured, each.most,
                          name_of(each.verdict()))
            : fmt::format("at most {:g}: {}: {}", each.most, name_of(each.verdict()), each.why_not);
    std::string lines =
        wrapped(fmt::format("{}. {}: {}", each.number, each.what, figure), line_width, 5);
    text += lines.substr(3);  // the number stands further out
  }
  return text;
}

std::string absent_text(const std::vector<absent_peer>& absent) {
  std::string text;
  for (const absent_peer& each : absent) {
    const std::string package = each.package.empty() ? "" : fmt::format(" ({})", each.package);
    text += wrapped(fmt::format("Absent: {}{}: {}.", each.name, package, each.why), line_width, 0);
  }
  return text;
}

}  // namespace

report report_of(const table_contest& contest, const machine_facts& machine) {
  const tick_clock clock;
  report out("Tables on this machine");
  out.whole("elements", contest.size.elements);
  out.whole("rounds", contest.settings.rounds);
  out.whole("queries_per_round", contest.settings.queries);
  out.number("churn_operations_per_element", contest.settings.churn);
  out.text("latency_clock", std::string(clock.name()));
  out.number("latency_clock_cost_ns", clock.cost_ns());
  std::vector<report> rows, ratios, targets, absent, wrong;
  std::vector<std::string> faults;
  const table_entry* ours = contest.find(table_kind::ours);
  for (const table_entry& entry : contest.entries) {
    rows.push_back(row_of(entry));
    if (ours != nullptr && &entry != ours) ratios.push_back(ratios_of(*ours, entry));
    for (std::string& fault : faults_of(entry)) faults.push_back(std::move(fault));
  }
  const std::vector<table_target> aims = table_targets(contest);
  for (const table_target& each : aims) targets.push_back(object_of(each));
  for (const absent_peer& each : contest.absent) absent.push_back(object_of(each));
  for (const std::string& each : faults) wrong.push_back(report("").text("what", each));
  out.objects("rows", rows);
  out.objects("ratios", ratios);
  out.objects("targets", targets);
  out.objects("absent", absent);
  out.object("machine", object_of(machine));
  out.objects("faults", wrong);

  std::string text = text_of(machine) + absent_text(contest.absent);
  text +=
      fmt::format("\n{} elements, 8 bytes each key and value: ns per operation; * in bulk\n\n{}",
                  grouped(static_cast<double>(contest.size.elements)), times_table(contest));
  text += fmt::format(
      "\nSingle insertions over the last 2 % of the filling ({}); * while running\n\n{}",
      clock.name(), latencies_table(contest));
  text += fmt::format(
      "\nSingle insertions of a whole filling; * those that return to the full table\n\n{}",
      phases_table(contest));
  if (contest.settings.churn > 0)
    text += fmt::format(
        "\nSingle insertions over {} n of churn, * while running; then ns per operation\n\n{}",
        rounded(contest.settings.churn), churn_table(contest));
  if (ours != nullptr) {
    text += "\nCounted per lookup\n\n" + costs_table(contest);
    if (contest.entries.size() > 1)
      text += fmt::format("\n{} over the others: median of {} rounds\n\n{}", ours->facts.name,
                          contest.settings.rounds, ratios_table(contest, *ours));
    text += "\nAimed at, for 20,000,000 elements\n\n" + targets_text(aims);
  }
  for (const std::string& fault : faults) text += '\n' + wrapped("Wrong: " + fault, line_width, 0);
  if (!faults.empty()) out.negative();
  out.layout(text + "\nWhat the columns mean: oneprobe bench tables --help\n");
  return out;
}

}  // namespace oneprobe::cli
