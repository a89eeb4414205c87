#include "plan/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "output.hpp"

namespace oneprobe::cli {

std::string sized(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> units{"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < units.size(); ++unit) amount /= 1024;
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", amount, units[unit]);
}

std::string line(std::string_view label, std::string_view value) {
  constexpr std::size_t column = 24;
  const std::string text = wrapped(value, line_width, column);
  return fmt::format("  {:<{}}{}", label, column - 2, text.substr(std::min(column, text.size())));
}

}  // namespace oneprobe::cli
