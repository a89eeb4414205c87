#include "reproduce.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include "command.hpp"
#include "named_file.hpp"
#include "progress.hpp"
#include "reproduce/chart_svg.hpp"
#include "reproduce/csv.hpp"
#include "reproduce/documents.hpp"
#include "reproduce/report_html.hpp"
#include "reproduce/terminal.hpp"

namespace oneprobe::cli {
namespace {

namespace fs = std::filesystem;

constexpr option ids{"ID", "...",
                     "documents (OFH, ECB, BBF, SSH, LEC) or experiments (OFH-Fig5a); none: all"};
constexpr option out{"-o", "DIR", "folder for the report, made if need be (./reproduction)",
                     "--output"};
constexpr option quick{"--quick", "", "less simulation: within a minute"};
constexpr option full{"--full", "", "as much simulation as the papers did, however long it takes"};
constexpr option check{"--check", "", "exit code 1 if any number disagrees"};
constexpr option list{"--list", "", "only name the experiments"};
constexpr option seed{"--seed", "S", "start of all random numbers (1)"};
constexpr option threads{"--threads", "N", "threads of the simulations (one per core)"};

constexpr const char* default_folder = "reproduction";
constexpr unsigned most_threads = 1024;

effort read_effort(const arguments& in) {
  const bool less = in.is_set(quick), more = in.is_set(full);
  if (less && more) throw usage_error("give either --quick or --full, not both");
  return less ? effort::quick : more ? effort::full : effort::normal;
}

conditions read_conditions(const arguments& in) {
  conditions given;
  given.how_much = read_effort(in);
  if (const auto number = in.maybe_seed(seed)) given.seed = *number;
  if (const auto number = in.maybe_whole(threads)) {
    if (*number < 1 || *number > most_threads)
      throw usage_error(
          fmt::format("--threads must be from 1 to {}; found {}", most_threads, *number));
    given.threads = *number;
  }
  return given;
}

/// The folder that takes the files of a run.
class output_folder {
 public:
  /// Throws if it cannot be made or written to: better now than after minutes of work.
  explicit output_folder(const std::string& name) : path_(name) {
    std::error_code error;
    fs::create_directories(path_, error);
    if (error) refuse(error.value());
    if (!fs::is_directory(path_, error)) refuse(ENOTDIR);
    // Tried with a file that does not stay: a run that ends early leaves no empty report behind.
    const fs::path tried = path_ / probe_name;
    errno = 0;
    if (!std::ofstream(tried, std::ios::app)) refuse(errno);
    fs::remove(tried, error);
    // A report of an earlier run that cannot be overwritten is noticed now as well.
    if (!fs::exists(path_ / report_name, error)) return;
    errno = 0;
    if (!std::ofstream(path_ / report_name, std::ios::app)) refuse(errno);
  }

  void write(const std::string& name, std::string_view text) const {
    std::ofstream file(path_ / name, std::ios::binary | std::ios::trunc);
    file.write(text.data(), static_cast<std::streamsize>(text.size()));
    file.close();
    if (!file) throw system_failure(fmt::format("cannot write {}", in_quotes(at(name))));
  }

  std::string at(const std::string& name) const { return (path_ / name).string(); }

  static constexpr const char* report_name = "report.html";
  static constexpr const char* rows_name = "rows.csv";

 private:
  static constexpr const char* probe_name = ".oneprobe-writable";

  [[noreturn]] void refuse(int error) const {
    refuse_path(error, fmt::format("-o {} cannot be written to: {}", in_quotes(path_.string()),
                                   std::generic_category().message(error)));
  }

  fs::path path_;
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Runs what is selected, one experiment after the other, each on all the threads.
class runner {
 public:
  runner(const std::vector<selection>& what, conditions given, const output_folder& folder)
      : what_(what), given_(std::move(given)), folder_(folder) {
    for (const selection& each : what_)
      for (const experiment* next : each.experiments) expected_ += seconds_of(*next);
  }

  run_result run() {
    const auto begin = std::chrono::steady_clock::now();
    run_result result{.documents = {}, .how_much = given_.how_much, .seed = given_.seed};
    for (const selection& each : what_) {
      document_result document{*each.of, {}};
      for (const experiment* next : each.experiments) document.experiments.push_back(run(*next));
      result.documents.push_back(std::move(document));
    }
    result.seconds = seconds_since(begin);
    return result;
  }

 private:
  /// How long it takes, relative to the others; the time of a full run is unknown.
  double seconds_of(const experiment& what) const {
    return given_.how_much == effort::quick ? what.quick_seconds : what.normal_seconds;
  }

  experiment_result run(const experiment& what) {
    const auto begin = std::chrono::steady_clock::now();
    conditions in = given_;
    in.tell = [&](double done) {
      bar_.show((finished_ + done * seconds_of(what)) / expected_, what.id);
    };
    in.tell(0);
    experiment_result result{what, {}, 0};
    try {
      result.found = what.run(in);
    } catch (const std::exception& error) {
      // Its parameters are ours: whatever goes wrong is no fault of the caller.
      throw std::runtime_error(fmt::format("{}: {}", what.id, error.what()));
    }
    finished_ += seconds_of(what);
    result.seconds = seconds_since(begin);
    for (const chart& each : result.found.charts) write(each);
    return result;
  }

