#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <stdexcept>

#include "reproduce/experiment.hpp"
#include "reproduce/row_text.hpp"

namespace oneprobe::cli {
namespace {

// By chance alone, one row in 16,000 strays further than this from its model if its error is known;
// most errors come from the spread of the trials themselves, and then it is more (Student): one in
// 2,700 with 32 trials, one in 5,900 with 64.
constexpr double tolerated_errors = 4;
// What adding and scaling of doubles may leave behind; far below any printed digit.
constexpr double rounding_slack = 1e-12;

/// Something to be held to: a value, how far off it still counts as equal, and on which sides.
struct target {
  double value;
  double slack;
  printed_number::kind how = printed_number::kind::rounded;
};

target target_of(const printed_number& printed) {
  // A bound holds or not; its last digit gives it no room.
  const double slack = printed.how == printed_number::kind::rounded ? printed.half_unit : 0;
  return {printed.value, slack, printed.how};
}

target target_of(const erratum& right) { return {right.corrected, right.half_unit}; }

bool meets(double value, const target& wanted, double uncertainty) {
  const double slack = wanted.slack + uncertainty + rounding_slack * std::abs(wanted.value);
  const double difference = value - wanted.value;
  switch (wanted.how) {
    case printed_number::kind::upper_bound:
      return difference <= slack;
    case printed_number::kind::lower_bound:
      return difference >= -slack;
    case printed_number::kind::rounded:
      break;
  }
  return std::abs(difference) <= slack;
}

/// How far the simulation may lie from a value of this size.
double uncertainty_of(const row& what, double size) {
  return tolerated_errors * what.simulated->standard_error + what.allowance * std::abs(size);
}

bool simulation_meets_model(const row& what) {
  if (!what.model || !what.simulated) return true;
  return meets(what.simulated->mean, {*what.model, 0}, uncertainty_of(what, *what.model));
}

/// Our value, the model's if there is one, against a document's or an erratum's.
bool ours_meets(const row& what, const target& wanted) {
  if (what.model) return meets(*what.model, wanted, 0);
  return meets(what.simulated->mean, wanted, uncertainty_of(what, wanted.value));
}

/// Why the row neither agrees nor is explained by its erratum; empty if one of them holds.
struct finding {
  judgement how;
  std::string reason{};
};

finding examine(const row& what) {
  const auto disagree = [](std::string reason) {
    return finding{judgement::disagrees, std::move(reason)};
  };
  const int values = int{what.printed || what.known_erratum} + int{what.model.has_value()} +
                     int{what.simulated.has_value()};
  if (values < 2 || (!what.model && !what.simulated)) return disagree("nothing to compare with");
  if (!simulation_meets_model(what)) {
    const double away = std::abs(what.simulated->mean - *what.model);
    return disagree(what.simulated->standard_error > 0
                        ? fmt::format("the simulation is {:.1f} standard errors from the model",
                                      away / what.simulated->standard_error)
                        : std::string("the simulation is not what the model says"));
  }
  const std::string_view ours = what.model ? "model" : "simulation";
  if (what.printed && ours_meets(what, target_of(*what.printed))) return {judgement::agrees};
  if (what.known_erratum) {
    if (ours_meets(what, target_of(*what.known_erratum))) return {judgement::erratum};
    return disagree(fmt::format("the {} is neither what is printed nor what erratum {} says", ours,
                                what.known_erratum->number));
  }
  if (what.printed) return disagree(fmt::format("the {} is not what is printed", ours));
  return {judgement::agrees};
}

/// "<" and its like before the number say that it is a bound.
printed_number::kind kind_of(std::string_view before) {
  for (const std::string_view sign : {"<", "≤", "at most", "below"})
    if (before.find(sign) != before.npos) return printed_number::kind::upper_bound;
  for (const std::string_view sign : {">", "≥", "at least", "above"})
    if (before.find(sign) != before.npos) return printed_number::kind::lower_bound;
  return printed_number::kind::rounded;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

judgement judge(const row& what) { return examine(what).how; }

std::string verdict(const row& what) {
  const finding found = examine(what);
  switch (found.how) {
    case judgement::agrees:
      return "agrees";
    case judgement::erratum:
      return "erratum " + what.known_erratum->number;
    case judgement::disagrees:
      break;
  }
  return "DISAGREES: " + found.reason;
}

std::optional<written_number> first_number(std::string_view text) {
  const auto first = text.find_first_of("0123456789");
  if (first == text.npos) return std::nullopt;
  std::size_t begin = first;
  if (begin > 0 && text[begin - 1] == '.') --begin;
  if (begin > 0 && text[begin - 1] == '-') --begin;

  // The digits without the commas between thousands, and how many follow the point.
  written_number found{.before = text.substr(0, begin)};
  std::string digits;
  std::size_t at = begin;
  bool after_point = false;
  for (; at < text.size(); ++at) {
    const char c = text[at];
    const bool digit_follows = at + 1 < text.size() && is_digit(text[at + 1]);
    if (c == ',' && digit_follows && !after_point) continue;
    if (c == '.' && !after_point && (digit_follows || at == begin)) {
      after_point = true;
    } else if (is_digit(c)) {
      found.decimals += after_point ? 1 : 0;
    } else if (c != '-' || at != begin) {
      break;
    }
    digits += c;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    int exponent = 0;
    const char* from = text.data() + at + 1;
    const auto [end, error] = std::from_chars(from, text.data() + text.size(), exponent);
    if (error == std::errc()) {
      digits += fmt::format("e{}", exponent);
      found.exponent = exponent;
      at = static_cast<std::size_t>(end - text.data());
    }
  }
  std::from_chars(digits.data(), digits.data() + digits.size(), found.value);
  found.after = text.substr(at);
  return found;
}

printed_number as_printed(std::string text, double scale) {
  const auto found = first_number(text);
  if (!found) throw std::logic_error(fmt::format("no number in the printed '{}'", text));
  const double last_digit = std::pow(10, found->exponent - found->decimals);
  return {.text = text,
          .value = found->value * scale,
          .half_unit = last_digit * scale / 2,
          .how = kind_of(found->before)};
}

}  // namespace oneprobe::cli
