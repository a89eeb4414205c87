#include "reservation.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "oneprobe/core/default_plans.hpp"
#include "oneprobe/core/error.hpp"
#include "oneprobe/plan/filter.hpp"

namespace oneprobe::redis {
namespace {

/// Of the stated error the first part takes so much. Whoever says how many elements will come gets
/// nearly all of it, and with it the least memory; the rest is enough for a filter that has to grow
/// after all, at about five bits per element more in the parts that follow.
constexpr double share_of_a_stated_capacity = 0.84;
/// One that may not grow leaves nothing to speak of. Not nothing: a growing filter has some left.
constexpr double share_without_growth = 1 - 1e-6;

/// The default plans have room for more elements than planned. A part never gets more: what comes
/// after its last one goes to the next part. So it is planned with what its spread needs.
constexpr double room_of_counted_elements = 0.02;
constexpr std::uint64_t worth_planning = 100'000;

/// Of what is left, each part leaves so much to those behind it. Parts of equal size are many, and
/// each must leave nearly everything.
constexpr double tightening_of(std::uint32_t expansion) {
  return expansion == 1 ? 1 - 1.0 / 64 : 1 - 1.0 / 8;
}
/// The library's parts grow at least a little; with expansion 1 that is one element per part.
constexpr double growth_of(std::uint32_t expansion) {
  return expansion <= 1 ? 1 + 1e-12 : static_cast<double>(expansion);
}

double first_share(const reservation& asked, double tightening) {
  if (asked.growth.scale == scaling::fixed) return share_without_growth;
  return asked.capacity > reservation::usual_capacity ? share_of_a_stated_capacity : 1 - tightening;
}

filter_plan by_the_planner(filter_needs needs) {
  needs.detail = plan_detail::plan_only;
  if (needs.kind == filter_kind::balanced) needs.scheme = scheme_kind::multilevel;
  filter_proposal proposal = plan_filter(needs);
  if (!proposal.plan) throw std::invalid_argument(proposal.reason);
  return *proposal.plan;
}

filter_plan plan_part(filter_kind kind, const growth_settings& settings, std::uint64_t elements,
                      double error) {
  // The planner takes a tenth of a second: only for what the default plans cannot do, and for parts
  // whose elements take longer than that to come.
  if (settings.accesses == 0 && error >= default_plan_least_fpr && elements < worth_planning)
    return default_filter_plan(kind, elements, std::min(error, default_plan_largest_fpr));
  filter_needs needs;
  needs.elements = elements;
  needs.fpr = error;
  needs.kind = kind;
  needs.overfill = room_of_counted_elements;
  if (settings.accesses != 0) needs.accesses = settings.accesses;
  return by_the_planner(needs);
}

filter_plan plan_by_bits(filter_kind kind, const reservation& asked, double largest_error) {
  filter_needs needs;
  needs.elements = asked.capacity;
  needs.bits_per_element = *asked.bits_per_element;
  needs.kind = kind;
  if (asked.growth.accesses != 0) needs.accesses = asked.growth.accesses;
  filter_plan plan = by_the_planner(needs);
  if (plan.predicted.fpr > largest_error)
    throw std::invalid_argument("BITS " + in_words(*asked.bits_per_element) +
                                " gives an error of " + in_words(plan.predicted.fpr) +
                                "; the stated error allows " + in_words(largest_error));
  return plan;
}

/// A filter object beside its bytes: what counts where there are few elements.
constexpr std::uint64_t object_bytes(filter_kind kind) {
  return kind == filter_kind::fingerprint ? 1280 : 384;
}

}  // namespace

part_planner planner_of(filter_kind kind, const growth_settings& settings) {
  return [kind, settings](std::uint64_t elements, double error) {
    return plan_part(kind, settings, elements, error);
  };
}

first_plan plan_of(const reservation& asked) {
  const double stated = std::min(asked.error, reservation::largest_error);
  const double tightening = tightening_of(asked.growth.expansion);
  const double share = stated * first_share(asked, tightening);
  first_plan made;
  made.whole = {.first_elements = asked.capacity,
                .fpr = stated,
                .growth = growth_of(asked.growth.expansion),
                .tightening = tightening};
  const auto plan_with = [&](filter_kind kind) {
    return asked.bits_per_element ? plan_by_bits(kind, asked, share)
                                  : plan_part(kind, asked.growth, asked.capacity, share);
  };
  if (asked.kind) {
    made.part = plan_with(*asked.kind);
    return made;
  }
  made.part = plan_with(filter_kind::fingerprint);
  if (asked.bits_per_element || asked.growth.accesses != 0) return made;
  const filter_plan plain = plan_with(filter_kind::standard);
  const auto whole_bytes = [](const filter_plan& plan) {
    return plan.memory().total() + object_bytes(plan.kind);
  };
  if (whole_bytes(plain) < whole_bytes(made.part)) made.part = plain;
  return made;
}

}  // namespace oneprobe::redis
