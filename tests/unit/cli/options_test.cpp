#include "options.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace {

using namespace oneprobe::cli;

std::uint64_t count(std::string_view text) { return parse_count(text, "--n", largest_count); }

/// The message of the usage_error that `call` throws; empty if it throws none.
template <class Call>
std::string complaint(Call&& call) {
  try {
    call();
  } catch (const usage_error& error) {
    return error.what();
  }
  return {};
}

TEST(parse_count, takes_digits_decimals_and_exponents) {
  EXPECT_EQ(count("0"), 0u);
  EXPECT_EQ(count("42"), 42u);
  EXPECT_EQ(count("1e8"), 100'000'000u);
  EXPECT_EQ(count("1.5e3"), 1500u);
  EXPECT_EQ(count("7.0"), 7u);
}

TEST(parse_count, takes_decimal_and_binary_suffixes) {
  EXPECT_EQ(count("10k"), 10'000u);
  EXPECT_EQ(count("10K"), 10'000u);
  EXPECT_EQ(count("2.5k"), 2500u);
  EXPECT_EQ(count("2.3k"), 2300u);
  EXPECT_EQ(count("1.06M"), 1'060'000u);
  EXPECT_EQ(count("3G"), 3'000'000'000u);
  EXPECT_EQ(count("10T"), largest_count);
  EXPECT_EQ(count("64Ki"), 65'536u);
  EXPECT_EQ(count("1Mi"), 1u << 20);
  EXPECT_EQ(count("2Gi"), 1ull << 31);
  EXPECT_EQ(count("1Ti"), 1ull << 40);
}

TEST(parse_count, takes_every_thousandth_with_a_suffix) {
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const std::string text = std::to_string(i / 1000) + '.' +
                             std::string(i % 1000 < 10    ? "00"
                                         : i % 1000 < 100 ? "0"
                                                          : "") +
                             std::to_string(i % 1000) + 'k';
    ASSERT_EQ(count(text), i) << text;
  }
}

TEST(parse_count, refuses_what_is_not_entirely_a_count) {
  const std::string allowed = "--n must be a whole number from 0 to 10^13";
  for (const char* text : {"", " ", "k", " 1", "+1", "nan", "inf", "-inf", "--json", "1e999",
                           "1e-999", "1.5", "0.5", "2.0001k", "1e-5"})
    EXPECT_EQ(complaint([&] { count(text); }), allowed + "; found '" + std::string(text) + "'");
  for (const char* text :
       {"1 k", "1 ", "1x", "1kk", "1kI", "1ki", "1m", "2MB", "0x10", "1,000", "1e"})
    EXPECT_EQ(complaint([&] { count(text); }),
              allowed + ", with k, M, G, T, Ki, Mi, Gi or Ti or nothing behind it; found '" +
                  std::string(text) + "'");
}

TEST(parse_count, refuses_negative_and_too_large) {
  for (const char* text : {"-1", "-0.5k", "10000000000001", "1e14", "11T", "1e300", "10Ti"})
    EXPECT_NE(complaint([&] { count(text); }).find("found '" + std::string(text) + "'"),
              std::string::npos);
  EXPECT_EQ(complaint([] { parse_count("101", "--d", 100); }),
            "--d must be a whole number from 0 to 100; found '101'");
  EXPECT_EQ(parse_count("100", "--d", 100), 100u);
}

TEST(parse_number, takes_finite_numbers_only) {
  EXPECT_EQ(parse_number("0.9", "--c"), 0.9);
  EXPECT_EQ(parse_number("-1e-3", "--c"), -1e-3);
  EXPECT_EQ(parse_number(".5", "--c"), 0.5);
  for (const char* text : {"", "nan", "NaN", "inf", "-infinity", "1e999", "0.9x", "90%", "1 ", "k"})
    EXPECT_EQ(complaint([&] { parse_number(text, "--c"); }),
              "--c must be a finite number; found '" + std::string(text) + "'");
}

TEST(parse_list, keeps_the_order) {
  EXPECT_EQ(parse_counts("40k,10k,5k", "--levels", largest_count),
            (std::vector<std::uint64_t>{40'000, 10'000, 5000}));
  EXPECT_EQ(parse_numbers("0.5,0.25,2.5e-1", "--f"), (std::vector<double>{0.5, 0.25, 0.25}));
  EXPECT_EQ(parse_numbers("1", "--f"), std::vector<double>{1});
}

TEST(parse_list, names_the_item_that_is_wrong) {
  EXPECT_EQ(complaint([] { parse_numbers("", "--f"); }),
            "item 1 of --f must be a finite number; found ''");
  EXPECT_EQ(complaint([] { parse_numbers("0.5,,0.5", "--f"); }),
            "item 2 of --f must be a finite number; found ''");
  EXPECT_EQ(complaint([] { parse_numbers("0.5,0.5,", "--f"); }),
            "item 3 of --f must be a finite number; found ''");
  EXPECT_EQ(complaint([] { parse_counts("1,-2", "--l", 10); }),
            "item 2 of --l must be a whole number from 0 to 10; found '-2'");
}

TEST(in_quotes, keeps_a_message_on_one_short_line) {
  EXPECT_EQ(in_quotes("abc"), "'abc'");
  EXPECT_EQ(in_quotes("a\nb\x1b[31m\x7f\xc3\xa9"), std::string("'a?b?[31m") + "???" + "'");
  const std::string shown = in_quotes(std::string(10'000, 'x'));
  EXPECT_LT(shown.size(), 80u);
  EXPECT_NE(shown.find("10000 characters"), std::string::npos);
}

TEST(nearest_word, is_the_one_with_the_fewest_letters_to_change) {
  const std::vector<std::string> words{"--elements", "--fpr", "--bits-per-element", "--bytes"};
  EXPECT_EQ(nearest_word("--element", words), "--elements");
  EXPECT_EQ(nearest_word("--elemnets", words), "--elements");
  EXPECT_EQ(nearest_word("--bits", words), "--bits-per-element");
  EXPECT_EQ(nearest_word("--frp", words), "--fpr");
  EXPECT_EQ(nearest_word("--byte", words), "--bytes");
}

TEST(nearest_word, is_none_where_it_would_be_a_guess) {
  const std::vector<std::string> words{"plan", "demo", "bench"};
  EXPECT_EQ(nearest_word("query", words), std::nullopt);
  EXPECT_EQ(nearest_word("", words), std::nullopt);
  EXPECT_EQ(nearest_word("plan", {}), std::nullopt);
}

}  // namespace
