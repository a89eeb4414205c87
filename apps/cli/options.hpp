// Reading what a person typed: numbers, counts with suffixes, lists.
//
//   parse_count("2.5k", "--elements", 1e13);            // 2500
//   parse_counts("40k,10k", "--levels", 1e13);          // {40000, 10000}
//   parse_number("0.9x", "--load-factor");              // throws: ... must be a number; found
//   '0.9x'
//
// Everything is checked: a text that is not entirely what the option asks for throws `usage_error`
// with one line that names the option, what was found and what is allowed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exit_code.hpp"

namespace oneprobe::cli {

/// More elements, buckets or bits than this are refused everywhere.
inline constexpr std::uint64_t largest_count = 10'000'000'000'000;

/// Text from outside made fit for one line of a terminal: in quotes, printable, not too long.
std::string in_quotes(std::string_view text);

/// The word that was probably meant: the nearest, if few letters of it have to be changed.
std::optional<std::string> nearest_word(std::string_view typed,
                                        const std::vector<std::string>& words);

/// A finite number, decimal or scientific.
double parse_number(std::string_view text, std::string_view option);

/// A whole number from 0 to `largest`: digits, decimal or scientific, with an optional suffix
/// k, M, G, T (powers of 1000) or Ki, Mi, Gi, Ti (powers of 1024).
std::uint64_t parse_count(std::string_view text, std::string_view option, std::uint64_t largest);

/// The same, separated by commas; at least one, none empty.
std::vector<double> parse_numbers(std::string_view text, std::string_view option);
std::vector<std::uint64_t> parse_counts(std::string_view text, std::string_view option,
                                        std::uint64_t largest);

/// All 64 bits, unlike a count: decimal, or 0x and hexadecimal digits.
std::uint64_t parse_seed(std::string_view text, std::string_view option);

}  // namespace oneprobe::cli
