#include "oneprobe/plan/table.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "needs_check.hpp"
#include "oneprobe/detail/planning/table_layout.hpp"
#include "oneprobe/model/churn.hpp"
#include "oneprobe/model/finite_size.hpp"
#include "oneprobe/model/partition.hpp"
#include "root.hpp"
#include "table_forecast.hpp"
#include "table_levels.hpp"

namespace oneprobe::inline v0_1 {
namespace planning {
namespace {

constexpr double least_overflow = 1e-15, most_overflow = 0.5;
constexpr double least_exceed = 1e-30, most_exceed = 0.5;
constexpr double least_load_factor = 1e-3;
constexpr double most_overfill = 0.5;
/// Tables emptier than this are none.
constexpr double least_planned_load = 1e-6;
/// No table is planned emptier than this to use up its bytes.
constexpr double emptiest = 0.05;

void check(const table_needs& needs) {
  if (needs.elements < 1 || needs.elements > table_plan::most_buckets)
    refuse("elements must be 1 to 2^40; found " + std::to_string(needs.elements));
  constexpr auto most_slot = static_cast<double>(table_plan::most_slot_bytes);
  check_range("key_bytes", needs.key_bytes, 1, most_slot);
  check_range("value_bytes", needs.value_bytes, 0, most_slot);
  if (needs.slot_bytes)
    check_range("slot_bytes", *needs.slot_bytes, 1, most_slot);
  else
    check_range("key_bytes and value_bytes together", slot_bytes_of(needs), 1, most_slot);
  if (needs.workload > table_workload::fill_only)
    refuse("workload must be churn or fill-only; found " +
           std::to_string(static_cast<unsigned>(needs.workload)));
  check_range("overflow_fraction", needs.overflow_fraction, least_overflow, most_overflow);
  check_range("exceed_probability", needs.exceed_probability, least_exceed, most_exceed);
  check_range("largest_choices", needs.largest_choices, 1, table_plan::most_levels);
  check_range("bucket_capacity", needs.bucket_capacity, 1, table_plan::most_bucket_capacity);
  check_range("overfill", needs.overfill, 0, most_overfill);
  if (needs.load_factor && needs.bytes)
    refuse("at most one of load_factor and bytes must be given; found both");
  if (needs.load_factor) check_range("load_factor", *needs.load_factor, least_load_factor, 1);
  if (needs.bytes && *needs.bytes == 0) refuse("bytes must be at least 1; found 0");
  if (needs.scheme && *needs.scheme > scheme_kind::d_left)
    refuse("scheme must be one of the five; found " +
           std::to_string(static_cast<unsigned>(*needs.scheme)));
  if (needs.partition && *needs.partition > table_partition::access_optimal)
    refuse("partition must be churn, fill-only or access-optimal; found " +
           std::to_string(static_cast<unsigned>(*needs.partition)));
  if (needs.costs) check_costs(*needs.costs);
  if (needs.budget) {
    if (!needs.costs) refuse("budget needs the costs of an access and of the overflow");
    check_range("budget", *needs.budget, needs.costs->access, 64 * needs.costs->access);
  }
  if (needs.partition && needs.scheme && *needs.scheme != scheme_kind::multilevel)
    refuse("partition applies to the multilevel scheme only; found " +
           std::string(name_of(*needs.scheme)));
}

table_partition partition_of(const table_needs& needs) {
  return needs.partition.value_or(needs.workload == table_workload::churn
                                      ? table_partition::churn
                                      : table_partition::fill_only);
}

/// Plans for one need, by the number of buckets.
class table_planner {
 public:
  explicit table_planner(const table_needs& needs)
      : needs_(needs),
        loss_(needs.workload, needs.bucket_capacity, slot_bytes_of(needs)),
        scheme_(needs.scheme.value_or(scheme_kind::multilevel)),
        choices_(scheme_ == scheme_kind::single ? 1 : needs.largest_choices),
        over_full_(static_cast<double>(needs.elements) * (1 + needs.overfill)),
        fullest_(is_levelled() && is_own_partition()
                     ? fullest_levels(loss_, choices_, needs.overflow_fraction)
                     : table_design{}),
        largest_load_(find_largest_load()) {}

