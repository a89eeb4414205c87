#include "output.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

namespace {

using namespace oneprobe::cli;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();

nlohmann::ordered_json parsed(const report& out) {
  return nlohmann::ordered_json::parse(out.json());
}

TEST(report, keeps_the_order_and_every_digit_in_json) {
  report out("title");
  out.number("b", 0.1 + 0.2).fraction("a", 1.0 / 3).whole("n", 10'000'000'000'000).text("t", "x");
  const auto json = parsed(out);
  EXPECT_EQ(json.begin().key(), "b");
  EXPECT_EQ(json["b"].get<double>(), 0.1 + 0.2);
  EXPECT_EQ(json["a"].get<double>(), 1.0 / 3);
  EXPECT_EQ(json["n"].get<std::uint64_t>(), 10'000'000'000'000u);
  EXPECT_EQ(json["t"], "x");
}

TEST(report, writes_null_for_what_is_not_a_number) {
  report out("title");
  out.number("nan", nan).number("infinite", infinity).nothing("none", "nothing");
  out.numbers("list", {1, nan}, "level").whole_or("maybe", std::nullopt, "none");
  const auto json = parsed(out);
  for (const char* key : {"nan", "infinite", "none", "maybe"}) EXPECT_TRUE(json[key].is_null());
  EXPECT_TRUE(json["list"][1].is_null());
}

TEST(report, writes_lists_and_lists_of_lists) {
  report out("title");
  out.fractions("list", {0.5, 0.5}, "load", 0).grid("grid", {{1, 0}, {0, 1}}, "level", "load", 0);
  out.wholes("sizes", {3, 4}, "level").fractions("empty", {}, "level");
  const auto json = parsed(out);
  EXPECT_EQ(json["list"].size(), 2u);
  EXPECT_EQ(json["grid"][1][1], 1);
  EXPECT_TRUE(json["sizes"][0].is_number_integer());
  EXPECT_TRUE(json["empty"].is_array());
  EXPECT_TRUE(json["empty"].empty());
}

TEST(report, writes_reports_inside_reports) {
  report inner("inner");
  inner.number("x", 1.5);
  report out("title");
  out.objects("items", {inner, inner}).object("one", inner);
  const auto json = parsed(out);
  EXPECT_EQ(json["items"][1]["x"], 1.5);
  EXPECT_EQ(json["one"]["x"], 1.5);
}

TEST(report, amount_is_whole_where_it_can_be) {
  report out("title");
  out.amount("whole", 32450).amount("half", 0.5).amount("negative", -1);
  EXPECT_EQ(out.json(), "{\"whole\":32450,\"half\":0.5,\"negative\":-1.0}\n");
}

TEST(report, table_fits_a_terminal) {
  report out("A title", "Its source");
  out.probability("false_positive_probability", 1.04e-4);
  out.fractions("occupancy", std::vector<double>(1000, 1e-3), "load", 0);
  out.grid("levels", std::vector<std::vector<double>>(64, {0.25, 0.75}), "level", "load", 0);
  out.note(std::string(30, 'x') + ' ' + std::string(30, 'y') + ' ' + std::string(30, 'z'));
  std::istringstream lines(out.table());
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_LE(line.size(), 80u) << line;
  EXPECT_LT(count, 60u);
  EXPECT_NE(out.table().find("1 in 9,620"), std::string::npos) << out.table();
}

TEST(report, table_shows_what_json_calls_null) {
  report out("title");
  out.nothing("k0", "unbounded").number("nan", nan);
  EXPECT_NE(out.table().find("unbounded"), std::string::npos);
  EXPECT_EQ(out.table().find("inf"), std::string::npos);
}

TEST(rounding, is_what_a_person_would_write) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1234567), "1,234,567");
  EXPECT_EQ(grouped(-1000), "-1,000");
  EXPECT_EQ(percent(0.0345364), "3.454 %");
  EXPECT_EQ(percent(0), "0 %");
  EXPECT_EQ(percent(1), "100 %");
  EXPECT_EQ(percent(1.007e-12), "1.007e-12");
  EXPECT_EQ(rounded(1.69704526), "1.69705");
  EXPECT_EQ(rounded(1e6), "1,000,000");
  EXPECT_EQ(one_in(1.0 / 9600), "1 in 9,600");
  EXPECT_EQ(one_in(0.0063), "1 in 159");
  EXPECT_EQ(one_in(0.9), "");
  EXPECT_EQ(one_in(0), "");
  EXPECT_EQ(one_in(nan), "");
}

TEST(wrapped, breaks_between_words_and_keeps_all_of_them) {
  EXPECT_EQ(wrapped("one two three", 8, 0), "one two\nthree\n");
  EXPECT_EQ(wrapped("one two", 80, 2), "  one two\n");
  EXPECT_EQ(wrapped("", 80, 0), "\n");
}

}  // namespace
