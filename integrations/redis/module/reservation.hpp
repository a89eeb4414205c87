// What a client asks for when a filter is made, and the plans that follow from it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "oneprobe/filter/growing.hpp"
#include "oneprobe/filter/plan.hpp"

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
/// What no settings in bytes can be, as a sentence; or none.
std::optional<std::string> find_fault(std::uint32_t scale, std::uint64_t expansion,
                                      double accesses);

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
  std::optional<std::uint64_t> seed{};       // none: a random one
};

/// Which side plans the parts to come where commands are followed, those of a primary or of the
/// AOF.
enum class part_source : std::uint8_t {
  records,  // the sender of the commands: each part comes as a part_record
  nobody,   // an older version, which sent what it was asked for: each server plans as that one did
};

using part_planner = std::function<filter_plan(std::uint64_t elements, double error)>;

/// Throws std::invalid_argument where there is none.
filter_plan plan_part(filter_kind kind, const growth_settings& settings, std::uint64_t elements,
                      double error, part_source source);
/// The same as a function of elements and error.
part_planner planner_of(filter_kind kind, const growth_settings& settings);
/// Elements of the part that comes behind one of so many; `by_growth` of them by the growth of the
/// whole, as older versions have it, which made parts for an expansion of 1 larger by one each.
std::uint64_t elements_behind(std::uint64_t elements, std::uint64_t by_growth,
                              const growth_settings& settings, part_source source);

/// The first part, and how the filter grows from there.
struct first_plan {
  growing_plan whole{};
  filter_plan part{};
};
growing_plan growth_of(const reservation& asked) noexcept;
/// Throws std::invalid_argument, with a sentence that says why, where there is no plan.
first_plan plan_of(const reservation& asked, part_source source);

}  // namespace oneprobe::redis
