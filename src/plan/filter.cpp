#include "oneprobe/plan/filter.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include "contenders.hpp"
#include "needs_check.hpp"
#include "oneprobe/detail/planning/balanced_layout.hpp"
#include "oneprobe/model/balanced_levels.hpp"
#include "oneprobe/model/fingerprint.hpp"
#include "oneprobe/model/finite_size.hpp"

namespace oneprobe::inline v0_1 {
namespace planning {
namespace {

constexpr double least_fpr = 1e-12, largest_fpr = 0.5;
constexpr double least_bits_per_element = 1;
/// More memory than this per element is not used: the error is far below anything by then.
constexpr double most_bits_per_element = 1024;
/// What a filter with candidates must save of the memory, or of the error, to be preferred to a
/// blocked one: it reads more than one block and suffers more from over-fill.
constexpr double worthwhile_memory = 0.02, worthwhile_error = 0.1;

/// What only some kinds have means nothing for the others.
void check_belongs(bool given, const char* name, bool fits, const char* kinds) {
  if (given && !fits) refuse(std::string(name) + " applies to " + kinds + " filters only");
}

void check(const filter_needs& needs) {
  if (needs.elements < 1 || needs.elements > filter_plan::most_bits)
    refuse("elements must be 1 to 2^40; found " + std::to_string(needs.elements));
  const int given = int{needs.fpr.has_value()} + int{needs.bits_per_element.has_value()} +
                    int{needs.bytes.has_value()};
  if (given != 1)
    refuse("exactly one of fpr, bits_per_element and bytes must be given; found " +
           std::to_string(given));
  if (needs.fpr) check_range("fpr", *needs.fpr, least_fpr, largest_fpr);
  if (needs.bits_per_element) check_range("bits_per_element", *needs.bits_per_element, 1e-6, 1e6);
  if (needs.bytes && *needs.bytes == 0) refuse("bytes must be at least 1; found 0");
  if (needs.accesses) check_range("accesses", *needs.accesses, 1, 64);
  if (needs.costs) check_costs(*needs.costs);
  if (needs.budget) {
    if (!needs.costs) refuse("budget needs the costs of an access and of the overflow");
    if (needs.accesses) refuse("budget and accesses are two words for one limit; give one of them");
    check_range("budget", *needs.budget, needs.costs->access, 64 * needs.costs->access);
  }
  if (needs.overfill) check_range("overfill", *needs.overfill, 0, 0.5);
  check_range("largest_choices", needs.largest_choices, 1, filter_plan::most_levels);
  const auto is = [&](filter_kind kind) { return !needs.kind || *needs.kind == kind; };
  const bool blocked = is(filter_kind::blocked), balanced = is(filter_kind::balanced);
  check_belongs(needs.block_bits.has_value(), "block_bits", blocked || balanced,
                "blocked and balanced");
  check_belongs(needs.layout.has_value(), "layout", blocked, "blocked");
  check_belongs(needs.rule.has_value(), "rule", balanced, "balanced");
  check_belongs(needs.scheme.has_value(), "scheme", balanced, "balanced");
  check_belongs(needs.counter_bits.has_value(), "counter_bits", needs.kind == filter_kind::counting,
                "counting");
  check_belongs(needs.fingerprint_bucket.has_value(), "fingerprint_bucket",
                needs.kind == filter_kind::fingerprint, "fingerprint");
  if (needs.fingerprint_bucket) {
    check_range("remainder_bits", needs.fingerprint_bucket->remainder_bits,
                fingerprint_bucket_shape::least_remainder_bits,
                fingerprint_bucket_shape::most_remainder_bits);
    if (!needs.fingerprint_bucket->fits())
      refuse("bucket_capacity must leave room for a header in 512 bits; found " +
             std::to_string(needs.fingerprint_bucket->bucket_capacity));
  }
  if (needs.block_bits && *needs.block_bits != 256 && *needs.block_bits != 512)
    refuse("block_bits must be 256 or 512; found " + std::to_string(*needs.block_bits));
  if (needs.layout == block_layout::distinct)
    refuse("layout must be independent or lanes; found distinct");
  if (needs.scheme == scheme_kind::d_random || needs.scheme == scheme_kind::d_left)
    refuse("scheme must be single, sequential or multilevel, which the model covers; found " +
           std::string(name_of(*needs.scheme)));
  if (needs.counter_bits) {
    const std::uint32_t width = *needs.counter_bits;
    if (width != 2 && width != 4 && width != 8 && width != 16)
      refuse("counter_bits must be 2, 4, 8 or 16; found " + std::to_string(width));
  }
}

/// Memory that a filter may have, in bytes.
std::uint64_t bytes_of(const filter_needs& needs) {
  if (needs.fpr) return most_bytes;
  const auto n = static_cast<double>(needs.elements);
  const double bits =
      needs.bytes ? 8 * static_cast<double>(*needs.bytes) : *needs.bits_per_element * n;
  // At least one block: a single element may have all of it.
  const double most = std::max(most_bits_per_element * n, 4096.0);
  return static_cast<std::uint64_t>(
      std::floor(std::min({bits, most, static_cast<double>(filter_plan::most_bits)}) / 8));
}

/// The needs with defaults, and the contender of every kind for them.
class planner {
 public:
  explicit planner(const filter_needs& needs) : needs_(needs) {
    goal_.elements = needs.elements;
    goal_.fpr = needs.fpr;
    goal_.bytes = bytes_of(needs);
    if (needs.costs) goal_.list_accesses = needs.costs->overflow / needs.costs->access;
    block_bits_ = needs.block_bits.value_or(512);
  }

