#include "arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace oneprobe::cli {
namespace {

constexpr std::uint64_t largest_whole = std::numeric_limits<unsigned>::max();

}  // namespace

void arguments::give(std::string_view flag, std::vector<std::string> values) {
  given_[flag] = std::move(values);
}

bool arguments::has(const option& what) const { return given_.contains(what.flag); }

bool arguments::is_set(const option& what) const {
  read_.insert(what.flag);
  return has(what);
}

const std::string& arguments::text(const option& what) const {
  read_.insert(what.flag);
  const auto found = given_.find(what.flag);
  if (found == given_.end()) throw usage_error(fmt::format("{} is missing", what.flag));
  if (found->second.size() != 1)
    throw usage_error(
        fmt::format("{} is given {} times; once is enough", what.flag, found->second.size()));
  return found->second.front();
}

std::optional<std::string> arguments::maybe_text(const option& what) const {
  if (!has(what)) return std::nullopt;
  const std::string& typed = text(what);
  if (typed.empty()) throw usage_error(fmt::format("{} is empty", what.flag));
  return typed;
}

std::vector<std::string> arguments::words(const option& what) const {
  read_.insert(what.flag);
  const auto found = given_.find(what.flag);
  return found == given_.end() ? std::vector<std::string>() : found->second;
}

double arguments::number(const option& what) const { return parse_number(text(what), what.flag); }

std::optional<double> arguments::maybe_number(const option& what) const {
  if (!has(what)) return std::nullopt;
  return number(what);
}

unsigned arguments::whole(const option& what) const {
  return static_cast<unsigned>(parse_count(text(what), what.flag, largest_whole));
}

std::optional<unsigned> arguments::maybe_whole(const option& what, unsigned most) const {
  if (!has(what)) return std::nullopt;
  return static_cast<unsigned>(parse_count(text(what), what.flag, most));
}

std::uint64_t arguments::count(const option& what) const {
  return parse_count(text(what), what.flag, largest_count);
}

std::optional<std::uint64_t> arguments::maybe_count(const option& what) const {
  if (!has(what)) return std::nullopt;
  return count(what);
}

std::optional<std::uint64_t> arguments::maybe_seed(const option& what) const {
  if (!has(what)) return std::nullopt;
  return parse_seed(text(what), what.flag);
}

std::vector<double> arguments::numbers(const option& what) const {
  return parse_numbers(text(what), what.flag);
}

std::vector<std::uint64_t> arguments::counts(const option& what) const {
  return parse_counts(text(what), what.flag, largest_count);
}

std::vector<unsigned> arguments::wholes(const option& what) const {
  const auto values = parse_counts(text(what), what.flag, largest_whole);
  std::vector<unsigned> narrow(values.size());
  std::transform(values.begin(), values.end(), narrow.begin(),
                 [](std::uint64_t value) { return static_cast<unsigned>(value); });
  return narrow;
}

std::size_t arguments::index_of_word(const option& what,
                                     std::span<const std::string_view> names) const {
  const std::string& word = text(what);
  const auto found = std::find(names.begin(), names.end(), word);
  if (found == names.end())
    throw usage_error(fmt::format("{} must be one of {}; found {}", what.flag,
                                  fmt::join(names, ", "), in_quotes(word)));
  if (selector_.empty()) selector_ = fmt::format("{} {}", what.flag, word);
  return static_cast<std::size_t>(found - names.begin());
}

void arguments::exactly_one_of(const option& first, const option& second) const {
  if (has(first) == has(second))
    throw usage_error(fmt::format("give either {} or {}{}", first.flag, second.flag,
                                  has(first) ? ", not both" : ""));
}

void arguments::ignore_whole(const option& what, unsigned low, unsigned high) const {
  if (!has(what)) return;
  const unsigned value = whole(what);
  if (value < low || value > high)
    throw usage_error(
        fmt::format("{} must be from {} to {}; found {}", what.flag, low, high, value));
  ignored_.emplace_back(what.flag);
}

void arguments::ignore_number(const option& what, double low, double high) const {
  if (!has(what)) return;
  const double value = number(what);
  if (value < low || value > high)
    throw usage_error(
        fmt::format("{} must be from {} to {}; found {}", what.flag, low, high, value));
  ignored_.emplace_back(what.flag);
}

void arguments::refuse_unread() const {
  for (const auto& [flag, values] : given_)
    if (!read_.contains(flag))
      throw usage_error(selector_.empty() ? fmt::format("{} does not apply to this call", flag)
                                          : fmt::format("{} does not apply to this call with {}",
                                                        flag, selector_));
}

}  // namespace oneprobe::cli
