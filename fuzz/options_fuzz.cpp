// Any text as a number, a count or a list on the command line: either a value in its range, or one
// printable line that says what is allowed.

#include "options.hpp"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

using namespace oneprobe::cli;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "options_fuzz: %s\n", what);
  std::abort();
}

/// Reads the text in one way; what it throws must be a usage_error of one printable line.
template <class Read>
void expect_value_or_one_line(Read&& read) {
  try {
    read();
  } catch (const usage_error& error) {
    const std::string_view line = error.what();
    require(!line.empty() && line.size() < 400, "the line is empty or too long");
    for (const char c : line) require(c >= 0x20 && c < 0x7f, "the line is not printable");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  expect_value_or_one_line(
      [&] { require(std::isfinite(parse_number(text, "--x")), "a number is not finite"); });
  expect_value_or_one_line([&] {
    require(parse_count(text, "--x", largest_count) <= largest_count, "a count is too large");
  });
  expect_value_or_one_line([&] {
    const auto values = parse_numbers(text, "--x");
    require(!values.empty(), "a list is empty");
    for (const double value : values) require(std::isfinite(value), "an item is not finite");
  });
  expect_value_or_one_line([&] {
    const auto values = parse_counts(text, "--x", 1000);
    require(!values.empty(), "a list is empty");
    for (const std::uint64_t value : values) require(value <= 1000, "an item is too large");
  });
  return 0;
}
