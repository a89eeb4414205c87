#include <cmath>

#include "contenders.hpp"
#include "oneprobe/filter/default_plan.hpp"

namespace oneprobe::inline v0_1::planning {

namespace {

/// Bits that so many cells of a partitioned filter must leave unused are less than k.
filter_plan with_bits(const goal& what, filter_kind kind, std::uint32_t counter_bits,
                      std::uint32_t bits_set, double bits) {
  filter_plan plan;
  plan.kind = kind;
  plan.elements = what.elements;
  plan.counter_bits = counter_bits;
  plan.bits_set = bits_set;
  detail::set_cells(plan, bits);
  plan.predicted = detail::predict_scattered(detail::ones_fraction(plan, what.n()), bits_set);
  return plan;
}

}  // namespace

std::optional<filter_plan> plan_scattered(const goal& what, filter_kind kind,
                                          std::uint32_t counter_bits) {
  constexpr std::uint64_t line_bytes = 64;
  const std::uint64_t bytes = what.bytes / line_bytes * line_bytes;
  const double most = 8 * static_cast<double>(bytes);
  std::optional<filter_plan> best;
  for (std::uint32_t k = 1; k <= filter_plan::most_bits_set && k <= most; ++k) {
    const double bits =
        what.fpr ? detail::scattered_cells(kind, what.n(), *what.fpr, k) * counter_bits : most;
    if (!(bits <= most) || bits < counter_bits * k) continue;
    const filter_plan plan = with_bits(what, kind, counter_bits, k, bits);
    if (what.met_by(plan) && (!best || what.prefers(plan, *best))) best = plan;
  }
  return best;
}

}  // namespace oneprobe::inline v0_1::planning
