// What only a process shows, of two hundred of the calls: that it ends, with which exit code and
// with what on its streams, and that a call in this process finds the same.
#include <gtest/gtest.h>
#include <unistd.h>

#include "refused.hpp"

namespace oneprobe::cli {
namespace {

/// One in so many calls that make no sense. It is prime, and not the number of pieces of garbage:
/// each of them, in all kinds of places, is among the calls.
constexpr std::size_t one_in = 31;

std::vector<words> sample() {
  std::vector<words> some;
  const std::vector<words> all = nonsense_calls();
  for (std::size_t i = 0; i < all.size(); i += one_in) some.push_back(all[i]);
  return some;
}

void expect_same(const words& call, const call_outcome& apart) {
  const call_outcome here = called_here(call);
  EXPECT_EQ(apart.code, here.code) << shown(call);
  EXPECT_EQ(apart.answers, here.answers) << shown(call);
  EXPECT_EQ(apart.complaints, here.complaints) << shown(call);
}

TEST(processes, refuse_nonsense_as_calls_here_do) {
  const std::vector<words> calls = sample();
  EXPECT_GT(calls.size(), 180u);
  for (const words& call : calls) {
    const call_outcome found = called_apart(call);
    EXPECT_EQ(wrongly_refused(found), "") << shown(call);
    expect_same(call, found);
  }
}

TEST(processes, answer_as_calls_here_do) {
  for (const char* line :
       {"", "--help", "help plan filter", "--version", "--manual", "--completion bash",
        "--completion zsh", "model --help", "model balls --balls 23 --bins 365",
        "model crisis LEVELS --json", "plan filter --elements 1M --fpr 1e-4",
        "plan filter --elements 1M --bytes 1000", "reproduce --list"}) {
    const call_outcome found = called_apart(split(line));
    EXPECT_TRUE(found.code == 0 || found.code == 1) << line;
    EXPECT_NE(found.answers, "") << line;
    EXPECT_EQ(found.complaints, "") << line;
    expect_same(split(line), found);
  }
}

const char* const nonsense_lines[] = {"nonsense", "model", "model balls --balls 1.5.2 --bins 10",
                                      "simulate --scheme single --buckets 0 --elements 10"};

TEST(processes, refuse_nonsense_whatever_is_closed) {
  for (const char* line : nonsense_lines) {
    for (const std::vector<int>& closed : {std::vector{STDIN_FILENO}, std::vector{STDOUT_FILENO}})
      EXPECT_EQ(wrongly_refused(called_apart(split(line), {.closed = closed})), "") << line;
    // Nobody reads the line, but the exit code tells.
    for (const std::vector<int>& closed :
         {std::vector{STDERR_FILENO}, std::vector{STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}}) {
      const call_outcome found = called_apart(split(line), {.closed = closed});
      EXPECT_EQ(found.code, 2) << line;
      EXPECT_EQ(found.answers + found.complaints, "") << line;
    }
  }
}

TEST(processes, refuse_nonsense_in_any_locale) {
  for (const char* line : nonsense_lines) {
    const std::string usual = called_apart(split(line)).complaints;
    for (const char* locale : {"LC_ALL=C", "LC_ALL=C.UTF-8", "LC_ALL=de_DE.UTF-8", "LC_ALL=none"}) {
      const call_outcome found = called_apart(split(line), {.environment = {locale}});
      EXPECT_EQ(wrongly_refused(found), "") << line << locale;
      EXPECT_EQ(found.complaints, usual) << line << locale;
    }
  }
}

}  // namespace
}  // namespace oneprobe::cli
