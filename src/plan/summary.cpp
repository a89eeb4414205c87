#include "oneprobe/plan/summary.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

#include "needs_check.hpp"
#include "oneprobe/model/finite_size.hpp"
#include "oneprobe/model/reconstruction.hpp"
#include "oneprobe/model/summary.hpp"
#include "summary_filters.hpp"
#include "summary_levels.hpp"

namespace oneprobe::inline v0_1 {
namespace planning {
namespace {

constexpr double least_failure = 1e-30, most_failure = 0.5;
constexpr double least_false_positive = 1e-9, most_false_positive = 0.5;
constexpr double least_deleted = 1e-3, most_deleted = 1;
/// Of the failures that are allowed, so many are left to elements that find no room at all.
constexpr double crisis_share = 0.1;
/// ... and so many to counters that are full: few enough to be left out of what is predicted.
constexpr double counter_share = 0.01;
/// The paper's goal: buckets of one slot for each element.
constexpr double default_buckets_per_element = 6;

bool is_lazy(summary_deletion deletion) {
  return deletion == summary_deletion::lazy || deletion == summary_deletion::incremental;
}

void check(const summary_needs& needs) {
  if (needs.elements < 1 || needs.elements > summary_plan::most_slots / 2)
    refuse("elements must be 1 to 2^31 - 1; found " + std::to_string(needs.elements));
  check_range("bucket_capacity", needs.bucket_capacity, 1, summary_plan::most_bucket_capacity);
  check_range("element_bytes", needs.element_bytes, 1, 65536);
  check_range("false_positive_probability", needs.false_positive_probability, least_false_positive,
              most_false_positive);
  check_range("deleted_fraction", needs.deleted_fraction, least_deleted, most_deleted);
  if (needs.failure_probability && needs.summary_bytes)
    refuse("at most one of failure_probability and summary_bytes must be given; found both");
  if (needs.failure_probability)
    check_range("failure_probability", *needs.failure_probability, least_failure, most_failure);
  if (needs.summary_bytes && *needs.summary_bytes == 0)
    refuse("summary_bytes must be at least 1; found 0");
  if (needs.slow_bytes && *needs.slow_bytes == 0) refuse("slow_bytes must be at least 1; found 0");
  if (needs.kind && *needs.kind > summary_kind::interpolation)
    refuse("kind must be single-filter, multi-filter or interpolation; found " +
           std::to_string(static_cast<unsigned>(*needs.kind)));
  if (needs.departures > summary_departures::first_level)
    refuse("departures must be any or first-level; found " +
           std::to_string(static_cast<unsigned>(needs.departures)));
  if (needs.departures != summary_departures::any && needs.deletion == summary_deletion::none)
    refuse("departures must be any where deletion is none; found " +
           std::string(name_of(needs.departures)));
  if (needs.deletion > summary_deletion::counting)
    refuse("deletion must be none, lazy, incremental or counting; found " +
           std::to_string(static_cast<unsigned>(needs.deletion)));
  if (needs.kind == summary_kind::interpolation && is_lazy(needs.deletion))
    refuse("deletion must be none or counting where kind is interpolation; found " +
           std::string(name_of(needs.deletion)));
}

level_law law_of(const summary_plan& plan) {
  return {plan.bucket_capacity, plan.deletion == summary_deletion::counting,
          plan.departures == summary_departures::first_level};
}

/// Elements in the buckets, marked ones included.
std::uint64_t held(const summary_plan& plan) {
  return plan.elements + (plan.is_lazy() ? plan.deleted_limit : 0);
}

level_loads loads_in(const summary_plan& plan) {
  const std::vector<double> buckets(plan.level_buckets.begin(),
                                    plan.level_buckets.begin() + plan.levels);
  return loads_of(law_of(plan), static_cast<double>(held(plan)), buckets);
}

/// Whether SSH's calculators know this table.
bool is_exact(const summary_plan& plan) {
  return plan.bucket_capacity == 1 && plan.deletion != summary_deletion::counting &&
         plan.departures == summary_departures::any;
}

model::summary_error exact_error(const summary_plan& plan) {
  const auto levels = std::span(plan.level_buckets).first(plan.levels);
  if (plan.kind == summary_kind::single_filter)
    return model::single_filter_summary(held(plan), levels, plan.filter_cells[0],
                                        plan.filter_hashes[0]);
  const std::vector<unsigned> hashes(plan.filter_hashes.begin(),
                                     plan.filter_hashes.begin() + plan.levels);
  return model::multi_filter_summary(held(plan), levels,
                                     std::span(plan.filter_cells).first(plan.levels), hashes);
}

/// P(an absent key is sent to each level).
std::vector<double> sent_to(const summary_plan& plan, const level_loads& loads) {
  if (plan.kind == summary_kind::interpolation) {
    const double each = plan.strings().false_positive_probability(loads.elements) / loads.elements;
    std::vector<double> sent;
    for (const double stored : loads.stored)
      sent.push_back(each * std::min(stored, loads.elements));
    return sent;
  }
  std::vector<double> passes;  // to this level or beyond
  for (std::uint32_t i = 0; i < plan.levels; ++i) {
    const bool one = plan.kind == summary_kind::single_filter;
    const filter_size filter{static_cast<double>(plan.filter_cells[one ? 0 : i]),
                             plan.filter_hashes[one ? 0 : i]};
    const double all = loads.from(i);
    if (one)
      passes.push_back(all_raised(filter, all));
    else
      passes.push_back((i == 0 ? 1 : passes.back()) * all_set(filter, all));
  }
  std::vector<double> sent;
  for (std::uint32_t i = 0; i < plan.levels; ++i)
    sent.push_back(passes[i] - (i + 1 < plan.levels ? passes[i + 1] : 0));
  return sent;
}

double expected_moves(const summary_plan& plan, const level_loads& loads) {
  if (!plan.is_lazy()) return 0;
  const double share = static_cast<double>(plan.deleted_limit) / static_cast<double>(plan.elements);
  if (plan.bucket_capacity == 1)
    return model::expected_moves(std::span(plan.level_buckets).first(plan.levels), plan.elements,
                                 std::min(share, 1.0), model::deletion_order::uniform);
  // At most those beyond the first level of which a bucket on the way loses an element.
  const double stays = 1 / (1 + share);
  return loads.from(1) * stays * -std::expm1(plan.bucket_capacity * std::log(stays));
}

summary_prediction predict(const summary_plan& plan) {
  const level_loads loads = loads_in(plan);
  const std::vector<double> failures = expected_failures(plan, loads);
  const double failing = std::accumulate(failures.begin(), failures.end(), 0.0);
  const auto n = static_cast<double>(held(plan));
  summary_prediction predicted;
  const std::vector<double> sent = sent_to(plan, loads);
  for (std::uint32_t i = 0; i < plan.levels; ++i) {
    predicted.false_positive_probability += sent[i];
    predicted.absent_read_probability += sent[i] * loads.nonempty[i];
  }
  predicted.failure_probability = std::min(1.0, failing);
  predicted.crisis_probability = std::min(1.0, loads.left);
  predicted.overflow_mean = failing + loads.left;
  if (is_exact(plan) && plan.kind == summary_kind::interpolation) {
    predicted.crisis_probability =
        model::crisis(held(plan), std::span(plan.level_buckets).first(plan.levels))
            .crisis_probability;
    predicted.overflow_mean = std::max(
        predicted.overflow_mean, predicted.failure_probability + predicted.crisis_probability);
  } else if (is_exact(plan)) {
    const model::summary_error error = exact_error(plan);
    predicted.failure_probability = error.failure_probability;
    predicted.crisis_probability = error.crisis_probability;
    predicted.overflow_mean =
        std::max(predicted.overflow_mean, error.failure_probability + error.crisis_probability);
  }
  predicted.equal_hash_probability = -std::expm1(-std::ldexp(n * (n - 1) / 2, -64));
  predicted.reconstruction_moves = expected_moves(plan, loads);
  return predicted;
}

/// How many elements are in the overflow at a time, during a reconstruction at the most.
double waiting_in(const summary_plan& plan) {
  // Elements that leave in the order in which they came make way for more than random ones: all
  // elements that came later, and found no room because of them, are still there.
  constexpr double moves_in_any_order = 2.5;
  return plan.predicted.overflow_mean + moves_in_any_order * plan.predicted.reconstruction_moves;
}

/// What follows from the sizes.
void complete(summary_plan& plan) {
  plan.predicted = predict(plan);
  const double waiting = waiting_in(plan);
  plan.overflow_reserve =
      static_cast<std::uint64_t>(std::ceil(waiting + 6 * std::sqrt(waiting))) + 16;
  if (plan.deletion != summary_deletion::incremental) return;
  // One begins with half of the marked elements and has as many changes to end. A line of cells and
  // four list entries are cleared at a time.
  const std::uint64_t pieces =
      std::max((plan.filter_bytes() + 63) / 64, (plan.elements + plan.slots() + 3) / 4);
  const std::uint64_t work = plan.slots() + plan.overflow_reserve + pieces + 2;
  const std::uint64_t changes = std::max<std::uint64_t>(1, plan.deleted_limit / 2);
  plan.work_per_change = (work + changes - 1) / changes;
}

/// Plans for one need.
class summary_planner {
 public:
  summary_planner(const summary_needs& needs, summary_kind kind) : needs_(needs) {
    base_.kind = kind;
    base_.deletion = needs.deletion;
    base_.departures = needs.departures;
    base_.elements = needs.elements;
    base_.bucket_capacity = needs.bucket_capacity;
    base_.work_per_change = needs.deletion == summary_deletion::incremental ? 1 : 0;
    if (base_.is_lazy())
      base_.deleted_limit = static_cast<std::uint64_t>(
          std::ceil(needs.deleted_fraction * static_cast<double>(needs.elements)));
  }