  std::optional<filter_plan> of_kind(filter_kind kind) const {
    goal what = goal_;
    what.accesses =
        limit().value_or(kind == filter_kind::blocked || kind == filter_kind::balanced ||
                                 kind == filter_kind::fingerprint
                             ? default_miss_accesses
                             : any_accesses);
    what.absorbed = absorbed_by(needs_, kind);
    // Fewer bits than elements: nothing is worth building.
    if (!what.fpr && 8 * static_cast<double>(what.bytes) < least_bits_per_element * what.n())
      return std::nullopt;
    switch (kind) {
      case filter_kind::standard:
      case filter_kind::partitioned:
        return plan_scattered(what, kind, 1);
      case filter_kind::counting:
        return plan_scattered(what, kind, needs_.counter_bits.value_or(4));
      case filter_kind::blocked:
        return plan_blocked(what, block_bits_, needs_.layout.value_or(block_layout::independent));
      case filter_kind::balanced:
        return plan_balanced(what, options());
      case filter_kind::fingerprint:
        return plan_fingerprint(what, needs_.largest_choices, needs_.fingerprint_bucket);
    }
    return std::nullopt;
  }

  /// A blocked filter other than the one asked for.
  std::optional<filter_plan> blocked(std::uint32_t block_bits, block_layout layout) const {
    return plan_blocked(goal_, block_bits, layout);
  }

  bool by_error() const { return goal_.fpr.has_value(); }
  const goal& what() const { return goal_; }
  double access_limit() const { return limit().value_or(default_miss_accesses); }

 private:
  /// In accesses, however it was stated.
  std::optional<double> limit() const {
    if (needs_.budget) return *needs_.budget / needs_.costs->access;
    return needs_.accesses;
  }

  static constexpr double any_accesses = std::numeric_limits<double>::infinity();

  balanced_options options() const {
    balanced_options options;
    options.block_bits = block_bits_;
    options.most_choices = needs_.largest_choices;
    options.rule = needs_.rule.value_or(lookup_rule::popcount);
    options.scheme = needs_.scheme.value_or(scheme_kind::multilevel);
    if (options.scheme == scheme_kind::single) options.most_choices = 1;
    return options;
  }

