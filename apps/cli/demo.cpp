#include "demo.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "command.hpp"
#include "oneprobe/model/churn.hpp"
#include "oneprobe/model/finite_size.hpp"
#include "oneprobe/model/fluid.hpp"
#include "oneprobe/model/overflow_bound.hpp"
#include "oneprobe/model/partition.hpp"

namespace oneprobe::cli {
namespace {

using model::scheme_kind;

constexpr double elements = 1'000'000;

// The papers' own example (OFH, Section VII): as many slots as elements, four choices.
constexpr double full_load = 1.0;
constexpr unsigned small_bucket = 4;
constexpr unsigned choices = 4;
// A table to live with: buckets of a cache line, hardly any overflow.
constexpr unsigned large_bucket = 8;
constexpr double wanted_overflow = 1e-6;
constexpr double churning_load = 0.9;

struct placement {
  std::string name;
  model::fluid_parameters parameters;
};

/// What one scheme does to the full table.
struct outcome {
  std::string name;
  model::fluid_state state;
  model::overflow_spread spread;
  double bound;  // least overflow of any scheme with the same accesses
};

std::vector<placement> placements() {
  const auto scheme = [](scheme_kind kind, std::vector<double> levels = {}) {
    return model::fluid_parameters{.scheme = kind,
                                   .load_factor = full_load,
                                   .bucket_capacity = small_bucket,
                                   .choices = kind == scheme_kind::single ? 1 : choices,
                                   .level_fractions = std::move(levels)};
  };
  return {
      {"single", scheme(scheme_kind::single)},
      {"sequential", scheme(scheme_kind::sequential)},
      {"multilevel, meets bound",
       scheme(scheme_kind::multilevel,
              model::multilevel_cutoff(full_load, small_bucket, choices).level_fractions)},
      {"multilevel, least overflow",
       scheme(scheme_kind::multilevel,
              model::least_overflow_partition(full_load, small_bucket, choices).level_fractions)},
      {"d-random", scheme(scheme_kind::d_random)},
      {"d-left", scheme(scheme_kind::d_left)},
  };
}

outcome outcome_of(const placement& what) {
  const model::fluid_state state = model::fluid_limit(what.parameters);
  return {what.name, state, model::overflow_spread_filling(what.parameters, elements),
          model::overflow_bound(state.mean_accesses, full_load, small_bucket)};
}

/// How full a table may be, and what churn does to one that was planned without it.
struct churn_effect {
  double load_when_filling;
  double load_under_churn;
  double overflow_when_filling;    // at churning_load, levels for filling
  double overflow_under_churn;     // the same table later
  double overflow_planned_for_it;  // levels for churn
};

churn_effect effect_of_churn() {
  const auto filling = model::least_overflow_partition(churning_load, large_bucket, choices);
  const auto planned =
      model::least_overflow_partition_under_churn(churning_load, large_bucket, choices);
  const auto later = model::churn_limit({.scheme = scheme_kind::multilevel,
                                         .load_factor = churning_load,
                                         .bucket_capacity = large_bucket,
                                         .choices = choices,
                                         .level_fractions = filling.level_fractions});
  return {model::largest_load_factor(wanted_overflow, large_bucket, choices),
          model::largest_load_factor_under_churn(wanted_overflow, large_bucket, choices),
          filling.overflow_fraction, later.overflow_fraction, planned.overflow_fraction};
}

/// "3.45 %", and "< 0.01 %" rather than "0.00 %".
std::string short_percent(double fraction) {
  return fraction > 0 && fraction < 5e-5 ? "< 0.01 %" : fmt::format("{:.2f} %", 100 * fraction);
}

/// One line of the comparison; the headings go through the same columns.
std::string comparison_line(std::string_view scheme, std::string_view insert,
                            std::string_view overflow, std::string_view deviation,
                            std::string_view share, std::string_view bound, std::string_view miss) {
  return fmt::format("  {:<26} {:>8} {:>8} {:>6} {:>8} {:>9} {:>6}\n", scheme, insert, overflow,
                     deviation, share, bound, miss);
}

std::string scheme_line(const outcome& row) {
  return comparison_line(row.name, fmt::format("{:.3f}", row.state.mean_accesses),
                         grouped(row.spread.mean),
                         fmt::format("+- {:.0f}", row.spread.standard_deviation),
                         short_percent(row.state.overflow_fraction), short_percent(row.bound),
                         fmt::format("{:.2f}", row.state.negative_lookup_accesses));
}

/// "52,379 elements", or a word for much less than one.
std::string overflowing(double fraction) {
  const double expected = fraction * elements;
  return expected < 0.5 ? fmt::format("none ({:.1g} elements expected)", expected)
                        : fmt::format("{} elements", grouped(expected));
}

std::string laid_out(const std::vector<outcome>& rows, const churn_effect& churn) {
  std::string text = fmt::format(
      "Oneprobe: hashing on an access budget\n"
      "\n"
      "{} elements, {} buckets of {} slots: as many slots as elements.\n"
      "Each element has up to {} buckets to choose from. One that finds them all full\n"
      "overflows. Looking into more buckets costs accesses; what does it save?\n"
      "\n",
      grouped(elements), grouped(elements / (full_load * small_bucket)), small_bucket, choices);
  text += comparison_line("", "accesses", "elements", "", "", "the least", "a miss");
  text += comparison_line("scheme", "/insert", "overflow", "", "", "possible", "reads");
  for (const outcome& row : rows) text += scheme_line(row);
  text += fmt::format(
      "\n"
      "\"The least possible\": with that many accesses no scheme whatsoever overflows\n"
      "less (Optimal Fast Hashing, Theorem 1). Single, sequential and the first\n"
      "multilevel table meet it exactly. d-random and d-left always read all {}\n"
      "buckets; a multilevel table with levels sized for least overflow beats both with\n"
      "less than half of the accesses. +- is one standard deviation at this size.\n",
      choices);
  text += fmt::format(
      "\n"
      "Tables that live: elements are erased and others inserted, for ever.\n"
      "Buckets of {} slots, multilevel, {} choices.\n"
      "\n"
      "  largest load with at most 1 in {} overflowing\n"
      "    while it only fills           {:5.1f} %\n"
      "    under churn                   {:5.1f} %\n"
      "  overflow of {} elements at {:.0f} % load\n"
      "    while it only fills           {}\n"
      "    the same table under churn    {}\n"
      "    with levels sized for churn   {}\n"
      "\n"
      "All of this was computed, not simulated. Next: oneprobe model --help\n",
      large_bucket, choices, grouped(1 / wanted_overflow), 100 * churn.load_when_filling,
      100 * churn.load_under_churn, grouped(elements), 100 * churning_load,
      overflowing(churn.overflow_when_filling), overflowing(churn.overflow_under_churn),
      overflowing(churn.overflow_planned_for_it));
  return text;
}

report scheme_report(const outcome& row) {
  report out(row.name);
  return out.text("scheme", row.name)
      .number("mean_accesses", row.state.mean_accesses)
      .number("overflow_elements", row.spread.mean)
      .number("overflow_standard_deviation", row.spread.standard_deviation)
      .number("overflow_fraction", row.state.overflow_fraction)
      .number("overflow_bound", row.bound)
      .number("negative_lookup_accesses", row.state.negative_lookup_accesses);
}

report answer(const arguments&) {
  std::vector<outcome> rows;
  std::vector<report> objects;
  for (const placement& what : placements()) {
    rows.push_back(outcome_of(what));
    objects.push_back(scheme_report(rows.back()));
  }
  const churn_effect churn = effect_of_churn();
  report churning("churn");
  churning.number("bucket_capacity", large_bucket)
      .number("wanted_overflow_fraction", wanted_overflow)
      .number("largest_load_factor_filling", churn.load_when_filling)
      .number("largest_load_factor_churning", churn.load_under_churn)
      .number("load_factor", churning_load)
      .number("overflow_fraction_filling", churn.overflow_when_filling)
      .number("overflow_fraction_churning", churn.overflow_under_churn)
      .number("overflow_fraction_planned_for_churn", churn.overflow_planned_for_it);
  report out("demo");
  return out.amount("elements", elements)
      .whole("bucket_capacity", small_bucket)
      .number("load_factor", full_load)
      .whole("choices", choices)
      .objects("schemes", objects)
      .object("churn", churning)
      .layout(laid_out(rows, churn));
}

const command demo_command{
    .name = "demo",
    .summary = "the theory at work on one table, in a second",
    .details =
        "A million elements in a table that is exactly full: what each scheme overflows and "
        "costs, beside the least that any scheme could; then what churn does to it.",
    .source = "OFH, Section VII, and beyond",
    .example = "--json",
    .options = {},
    .answer = answer,
};

}  // namespace

void add_demo(CLI::App& app) { add_command(app, demo_command); }

}  // namespace oneprobe::cli
