#include "reservation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>

#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/filter/default_plan.hpp"
#include "oneprobe/plan/filter.hpp"
#include "part_buckets.hpp"

namespace oneprobe::redis {
namespace {

/// Of the stated error the first part takes so much. A client that says how many elements will come
/// gets nearly all of it, and with it the least memory; the rest is enough for a filter that has to
/// grow after all, at about five bits per element more in the parts that follow.
constexpr double share_of_a_stated_capacity = 0.84;
/// One that may not grow leaves nothing to speak of. Not nothing: a growing filter has some left.
constexpr double share_without_growth = 1 - 1e-6;

/// The default plans have room for more elements than planned. A part never gets more: what comes
/// after its last one goes to the next part. So it is planned with what its spread needs.
constexpr double room_of_counted_elements = 0.02;
/// From here on the difference is worth a millisecond.
constexpr std::uint64_t worth_planning = 100'000;

/// Of what is left, each part leaves so much to those behind it. Parts of equal size are many, and
/// each must leave nearly everything.
constexpr double tightening_of(std::uint32_t expansion) {
  return expansion == 1 ? 1 - 1.0 / 64 : 1 - 1.0 / 8;
}
/// The library's parts grow at least a little, by one element with expansion 1: elements_behind()
/// takes that back.
constexpr double growth_of(std::uint32_t expansion) {
  return expansion <= 1 ? 1 + 1e-12 : static_cast<double>(expansion);
}

double first_share(const reservation& asked, double tightening) {
  if (asked.growth.scale == scaling::fixed) return share_without_growth;
  return asked.capacity > reservation::usual_capacity ? share_of_a_stated_capacity : 1 - tightening;
}

/// The planner goes no lower; and hashes have 64 bits, of which an absent element has one that is
/// there so often.
double least_error_of_a_part(std::uint64_t elements) {
  constexpr double least_planned = 1e-12;
  return std::max(least_planned, std::ldexp(static_cast<double>(elements), -64));
}

/// Three digits, and not below the number, so that what it says is taken.
std::string in_words_from_above(double number) {
  const double unit = std::pow(10.0, std::floor(std::log10(number)) - 2);
  const double digits = number / unit;
  const double nearest = std::round(digits);
  const bool is_exact = std::abs(digits - nearest) < 1e-9 * digits;
  return in_words((is_exact ? nearest : std::ceil(digits)) * unit);
}

filter_plan by_the_planner(filter_needs needs) {
  needs.detail = plan_detail::plan_only;
  if (needs.kind == filter_kind::balanced) needs.scheme = scheme_kind::multilevel;
  filter_proposal proposal = plan_filter(needs);
  if (!proposal.plan) throw std::invalid_argument(proposal.reason);
  return *proposal.plan;
}

/// What the default plans cannot do, by the planner: it takes from a fifth of a second to some.
filter_plan search_plan(filter_kind kind, const growth_settings& settings, std::uint64_t elements,
                        double error) {
  filter_needs needs;
  needs.elements = elements;
  needs.fpr = error;
  needs.kind = kind;
  needs.overfill = room_of_counted_elements;
  if (settings.accesses != 0) needs.accesses = settings.accesses;
  return by_the_planner(needs);
}

/// With the buckets of the errors around this one: at most a few percent above the best.
filter_plan plan_with_known_buckets(std::uint64_t elements, double error) {
  filter_needs needs;
  needs.elements = elements;
  needs.fpr = error;
  needs.kind = filter_kind::fingerprint;
  needs.overfill = room_of_counted_elements;
  needs.detail = plan_detail::plan_only;
  const double place =
      std::floor((std::log10(error) - part_buckets_first_exponent) * part_buckets_per_decade);
  const double last = part_buckets.size() - 1;
  const auto row = static_cast<std::size_t>(std::clamp(place, 0.0, last));
  std::optional<filter_plan> best;
  std::string reason;
  for (std::size_t i = row; i < std::min(row + 2, part_buckets.size()); ++i) {
    needs.fingerprint_bucket = part_buckets[i];
    const filter_proposal proposal = plan_filter(needs);
    if (!proposal.plan)
      reason = proposal.reason;
    else if (!best || proposal.plan->memory().total() < best->memory().total())
      best = proposal.plan;
  }
  if (!best) throw std::invalid_argument(reason);
  return *best;
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

std::optional<std::string> find_fault(std::uint32_t scale, std::uint64_t expansion,
                                      double accesses) {
  if (scale > static_cast<std::uint32_t>(scaling::fixed))
    return "scaling must be 0 or 1; found " + std::to_string(scale);
  if (expansion > growth_settings::most_expansion)
    return "expansion must be 0 to 32768; found " + std::to_string(expansion);
  if (!(accesses >= 0 && accesses <= growth_settings::most_accesses))
    return "accesses must be 0 to 64";
  return std::nullopt;
}

filter_plan plan_part(filter_kind kind, const growth_settings& settings, std::uint64_t elements,
                      double error, part_source source) {
  const bool by_default = settings.accesses == 0 && error >= default_plan_least_fpr;
  if (by_default && elements < worth_planning)
    return default_filter_plan(kind, elements, std::min(error, default_plan_largest_fpr));
  if (settings.accesses == 0 && source == part_source::records) {
    if (kind == filter_kind::fingerprint) return plan_with_known_buckets(elements, error);
    if (by_default && kind != filter_kind::standard)
      return default_filter_plan(kind, elements, std::min(error, default_plan_largest_fpr));
  }
  return search_plan(kind, settings, elements, error);
}

part_planner planner_of(filter_kind kind, const growth_settings& settings) {
  return [kind, settings](std::uint64_t elements, double error) {
    return plan_part(kind, settings, elements, error, part_source::records);
  };
}

std::uint64_t elements_behind(std::uint64_t elements, std::uint64_t by_growth,
                              const growth_settings& settings, part_source source) {
  return settings.expansion == 1 && source == part_source::records ? elements : by_growth;
}

growing_plan growth_of(const reservation& asked) noexcept {
  return {.first_elements = asked.capacity,
          .fpr = std::min(asked.error, reservation::largest_error),
          .growth = growth_of(asked.growth.expansion),
          .tightening = tightening_of(asked.growth.expansion)};
}

first_plan plan_of(const reservation& asked, part_source source) {
  first_plan made;
  made.whole = growth_of(asked);
  const double first = first_share(asked, made.whole.tightening);
  const double share = made.whole.fpr * first;
  if (const double least = least_error_of_a_part(asked.capacity); share < least)
    throw std::invalid_argument(
        "the smallest error of a filter for " + std::to_string(asked.capacity) +
        (asked.growth.scale == scaling::fixed ? " items that does not grow is "
                                              : " items that can grow is ") +
        in_words_from_above(least / first) + "; found " + in_words(made.whole.fpr));
  const auto plan_with = [&](filter_kind kind) {
    return asked.bits_per_element ? plan_by_bits(kind, asked, share)
                                  : plan_part(kind, asked.growth, asked.capacity, share, source);
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
