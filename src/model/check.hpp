// Parameter checks of the models: one sentence that names the parameter, what was found and what is
// allowed. Private to src/model.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace oneprobe::inline v0_1::model::detail {

/// "1.5", "1e+13", "nan": as short as it stays exact enough to recognise.
std::string show(double value);

[[noreturn]] void refuse(std::string_view parameter, std::string_view allowed, double found);

inline constexpr double most_elements = 1e13;
/// Fewer elements than this per bucket, or per slot, are as good as none.
inline constexpr double smallest_mean = 1e-9;

/// Finite and in [low, high].
inline void check_range(std::string_view parameter, double value, double low, double high) {
  if (!(value >= low && value <= high))
    refuse(parameter, "from " + show(low) + " to " + show(high), value);
}

/// Finite, above `low` and at most `high`.
inline void check_above(std::string_view parameter, double value, double low, double high) {
  if (!(value > low && value <= high))
    refuse(parameter, "above " + show(low) + " and at most " + show(high), value);
}

void check_load_factor(double value);
void check_capacity(unsigned value);
void check_choices(unsigned value);
void check_probability(std::string_view parameter, double value);
void check_elements(std::string_view parameter, double value);

/// At least one, each above 0 (at least 0 where empty levels are allowed), summing to 1 within
/// 1e-6.
enum class empty_levels { refused, allowed };
void check_fractions(std::string_view parameter, std::span<const double> values,
                     empty_levels empty = empty_levels::refused);
void check_level_sizes(std::span<const std::uint64_t> levels);

}  // namespace oneprobe::inline v0_1::model::detail
