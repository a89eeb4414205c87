#include "options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

namespace oneprobe::cli {
namespace {

// The longest text that is repeated to the user; more would not help to recognise it.
constexpr std::size_t longest_quote = 40;

[[noreturn]] void refuse(std::string_view option, std::string_view allowed,
                         std::string_view found) {
  throw usage_error(fmt::format("{} must be {}; found {}", option, allowed, in_quotes(found)));
}

struct leading_number {
  double value;
  std::string_view rest;
};

/// The number at the beginning of the text. None: there is no number, or it does not fit a double.
std::optional<leading_number> read_number(std::string_view text) {
  const char* const end = text.data() + text.size();
  leading_number result{};
  const auto [stopped, error] = std::from_chars(text.data(), end, result.value);
  if (error != std::errc{} || !std::isfinite(result.value)) return std::nullopt;
  result.rest = std::string_view(stopped, static_cast<std::size_t>(end - stopped));
  return result;
}

std::optional<double> suffix_scale(std::string_view suffix) {
  constexpr std::array<std::pair<std::string_view, double>, 10> scales{{
      {"", 1},
      {"k", 1e3},
      {"K", 1e3},
      {"M", 1e6},
      {"G", 1e9},
      {"T", 1e12},
      {"Ki", 0x1p10},
      {"Mi", 0x1p20},
      {"Gi", 0x1p30},
      {"Ti", 0x1p40},
  }};
  for (const auto& [name, scale] : scales)
    if (name == suffix) return scale;
  return std::nullopt;
}

/// 10^13 is easier to read than fourteen digits.
std::string bound_name(std::uint64_t bound) {
  return bound == largest_count ? "10^13" : fmt::format("{}", bound);
}

/// Calls `read(item, name of the item)` for every item of a list.
template <class Read>
auto parse_list(std::string_view text, std::string_view option, Read&& read) {
  std::vector<decltype(read(text, std::string{}))> values;
  while (true) {
    const std::size_t comma = text.find(',');
    values.push_back(
        read(text.substr(0, comma), fmt::format("item {} of {}", values.size() + 1, option)));
    if (comma == std::string_view::npos) return values;
    text.remove_prefix(comma + 1);
  }
}

/// Levenshtein's distance: letters to insert, erase or replace.
std::size_t letters_to_change(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string in_quotes(std::string_view text) {
  std::string shown(text.substr(0, longest_quote));
  std::replace_if(
      shown.begin(), shown.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  if (text.size() <= longest_quote) return fmt::format("'{}'", shown);
  return fmt::format("'{}...' ({} characters)", shown, text.size());
}

std::optional<std::string> nearest_word(std::string_view typed,
                                        const std::vector<std::string>& words) {
  std::optional<std::string> nearest;
  // One letter and a third of them, or a word that begins so: more would be guessing.
  std::size_t fewest = typed.size() / 3 + 2;
  for (const std::string& word : words) {
    const bool begun = typed.size() >= 4 && word.starts_with(typed);
    const std::size_t changes = begun ? 0 : letters_to_change(typed, word);
    if (changes < fewest) {
      fewest = changes;
      nearest = word;
    }
  }
  return nearest;
}

double parse_number(std::string_view text, std::string_view option) {
  const auto number = read_number(text);
  if (!number || !number->rest.empty()) refuse(option, "a finite number", text);
  return number->value;
}

std::uint64_t parse_count(std::string_view text, std::string_view option, std::uint64_t largest) {
  const auto refuse_count = [&]() {
    refuse(option, fmt::format("a whole number from 0 to {}", bound_name(largest)), text);
  };
  const auto number = read_number(text);
  if (!number) refuse_count();
  const auto scale = suffix_scale(number->rest);
  if (!scale)
    refuse(option,
           fmt::format("a whole number from 0 to {}, with k, M, G, T, Ki, Mi, Gi or Ti or nothing "
                       "behind it",
                       bound_name(largest)),
           text);
  // 2.3k is 2300 although 2.3 is not a double: one rounding error is forgiven.
  const double value = number->value * *scale;
  const double whole = std::round(value);
  const bool is_whole = std::abs(value - whole) <= 1e-15 * whole;
  if (!(value >= 0 && value <= static_cast<double>(largest) && is_whole)) refuse_count();
  return static_cast<std::uint64_t>(whole);
}

std::uint64_t parse_seed(std::string_view text, std::string_view option) {
  const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
  const std::string_view digits = hexadecimal ? text.substr(2) : text;
  std::uint64_t seed = 0;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), seed, hexadecimal ? 16 : 10);
  if (error != std::errc{} || end != digits.data() + digits.size())
    throw usage_error(
        fmt::format("{} must be a whole number from 0 to 2^64-1, or 0x and hexadecimal digits; "
                    "found {}",
                    option, in_quotes(text)));
  return seed;
}

std::vector<double> parse_numbers(std::string_view text, std::string_view option) {
  return parse_list(text, option, [](std::string_view item, const std::string& name) {
    return parse_number(item, name);
  });
}

std::vector<std::uint64_t> parse_counts(std::string_view text, std::string_view option,
                                        std::uint64_t largest) {
  return parse_list(text, option, [largest](std::string_view item, const std::string& name) {
    return parse_count(item, name, largest);
  });
}

}  // namespace oneprobe::cli