  const bucket_loss& loss() const { return loss_; }

  /// Whether any load factor keeps the overflow.
  bool is_reachable() const { return largest_load_ > 0; }

  /// The plan that was asked for; none if the overflow cannot be kept in its memory.
  std::optional<table_plan> plan() const {
    if (!is_reachable()) return std::nullopt;
    if (needs_.load_factor)
      return with_buckets(std::max(1.0, std::ceil(slots_for(*needs_.load_factor) - 1e-6)));
    if (needs_.bytes) return within(*needs_.bytes);
    if (is_levelled()) return finished(default_design());
    return flat_at(default_load_share * largest_load_);
  }

  table_design default_design() const {
    const double load = default_load_share * largest_load_;
    return design_at(load, room_at(load));
  }

  /// The smallest table that keeps the overflow; none if that is too many buckets.
  std::optional<table_plan> smallest() const {
    if (!is_reachable()) return std::nullopt;
    return is_levelled() ? finished(design_at(largest_load_, 1)) : flat_at(largest_load_);
  }

 private:
  double slots_for(double load_factor) const {
    return static_cast<double>(needs_.elements) / (load_factor * needs_.bucket_capacity);
  }
  bool is_levelled() const { return scheme_ == scheme_kind::multilevel; }

  /// Level shares that depend on the load alone.
  std::vector<double> shares_at(double load_factor) const {
    const unsigned h = needs_.bucket_capacity;
    switch (partition_of(needs_)) {
      case table_partition::churn:
        return model::least_overflow_partition_under_churn(load_factor, h, choices_)
            .level_fractions;
      case table_partition::fill_only:
        return model::least_overflow_partition(load_factor, h, choices_).level_fractions;
      case table_partition::access_optimal:
        break;
    }
    return model::multilevel_cutoff(load_factor, h, choices_).level_fractions;
  }

  /// Whether the partition is that of the workload: then it is free to save accesses. Another one
  /// is taken as it is.
  bool is_own_partition() const {
    return partition_of(needs_) == (needs_.workload == table_workload::churn
                                        ? table_partition::churn
                                        : table_partition::fill_only);
  }

  /// What overflows of a table without levels at a load factor, or of the shares above.
  double overflow_at(double load_factor) const {
    if (is_levelled()) {
      const table_design design = levels_of(loss_, positive(shares_at(load_factor)), load_factor);
      return overflow_of(loss_, design);
    }
    // Buckets enough for any number of them to be whole.
    constexpr std::uint64_t many = std::uint64_t{1} << 36;
    const table_plan plan = without_levels(many * choices_);
    return overflow_fraction(
        plan, load_factor * static_cast<double>(plan.buckets()) * needs_.bucket_capacity, loss_);
  }
  /// A share that is too small for a double does not matter.
  static std::vector<double> positive(std::vector<double> shares) {
    for (double& share : shares) share = std::max(share, 1e-100);
    return shares;
  }

  /// The largest load factor, at over-fill, that keeps the overflow; 0 if there is none.
  double find_largest_load() const {
    if (is_levelled() && is_own_partition()) {
      const double load = 1 / (space_of(fullest_) * needs_.bucket_capacity);
      return load < least_planned_load ? 0 : load;
    }
    if (overflow_at(least_planned_load) > needs_.overflow_fraction) return 0;
    const auto distance = [&](double load_factor) {
      return std::log(std::max(overflow_at(load_factor), 1e-300)) -
             std::log(needs_.overflow_fraction);
    };
    double low = least_planned_load, high = 4;  // overflow_fraction is at most 0.5
    if (is_levelled()) {
      // Shares made for other losses may overflow less at a higher load: from above.
      constexpr double step = 0.97;
      while (distance(step * high) > 0) high *= step;
      low = step * high;
    }
    return find_crossing(distance, low, high, 1e-8).value_or(low);
  }

