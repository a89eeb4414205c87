#include "plan/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "command.hpp"
#include "options.hpp"
#include "output.hpp"

namespace oneprobe::cli {

bool wants_program(const arguments& in) {
  if (!in.is_set(cpp_output)) return false;
  if (in.is_set(json_output))
    throw usage_error(
        fmt::format("give either {} or {}, not both", cpp_output.flag, json_output.flag));
  return true;
}

std::string sized(std::uint64_t bytes) {
  constexpr std::array<const char*, 5> units{"bytes", "KiB", "MiB", "GiB", "TiB"};
  auto amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; amount >= 1024 && unit + 1 < units.size(); ++unit) amount /= 1024;
  return unit == 0 ? fmt::format("{} bytes", bytes) : fmt::format("{:.1f} {}", amount, units[unit]);
}

std::string error_text(double fpr) {
  const std::string text = one_in(fpr);
  return text.empty() ? fmt::format("{:.3g}", fpr) : text;
}

std::string line(std::string_view label, std::string_view value) {
  constexpr std::size_t column = 24;
  const std::string text = wrapped(value, line_width, column);
  return fmt::format("  {:<{}}{}", label, column - 2, text.substr(std::min(column, text.size())));
}

std::string warnings_text(const std::vector<std::string>& warnings) {
  if (warnings.empty()) return "";
  std::string text = "\nMind\n";
  for (const std::string& each : warnings) text += wrapped(each, line_width, 2);
  return text;
}

std::string cam_text(const cam_forecast& cam, std::string_view over_full) {
  const std::string enough =
      cam.entries == 0
          ? fmt::format("no CAM is needed: one element overflows with a probability below {:.0e}",
                        cam.tail_probability)
          : fmt::format("a CAM of {} entries of {} bits is exceeded with probability {:.0e}",
                        grouped(static_cast<double>(cam.entries)), cam.entry_bits,
                        cam.tail_probability);
  return fmt::format("{}; {} with {}", enough, grouped(static_cast<double>(cam.entries_over_full)),
                     over_full);
}

void add_cam(report& out, const cam_forecast& cam) {
  report object("");
  object.number("mean_entries", cam.mean_entries)
      .whole("entries", cam.entries)
      .number("tail_probability", cam.tail_probability)
      .whole("entries_over_full", cam.entries_over_full)
      .whole("entry_bits", cam.entry_bits);
  out.object("cam", object);
}

void refuse_in_options(
    std::string_view sentence,
    std::span<const std::pair<std::string_view, std::string_view>> flags_of_names) {
  const std::size_t end = sentence.find(' ');
  for (const auto& [name, flag] : flags_of_names)
    if (sentence.substr(0, end) == name)
      throw usage_error(std::string(flag) + std::string(sentence.substr(end)));
  throw usage_error(std::string(sentence));
}

}  // namespace oneprobe::cli
