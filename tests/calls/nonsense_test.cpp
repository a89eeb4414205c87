// Calls that make no sense, thousands of them in this process: exit code 2, one line on standard
// error, nothing on standard output, at once.
#include <gtest/gtest.h>

#include <array>
#include <set>
#include <sstream>
#include <utility>

#include "refused.hpp"

namespace oneprobe::cli {
namespace {

// All of them take seconds, but minutes with a sanitizer. Seven does not divide the number of
// pieces of garbage: each is tried.
#ifdef ONEPROBE_SANITIZED
constexpr std::size_t one_in = 7;
#else
constexpr std::size_t one_in = 1;
#endif

void expect_refused(const std::vector<words>& calls) {
  for (const words& call : calls) EXPECT_EQ(wrongly_refused(called_here(call)), "") << shown(call);
}

words with_json(words call) {
  call.emplace_back("--json");
  return call;
}

TEST(nonsense, begins_as_calls_that_are_sensible) {
  for (const words& call : sensible_calls()) {
    const call_outcome found = called_here(with_json(call));
    EXPECT_EQ(found.code, 0) << shown(call);
    EXPECT_EQ(found.complaints, "") << shown(call);
    EXPECT_TRUE(found.answers.starts_with('{')) << shown(call);
  }
}

/// The names that a group of commands lists in its help.
std::vector<std::string> names_below(const char* group) {
  std::istringstream help(called_here({group, "--help"}).answers);
  std::vector<std::string> names;
  std::string line;
  while (std::getline(help, line) && line != "Names:") continue;
  while (std::getline(help, line) && line.starts_with("  ")) {
    // What goes on in the next line is indented further.
    if (line[2] != ' ') names.push_back(line.substr(2, line.find(' ', 2) - 2));
  }
  return names;
}

TEST(nonsense, is_made_of_every_model) {
  const std::vector<std::string> models = names_below("model");
  EXPECT_GE(models.size(), 13u);
  std::set<std::string> called;
  for (const words& call : sensible_calls()) called.insert(call[1]);
  for (const std::string& model : models) EXPECT_TRUE(called.contains(model)) << model;
}

TEST(nonsense, in_the_place_of_any_value_is_refused) {
  const std::vector<words> calls = calls_with_garbage();
  EXPECT_GT(calls.size(), 5000u);
  for (std::size_t i = 0; i < calls.size(); i += one_in) expect_refused({calls[i]});
}

TEST(nonsense, out_of_range_is_refused) { expect_refused(calls_out_of_range()); }

TEST(nonsense, of_usage_is_refused) { expect_refused(calls_of_wrong_usage()); }

// There the parser finds it, before any of our words are made.
TEST(nonsense, in_front_of_a_command_is_refused) {
  for (const std::string& piece : garbage())
    for (const char* dashes : {"", "-", "--"}) {
      const std::string word = dashes + piece;
      expect_refused({{"model", word, "balls", "--balls", "23", "--bins", "365"}});
      // A call that is only an end of options is none.
      if (word != "--") expect_refused({{word, "model", "balls"}});
    }
}

TEST(nonsense, is_named_in_the_line) {
  constexpr std::array<std::pair<const char*, const char*>, 15> lines{{
      {"model nonsense", "overflow-bound, cutoff, fluid"},
      {"nonsense", "demo, explore, filter, model"},
      {"model cutoff --scheme multilevel --load-factor -1 --bucket-capacity 4 --choices 4",
       "oneprobe model cutoff: load factor must be from 1e-09 to 1000; found -1"},
      {"model cutoff --scheme round-robin TABLE --choices 4", "single, sequential, multilevel"},
      {"model cutoff --scheme multilevel TABLE", "--choices is missing"},
      {"model balls --balls 1e14 --bins 10",
       "--balls must be a whole number from 0 to 10^13; found '1e14'"},
      {"model crisis --elements 10 --levels 5,,5", "item 2 of --levels"},
      {"model overflow-bound TABLE --accesses 1 --overflow 0.1",
       "--accesses or --overflow, not both"},
      {"model summary --kind multi-filter LEVELS --filter-bits 1k,1k --hashes 7,49,49,49,49",
       "--filter-bits must have as many items as --levels, 5; found 2"},
      {"model filter --kind standard --bits-per-element 10 --threshold 5",
       "--threshold does not apply to this call with --kind standard"},
      {"model filter --kind fingerprint --bits-per-element 10 --as-printed", "not in the papers"},
      {"simulate --scheme single --buckets 10 --elements 10 --looks 0.5,0.4",
       "looks must be ascending"},
      {"simulate --scheme single --buckets 10 --load-factor 1",
       "--load-factor needs --bucket-capacity"},
      {"simulate --scheme multilevel --levels 6,4 --elements 10 --churn level --level 3",
       "--level must be from 1 to 2; found 3"},
      {"simulate --scheme single --buckets 10 --elements 10 --level 2",
       "--level does not apply to this call with --scheme single"},
  }};
  for (const auto& [line, needle] : lines) {
    const call_outcome found = called_here(split(line));
    EXPECT_EQ(wrongly_refused(found), "") << line;
    EXPECT_NE(found.complaints.find(needle), std::string::npos) << line << found.complaints;
  }
}

// Not nonsense: a larger machine would do it.
TEST(nonsense, is_not_what_only_lacks_memory) {
  const call_outcome found =
      called_here(split("simulate --scheme single --buckets 1e12 --elements 10"));
  EXPECT_EQ(found.code, 3);
  EXPECT_EQ(found.answers, "");
  EXPECT_TRUE(is_one_line(found.complaints)) << found.complaints;
  EXPECT_NE(found.complaints.find("not enough memory: "), std::string::npos) << found.complaints;
}

// What a call leaves behind would show in the next one.
TEST(nonsense, is_forgotten) {
  const std::vector<words> texts{
      split("--help"),
      split("--manual"),
      split("model filter --help"),
      split("plan filter --elements 1M --fpr 1e-4"),
      split("model filter SHAPE --choices 4 --block-bits 512 --rule popcount"),
      split("reproduce --list")};
  std::vector<std::string> before;
  for (const words& call : texts) before.push_back(called_here(call).answers);
  expect_refused(calls_of_wrong_usage());
  expect_refused({split("bench filters --simd plain --elements 0"), split("--completion fish")});
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_FALSE(before[i].empty()) << shown(texts[i]);
    EXPECT_EQ(called_here(texts[i]).answers, before[i]) << shown(texts[i]);
  }
}

TEST(refusing, is_exit_code_2_and_one_line) {
  const std::string line = "oneprobe model balls: --bins is missing\n";
  EXPECT_EQ(wrongly_refused({2, "", line, 0.1}), "");
  EXPECT_NE(wrongly_refused({3, "", line, 0.1}), "");
  EXPECT_NE(wrongly_refused({-1, "", line, 0.1}), "");
  EXPECT_NE(wrongly_refused({2, "{}\n", line, 0.1}), "");
  EXPECT_NE(wrongly_refused({2, "", line, most_seconds_to_refuse}), "");
  for (const std::string& wrong :
       {std::string(), std::string("\n"), std::string("oneprobe: \n"),
        std::string("oneprobe model\n"), std::string("oneprobe: no end"),
        std::string("balls: --bins is missing\n"), line + line, std::string("oneprobe: \x1b[31m\n"),
        std::string("oneprobe: \xc3\xa9\n"), "oneprobe: " + std::string(400, 'x') + '\n'})
    EXPECT_NE(wrongly_refused({2, "", wrong, 0.1}), "") << wrong;
}

}  // namespace
}  // namespace oneprobe::cli