  /// Levels for a load factor at over-fill, made for `room` times as many elements.
  table_design design_at(double load_factor, double room) const {
    // At the very edge there is one partition left.
    constexpr double edge = 1 - 1e-6;
    const double load = room * load_factor;
    table_design design;
    if (is_own_partition()) {
      design = load < edge * largest_load_
                   ? least_access_levels(loss_, choices_, load, needs_.overflow_fraction)
                   : fullest_;
    } else {
      // Shares of least overflow by other losses are those of the largest load: then more buckets
      // overflow less.
      const bool geometric = partition_of(needs_) == table_partition::access_optimal;
      design = levels_of(loss_, positive(shares_at(geometric ? load : largest_load_)), load);
    }
    design.made_for = room * (1 + needs_.overfill);
    return design;
  }

  /// For how many times the elements levels can be made, in the memory of a load factor, if hits
  /// may cost a little more.
  double room_at(double load_factor) const {
    if (!is_own_partition() || choices_ == 1) return 1;
    const auto accesses = [&](double room) {
      const table_design design = design_at(load_factor, room);
      return hit_accesses_of(loss_, design, 1 / design.made_for);
    };
    const double most = (1 + accesses_for_room) * accesses(1);
    const double largest = std::max(1.0, largest_load_ / load_factor);
    if (accesses(largest) <= most) return largest;  // in plenty of memory all room costs little
    return find_crossing([&](double room) { return accesses(room) - most; }, 1.0, largest, 1e-9)
        .value_or(1.0);
  }

  table_plan empty_plan() const {
    table_plan plan;
    plan.elements = needs_.elements;
    plan.bucket_capacity = needs_.bucket_capacity;
    plan.scheme = scheme_;
    plan.choices = choices_;
    plan.levels = 1;
    plan.workload = needs_.workload;
    return plan;
  }
  table_plan with_levels(const table_design& design) const {
    table_plan plan = empty_plan();
    plan.levels = choices_;
    plan.level_buckets = level_buckets_for(design, static_cast<double>(plan.elements));
    return plan;
  }
  table_plan without_levels(std::uint64_t buckets) const {
    table_plan plan = empty_plan();
    plan.level_buckets[0] = buckets;
    if (scheme_ != scheme_kind::d_left) return plan;
    plan.levels = choices_;
    for (std::uint32_t group = 0; group < choices_; ++group)
      plan.level_buckets[group] = buckets / choices_ + (group < buckets % choices_ ? 1 : 0);
    return plan;
  }

  std::optional<table_plan> flat_at(double load_factor) const {
    return flat_with(std::ceil(over_full_ / (load_factor * needs_.bucket_capacity)));
  }

  std::optional<table_plan> flat_with(double buckets) const {
    const double least = scheme_ == scheme_kind::d_left ? choices_ : 1;
    if (buckets > static_cast<double>(table_plan::most_buckets)) return std::nullopt;
    return finished(without_levels(static_cast<std::uint64_t>(std::max(buckets, least))),
                    over_full_);
  }

  /// Exactly so many buckets.
  std::optional<table_plan> with_buckets(double buckets) const {
    if (buckets > static_cast<double>(table_plan::most_buckets)) return std::nullopt;
    const double load = over_full_ / (buckets * needs_.bucket_capacity);
    if (!is_levelled()) return load <= largest_load_ ? flat_with(buckets) : std::nullopt;
    if (load > largest_load_) return std::nullopt;
    double room = room_at(load);
    const auto total = [&](double at) {
      return static_cast<double>(with_levels(design_at(at, room)).buckets());
    };
    // Whole buckets and the slack of small levels leave less; at the edge there is none to give.
    constexpr double less_room = 0.98;
    while (room > 1 && total(largest_load_ / room) > buckets)
      room = std::max(1.0, less_room * room);
    double low = load, high = largest_load_ / room;
    if (total(high) > buckets) return std::nullopt;
    for (int step = 0; step < 40 && high - low > 1e-9 * high; ++step) {
      const double middle = 0.5 * (low + high);
      (total(middle) > buckets ? low : high) = middle;
    }
    const table_design design = design_at(high, room);
    table_plan plan = with_levels(design);
    plan.level_buckets[0] += static_cast<std::uint64_t>(buckets) - plan.buckets();
    return finished(plan, design.made_for * static_cast<double>(plan.elements));
  }