  /// Slow memory of so many buckets.
  std::uint64_t slow_bytes_of(double buckets) const {
    summary_plan plan = base_;
    plan.level_buckets[0] = static_cast<std::uint64_t>(buckets);
    return plan.slot_bytes(needs_.element_bytes) + plan.guard_bytes();
  }
  /// The buckets that there may be; none: as many as they need.
  std::optional<double> buckets() const {
    if (needs_.slow_bytes) {
      const double with_one = static_cast<double>(slow_bytes_of(1)),
                   each = static_cast<double>(slow_bytes_of(1'000'001) - slow_bytes_of(1)) / 1e6;
      // Emptier tables would only need larger summaries.
      constexpr double most_slots_per_element = 64;
      const double most =
          std::min(static_cast<double>(summary_plan::most_slots),
                   std::ceil(most_slots_per_element * static_cast<double>(held(base_)))) /
          needs_.bucket_capacity;
      return std::floor(
          std::min(most, 1 + (static_cast<double>(*needs_.slow_bytes) - with_one) / each));
    }
    if (needs_.bucket_capacity == 1)
      return std::ceil(default_buckets_per_element * static_cast<double>(held(base_)));
    return std::nullopt;
  }
  /// The fewest buckets that have room for all elements in any number of levels; some more, so that
  /// most are in the first.
  double enough_buckets(double failure) const {
    const auto n = static_cast<double>(held(base_));
    constexpr double fuller = 0.97, spare = 1.1;
    double buckets = std::max(2.0, n / (0.97 * needs_.bucket_capacity));
    while (!any_levels(buckets, failure)) buckets /= fuller;
    return std::ceil(spare * buckets);
  }
  bool any_levels(double buckets, double failure) const {
    for (std::uint32_t levels = 1; levels <= summary_plan::most_levels; ++levels)
      if (levels_of(buckets, levels, failure)) return true;
    return false;
  }

