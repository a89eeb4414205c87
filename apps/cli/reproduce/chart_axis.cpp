#include "reproduce/chart_axis.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "output.hpp"

namespace oneprobe::cli {
namespace {

// As many labels as are read at a glance.
constexpr double most_ticks = 9;
constexpr int most_decades = 8;
// Up to here every whole number along a horizontal axis has room for its label.
constexpr double most_whole_ticks = 16;
// Room beside the outermost marks, as a share of the axis.
constexpr double padding = 0.03;
// Zero belongs to an axis whose values begin nearer to it than this share of the largest.
constexpr double near_zero = 0.5;

std::string superscript(int number) {
  static constexpr const char* digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = number < 0 ? "⁻" : "";
  for (const char digit : fmt::format("{}", std::abs(number))) text += digits[digit - '0'];
  return text;
}

/// "10⁻⁵", "2×10⁶".
std::string as_power(double value) {
  int exponent = static_cast<int>(std::floor(std::log10(std::abs(value)) + 1e-9));
  const double factor = value / std::pow(10, exponent);
  std::string power = "10" + superscript(exponent);
  if (std::abs(factor - 1) < 1e-9) return power;
  return fmt::format("{:.4g}×{}", factor, power);
}

std::string with_minus(std::string text) {
  if (text.starts_with('-')) text.replace(0, 1, "−");
  return text;
}

/// The smallest of 1, 2, 5, 10, ... times a power of ten that is not below `value`.
double round_step(double value) {
  const double power = std::pow(10, std::floor(std::log10(value)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (value <= factor * power * (1 + 1e-9)) return factor * power;
  return 10 * power;
}

std::string linear_label(double value, double step, double largest) {
  if (std::abs(value) < step / 2) return "0";
  if (step < 1e-4 || largest >= 1e6) return with_minus(as_power(value));
  if (largest >= 1e4 && step >= 1) return with_minus(grouped(value));
  const int decimals = std::max(0, -static_cast<int>(std::floor(std::log10(step) + 1e-9)));
  return with_minus(fmt::format("{:.{}f}", value, decimals));
}

std::vector<tick> linear_ticks(double low, double high, double step) {
  std::vector<tick> ticks;
  const double largest = std::max(std::abs(low), std::abs(high));
  const auto first = static_cast<long>(std::ceil(low / step - 1e-6));
  const auto last = static_cast<long>(std::floor(high / step + 1e-6));
  for (long i = first; i <= last; ++i) {
    const double value = static_cast<double>(i) * step;
    ticks.push_back({value, linear_label(value, step, largest)});
  }
  return ticks;
}

/// The distance of ticks along `values` that are shown from `low` to `high`.
double linear_step(const span_of_values& values, axis_ends ends, double low, double high) {
  const double step = round_step((high - low) / most_ticks);
  // Fewer whole numbers than three come from curves between them, not from counting.
  const double range = values.high() - values.low();
  if (!values.whole() || range < 3) return step;
  const bool across = ends == axis_ends::tight || ends == axis_ends::padded;
  return across && range <= most_whole_ticks ? 1 : std::max(step, 1.0);
}

axis linear_axis(const span_of_values& values, axis_ends ends) {
  double low = values.empty() ? 0 : values.low();
  double high = values.empty() ? 1 : values.high();
  if (ends == axis_ends::at_zero) {
    low = std::min(low, 0.0);
    high = std::max(high, 0.0);
  } else if (ends == axis_ends::at_ticks) {
    if (low > 0 && low < near_zero * high) low = 0;
    if (high < 0 && high > near_zero * low) high = 0;
  }
  if (!(low < high)) {
    const double room = low == 0 ? 1 : std::abs(low) / 10;
    low -= room;
    high += room;
  }
  const double step = linear_step(values, ends, low, high);
  switch (ends) {
    case axis_ends::tight:
      break;
    case axis_ends::padded: {
      const double room = padding * (high - low);
      low -= room;
      high += room;
      break;
    }
    case axis_ends::at_ticks:
    case axis_ends::at_zero:
      low = std::floor(low / step + 1e-6) * step;
      high = std::ceil(high / step - 1e-6) * step;
      break;
  }
  return {low, high, scale::linear, linear_ticks(low, high, step)};
}

/// Plain digits where they are short, powers of ten otherwise.
std::string log_label(double value, double low, double high) {
  if (low >= 0.9e-3 && high <= 1.1e5)
    return value >= 1e4 ? grouped(value) : fmt::format("{:g}", value);
  return as_power(value);
}

std::vector<tick> log_ticks(double low, double high) {
  const double decades = std::log10(high / low);
  std::vector<tick> ticks;
  if (decades < 1) {
    ticks = linear_ticks(low, high, round_step((high - low) / most_ticks));
    std::erase_if(ticks, [](const tick& each) { return each.value <= 0; });
    return ticks;
  }
  const int stride = static_cast<int>(std::ceil(decades / most_decades));
  const int first = static_cast<int>(std::floor(std::log10(low) - 1e-9));
  const int last = static_cast<int>(std::ceil(std::log10(high) + 1e-9));
  for (int exponent = first; exponent <= last; ++exponent) {
    for (int factor = 1; factor <= 9; ++factor) {
      const double value = factor * std::pow(10, exponent);
      if (value < low * (1 - 1e-9) || value > high * (1 + 1e-9)) continue;
      const bool decade = factor == 1 && exponent % stride == 0;
      const bool between = decades < 2.5 && (factor == 2 || factor == 5);
      if (decade || between)
        ticks.push_back({value, log_label(value, low, high)});
      else if (decades <= 4 || (factor == 1 && stride > 1))
        ticks.push_back({value, {}});
    }
  }
  return ticks;
}

axis log_axis(double low, double high, axis_ends ends) {
  if (!(low < high)) {
    low /= 2;
    high *= 2;
  }
  const double decades = std::log10(high / low);
  if (ends == axis_ends::padded) {
    const double room = std::pow(high / low, padding);
    low /= room;
    high *= room;
  } else if (ends != axis_ends::tight) {
    if (decades >= 1) {
      low = std::pow(10, std::floor(std::log10(low) + 1e-9));
      high = std::pow(10, std::ceil(std::log10(high) - 1e-9));
    } else {
      const double step = round_step((high - low) / most_ticks);
      const double below = std::floor(low / step + 1e-6) * step;
      if (below > 0) low = below;
      high = std::ceil(high / step - 1e-6) * step;
    }
  }
  return {low, high, scale::logarithmic, log_ticks(low, high)};
}

}  // namespace

std::optional<double> axis::share(double value) const {
  if (!std::isfinite(value)) return std::nullopt;
  if (how == scale::linear) return (value - low) / (high - low);
  if (!(value > 0)) return std::nullopt;
  return std::log(value / low) / std::log(high / low);
}

void span_of_values::add(double value) {
  if (!std::isfinite(value) || (how_ == scale::logarithmic && !(value > 0))) return;
  low_ = std::min(low_, value);
  high_ = std::max(high_, value);
  whole_ = whole_ && value == std::round(value);
}

void span_of_values::make_room(double room) {
  low_ -= room;
  high_ += room;
}

axis fit_axis(const span_of_values& values, axis_ends ends) {
  if (values.how() == scale::linear) return linear_axis(values, ends);
  return values.empty() ? log_axis(1, 10, ends) : log_axis(values.low(), values.high(), ends);
}

}  // namespace oneprobe::cli
