#include "reproduce/row_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace oneprobe::cli {
namespace {

// Digits beyond the printed ones, so that a reader sees how it was rounded.
constexpr int further_digits = 2;
// Digits of a value that no text printed, and of a standard error.
constexpr int plain_digits = 5;
constexpr int error_digits = 2;
// So many points of a figure may stand in the open.
constexpr std::size_t most_open_points = 6;

/// In what unit, and down to which power of ten a number is shown.
struct notation {
  double unit = 1;  // 0.01 for percent
  std::string_view suffix{};
  std::optional<int> last_power{};  // of the shown number; none: `plain_digits` digits
};

int power_of(double value) { return static_cast<int>(std::floor(std::log10(std::abs(value)))); }

/// The document's own notation, or the plain one.
notation notation_of(const row& what) {
  if (!what.printed) return {};
  const auto found = first_number(what.printed->text);
  if (!found || found->value == 0) return {};
  notation how{.last_power = found->exponent - found->decimals - further_digits};
  const double unit = what.printed->value / found->value;
  const auto is = [unit](double other) { return std::abs(unit / other - 1) < 1e-9; };
  if (is(0.01)) {
    how.unit = 0.01;
    how.suffix = " %";
  } else if (!is(1)) {
    return {};
  }
  return how;
}

/// `value` (in its unit already) down to 10^last_power; scientific where zeros would bury it.
std::string digits(double value, int last_power) {
  if (value == 0) return "0";
  const int leading = power_of(value);
  if (leading < -4 || leading >= 9)
    return fmt::format("{:.{}e}", value, std::max(0, leading - last_power));
  return fmt::format("{:.{}f}", value, std::max(0, -last_power));
}

/// Down to which power a number is shown that no text printed.
int plain_last_power(double value) {
  if (value == 0 || value == std::round(value)) return 0;
  return power_of(value) - plain_digits + 1;
}

std::string shown(double value, const notation& how) {
  if (!std::isfinite(value)) return "not finite";
  const double scaled = value / how.unit;
  int last = how.last_power.value_or(plain_last_power(scaled));
  // Bytes, elements, accesses: what is counted has no digits after the point.
  if (last == -further_digits && scaled == std::round(scaled)) last = 0;
  // A value far smaller than the printed one still shows something.
  if (scaled != 0) last = std::min(last, power_of(scaled) - 1);
  return digits(scaled, last) + std::string(how.suffix);
}

std::string shown(const sim::estimate& value, const notation& how) {
  if (!std::isfinite(value.mean)) return "not finite";
  if (!(value.standard_error > 0)) return shown(value.mean, how);
  const double mean = value.mean / how.unit, error = value.standard_error / how.unit;
  // The error's second digit is the last one worth showing, in the mean too.
  const int last = power_of(error) - error_digits + 1;
  const int leading = power_of(mean != 0 ? mean : error);
  if (leading < -4 || leading >= 9) {
    // One power of ten for both: (1.391 ± 0.012)e-07.
    const double power = std::pow(10, leading);
    const int decimals = std::max(0, leading - last);
    return fmt::format("({:.{}f} ± {:.{}f})e{}{}", mean / power, decimals, error / power, decimals,
                       leading, how.suffix);
  }
  const int decimals = std::max(0, -last);
  return fmt::format("{:.{}f} ± {:.{}f}{}", mean, decimals, error, decimals, how.suffix);
}

}  // namespace

row_text text_of(const row& what) {
  const notation how = notation_of(what);
  row_text text;
  if (what.printed) {
    text.printed = what.printed->text;
    if (!how.suffix.empty() && text.printed.find('%') == text.printed.npos)
      text.printed += how.suffix;
  }
  if (what.model) text.model = shown(*what.model, how);
  if (what.simulated) text.simulated = shown(*what.simulated, how);
  return text;
}

shown_rows rows_to_show(const std::vector<row>& all) {
  shown_rows shown, unfolded;
  for (const row& each : all) {
    const bool point = !each.printed && judge(each) == judgement::agrees;
    (point ? shown.folded : shown.open).push_back(&each);
    unfolded.open.push_back(&each);
  }
  return shown.folded.size() > most_open_points ? shown : unfolded;
}

void verdict_counts::add(judgement how) {
  switch (how) {
    case judgement::agrees:
      ++agree;
      break;
    case judgement::erratum:
      ++errata;
      break;
    case judgement::disagrees:
      ++disagree;
      break;
  }
}

verdict_counts count(const std::vector<row>& rows) {
  verdict_counts counts;
  for (const row& each : rows) counts.add(judge(each));
  return counts;
}

}  // namespace oneprobe::cli