  /// The plan with the least fast memory that fails no more often; none if so many
  /// buckets have no room.
  std::optional<summary_plan> for_failure(double buckets, double failure) const {
    std::optional<summary_plan> best = sized(buckets, failure);
    // Sizes come from means and from levels as if they were large: what is predicted has the last
    // word.
    double target = failure;
    constexpr int most_attempts = 30;
    for (int attempt = 0; attempt < most_attempts && best; ++attempt) {
      const summary_prediction found = predict(*best);
      const double fails = found.failure_probability + found.crisis_probability;
      if (fails <= failure) return best;
      target *= 0.8 * failure / fails;
      best = sized(buckets, target);
    }
    return std::nullopt;
  }
  /// The plan that fails least often within so many bytes; none if there is none.
  std::optional<summary_plan> within(double buckets, std::uint64_t bytes) const {
    const auto fits = [&](double failure) -> std::optional<summary_plan> {
      std::optional<summary_plan> plan = sized(buckets, failure);
      if (plan && plan->summary_bytes() > bytes) plan.reset();
      return plan;
    };
    std::optional<summary_plan> best = fits(most_failure);
    if (!best) return std::nullopt;
    double low = std::log(least_failure), high = std::log(most_failure);
    while (high - low > 0.05) {
      const double middle = (low + high) / 2;
      if (std::optional<summary_plan> plan = fits(std::exp(middle))) {
        best = plan;
        high = middle;
      } else {
        low = middle;
      }
    }
    return best;
  }

