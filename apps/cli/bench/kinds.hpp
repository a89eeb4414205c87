// Which contenders of a benchmark were asked for: names with commas between them.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <vector>

#include "arguments.hpp"
#include "command.hpp"

namespace oneprobe::cli {

/// The kinds that were named, in the order of the names; all if none was. `allowed` is for the
/// complaint: "a, b or c".
template <class Kind, std::size_t Count>
std::vector<Kind> read_kinds(const arguments& in, const option& chosen,
                             const std::array<word<Kind>, Count>& names, std::string_view allowed) {
  std::vector<Kind> kinds;
  const auto typed = in.maybe_text(chosen);
  std::string_view left = typed ? std::string_view(*typed) : std::string_view();
  if (!typed)
    for (const auto& each : names) kinds.push_back(each.value);
  while (!left.empty() || (typed && kinds.empty())) {
    const std::size_t comma = std::min(left.find(','), left.size());
    const std::string_view name = left.substr(0, comma);
    const auto found = std::find_if(names.begin(), names.end(),
                                    [&](const auto& each) { return each.text == name; });
    if (found == names.end())
      throw usage_error(
          fmt::format("{} must be {}; found {}", chosen.flag, allowed, in_quotes(name)));
    kinds.push_back(found->value);
    left.remove_prefix(std::min(comma + 1, left.size()));
  }
  return kinds;
}

}  // namespace oneprobe::cli