  /// At once, so that a run that is broken off leaves what it has.
  void write(const chart& what) {
    if (!names_.insert(what.name).second)
      throw std::logic_error(fmt::format("two charts are called {}", what.name));
    folder_.write(what.name + ".svg", svg_of(what, svg_use::standalone));
    folder_.write(what.name + ".csv", csv_of(what));
  }

  const std::vector<selection>& what_;
  conditions given_;
  const output_folder& folder_;
  progress_bar bar_;
  std::set<std::string> names_;
  double expected_ = 0;
  double finished_ = 0;
};

report list_of(const std::vector<selection>& what) {
  report answer("experiments");
  std::vector<report> objects;
  std::string text;
  for (const selection& each : what) {
    text += fmt::format("{}{}: {}\n", text.empty() ? "" : "\n", each.of->id, each.of->title);
    for (const experiment* next : each.experiments) {
      report object("experiment");
      object.text("id", std::string(next->id)).text("title", std::string(next->title));
      object.text("claim", std::string(next->claim));
      objects.push_back(std::move(object));
      text += fmt::format("  {:<16} {}\n", next->id, next->title);
    }
  }
  return answer.objects("experiments", objects).layout(text);
}

report report_of(const row& what) {
  report object("row");
  const auto number = [&](const char* key, const std::optional<double>& value) {
    value ? object.number(key, *value) : object.nothing(key, "");
  };
  object.text("source", what.source).text("what", what.what);
  what.printed ? object.text("printed", what.printed->text) : object.nothing("printed", "");
  number("printed_value", what.printed ? std::optional(what.printed->value) : std::nullopt);
  number("model", what.model);
  number("simulated", what.simulated ? std::optional(what.simulated->mean) : std::nullopt);
  number("standard_error",
         what.simulated ? std::optional(what.simulated->standard_error) : std::nullopt);
  return object.text("verdict", verdict(what)).text("remark", what.remark);
}

report answer(const arguments& in) {
  const std::vector<selection> what = selected(documents(), in.words(ids));
  if (in.is_set(list)) return list_of(what);

  const conditions given = read_conditions(in);
  const bool must_agree = in.is_set(check);
  const output_folder folder(in.maybe_text(out).value_or(default_folder));
  const run_result result = runner(what, given, folder).run();

  verdict_counts counts;
  std::string tables, rows = csv_heading();
  std::vector<report> experiments;
  for (const document_result& document : result.documents)
    for (const experiment_result& each : document.experiments) {
      report object("experiment");
      std::vector<report> numbers;
      for (const row& next : each.found.rows) {
        counts.add(judge(next));
        numbers.push_back(report_of(next));
      }
      object.text("id", std::string(each.what.id)).text("title", std::string(each.what.title));
      object.number("seconds", each.seconds).objects("rows", numbers);
      experiments.push_back(std::move(object));
      rows += csv_of(each.what.id, each.found.rows);
      tables += table_of(each) + '\n';
    }
  folder.write(output_folder::rows_name, rows);
  folder.write(output_folder::report_name, html_of(result));

  report done("reproduce");
  done.text("effort", std::string(name_of(given.how_much)))
      .whole("seed", given.seed)
      .number("seconds", result.seconds)
      .whole("numbers", counts.all())
      .whole("agree", counts.agree)
      .whole("errata", counts.errata)
      .whole("disagree", counts.disagree)
      .text("report", folder.at(output_folder::report_name))
      .objects("experiments", experiments)
      .layout(fmt::format("{}{} ({} effort, {})\nReport: {}\n", tables, sentence_of(counts),
                          name_of(given.how_much), duration(result.seconds),
                          folder.at(output_folder::report_name)));
  if (must_agree && counts.disagree > 0) done.negative();
  return done;
}

const command reproduce_command{
    .name = "reproduce",
    .summary = "every table and figure of the papers, computed again",
    .details =
        "Computes each number by model and by simulation, compares it with what is printed, and "
        "writes DIR/report.html, an SVG and a CSV for each chart, and rows.csv with one line per "
        "number. What is printed wrongly is explained by the number of an erratum in "
        "docs/papers.md. Takes up to fifteen minutes, with --quick less than one.",
    .source = "all tables and figures of OFH, ECB, BBF, SSH and LEC",
    .example = "OFH-Fig5a --quick --check",
    .options = {{&out, need::optional},
                {&quick, need::optional},
                {&full, need::optional},
                {&check, need::optional},
                {&list, need::optional},
                {&seed, need::optional},
                {&threads, need::optional}},
    .words = &ids,
    .answer = answer,
};

}  // namespace

void add_reproduce(CLI::App& app) { add_command(app, reproduce_command); }

}  // namespace oneprobe::cli
