// The parts of `oneprobe reproduce` that write: CSV, the page, the terminal; and the choice of
// experiments, on a document made up for it.
#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "arguments.hpp"
#include "options.hpp"
#include "progress.hpp"
#include "reproduce/csv.hpp"
#include "reproduce/documents.hpp"
#include "reproduce/report_html.hpp"
#include "reproduce/terminal.hpp"

namespace {

using namespace oneprobe::cli;

outcome nothing(const conditions&) { return {}; }

const std::vector<experiment>& first_experiments() {
  static const std::vector<experiment> all{
      {"AAA-Fig1", "First <figure>", "It rises.", 1, 2, nothing},
      {"AAA-Fig2", "Second", "It falls.", 1, 2, nothing},
  };
  return all;
}

const std::vector<experiment>& second_experiments() {
  static const std::vector<experiment> all{{"BBB-Table1", "Third", "It stays.", 1, 2, nothing}};
  return all;
}

const std::vector<document>& shelf() {
  static const std::vector<document> all{
      {"AAA", "A. Author", "On A", "About A.", first_experiments},
      {"BBB", "B. Author", "On B", "About B.", second_experiments},
  };
  return all;
}

row wrong_row() {
  return {.source = "AAA, Fig. 1",
          .what = "a \"quoted\", long name",
          .printed = as_printed("0.50"),
          .model = 0.6,
          .simulated = oneprobe::sim::estimate{0.61, 0.01, 0.6, 0.62},
          .remark = "a & b"};
}

row right_row() {
  return {
      .source = "AAA, Fig. 1", .what = "half", .printed = as_printed("50 %", 0.01), .model = 0.5};
}

run_result one_run() {
  experiment_result result{first_experiments().front(), {}, 0.5};
  result.found.rows = {wrong_row(), right_row()};
  result.found.charts = {{.name = "aaa-fig1",
                          .title = "Chart",
                          .x_label = "x",
                          .y_label = "y",
                          .lines = {{.name = "model", .points = {{0, 0.1}, {1, 0.2}}}}}};
  result.found.found = "One thing.\n\nAnother.";
  return {.documents = {{shelf().front(), {result}}},
          .how_much = effort::quick,
          .seed = 7,
          .seconds = 61};
}

TEST(selection, nothing_asked_for_is_everything) {
  const auto all = selected(shelf(), {});
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].experiments.size(), 2u);
}

TEST(selection, ids_are_documents_or_experiments_in_any_case_and_keep_the_order_of_the_report) {
  const auto some = selected(shelf(), {"bbb", "aaa-FIG2", "AAA-fig2"});
  ASSERT_EQ(some.size(), 2u);
  ASSERT_EQ(some[0].experiments.size(), 1u);
  EXPECT_EQ(some[0].experiments[0]->id, "AAA-Fig2");
  EXPECT_EQ(some[1].of->id, "BBB");
}

TEST(selection, an_unknown_id_is_refused_with_those_that_exist) {
  const auto message = [](const std::string& id) -> std::string {
    try {
      selected(shelf(), {id});
    } catch (const usage_error& error) {
      return error.what();
    }
    return "nothing was thrown";
  };
  EXPECT_EQ(message("CCC"), "unknown document or experiment 'CCC'; one of AAA, BBB, or see --list");
  EXPECT_EQ(message("aaa-fig3"), "unknown experiment 'aaa-fig3'; one of AAA-Fig1, AAA-Fig2");
  EXPECT_NE(message("").find("unknown"), std::string::npos);
}

TEST(selection, comes_from_arguments_without_a_flag) {
  constexpr option ids{"ID", "...", ""};
  constexpr option out{"-o", "DIR", "", "--output"};
  arguments in;
  EXPECT_TRUE(in.words(ids).empty());
  EXPECT_FALSE(in.maybe_text(out));
  in.give(ids.flag, {"OFH", "SSH"});
  in.give(out.flag, {"folder"});
  EXPECT_EQ(in.words(ids), (std::vector<std::string>{"OFH", "SSH"}));
  EXPECT_EQ(in.maybe_text(out), "folder");
  EXPECT_NO_THROW(in.refuse_unread());
  in.give(out.flag, {""});
  EXPECT_THROW(in.maybe_text(out), usage_error);
}

