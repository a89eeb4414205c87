#include "check.hpp"

#include <array>
#include <charconv>

#include "oneprobe/model/bucket.hpp"
#include "oneprobe/model/fluid.hpp"

namespace oneprobe::inline v0_1::model::detail {

std::string show(double value) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
  return std::string(text.data(), end);
}

void refuse(std::string_view parameter, std::string_view allowed, double found) {
  throw std::invalid_argument(std::string(parameter) + " must be " + std::string(allowed) +
                              "; found " + show(found));
}

void check_load_factor(double value) { check_range("load factor", value, smallest_mean, 1e3); }

void check_capacity(unsigned value) {
  check_range("bucket capacity", value, 1, largest_bucket_capacity);
}

void check_choices(unsigned value) { check_range("choices", value, 1, largest_choices); }

void check_probability(std::string_view parameter, double value) {
  check_range(parameter, value, 0.0, 1.0);
}

void check_elements(std::string_view parameter, double value) {
  check_range(parameter, value, 1.0, most_elements);
}

void check_fractions(std::string_view parameter, std::span<const double> values,
                     empty_levels empty) {
  const std::string name(parameter);
  if (values.empty() || values.size() > largest_choices)
    refuse("number of " + name, "from 1 to " + std::to_string(largest_choices),
           static_cast<double>(values.size()));
  double sum = 0;
  for (const double value : values) {
    if (empty == empty_levels::allowed)
      check_range("each of " + name, value, 0.0, 1.0);
    else
      check_above("each of " + name, value, 0.0, 1.0);
    sum += value;
  }
  if (!(std::abs(sum - 1.0) <= 1e-6)) refuse("sum of " + name, "1 (within 1e-6)", sum);
}

void check_level_sizes(std::span<const std::uint64_t> levels) {
  if (levels.empty() || levels.size() > largest_choices)
    refuse("number of levels", "from 1 to " + std::to_string(largest_choices),
           static_cast<double>(levels.size()));
  for (const std::uint64_t size : levels)
    check_range("each level size", static_cast<double>(size), 1.0, most_elements);
}

}  // namespace oneprobe::inline v0_1::model::detail
