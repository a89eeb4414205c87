#include "arguments.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>

namespace {

using namespace oneprobe::cli;

constexpr option kind{"--kind", "NAME", ""};
constexpr option size{"--size", "N", ""};
constexpr option other{"--other", "N", ""};
constexpr option loud{"--loud", "", ""};

enum class colour { red, green };
constexpr std::array<word<colour>, 2> colours{{{"red", colour::red}, {"green", colour::green}}};

template <class Call>
std::string complaint(Call&& call) {
  try {
    call();
  } catch (const usage_error& error) {
    return error.what();
  }
  return {};
}

TEST(arguments, are_read_with_their_type) {
  arguments in;
  in.give("--size", {"2.5k"});
  in.give("--kind", {"green"});
  in.give("--loud", {"true"});
  EXPECT_EQ(in.count(size), 2500u);
  EXPECT_EQ(in.choice(kind, colours), colour::green);
  EXPECT_TRUE(in.is_set(loud));
  EXPECT_FALSE(in.maybe_number(other).has_value());
  EXPECT_NO_THROW(in.refuse_unread());
}

TEST(arguments, a_seed_has_all_64_bits) {
  arguments in;
  EXPECT_FALSE(in.maybe_seed(other).has_value());
  in.give("--other", {"18446744073709551615"});
  in.give("--size", {"0xFEDCBA9876543210"});
  EXPECT_EQ(in.maybe_seed(other), 18446744073709551615u);
  EXPECT_EQ(in.maybe_seed(size), 0xfedcba9876543210u);
  arguments wrong;
  wrong.give("--other", {"1k"});
  EXPECT_EQ(complaint([&] { wrong.maybe_seed(other); }),
            "--other must be a whole number from 0 to 2^64-1, or 0x and hexadecimal digits; found "
            "'1k'");
}

TEST(arguments, missing_and_repeated_ones_are_named) {
  arguments in;
  in.give("--size", {"1", "2"});
  EXPECT_EQ(complaint([&] { in.number(kind); }), "--kind is missing");
  EXPECT_EQ(complaint([&] { in.number(size); }), "--size is given 2 times; once is enough");
}

TEST(arguments, an_unknown_word_lists_the_words) {
  arguments in;
  in.give("--kind", {"blue"});
  EXPECT_EQ(complaint([&] { in.choice(kind, colours); }),
            "--kind must be one of red, green; found 'blue'");
}

TEST(arguments, one_that_nobody_reads_is_refused) {
  arguments in;
  in.give("--kind", {"red"});
  in.give("--size", {"1"});
  in.choice(kind, colours);
  EXPECT_EQ(complaint([&] { in.refuse_unread(); }),
            "--size does not apply to this call with --kind red");
  in.number(size);
  EXPECT_EQ(complaint([&] { in.refuse_unread(); }), "");
}

TEST(arguments, ignored_ones_are_checked_and_listed) {
  arguments in;
  in.give("--size", {"3"});
  in.ignore_whole(size, 1, 64);
  in.ignore_whole(other, 1, 64);
  EXPECT_EQ(in.ignored(), std::vector<std::string>{"--size"});
  EXPECT_EQ(complaint([&] { in.refuse_unread(); }), "");
  EXPECT_EQ(complaint([&] { in.ignore_whole(size, 4, 64); }),
            "--size must be from 4 to 64; found 3");
}

TEST(arguments, exactly_one_of_two) {
  arguments in;
  EXPECT_EQ(complaint([&] { in.exactly_one_of(size, other); }), "give either --size or --other");
  in.give("--size", {"1"});
  EXPECT_EQ(complaint([&] { in.exactly_one_of(size, other); }), "");
  in.give("--other", {"1"});
  EXPECT_EQ(complaint([&] { in.exactly_one_of(size, other); }),
            "give either --size or --other, not both");
}

}  // namespace
