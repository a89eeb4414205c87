#include "reproduce/typeset.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <vector>

namespace oneprobe::cli {
namespace {

enum class level { base, raised, lowered };

struct run {
  std::string text;
  level where = level::base;
};

struct greek_letter {
  std::string_view name;
  std::string_view letter;
};
constexpr std::array<greek_letter, 5> greek{
    {{"alpha", "α"}, {"beta", "β"}, {"gamma", "γ"}, {"lambda", "λ"}, {"phi", "φ"}}};

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alphanumeric(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

/// How many letters and digits `text` begins with.
std::size_t word_length(std::string_view text) {
  return static_cast<std::size_t>(std::find_if_not(text.begin(), text.end(), is_alphanumeric) -
                                  text.begin());
}

/// What stands above after a '^', and how much of the text it takes.
struct superscript {
  std::string_view text;
  std::size_t length;
};

std::optional<superscript> superscript_of(std::string_view text) {
  if (text.starts_with('(')) {
    std::size_t depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '(') ++depth;
      if (text[i] == ')' && --depth == 0) return superscript{text.substr(1, i - 1), i + 1};
    }
    return std::nullopt;
  }
  const std::size_t sign = text.starts_with('-') ? 1 : 0;
  const std::size_t length = word_length(text.substr(sign));
  if (length == 0) return std::nullopt;
  return superscript{text.substr(0, sign + length), sign + length};
}

/// The exponent of a number in scientific notation, if `text` begins with its "e-09".
std::optional<superscript> exponent_of(std::string_view text) {
  std::size_t begin = 1;
  if (text.starts_with("e-") || text.starts_with("e+")) ++begin;
  const std::size_t length = text.starts_with('e') ? word_length(text.substr(begin)) : 0;
  const std::string_view digits = text.substr(begin, length);
  if (length == 0 || !std::all_of(digits.begin(), digits.end(), is_digit)) return std::nullopt;
  const std::size_t zeros = std::min(digits.find_first_not_of('0'), length - 1);
  return superscript{digits.substr(zeros), begin + length};
}

/// The symbol that a '_' may follow: one letter, or the name of a Greek one, which it replaces.
bool ends_with_symbol(std::string& before) {
  std::size_t begin = before.size();
  while (begin > 0 && is_letter(before[begin - 1])) --begin;
  const std::string_view word = std::string_view(before).substr(begin);
  for (const greek_letter& each : greek)
    if (word == each.name) {
      before.resize(begin);
      before += each.letter;
      return true;
    }
  const bool inside_a_name =
      begin > 0 && (before[begin - 1] == '_' || is_alphanumeric(before[begin - 1]));
  return word.size() == 1 && !inside_a_name;
}

std::vector<run> runs_of(std::string_view text) {
  std::vector<run> runs(1);
  while (!text.empty()) {
    std::string& before = runs.back().text;
    if (const auto power = text.front() == '^' && !before.empty() && before.back() != ' '
                               ? superscript_of(text.substr(1))
                               : std::nullopt) {
      runs.push_back({std::string(power->text), level::raised});
      runs.emplace_back();
      text.remove_prefix(1 + power->length);
      continue;
    }
    const bool after_number = !before.empty() && (is_digit(before.back()) || before.back() == ')');
    if (const auto power = after_number ? exponent_of(text) : std::nullopt) {
      before += "×10";
      runs.push_back({text[1] == '-' ? "−" : "", level::raised});
      runs.back().text += power->text;
      runs.emplace_back();
      text.remove_prefix(power->length);
      continue;
    }
    const std::size_t index = text.front() == '_' ? word_length(text.substr(1)) : 0;
    if (index > 0 && ends_with_symbol(before)) {
      runs.push_back({std::string(text.substr(1, index)), level::lowered});
      runs.emplace_back();
      text.remove_prefix(1 + index);
      continue;
    }
    before += text.front();
    text.remove_prefix(1);
  }
  std::erase_if(runs, [](const run& each) { return each.text.empty(); });
  return runs;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string safe;
  for (const char c : text) {
    switch (c) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        // XML has no control characters.
        safe += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return safe;
}

std::string html_text(std::string_view text) {
  std::string set;
  for (const run& each : runs_of(text)) {
    const std::string inner = escaped(each.text);
    switch (each.where) {
      case level::base:
        set += inner;
        break;
      case level::raised:
        set += fmt::format("<sup>{}</sup>", inner);
        break;
      case level::lowered:
        set += fmt::format("<sub>{}</sub>", inner);
        break;
    }
  }
  return set;
}

std::string svg_text(std::string_view text) {
  // `dy` moves everything that follows, so each run moves from where the last one stood.
  constexpr double up = -4.5, down = 3;
  std::string set;
  double now = 0;
  for (const run& each : runs_of(text)) {
    const double wanted = each.where == level::raised    ? up
                          : each.where == level::lowered ? down
                                                         : 0;
    std::string inner = escaped(each.text);
    // A space at the start of a span would be dropped.
    if (inner.starts_with(' ')) inner = "\u00a0" + inner.substr(1);
    if (each.where != level::base)
      set += fmt::format(R"(<tspan class="small" dy="{}">{}</tspan>)", wanted - now, inner);
    else if (wanted != now)
      set += fmt::format(R"(<tspan dy="{}">{}</tspan>)", wanted - now, inner);
    else
      set += inner;
    now = wanted;
  }
  return set;
}

}  // namespace oneprobe::cli
