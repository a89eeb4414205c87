// A duration in the unit that suits it, for a column of a table.
#pragma once

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>

namespace oneprobe::cli {

/// "85 ns", "1.2 us", "250 ms".
inline std::string time_cell(const std::optional<double>& ns, int width) {
  if (!ns) return fmt::format("{:>{}}", "", width);
  constexpr std::array<const char*, 4> units{"ns", "us", "ms", "s"};
  double amount = *ns;
  std::size_t unit = 0;
  for (; amount >= 999.5 && unit + 1 < units.size(); ++unit) amount /= 1000;
  const int digits = unit == 0 || amount >= 99.5 ? 0 : 1;
  return fmt::format("{:>{}}", fmt::format("{:.{}f} {}", amount, digits, units[unit]), width);
}

}  // namespace oneprobe::cli
