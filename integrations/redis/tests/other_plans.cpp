// The module with another planner: every part is planned for a smaller error than was asked for.
#include "oneprobe/filter/default_plan.hpp"
#include "oneprobe/plan/filter.hpp"

namespace oneprobe {

constexpr double other = 0.7;

filter_plan other_default_plan(filter_kind kind, std::uint64_t elements, double fpr) {
  return default_filter_plan(kind, elements, other * fpr);
}
filter_proposal other_plan(filter_needs needs) {
  if (needs.fpr) *needs.fpr *= other;
  return plan_filter(needs);
}

}  // namespace oneprobe

#define default_filter_plan other_default_plan
#define plan_filter other_plan
#include "../module/reservation.cpp"
