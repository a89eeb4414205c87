// How needs are refused that are out of range. Private to src/plan.
#pragma once

#include <array>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace oneprobe::inline v0_1::planning {

inline std::string show(double value, const char* format = "%.4g") {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

[[noreturn]] inline void refuse(const std::string& sentence) {
  throw std::invalid_argument(sentence);
}

inline void check_range(const char* name, double value, double low, double high) {
  if (!(value >= low && value <= high))
    refuse(std::string(name) + " must be from " + show(low, "%.10g") + " to " +
           show(high, "%.10g") + "; found " + show(value, "%.10g"));
}

}  // namespace oneprobe::inline v0_1::planning