  filter_needs needs_;
  goal goal_;
  std::uint32_t block_bits_;
};

std::string name_of_plan(const filter_plan& plan) {
  std::string name(name_of(plan.kind));
  if (plan.kind == filter_kind::counting)
    return name + ", " + std::to_string(plan.counter_bits) + "-bit counters";
  if (plan.kind == filter_kind::fingerprint)
    return name + ", " + std::to_string(plan.fingerprint_bucket.remainder_bits) + "-bit remainders";
  if (!plan.in_blocks()) return name;
  name += ", " + std::to_string(plan.block_bits) + "-bit blocks";
  if (plan.layout == block_layout::lanes) name += " in lanes";
  return name;
}

/// "6.1 % more memory", "half the error": plan `a` beside `b`.
std::string compared(const planner& by, const filter_plan& a, const filter_plan& b) {
  if (by.by_error()) {
    const double ratio =
        static_cast<double>(a.memory().total()) / static_cast<double>(b.memory().total());
    const std::string percent = show(100 * std::abs(ratio - 1), "%.1f");
    if (percent == "0.0") return "the same memory";
    return percent + " % " + (ratio > 1 ? "more" : "less") + " memory";
  }
  const double ratio = a.predicted.fpr / b.predicted.fpr;
  if (std::abs(ratio - 1) < 0.005) return "the same error";
  if (ratio > 0.5 && ratio < 2)
    return show(100 * std::abs(ratio - 1), "%.0f") + " % " + (ratio > 1 ? "more" : "less") +
           " error";
  return ratio > 1 ? show(ratio, "%.3g") + " times the error"
                   : "1/" + show(1 / ratio, "%.3g") + " of the error";
}

/// Why `plan`, which could be had as well, is not the answer.
std::string why_not(const planner& by, const filter_plan& plan, const filter_plan& chosen,
                    bool asked_for_kind) {
  std::string text = compared(by, plan, chosen);
  if (plan.predicted.miss_accesses > by.access_limit() * (1 + 1e-9))
    text += ", " + show(plan.predicted.miss_accesses, "%.2f") + " accesses per negative query";
  if (plan.kind == filter_kind::counting) text += "; elements can be erased";
  if (plan.layout == block_layout::lanes) text += "; the fastest inserts";
  const bool better = by.what().prefers(plan, chosen);
  if (asked_for_kind && better && plan.predicted.miss_accesses <= by.access_limit())
    text += "; not what was asked for";
  else if (better && plan.has_candidates())
    text += ": too little for a second candidate";
  return text;
}

struct choice {
  std::optional<filter_plan> plan;
  std::string reason;
};

/// The kinds made of blocks, each at its best.
struct contenders {
  std::optional<filter_plan> blocked{};
  std::optional<filter_plan> balanced{};
  std::optional<filter_plan> fingerprint{};