  std::optional<table_plan> within(std::uint64_t bytes) const {
    const std::uint32_t slot = slot_bytes_of(needs_);
    const auto bucket_bytes =
        static_cast<double>(table_plan::side_bytes + needs_.bucket_capacity * slot);
    double buckets = std::min({std::floor(static_cast<double>(bytes) / bucket_bytes),
                               std::ceil(slots_for(std::min(emptiest, largest_load_ / 2))),
                               static_cast<double>(table_plan::most_buckets)});
    // The overflow takes its part; how much depends on the levels, though hardly.
    for (int round = 0; round < 8 && buckets >= 1; ++round) {
      const std::optional<table_plan> plan = with_buckets(buckets);
      if (!plan) return std::nullopt;
      const std::uint64_t used = plan->memory(slot).total();
      if (used <= bytes) return plan;
      buckets -= std::max(1.0, std::ceil(static_cast<double>(used - bytes) / bucket_bytes));
    }
    return std::nullopt;
  }

  std::optional<table_plan> finished(const table_design& design) const {
    const table_plan plan = with_levels(design);
    return finished(plan, design.made_for * static_cast<double>(plan.elements));
  }
  /// With the overflow, reserved for so many elements, and the predictions.
  std::optional<table_plan> finished(table_plan plan, double made_for) const {
    if (plan.buckets() > table_plan::most_buckets) return std::nullopt;
    const double reserve =
        model::reserve_for(overflow_spread(plan, made_for, loss_), needs_.exceed_probability);
    plan.overflow_reserve = std::max(
        least_overflow_reserve, static_cast<std::uint64_t>(std::min(reserve, std::ceil(made_for))));
    plan.overflow_buckets = overflow_buckets_for(plan.overflow_reserve, plan.bucket_capacity);
    plan.predicted = predict(plan, static_cast<double>(plan.elements), loss_);
    return plan;
  }