 private:
  std::optional<std::vector<double>> levels_of(double buckets, std::uint32_t levels,
                                               double failure) const {
    return levels_with_skew(law_of(base_), static_cast<double>(held(base_)), buckets, levels,
                            crisis_share * failure);
  }
  /// By means.
  std::optional<summary_plan> sized(double buckets, double failure) const {
    if (base_.kind == summary_kind::interpolation) return with_strings(buckets, failure);
    std::optional<summary_plan> best;
    for (std::uint32_t levels = 1; levels <= summary_plan::most_levels; ++levels) {
      const std::optional<std::vector<double>> sizes = levels_of(buckets, levels, failure);
      if (!sizes) continue;
      summary_plan plan = base_;
      plan.levels = levels;
      for (std::uint32_t i = 0; i < levels; ++i)
        plan.level_buckets[i] = static_cast<std::uint64_t>((*sizes)[i]);
      const level_loads loads = loads_in(plan);
      size_filters(plan, loads, (1 - crisis_share) * failure, needs_.false_positive_probability);
      if (plan.deletion == summary_deletion::counting && plan.filters() != 0)
        size_counters(plan, loads, counter_share * failure / levels);
      if (find_fault(plan)) continue;
      if (!best || plan.summary_bytes() < best->summary_bytes()) best = plan;
    }
    return best;
  }
  /// Strings hardly depend on the levels: they have those that are best for several filters.
  std::optional<summary_plan> with_strings(double buckets, double failure) const {
    const std::optional<summary_plan> filters =
        summary_planner(needs_, summary_kind::multi_filter).sized(buckets, failure);
    if (!filters) return std::nullopt;
    summary_plan plan = base_;
    plan.levels = filters->levels;
    plan.level_buckets = filters->level_buckets;
    size_filters(plan, loads_in(plan), (1 - crisis_share) * failure,
                 needs_.false_positive_probability);
    if (find_fault(plan)) return std::nullopt;
    return plan;
  }