  /// The better of those in which an element has candidates.
  const std::optional<filter_plan>& with_candidates(const goal& what) const {
    if (!balanced || !fingerprint) return balanced ? balanced : fingerprint;
    return what.prefers(*balanced, *fingerprint) ? balanced : fingerprint;
  }
};

choice choose(const planner& by, const filter_needs& needs, const contenders& best) {
  const std::optional<filter_plan>& blocked = best.blocked;
  if (needs.kind) {
    const auto plan = *needs.kind == filter_kind::blocked       ? blocked
                      : *needs.kind == filter_kind::balanced    ? best.balanced
                      : *needs.kind == filter_kind::fingerprint ? best.fingerprint
                                                                : by.of_kind(*needs.kind);
    return {plan, "The kind that was asked for."};
  }
  const std::optional<filter_plan>& other = best.with_candidates(by.what());
  if (!other) return {blocked, "No balanced or fingerprint filter meets the need."};
  if (!blocked) return {other, "No blocked filter does."};
  const double memory =
      static_cast<double>(other->memory().total()) / static_cast<double>(blocked->memory().total());
  const double error = other->predicted.fpr / blocked->predicted.fpr;
  const bool worthwhile =
      by.by_error() ? memory < 1 - worthwhile_memory : error < 1 - worthwhile_error;
  if (worthwhile)
    return {other, "A blocked filter has " + compared(by, *blocked, *other) + "; this one reads " +
                       show(other->predicted.miss_accesses, "%.2f") +
                       " blocks per negative query."};
  return {blocked, "A " + std::string(name_of(other->kind)) + " filter has " +
                       compared(by, *other, *blocked) + ": not worth a second candidate."};
}

/// Memory without slack: levels of the mean size, and a list without the slack of a level.
std::uint64_t slack_of(const filter_plan& plan) {
  if (!plan.has_candidates()) return 0;
  const auto n = static_cast<double>(plan.elements);
  block_fill fill;
  fill.elements_per_block = n / static_cast<double>(plan.level_buckets[0]);
  if (plan.levels > 1)
    fill.refused_fraction =
        plan.kind == filter_kind::fingerprint
            ? model::handed_on_fraction(shape_of(plan.fingerprint_bucket), fill.elements_per_block)
            : model::built_filter(shape_of(plan)).refused_fraction(fill.elements_per_block);
  const auto shares = level_shares(fill, plan.levels, n, [](double mean) { return mean; });
  double bits = 0;
  for (std::uint32_t i = 1; i < plan.levels; ++i)
    bits += (static_cast<double>(plan.level_buckets[i]) - shares[i]) * plan.block_bits;
  const std::uint64_t planned =
      overflow_slots_for(overflow_reserve_for(n * plan.predicted.overflow_fraction));
  bits += 32 * (static_cast<double>(plan.overflow_slots) - static_cast<double>(planned));
  return static_cast<std::uint64_t>(std::max(0.0, bits) / 8);
}

/// Whether a fingerprint filter is among what was asked for: it has none of these choices.
bool takes_fingerprints(const filter_needs& needs) {
  if (needs.kind) return *needs.kind == filter_kind::fingerprint;
  return !needs.block_bits && !needs.layout && !needs.rule && !needs.scheme;
}

/// Hashes have 64 bits: so often an absent key has that of an element.
double equal_hash_error(std::uint64_t elements) {
  return std::ldexp(static_cast<double>(elements), -64);
}
bool is_beyond_hashes(const filter_needs& needs) {
  return needs.fpr && *needs.fpr < equal_hash_error(needs.elements);
}

/// What the planner would tell a friend.
std::vector<std::string> warnings_of(const filter_needs& needs, const filter_proposal& proposal) {
  const filter_plan& plan = *proposal.plan;
  std::vector<std::string> all;
  // Fewer blocks than this, and their loads are far from those of many.
  constexpr std::uint64_t few = 16;
  if (plan.in_blocks()) {
    const std::uint64_t smallest =
        *std::min_element(plan.level_buckets.begin(), plan.level_buckets.begin() + plan.levels);
    if (smallest < few)
      all.push_back("Too small for exact predictions: " +
                    std::string(plan.levels > 1 ? "a level of " : "a filter of ") +
                    std::to_string(smallest) + (smallest == 1 ? " block" : " blocks") +
                    ", and the model is the limit of many; errors stray by tens of percent from "
                    "filter to filter.");
  }
  const overfill_forecast& five_percent = proposal.overfill[1];
  const double growth = five_percent.predicted.fpr / plan.predicted.fpr;
  if (growth >= 2) {
    std::string text = "Sensitive to over-fill: with 5 % more elements it errs " +
                       show(growth, growth < 10 ? "%.1f" : "%.0f") + " times as often.";
    if (plan.has_candidates() && absorbed_by(needs, plan.kind) < five_percent.factor)
      text += " An overfill of 0.05 buys room for them.";
    all.push_back(text);
  }
  const double floor = equal_hash_error(plan.elements);
  if (plan.predicted.fpr < 20 * floor)
    all.push_back("Near the end of 64-bit hashes: equal ones add " + show(floor) +
                  " to the error, which is not predicted.");
  return all;
}

/// A need near this one that can be met: first other memory or another error, then more accesses.
std::optional<filter_needs> nearest_to(const filter_needs& needs) {
  const auto met = [](const filter_needs& asked) {
    const planner by(asked);
    if (asked.kind) return by.of_kind(*asked.kind);
    const auto blocked = by.of_kind(filter_kind::blocked);
    if (blocked) return blocked;
    const auto balanced = by.of_kind(filter_kind::balanced);
    return balanced || !takes_fingerprints(asked) ? balanced : by.of_kind(filter_kind::fingerprint);
  };
  filter_needs other = needs;
  if (is_beyond_hashes(needs)) {
    other.fpr = 1.01 * equal_hash_error(needs.elements);
    return met(other) ? std::optional(other) : nearest_to(other);
  }
  if (needs.fpr) {
    // All the memory there may be, and the error that it gives.
    other.fpr.reset();
    other.bytes = most_bytes;
    if (const auto plan = met(other); plan && plan->predicted.fpr <= largest_fpr) {
      other.bytes.reset();
      other.fpr = plan->predicted.fpr * 1.01;
      if (met(other)) return other;
    }
  } else {
    // Doubled until it is enough, then halved back. The first step is a line and a bit per element.
    const std::uint64_t least = std::max<std::uint64_t>(
        64, static_cast<std::uint64_t>(
                std::ceil(least_bits_per_element * static_cast<double>(needs.elements) / 8)));
    const std::uint64_t given = bytes_of(needs);
    other.bits_per_element.reset();
    for (std::uint64_t bytes = std::max(least, given); bytes <= most_bytes; bytes *= 2) {
      other.bytes = bytes;
      if (!met(other)) continue;
      std::uint64_t low = std::max(given, bytes / 2), high = bytes;
      while (high - low > std::max<std::uint64_t>(1, high / 50)) {
        other.bytes = low + (high - low) / 2;
        (met(other) ? high : low) = *other.bytes;
      }
      other.bytes = high;
      if (needs.bits_per_element) {
        other.bytes.reset();
        other.bits_per_element =
            8 * static_cast<double>(high + 1) / static_cast<double>(needs.elements);
      }
      return other;
    }
  }
  other = needs;
  if (needs.budget) {
    for (const double more : {1.01, 1.05, 1.1, 1.2, 1.5, 2.0}) {
      other.budget = more * *needs.budget;
      if (*other.budget <= 64 * needs.costs->access && met(other)) return other;
    }
    return std::nullopt;
  }
  for (const double accesses : {1.01, 1.05, 1.1, 1.2, 1.5, 2.0, 3.0}) {
    if (needs.accesses && accesses <= *needs.accesses) continue;
    other.accesses = accesses;
    if (met(other)) return other;
  }
  return std::nullopt;
}

std::string why_none(const filter_needs& needs) {
  const std::string kind =
      needs.kind ? "a " + std::string(name_of(*needs.kind)) + " filter" : "a filter";
  const std::string within =
      needs.accesses ? ", within " + show(*needs.accesses) + " accesses per negative query"
      : needs.budget ? ", within a budget of " + show(*needs.budget) + " per negative query"
                     : "";
  if (is_beyond_hashes(needs))
    return "No plan: hashes have 64 bits, and of " + std::to_string(needs.elements) +
           " elements one has that of an absent key with probability " +
           show(equal_hash_error(needs.elements)) + "; an error of " + show(*needs.fpr) +
           " is out of reach.";
  if (needs.fpr)
    return "No plan: for " + std::to_string(needs.elements) + " elements " + kind +
           " with an error of " + show(*needs.fpr) + within + " would need more than 2^40 bits.";
  return "No plan: " + std::to_string(bytes_of(needs)) + " bytes are too little for " + kind +
         " of " + std::to_string(needs.elements) + " elements" + within + ".";
}

}  // namespace

double absorbed_by(const filter_needs& needs, filter_kind kind) {
  if (needs.overfill) return 1 + *needs.overfill;
  // For a stated memory the plan has the least error; a stated error has to hold.
  return kind == filter_kind::fingerprint && needs.fpr ? absorbed_fingerprints : absorbed_overfill;
}

}  // namespace planning

filter_proposal plan_filter(const filter_needs& asked) {
  using namespace planning;
  check(asked);
  filter_needs needs = asked;
  // Lanes are a wish for speed, which only the blocked filter grants.
  if (needs.layout == block_layout::lanes) needs.kind = filter_kind::blocked;
  const planner by(needs);
  const bool brief = needs.detail == plan_detail::plan_only;
  const auto wanted = [&](filter_kind kind) {
    return brief && needs.kind && *needs.kind != kind ? std::nullopt : by.of_kind(kind);
  };
  const contenders best{.blocked = wanted(filter_kind::blocked),
                        .balanced = wanted(filter_kind::balanced),
                        .fingerprint = takes_fingerprints(needs)
                                           ? by.of_kind(filter_kind::fingerprint)
                                           : std::nullopt};
  const choice chosen = choose(by, needs, best);
  const std::optional<filter_plan>& plan = chosen.plan;

  filter_proposal proposal;
  if (!plan || is_beyond_hashes(needs)) {
    proposal.reason = why_none(needs);
    if (!brief) proposal.nearest = nearest_to(needs);
    return proposal;
  }
  proposal.plan = plan;
  proposal.reason = chosen.reason;
  if (brief) return proposal;
  proposal.slack_bytes = slack_of(*plan);
  if (plan->has_candidates()) {
    proposal.overflow = overflow_of(*plan);
    proposal.cam = {.mean_entries = proposal.overflow.mean,
                    .entries = static_cast<std::uint64_t>(model::reserve_for(
                        {proposal.overflow.mean, proposal.overflow.deviation}, default_cam_tail)),
                    .tail_probability = default_cam_tail,
                    .entries_over_full = plan->overflow_reserve,
                    .entry_bits = 32};
  }
  constexpr std::array<double, 3> factors{1.01, 1.05, 1.2};
  for (std::size_t i = 0; i < factors.size(); ++i) {
    proposal.overfill[i] =
        forecast_unchecked(*plan, std::ceil(static_cast<double>(plan->elements) * factors[i]));
    proposal.overfill[i].factor = factors[i];
  }

  const auto offer = [&](std::string name, const std::optional<filter_plan>& other) {
    if (other && name == name_of_plan(*plan)) return;
    proposal.alternatives.push_back({.name = std::move(name),
                                     .plan = other,
                                     .why = other
                                                ? why_not(by, *other, *plan, needs.kind.has_value())
                                                : "cannot meet the need"});
  };
  const auto offer_kind = [&](filter_kind kind) {
    if (kind == plan->kind) return;
    filter_needs other = needs;
    other.kind = kind;
    other.accesses.reset();
    other.budget.reset();
    other.layout.reset();
    offer(std::string(name_of(kind)), planner(other).of_kind(kind));
  };
  offer_kind(filter_kind::standard);
  offer_kind(filter_kind::partitioned);
  offer("blocked, 512-bit blocks", by.blocked(512, block_layout::independent));
  offer("blocked, 256-bit blocks", by.blocked(256, block_layout::independent));
  offer("blocked, 512-bit blocks in lanes", by.blocked(512, block_layout::lanes));
  offer_kind(filter_kind::counting);
  if (plan->kind != filter_kind::balanced) offer("balanced, 512-bit blocks", best.balanced);
  offer_kind(filter_kind::fingerprint);
  proposal.warnings = warnings_of(needs, proposal);
  return proposal;
}

}  // namespace oneprobe::inline v0_1
