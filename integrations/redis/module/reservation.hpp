// What a client asks for when a filter is made, and the plans that follow from it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "oneprobe/core/filter_plan.hpp"
#include "oneprobe/filter/growing.hpp"

namespace oneprobe::redis {

enum class scaling : std::uint8_t { grows, fixed };

/// What a filter goes by as long as it lives: it is saved with it.
struct growth_settings {
  static constexpr std::uint32_t most_expansion = 32768;
  static constexpr double most_accesses = 64;

  scaling scale = scaling::grows;
  std::uint32_t expansion = 2;  // elements of a part to those of the part before
  double accesses = 0;          // budget of a negative query; 0: the planner's own

  friend bool operator==(const growth_settings&, const growth_settings&) = default;
};

/// The defaults are those that clients of BF.* expect.
struct reservation {
  static constexpr std::uint64_t usual_capacity = 100;
  static constexpr std::uint64_t most_capacity = std::uint64_t{1} << 30;
  static constexpr double largest_error = 0.25;

  double error = 0.01;
  std::uint64_t capacity = usual_capacity;
  growth_settings growth{};
  std::optional<filter_kind> kind{};         // none: whichever needs least memory
  std::optional<double> bits_per_element{};  // none: as many as the error needs
  std::optional<std::uint64_t> seed{};       // none: one that nobody knows
};

using part_planner = std::function<filter_plan(std::uint64_t elements, double error)>;

/// Plans of the parts that a filter grows by. Throws std::invalid_argument where there is none.
part_planner planner_of(filter_kind kind, const growth_settings& settings);

/// The first part, and how the filter grows from there.
struct first_plan {
  growing_plan whole{};
  filter_plan part{};
};
/// Throws std::invalid_argument, with a sentence that says why, where there is no plan.
first_plan plan_of(const reservation& asked);

}  // namespace oneprobe::redis
