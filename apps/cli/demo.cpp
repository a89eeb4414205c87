#include "demo.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <string>
#include <system_error>
#include <vector>

#include "command.hpp"
#include "demo/findings.hpp"
#include "demo/page.hpp"
#include "named_file.hpp"
#include "plan/text.hpp"
#include "progress.hpp"

namespace oneprobe::cli {
namespace {

constexpr option page_file{"-o", "FILE", "where the page goes (default oneprobe-demo.html)",
                           "--output"};
constexpr const char* default_page = "oneprobe-demo.html";

/// The file of the page, opened before the work: better a refusal now than after it.
class report_file {
 public:
  explicit report_file(std::string path) : path_(std::move(path)) {
    errno = 0;
    if (!std::ofstream(path_, std::ios::app)) fail();
  }
  void write(const std::string& text) const {
    errno = 0;
    std::ofstream file(path_, std::ios::binary | std::ios::trunc);
    if (!(file << text) || !file.flush()) fail();
  }
  const std::string& path() const { return path_; }

 private:
  [[noreturn]] void fail() const {
    refuse_path(errno, fmt::format("{}: cannot write {}: {}", page_file.flag, path_,
                                   std::generic_category().message(errno)));
  }
  std::string path_;
};

void add_comparison(std::string& text, std::string_view first, std::string_view second,
                    std::string_view third, const std::vector<demo::compared>& lines) {
  const auto add = [&](std::string_view what, std::string_view a, std::string_view b,
                       std::string_view c) {
    std::string row = fmt::format("  {:<31}{:>15}{:>15}{:>15}", what, a, b, c);
    row.erase(row.find_last_not_of(' ') + 1);
    text.append(row).push_back('\n');
  };
  text.push_back('\n');
  add("", first, second, third);
  for (const demo::compared& line : lines)
    add(line.what, line.predicted, line.measured, line.beside);
  text.push_back('\n');
}

std::string laid_out(const demo::filter_findings& names, const demo::table_findings& flows,
                     const std::string& page) {
  std::string text = "Oneprobe: hashing on an access budget\n\n";
  text += wrapped(fmt::format("1. A filter: which of {} names have been seen? Wanted: at most one "
                              "wrong answer in {}. Planned: {}.",
                              grouped(static_cast<double>(demo::name_count)),
                              grouped(1 / demo::wanted_fpr), demo::filter_choice(names)),
                  line_width, 0);
  add_comparison(text, "predicted", "measured", "blocked Bloom", demo::filter_lines(names));
  text += wrapped(
      fmt::format("2. A table: a day of flows, {} at a time, each replaced {} times over. Wanted: "
                  "at most one in {} overflows. Planned: {}.",
                  grouped(static_cast<double>(demo::flow_count)), demo::turnovers,
                  grouped(1 / demo::wanted_overflow), demo::table_choice(flows)),
      line_width, 0);
  add_comparison(text, "predicted", "measured", "unordered_map", demo::table_lines(flows));
  text += "3. Times here and now, beside the same two.\n";
  add_comparison(text, "", "oneprobe", "beside it", demo::time_lines(names, flows));
  text += "Try next: a filter for your numbers, one of your keys, trade-offs as a page\n";
  for (const std::string_view arguments : demo::next_steps)
    text += fmt::format("  {} {}\n", tool_name(), arguments);
  text += fmt::format("The same with pictures: {}\n", page);
  return text;
}

std::vector<report> over_full(const demo::filter_findings& found) {
  std::vector<report> all;
  for (const demo::fill_look& look : found.looks) {
    report out("look");
    all.push_back(out.number("factor", look.factor)
                      .number("predicted_fpr", look.predicted_fpr)
                      .number("fpr", look.fpr)
                      .number("blocked_fpr", look.blocked_fpr)
                      .whole("queries", look.asked));
  }
  return all;
}

report filter_report(const demo::filter_findings& found) {
  report out("filter");
  return out.text("kind", std::string(name_of(found.proposal.plan->kind)))
      .whole("elements", demo::name_count)
      .number("wanted_fpr", demo::wanted_fpr)
      .number("predicted_fpr", found.proposal.plan->predicted.fpr)
      .number("fpr", found.ours.fpr)
      .number("blocked_fpr", found.beside.fpr)
      .whole("queries", found.ours.asked)
      .number("predicted_miss_accesses", found.proposal.plan->predicted.miss_accesses)
      .number("miss_lines", found.ours.miss_lines)
      .number("predicted_hit_accesses", found.proposal.plan->predicted.hit_accesses)
      .number("hit_lines", found.ours.hit_lines)
      .whole("overflow", found.ours.overflow)
      .whole("memory_bytes", found.ours.memory_bytes)
      .whole("blocked_memory_bytes", found.beside.memory_bytes)
      .objects("over_full", over_full(found))
      .number("bulk_query_ns", found.ours.bulk_query_ns)
      .number("blocked_bulk_query_ns", found.beside.bulk_query_ns);
}

report table_report(const demo::table_findings& found) {
  const table_prediction& predicted = found.proposal.plan->predicted;
  const auto times = [](const demo::insert_times& of) {
    report out("times");
    return out.number("median_ns", of.median_ns)
        .number("p999_ns", of.p999_ns)
        .number("worst_ns", of.worst_ns);
  };
  report out("table");
  return out.whole("elements", demo::flow_count)
      .number("wanted_overflow_fraction", demo::wanted_overflow)
      .number("predicted_hit_accesses", predicted.hit_accesses)
      .number("hit_accesses", found.ours.hit_accesses)
      .number("predicted_miss_accesses", predicted.miss_accesses)
      .number("miss_accesses", found.ours.miss_accesses)
      .whole("most_accesses", found.ours.most_accesses)
      .whole("bound", found.bound)
      .number("predicted_overflow", predicted.overflow_mean)
      .number("predicted_overflow_deviation", predicted.overflow_deviation)
      .number("overflow", found.ours.overflow)
      .whole("refused", found.ours.refused)
      .whole("memory_bytes", found.ours.memory_bytes)
      .object("insert", times(found.ours.times))
      .whole("rehashes", found.ours.moves)
      .object("unordered_map_insert", times(found.beside))
      .whole("unordered_map_rehashes", found.beside_rehashes)
      .whole("unordered_map_memory_bytes", found.beside_memory_bytes);
}

report answer(const arguments& in) {
  const report_file page(in.maybe_text(page_file).value_or(default_page));
  progress_bar bar;
  const auto names = demo::try_filter([&](double done) { bar.show(0.6 * done, "names"); });
  const auto flows = demo::try_table([&](double done) { bar.show(0.6 + 0.4 * done, "flows"); });
  page.write(demo::page_of(names, flows, tool_name()));
  report out("demo");
  return out.object("filter", filter_report(names))
      .object("table", table_report(flows))
      .text("page", page.path())
      .layout(laid_out(names, flows, page.path()));
}

const command demo_command{
    .name = "demo",
    .summary = "plan, build, ask and compare: a filter and a table on made-up data",
    .details =
        "A million names in a filter and a day of flows in a table: what the planner "
        "predicts, what is measured, and what a blocked Bloom filter and std::unordered_map "
        "do beside them. Takes some seconds, and writes a page with pictures.",
    .source = "",
    .example = "-o demo.html",
    .options = {{&page_file, need::optional}},
    .answer = answer,
};

}  // namespace

void add_demo(CLI::App& app) { add_command(app, demo_command); }

}  // namespace oneprobe::cli