  table_needs needs_;
  bucket_loss loss_;
  scheme_kind scheme_;
  std::uint32_t choices_;
  double over_full_;
  table_design fullest_;  // the levels of the largest load; multilevel, the workload's partition
  double largest_load_;   // at over-fill
};

std::string target_text(const table_needs& needs) {
  return "at most " + show(needs.overflow_fraction) + " overflow with " +
         show(100 * needs.overfill, "%.3g") + " % more elements";
}

/// Where more is refused than the model of this scheme knows.
std::string tag_caveat(scheme_kind scheme, const table_needs& needs) {
  const bool in_groups =
      group_slots_of(slot_bytes_of(needs), needs.bucket_capacity) < needs.bucket_capacity;
  if (!in_groups || has_tag_model(scheme, needs.workload)) return "";
  return ", not counting what is refused for a tag";
}

std::string why_this(const table_needs& needs) {
  const std::string memory = needs.load_factor ? "The load factor that was asked for. "
                             : needs.bytes     ? "The bytes that were given. "
                                               : "";
  if (needs.scheme && *needs.scheme != scheme_kind::multilevel)
    return memory + "The scheme that was asked for; " + target_text(needs) +
           tag_caveat(*needs.scheme, needs) + ".";
  if (partition_of(needs) == table_partition::access_optimal)
    return memory + "The geometric levels of the papers; " + target_text(needs) + ".";
  const bool own =
      !needs.partition || *needs.partition == partition_of(table_needs{.workload = needs.workload});
  if (!own)
    return memory + "The " + std::string(name_of(*needs.partition)) + " partition; " +
           target_text(needs) + ".";
  return memory + "Of all levels for which " + target_text(needs) +
         ", those with the fewest accesses but for half a percent, which buys room.";
}

std::string why_none(const table_needs& needs, const table_planner& by,
                     const std::optional<table_plan>& smallest) {
  const std::string wanted = "No plan: " + target_text(needs) + " ";
  if (!by.is_reachable())
    return wanted + "would need a load factor below " + show(least_planned_load) + ".";
  if (!smallest)
    return wanted + "would need more than 2^40 buckets for " + std::to_string(needs.elements) +
           " elements.";
  const std::uint32_t slot = slot_bytes_of(needs);
  if (needs.load_factor)
    return wanted + "needs a load factor of " + show(smallest->load_factor()) + " or less; found " +
           show(*needs.load_factor) + ".";
  return wanted + "needs " + std::to_string(smallest->memory(slot).total()) +
         " bytes or more; found " + std::to_string(needs.bytes.value_or(0)) + ".";
}

std::optional<table_needs> nearest_to(const table_needs& needs, const table_planner& by,
                                      const std::optional<table_plan>& smallest) {
  table_needs other = needs;
  if (!by.is_reachable()) {
    while (other.overflow_fraction < most_overflow && !table_planner(other).plan())
      other.overflow_fraction = std::min(10 * other.overflow_fraction, most_overflow);
  } else if (smallest && needs.load_factor) {
    other.load_factor = smallest->load_factor() * (1 - 1e-9);
  } else if (smallest && needs.bytes) {
    // The edge itself, and a little more where whole lines and buckets spoil it.
    for (const double factor : {1.0, 1.001, 1.01, 1.05}) {
      other.bytes = static_cast<std::uint64_t>(
          std::ceil(factor * static_cast<double>(smallest->memory(slot_bytes_of(needs)).total())));
      if (table_planner(other).plan()) break;
    }
  } else {
    // Fewer elements.
    other.load_factor.reset();
    other.bytes.reset();
    while (other.elements > 1 && !table_planner(other).plan()) other.elements /= 2;
  }
  if (table_planner(other).plan()) return other;
  return std::nullopt;
}

/// Where the mean overflow reaches the reserve.
double full_factor_of(const table_plan& plan, const bucket_loss& loss) {
  constexpr auto most = static_cast<double>(most_forecast_factor);
  const auto distance = [&](double factor) {
    const double elements = factor * static_cast<double>(plan.elements);
    return std::log(std::max(elements * overflow_fraction(plan, elements, loss), 1e-300)) -
           std::log(static_cast<double>(plan.overflow_reserve));
  };
  return find_crossing(distance, 1.0, most, 1e-4).value_or(most);
}

/// "5.1 % less memory, 1.31 accesses per hit instead of 1.21".
std::string compared(const table_plan& other, const table_plan& chosen, std::uint32_t slot) {
  const double ratio = other.bytes_per_element(slot) / chosen.bytes_per_element(slot);
  std::string text;
  if (std::abs(ratio - 1) < 5e-4)
    text = "the same memory";
  else
    text =
        show(100 * std::abs(ratio - 1), "%.1f") + (ratio > 1 ? " % more" : " % less") + " memory";
  const std::string hit = show(other.predicted.hit_accesses, "%.3f");
  const std::string chosen_hit = show(chosen.predicted.hit_accesses, "%.3f");
  text += hit == chosen_hit ? ", as many accesses per hit"
                            : ", " + hit + " accesses per hit instead of " + chosen_hit;
  if (other.predicted.miss_accesses > 1.005 * chosen.predicted.miss_accesses)
    text += ", " + show(other.predicted.miss_accesses, "%.3f") + " per miss";
  if (other.choices > chosen.choices)
    text += ", " + std::to_string(other.choices) + " at most";
  else if (other.choices < chosen.choices)
    text += ", only " + std::to_string(other.choices) + " at most";
  return text;
}

std::vector<table_alternative> alternatives_to(const table_needs& needs, const table_plan& chosen) {
  std::vector<table_alternative> all;
  const std::uint32_t slot = slot_bytes_of(needs);
  const auto offer = [&](std::string name, const table_needs& other) {
    std::optional<table_plan> plan = table_planner(other).plan();
    all.push_back({.name = std::move(name),
                   .plan = plan,
                   .why = plan ? compared(*plan, chosen, slot) + tag_caveat(plan->scheme, other)
                               : "cannot meet the need"});
  };
  if (chosen.scheme != scheme_kind::single)
    for (const std::uint32_t choices : {2u, 3u, 4u, 5u, 6u}) {
      if (choices == chosen.choices) continue;
      table_needs other = needs;
      other.largest_choices = choices;
      offer(std::to_string(choices) + " choices", other);
    }
  for (const std::uint32_t capacity : {4u, 8u, 16u}) {
    if (capacity == needs.bucket_capacity) continue;
    table_needs other = needs;
    other.bucket_capacity = capacity;
    offer("buckets of " + std::to_string(capacity), other);
  }
  for (const table_partition partition :
       {table_partition::churn, table_partition::fill_only, table_partition::access_optimal}) {
    if (chosen.scheme == scheme_kind::multilevel && partition == partition_of(needs)) continue;
    table_needs other = needs;
    other.scheme.reset();
    other.partition = partition;
    offer(std::string(name_of(partition)) + " partition", other);
  }
  for (const scheme_kind scheme : {scheme_kind::sequential, scheme_kind::d_left}) {
    if (chosen.scheme == scheme || chosen.scheme == scheme_kind::single) continue;
    table_needs other = needs;
    other.partition.reset();
    other.scheme = scheme;
    offer(std::string(name_of(scheme)) + " placement", other);
  }
  return all;
}

/// The memory in which designs are compared by their costs.
std::optional<std::uint64_t> bytes_to_compare(const table_needs& needs) {
  if (needs.bytes) return needs.bytes;
  table_needs usual = needs;
  usual.overflow_fraction = std::min(needs.overflow_fraction, table_needs{}.overflow_fraction);
  // What keeps less than asked may need more memory than there is.
  std::optional<table_plan> plan = table_planner(usual).plan();
  if (!plan) plan = table_planner(needs).plan();
  if (!plan) return std::nullopt;
  return plan->memory(slot_bytes_of(needs)).total();
}

/// A design whose operations cost least, and the needs that it is the plan of.
struct cheapest {
  table_needs needs{};
  std::optional<table_plan> plan{};
  double cost = 0;