  const summary_needs& needs_;
  summary_plan base_;
};

std::vector<summary_kind> kinds_of(const summary_needs& needs) {
  if (needs.kind) return {*needs.kind};
  return {summary_kind::multi_filter, summary_kind::single_filter, summary_kind::interpolation};
}

/// One kind's plan, complete.
std::optional<summary_plan> plan_of_kind(const summary_needs& needs, summary_kind kind) {
  if (kind == summary_kind::interpolation && is_lazy(needs.deletion)) return std::nullopt;
  const summary_planner planner(needs, kind);
  const double failure = needs.failure_probability.value_or(default_summary_failure);
  const std::optional<double> wanted = planner.buckets();
  const double room_for = needs.summary_bytes ? most_failure : failure;
  const bool enough = wanted && (needs.slow_bytes || planner.any_levels(*wanted, room_for));
  const double buckets = enough ? *wanted : planner.enough_buckets(room_for);
  if (buckets < 1) return std::nullopt;
  std::optional<summary_plan> plan = needs.summary_bytes
                                         ? planner.within(buckets, *needs.summary_bytes)
                                         : planner.for_failure(buckets, failure);
  if (plan) complete(*plan);
  return plan;
}

double fails(const summary_plan& plan) {
  return std::min(1.0, plan.predicted.failure_probability + plan.predicted.crisis_probability);
}

/// Less memory is better, or within given memory less failure.
bool is_better(const summary_needs& needs, const summary_plan& one, const summary_plan& other) {
  return needs.summary_bytes ? fails(one) < fails(other)
                             : one.summary_bytes() < other.summary_bytes();
}

std::optional<summary_plan> best_plan(const summary_needs& needs) {
  std::optional<summary_plan> best;
  for (const summary_kind kind : kinds_of(needs))
    if (const std::optional<summary_plan> plan = plan_of_kind(needs, kind))
      if (!best || is_better(needs, *plan, *best)) best = plan;
  return best;
}

std::string bytes_text(std::uint64_t bytes) { return std::to_string(bytes) + " bytes"; }

std::string why_chosen(const summary_needs& needs, const summary_plan& plan) {
  const double n = static_cast<double>(plan.elements);
  return std::string(name_of(plan.kind)) + " summary of " +
         show(static_cast<double>(plan.summary_bytes()) / n, "%.2f") +
         " bytes per element in fast memory, " +
         (needs.summary_bytes ? "the one that fails least within them"
                              : "the least that fails no more often than asked");
}

summary_proposal refusal(const summary_needs& needs) {
  summary_proposal proposal;
  summary_needs nearest = needs;
  const summary_planner planner(needs, kinds_of(needs).front());
  const double failure = needs.failure_probability.value_or(
      needs.summary_bytes ? most_failure : default_summary_failure);
  const bool has_room = !needs.slow_bytes || planner.any_levels(planner.buckets().value(), failure);
  if (!has_room) {
    nearest.slow_bytes = planner.slow_bytes_of(planner.enough_buckets(failure));
    proposal.reason =
        "In the slow memory that is allowed, no table of up to 8 levels has room for " +
        std::to_string(needs.elements) +
        " elements and fails no more often than with probability " + show(failure) + ".";
  } else if (needs.summary_bytes) {
    summary_needs other = needs;
    other.summary_bytes.reset();
    other.failure_probability = most_failure;
    if (const std::optional<summary_plan> least = best_plan(other)) {
      nearest.summary_bytes = least->summary_bytes();
      proposal.reason = "A summary with so few false positives takes at least " +
                        bytes_text(least->summary_bytes()) + " of fast memory; allowed are " +
                        bytes_text(*needs.summary_bytes) + ".";
    }
  }
  if (proposal.reason.empty())
    proposal.reason =
        "No table of up to 2^32 - 2 slots in 8 levels, with as many cells and 64 hashes per "
        "filter, "
        "does that.";
  else if (best_plan(nearest))
    proposal.nearest = nearest;
  return proposal;
}

std::string compared(const summary_needs& needs, const summary_plan& other,
                     const summary_plan& chosen) {
  if (needs.summary_bytes)
    return "fails with probability " + show(fails(other)) + " in the same bytes, not " +
           show(fails(chosen));
  return "takes " +
         show(static_cast<double>(other.summary_bytes()) /
              static_cast<double>(chosen.summary_bytes())) +
         " times the fast memory";
}

void add_alternatives(const summary_needs& needs, summary_proposal& proposal) {
  const summary_plan& chosen = *proposal.plan;
  for (const summary_kind kind :
       {summary_kind::multi_filter, summary_kind::single_filter, summary_kind::interpolation}) {
    if (kind == chosen.kind) continue;
    summary_alternative other{.name = std::string(name_of(kind)), .plan = {}, .why = {}};
    other.plan = plan_of_kind(needs, kind);
    other.why = other.plan ? compared(needs, *other.plan, chosen) : "cannot meet the need";
    if (kind == summary_kind::interpolation && chosen.is_lazy())
      other.why = "forgets what is erased: it has counting deletion only";
    proposal.alternatives.push_back(std::move(other));
  }
  if (needs.deletion == summary_deletion::none) return;
  for (const summary_deletion deletion :
       {summary_deletion::lazy, summary_deletion::incremental, summary_deletion::counting}) {
    if (deletion == needs.deletion) continue;
    summary_needs changed = needs;
    changed.deletion = deletion;
    changed.kind = chosen.kind;
    summary_alternative other{
        .name = std::string(name_of(deletion)) + " deletion", .plan = {}, .why = {}};
    other.plan = plan_of_kind(changed, chosen.kind);
    other.why = other.plan ? compared(needs, *other.plan, chosen) : "cannot meet the need";
    proposal.alternatives.push_back(std::move(other));
  }
}

constexpr double over_full = 1.05;

/// A table with 5 % more elements than planned.
summary_plan over_filled(summary_plan plan) {
  plan.elements =
      static_cast<std::uint64_t>(std::ceil(over_full * static_cast<double>(plan.elements)));
  plan.predicted = predict(plan);
  return plan;
}

/// Elements fail one by one, so that their number is nearly a Poisson one.
cam_forecast cam_of(const summary_plan& plan, const summary_plan& over_filled,
                    std::uint32_t element_bytes) {
  const auto entries = [](double mean) {
    return static_cast<std::uint64_t>(
        model::reserve_for({mean, std::sqrt(mean)}, default_cam_tail));
  };
  return {.mean_entries = waiting_in(plan),
          .entries = entries(waiting_in(plan)),
          .tail_probability = default_cam_tail,
          .entries_over_full = entries(waiting_in(over_filled)),
          .entry_bits = 8 * element_bytes};
}

std::vector<std::string> warnings_of(const summary_proposal& proposal) {
  const summary_plan& plan = *proposal.plan;
  std::vector<std::string> all;
  // Fewer buckets than this, and their loads are far from those of many.
  constexpr std::uint64_t few = 16;
  const std::uint64_t smallest =
      *std::min_element(plan.level_buckets.begin(), plan.level_buckets.begin() + plan.levels);
  if (!is_exact(plan) && smallest < few)
    all.push_back("Too small for exact predictions: a level of " + std::to_string(smallest) +
                  (smallest == 1 ? " bucket" : " buckets") +
                  ", and the model is the limit of many.");
  // Failures grow with a power of the elements; ten times as many with 5 % more is a cliff.
  if (proposal.over_full_failure > 10 * fails(plan))
    all.push_back(
        "Sensitive to over-fill: with 5 % more elements any element fails or finds no "
        "room with probability " +
        show(proposal.over_full_failure, "%.2g") + ", not " + show(fails(plan), "%.2g") + ".");
  if (plan.predicted.equal_hash_probability > fails(plan))
    all.push_back("Near the end of 64-bit hashes: two equal ones, with probability " +
                  show(plan.predicted.equal_hash_probability, "%.2g") +
                  ", are likelier than any other failure.");
  return all;
}

// ---- the paper's designs ----

summary_plan paper_table(std::uint64_t elements, std::vector<std::uint64_t> levels) {
  summary_plan plan;
  plan.elements = elements;
  plan.levels = static_cast<std::uint32_t>(levels.size());
  std::copy(levels.begin(), levels.end(), plan.level_buckets.begin());
  return plan;
}
summary_plan with_one(summary_plan plan, std::uint64_t cells, std::uint32_t hashes) {
  plan.kind = summary_kind::single_filter;
  plan.filter_cells[0] = cells;
  plan.filter_hashes[0] = hashes;
  return plan;
}
summary_plan with_several(summary_plan plan, std::vector<std::uint64_t> cells) {
  plan.kind = summary_kind::multi_filter;
  std::copy(cells.begin(), cells.end(), plan.filter_cells.begin());
  std::fill_n(plan.filter_hashes.begin(), plan.levels, 49);
  plan.filter_hashes[0] = 7;
  return plan;
}
summary_plan with_packed_strings(summary_plan plan, std::uint32_t bits) {
  plan.kind = summary_kind::interpolation;
  plan.remainder_bits = bits;
  return plan;
}
summary_plan counted(summary_plan plan, std::vector<std::uint32_t> widths) {
  plan.deletion = summary_deletion::counting;
  std::copy(widths.begin(), widths.end(), plan.counter_bits.begin());
  plan.counted_once_from = 3;
  return plan;
}
summary_plan lazily(summary_plan plan, summary_deletion deletion) {
  plan.deletion = deletion;
  plan.elements = 9'090;
  plan.deleted_limit = 909;
  plan.work_per_change = deletion == summary_deletion::incremental ? 1 : 0;  // until it is known
  return plan;
}

std::vector<named_summary> all_paper_summaries() {
  const summary_plan small = paper_table(10'000, {40'000, 10'000, 5'000, 2'500, 2'500});
  const summary_plan large =
      paper_table(100'000, {400'000, 100'000, 50'000, 25'000, 12'500, 12'500});
  const summary_plan several = with_several(small, {106'000, 87'500, 5'500, 500, 100});
  return {
      {"ssh-10k-single", "Section IX", with_one(small, 120'000, 15)},
      {"ssh-10k-single-small", "Section X", with_one(small, 100'000, 10)},
      {"ssh-10k-multi", "Section IX", several},
      {"ssh-100k-single", "Section IX", with_one(large, 1'200'000, 15)},
      {"ssh-100k-multi", "Section IX, errata 1.1 and 1.2",
       with_several(large, {1'060'000, 875'000, 55'000, 1'000, 1'000, 1'000})},
      {"ssh-10k-counting", "Section XI-B, cautious widths", counted(several, {4, 4, 4, 4, 2})},
      {"ssh-10k-counting-bold", "Section XI-B, bold widths", counted(several, {4, 4, 4, 3, 1})},
      {"ssh-10k-lazy", "Section XI-A", lazily(several, summary_deletion::lazy)},
      {"ssh-10k-incremental", "Section XI-A", lazily(several, summary_deletion::incremental)},
      {"ssh-10k-interpolation", "Section VII", with_packed_strings(small, 55)},
      {"ssh-100k-interpolation", "Section VII", with_packed_strings(large, 61)},
  };
}

}  // namespace
}  // namespace planning

summary_proposal plan_summary(const summary_needs& needs) {
  planning::check(needs);
  summary_proposal proposal;
  proposal.plan = planning::best_plan(needs);
  if (!proposal.plan) return planning::refusal(needs);
  proposal.reason = planning::why_chosen(needs, *proposal.plan);
  if (needs.detail != plan_detail::full) return proposal;
  planning::add_alternatives(needs, proposal);
  const summary_plan over_filled = planning::over_filled(*proposal.plan);
  proposal.over_full_failure = planning::fails(over_filled);
  proposal.cam = planning::cam_of(*proposal.plan, over_filled, needs.element_bytes);
  proposal.warnings = planning::warnings_of(proposal);
  return proposal;
}

summary_prediction predict_summary(const summary_plan& plan) {
  check_plan(plan);
  if (plan.kind == summary_kind::own)
    planning::refuse("kind must be single-filter, multi-filter or interpolation; found own");
  return planning::predict(plan);
}

std::vector<double> expected_levels(const summary_plan& plan) {
  check_plan(plan);
  return planning::loads_in(plan).stored;
}

const std::vector<named_summary>& paper_summaries() {
  static const std::vector<named_summary> all = planning::all_paper_summaries();
  return all;
}

std::optional<summary_plan> paper_summary(std::string_view name) {
  for (const named_summary& one : paper_summaries()) {
    if (one.name != name) continue;
    summary_plan plan = one.plan;
    planning::complete(plan);
    return plan;
  }
  return std::nullopt;
}

}  // namespace oneprobe::inline v0_1