TEST(csv, quotes_what_has_to_be_quoted) {
  EXPECT_EQ(csv_field("plain"), "plain");
  EXPECT_EQ(csv_field("a, \"b\"\n"), "\"a, \"\"b\"\"\n\"");
}

TEST(csv, keeps_every_digit_and_leaves_out_what_is_missing) {
  const std::string lines = csv_of("AAA-Fig1", {wrong_row(), right_row()});
  EXPECT_NE(lines.find("AAA-Fig1,\"AAA, Fig. 1\",\"a \"\"quoted\"\", long name\",0.50,0.5,0.6,0.61,"
                       "0.01,DISAGREES: the model is not what is printed,a & b\n"),
            std::string::npos)
      << lines;
  EXPECT_NE(lines.find("AAA-Fig1,\"AAA, Fig. 1\",half,50 %,0.5,0.5,,,agrees,\n"), std::string::npos)
      << lines;
}

TEST(csv, a_chart_has_one_line_per_point) {
  chart what = one_run().documents[0].experiments[0].found.charts[0];
  what.lines.push_back(
      {.name = "simulation",
       .how = series::kind::marks,
       .points = {{1, 1.0 / 3, 0.25}, {2, std::numeric_limits<double>::infinity()}}});
  EXPECT_EQ(csv_of(what),
            "series,kind,x,y,standard_error\nmodel,line,0,0.1,\nmodel,line,1,0.2,\n"
            "simulation,marks,1,0.3333333333333333,0.25\nsimulation,marks,2,,\n");
}

TEST(report_page, has_claim_chart_rows_and_conditions_and_needs_nothing_else) {
  const std::string page = html_of(one_run());
  for (const char* part :
       {"First &lt;figure&gt;", "It rises.", "<svg class=\"chart\"", "<p>Another.</p>",
        "DISAGREES: the model is not what is printed", "<td>50 %</td>", "1 min 1 s",
        "--quick --seed 7", "prefers-color-scheme"})
    EXPECT_NE(page.find(part), page.npos) << part;
  for (const char* part : {"http", "<script", "src=", "url(\""})
    EXPECT_EQ(page.find(part), page.npos) << part;
}

TEST(terminal_table, keeps_within_a_hundred_columns_and_says_why_something_disagrees) {
  experiment_result result = one_run().documents[0].experiments[0];
  result.found.rows[0].what = std::string(40, 'x') + ' ' + std::string(50, 'y');
  const std::string table = table_of(result);
  std::size_t begin = 0;
  while (begin < table.size()) {
    const auto end = table.find('\n', begin);
    EXPECT_LE(end - begin, 104u) << table;  // bytes; "±" takes two
    begin = end + 1;
  }
  EXPECT_NE(table.find("  DISAGREES\n"), table.npos) << table;
  EXPECT_NE(table.find("model is not what is printed"), table.npos) << table;
}

TEST(terminal_table, the_closing_sentence_counts) {
  EXPECT_EQ(sentence_of({.agree = 1200, .errata = 3, .disagree = 0}),
            "1,203 numbers: 1,200 agree, 3 explained by an erratum, none disagrees.");
  EXPECT_EQ(sentence_of({.agree = 1, .errata = 0, .disagree = 2}),
            "3 numbers: 1 agrees, 0 explained by an erratum, 2 DISAGREE.");
}

TEST(progress, the_line_says_what_is_done_and_what_is_left) {
  EXPECT_EQ(progress_line(0.5, "OFH-Fig5a", 30, 78),
            "[############............]  50 %  OFH-Fig5a  30 s left");
  EXPECT_EQ(progress_line(0, "OFH-Fig5a", 3, 78).find("left"), std::string::npos);
  EXPECT_EQ(progress_line(2, std::string(100, 'x'), 3, 78).size(), 78u);
  EXPECT_NE(progress_line(std::numeric_limits<double>::quiet_NaN(), "x", 3, 78).find("  0 %"),
            std::string::npos);
}

TEST(progress, durations_are_short) {
  EXPECT_EQ(duration(0.2), "0 s");
  EXPECT_EQ(duration(48), "48 s");
  EXPECT_EQ(duration(200), "3 min 20 s");
  EXPECT_EQ(duration(7500), "2 h 5 min");
}

}  // namespace
