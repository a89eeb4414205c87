// What an access and a look into the overflow cost, as typed: 100ns and 2us, 5nJ, 1rtt.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "arguments.hpp"
#include "command.hpp"
#include "oneprobe/plan/cost.hpp"

namespace oneprobe::cli {

inline constexpr option access_cost{"--access-cost", "X",
                                    "what one access costs: 100ns, 5nJ, 1rtt, or a number"};
inline constexpr option overflow_cost{"--overflow-cost", "X",
                                      "of a look into the overflow: 2us, 1nJ (default: as much)"};
inline constexpr option operation_mix{"--operations", "H,M,I",
                                      "how many hits, misses and inserts (default 1,1,1)"};

/// Costs in the unit in which an access was stated.
struct stated_costs {
  access_costs of;
  std::string_view unit;  // empty: bare numbers

  /// "113.4 ns".
  std::string text(double cost) const;
};

/// Three options, all optional.
std::vector<option_use> cost_options();

/// Throws usage_error, also where something is stated without --access-cost.
std::optional<stated_costs> read_costs(const arguments& in);

/// Another amount in that unit, if it is stated. Throws usage_error, also where there are no costs.
std::optional<double> read_amount(const arguments& in, const option& what,
                                  const std::optional<stated_costs>& costs);

/// hit_cost, miss_cost, insert_cost, mean_cost.
void add_costs(report& out, const operation_costs& each);
/// "113 ns per hit, ...".
std::string costs_text(const stated_costs& costs, const operation_costs& each);

}  // namespace oneprobe::cli
