#include "plan/costs.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>

#include "options.hpp"

namespace oneprobe::cli {
namespace {

struct unit {
  std::string_view name;
  std::string_view of;  // what it is a unit of
  double size;
};
constexpr std::array<unit, 12> units{{
    {"ps", "time", 1e-12},
    {"ns", "time", 1e-9},
    {"us", "time", 1e-6},
    {"ms", "time", 1e-3},
    {"s", "time", 1},
    {"pJ", "energy", 1e-12},
    {"nJ", "energy", 1e-9},
    {"uJ", "energy", 1e-6},
    {"mJ", "energy", 1e-3},
    {"J", "energy", 1},
    {"rtt", "round trips", 1},
    {"", "bare numbers", 1},
}};

struct amount {
  double value;
  const unit* in;
};

amount parse_amount(const std::string& text, std::string_view flag) {
  // The unit is what follows the last digit or point: "1e-3ms" has one, too.
  const std::size_t end = text.find_last_of("0123456789.") + 1;
  for (const unit& each : units)
    if (text.substr(end) == each.name) return {parse_number(text.substr(0, end), flag), &each};
  throw usage_error(
      fmt::format("{} must be a number with a unit of ps, ns, us, ms, s, pJ, nJ, uJ, mJ, J, rtt or "
                  "none; found {}",
                  flag, in_quotes(text)));
}

/// The value in another unit of the same thing.
double in_unit(const amount& typed, std::string_view wanted, std::string_view flag) {
  for (const unit& each : units) {
    if (each.name != wanted) continue;
    if (each.of != typed.in->of)
      throw usage_error(fmt::format("{} must be in {}, as {} is; found {}", flag, each.of,
                                    access_cost.flag, typed.in->of));
    return typed.value * (typed.in->size / each.size);
  }
  return typed.value;
}

void refuse_without_costs(const option& what, bool has_costs) {
  if (!has_costs)
    throw usage_error(fmt::format("{} needs {} beside it", what.flag, access_cost.flag));
}
/// By the flags that were typed; the library has other names for them.
void check_amount(const option& what, double value, double least) {
  constexpr double most = 1e15;
  if (!(value >= least && value <= most))
    throw usage_error(
        fmt::format("{} must be from {:g} to {:g}; found {:g}", what.flag, least, most, value));
}

}  // namespace

std::string stated_costs::text(double cost) const {
  return unit.empty() ? fmt::format("{:.4g}", cost) : fmt::format("{:.4g} {}", cost, unit);
}

std::vector<option_use> cost_options() {
  return {{&access_cost, need::optional},
          {&overflow_cost, need::optional},
          {&operation_mix, need::optional}};
}

std::optional<stated_costs> read_costs(const arguments& in) {
  const std::optional<std::string> access = in.maybe_text(access_cost);
  if (!access) {
    for (const option* each : {&overflow_cost, &operation_mix})
      if (in.has(*each)) refuse_without_costs(*each, false);
    return std::nullopt;
  }
  const amount typed = parse_amount(*access, access_cost.flag);
  stated_costs costs{.of = {.access = typed.value, .overflow = typed.value},
                     .unit = typed.in->name};
  costs.of.overflow = read_amount(in, overflow_cost, costs).value_or(costs.of.overflow);
  constexpr double least_access_cost = 1e-15;
  check_amount(access_cost, costs.of.access, least_access_cost);
  check_amount(overflow_cost, costs.of.overflow, 0);
  if (in.has(operation_mix)) {
    const std::vector<double> shares = in.numbers(operation_mix);
    if (shares.size() != 3)
      throw usage_error(fmt::format("{} must be three numbers: hits, misses, inserts; found {}",
                                    operation_mix.flag, shares.size()));
    costs.of.hits = shares[0];
    costs.of.misses = shares[1];
    costs.of.inserts = shares[2];
  }
  return costs;
}

std::optional<double> read_amount(const arguments& in, const option& what,
                                  const std::optional<stated_costs>& costs) {
  const std::optional<std::string> typed = in.maybe_text(what);
  if (!typed) return std::nullopt;
  refuse_without_costs(what, costs.has_value());
  return in_unit(parse_amount(*typed, what.flag), costs->unit, what.flag);
}

void add_costs(report& out, const operation_costs& each) {
  out.number("hit_cost", each.hit)
      .number("miss_cost", each.miss)
      .number("insert_cost", each.insert)
      .number("mean_cost", each.mean);
}

std::string costs_text(const stated_costs& costs, const operation_costs& each) {
  return fmt::format("{} per hit, {} per miss, {} per insert; {} on average", costs.text(each.hit),
                     costs.text(each.miss), costs.text(each.insert), costs.text(each.mean));
}

}  // namespace oneprobe::cli