  void offer(const table_needs& other) {
    const std::optional<table_plan> found = table_planner(other).plan();
    if (!found) return;
    const double mean = costs_unchecked(*found, *other.costs).mean;
    if (!plan || mean < cost) *this = {other, found, mean};
  }
};

/// Of the designs in one memory, by the number of choices: entry d - 1 is the best with d, or has
/// no plan.
std::vector<cheapest> cheapest_by_choices(const table_needs& needs) {
  std::vector<cheapest> best(needs.scheme == scheme_kind::single ? 1 : needs.largest_choices);
  const std::optional<std::uint64_t> bytes = bytes_to_compare(needs);
  if (!bytes) return best;
  // Costs change by a few percent from step to step.
  constexpr double least = 1e-9, step = 0.31622776601683794;
  for (std::uint32_t choices = 1; choices <= best.size(); ++choices) {
    table_needs other = needs;
    other.largest_choices = choices;
    other.load_factor.reset();
    other.bytes = bytes;
    for (double overflow = needs.overflow_fraction;
         overflow >= std::min(least, needs.overflow_fraction); overflow *= step) {
      other.overflow_fraction = overflow;
      best[choices - 1].offer(other);
    }
  }
  return best;
}

const cheapest* cheapest_of(const std::vector<cheapest>& all) {
  const cheapest* best = nullptr;
  for (const cheapest& each : all)
    if (each.plan && (best == nullptr || each.cost < best->cost)) best = &each;
  return best;
}

/// What operations cost in so many bytes, with all choices that are allowed; infinite where there
/// is no plan. Coarser than the above, and never less.
double cost_within(const table_needs& needs, std::uint64_t bytes) {
  constexpr double least = 1e-9, step = 0.01;
  table_needs other = needs;
  other.bytes = bytes;
  cheapest best{.cost = std::numeric_limits<double>::infinity()};
  for (double overflow = needs.overflow_fraction;
       overflow >= std::min(least, needs.overflow_fraction); overflow *= step) {
    other.overflow_fraction = overflow;
    best.offer(other);
  }
  return best.cost;
}

/// The most memory that is planned for a need, and the least.
struct memory_range {
  std::uint64_t least, most;
};
std::optional<memory_range> memory_for(const table_needs& needs) {
  const std::uint32_t slot = slot_bytes_of(needs);
  const std::optional<table_plan> smallest = table_planner(needs).smallest();
  table_needs empty = needs;
  empty.load_factor = emptiest;
  const std::optional<table_plan> largest = table_planner(empty).plan();
  if (!smallest || !largest) return std::nullopt;
  const std::uint64_t least = smallest->memory(slot).total();
  return memory_range{least, std::max(least, largest->memory(slot).total())};
}

/// The least memory, to a percent, in which operations keep to the budget; the most if in none.
std::optional<std::uint64_t> bytes_for_budget(const table_needs& needs) {
  const std::optional<memory_range> range = memory_for(needs);
  if (!range) return std::nullopt;
  const auto fits = [&](double bytes) {
    return cost_within(needs, static_cast<std::uint64_t>(bytes)) <= *needs.budget;
  };
  auto low = static_cast<double>(range->least), high = static_cast<double>(range->most);
  if (fits(low)) return range->least;
  if (!fits(high)) return range->most;
  while (high > 1.01 * low) {
    const double middle = std::sqrt(low * high);
    (fits(middle) ? high : low) = middle;
  }
  return static_cast<std::uint64_t>(high);
}

std::string why_cheapest(const table_needs& needs, const cheapest& best) {
  const std::string memory = needs.budget && !needs.load_factor && !needs.bytes
                                 ? "The least memory in which an operation costs no more than " +
                                       show(*needs.budget) + " on average. "
                                 : "";
  return memory + "Of all with up to " + std::to_string(needs.largest_choices) +
         " choices in the same memory, and up to " + show(needs.overflow_fraction) +
         " in the overflow, the one whose operations cost least. Its levels let " +
         show(best.needs.overflow_fraction, "%.2g") + " overflow with " +
         show(100 * needs.overfill, "%.3g") + " % more elements.";
}

/// The best with other numbers of choices, and what would have been planned without costs.
std::vector<table_alternative> alternatives_by_cost(const table_needs& needs,
                                                    const std::vector<cheapest>& all,
                                                    const cheapest& best) {
  std::vector<table_alternative> others;
  const auto offer = [&](std::string name, const std::optional<table_plan>& plan) {
    std::string why = "cannot meet the need";
    if (plan) {
      const double ratio = costs_unchecked(*plan, *needs.costs).mean / best.cost;
      why = std::abs(ratio - 1) < 5e-4
                ? "operations cost the same"
                : "operations cost " + show(100 * std::abs(ratio - 1), "%.1f") +
                      (ratio > 1 ? " % more" : " % less");
      why += ", " + compared(*plan, *best.plan, slot_bytes_of(needs));
    }
    others.push_back({.name = std::move(name), .plan = plan, .why = why});
  };
  for (std::size_t i = 0; i < all.size(); ++i)
    if (&all[i] != &best)
      offer(i == 0 ? "1 choice" : std::to_string(i + 1) + " choices", all[i].plan);
  table_needs least = best.needs;
  least.largest_choices = needs.largest_choices;
  least.overflow_fraction = std::min(needs.overflow_fraction, table_needs{}.overflow_fraction);
  offer("overflow " + show(least.overflow_fraction, "%.0e"), table_planner(least).plan());
  return others;
}

std::string why_over_budget(const table_needs& needs, const cheapest& best) {
  const bool in_any = !needs.load_factor && !needs.bytes;
  return "No plan: an operation costs " + show(best.cost, "%.8g") + " on average in " +
         (in_any ? "a table as empty as " + show(emptiest) : "the memory that is given") +
         ", or more; found a budget of " + show(*needs.budget, "%.8g") + ".";
}

std::vector<std::string> warnings_of(const table_proposal& proposal) {
  const table_plan& plan = *proposal.plan;
  std::vector<std::string> all;
  // Fewer buckets than this, and their loads are far from those of many.
  constexpr std::uint64_t few = 16;
  const std::uint64_t smallest =
      *std::min_element(plan.level_buckets.begin(), plan.level_buckets.begin() + plan.levels);
  if (smallest < few)
    all.push_back("Too small for exact predictions: a level of " + std::to_string(smallest) +
                  (smallest == 1 ? " bucket" : " buckets") +
                  ", and the model is the limit of many; more may overflow than it says.");
  if (proposal.full_factor < proposal.overfill[1].factor)
    all.push_back("Sensitive to over-fill: with " + show(100 * (proposal.full_factor - 1), "%.1f") +
                  " % more elements it is full. An overfill of 0.05 buys room for 5 %.");
  return all;
}

/// The largest power of two up to 8 that divides a size.
std::uint32_t alignment_of(std::uint32_t bytes) {
  return bytes == 0 ? 1 : std::min<std::uint32_t>(8, 1u << std::countr_zero(bytes));
}

}  // namespace
}  // namespace planning

std::uint32_t slot_bytes_of(const table_needs& needs) {
  using planning::alignment_of;
  if (needs.slot_bytes) return *needs.slot_bytes;
  const auto aligned = [](std::uint32_t bytes, std::uint32_t to) {
    return (bytes + to - 1) / to * to;
  };
  const std::uint32_t key = alignment_of(needs.key_bytes), value = alignment_of(needs.value_bytes);
  return aligned(aligned(needs.key_bytes, value) + needs.value_bytes, std::max(key, value));
}

table_proposal plan_table(const table_needs& needs) {
  using namespace planning;
  check(needs);
  const table_planner by(needs);
  const bool brief = needs.detail == plan_detail::plan_only;
  table_proposal proposal;
  table_needs sized = needs;
  if (needs.budget && !needs.load_factor && !needs.bytes) sized.bytes = bytes_for_budget(needs);
  const std::vector<cheapest> by_choices =
      needs.costs ? cheapest_by_choices(sized) : std::vector<cheapest>{};
  const cheapest* best = cheapest_of(by_choices);
  if (needs.budget && best != nullptr && best->cost > *needs.budget) {
    proposal.reason = why_over_budget(needs, *best);
    proposal.nearest = needs;
    proposal.nearest->budget = (1 + 1e-9) * best->cost;
    return proposal;
  }
  proposal.plan = needs.costs && best != nullptr ? best->plan : by.plan();
  if (!proposal.plan) {
    const std::optional<table_plan> smallest = by.smallest();
    proposal.reason = why_none(needs, by, smallest);
    if (!brief) proposal.nearest = nearest_to(needs, by, smallest);
    return proposal;
  }
  proposal.reason = best != nullptr ? why_cheapest(needs, *best) : why_this(needs);
  if (brief) return proposal;
  const table_plan& plan = *proposal.plan;
  constexpr std::array<double, 3> factors{1.01, 1.05, 1.2};
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const double elements = std::ceil(factors[i] * static_cast<double>(plan.elements));
    proposal.overfill[i] = {.factor = factors[i],
                            .elements = static_cast<std::uint64_t>(elements),
                            .predicted = predict(plan, elements, by.loss())};
  }
  proposal.full_factor = full_factor_of(plan, by.loss());
  proposal.cam = {.mean_entries = plan.predicted.overflow_mean,
                  .entries = static_cast<std::uint64_t>(model::reserve_for(
                      {plan.predicted.overflow_mean, plan.predicted.overflow_deviation},
                      needs.exceed_probability)),
                  .tail_probability = needs.exceed_probability,
                  .entries_over_full = plan.overflow_reserve,
                  .entry_bits = 8 * (needs.key_bytes + needs.value_bytes)};
  proposal.alternatives = best != nullptr ? alternatives_by_cost(sized, by_choices, *best)
                                          : alternatives_to(needs, plan);
  proposal.warnings = warnings_of(proposal);
  return proposal;
}

table_design design_table(const table_needs& needs) {
  using namespace planning;
  check(needs);
  if (needs.scheme && *needs.scheme != scheme_kind::multilevel)
    refuse("scheme must be multilevel for a design; found " + std::string(name_of(*needs.scheme)));
  if (needs.load_factor || needs.bytes) refuse("load_factor and bytes must be absent for a design");
  return table_planner(needs).default_design();
}

}  // namespace oneprobe::inline v0_1
