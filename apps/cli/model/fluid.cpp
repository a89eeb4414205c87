#include "oneprobe/model/fluid.hpp"

#include <fmt/format.h>

#include "model/common.hpp"
#include "oneprobe/model/partition.hpp"

namespace oneprobe::cli {
namespace {

enum class method { closed_form, ode };

constexpr option moment{"--time", "T",
                        "share of the elements that have arrived, 0 to 1 (default 1)"};
constexpr option how{"--method", "NAME", "closed-form (default) or ode"};
constexpr option budget{"--accesses", "A", "stop placing after A accesses per element in total"};

constexpr std::array<word<method>, 2> methods{{
    {"closed-form", method::closed_form},
    {"ode", method::ode},
}};

report answer(const arguments& in) {
  scheme_on_table table = read_scheme_on_table(in);
  const bool multilevel = table.scheme == model::scheme_kind::multilevel;
  const bool chosen_here = multilevel && table.level_fractions.empty();
  if (chosen_here)
    table.level_fractions =
        model::multilevel_cutoff(table.load_factor, table.bucket_capacity, table.choices)
            .level_fractions;

  const model::fluid_parameters parameters{
      .scheme = table.scheme,
      .load_factor = table.load_factor,
      .bucket_capacity = table.bucket_capacity,
      .choices = table.choices,
      .level_fractions = table.level_fractions,
      .admit_probability = in.maybe_number(admit_probability).value_or(0.0),
      .access_budget = in.maybe_number(budget),
      .time = in.maybe_number(moment).value_or(1.0),
  };
  const bool by_ode = in.maybe_choice(how, methods) == method::ode;
  const model::fluid_state end =
      by_ode ? model::fluid_limit_by_ode(parameters) : model::fluid_limit(parameters);

  report out(fmt::format("{} placement in a large table", model::name_of(table.scheme)),
             "OFH, Sections IV-VI; ECB, Sections IV-VI");
  out.text("scheme", std::string(model::name_of(table.scheme)))
      .fraction("overflow_fraction", end.overflow_fraction, "of all elements")
      .fraction("cumulative_overflow_fraction", end.cumulative_overflow_fraction,
                "of the elements handled by then")
      .number("mean_accesses", end.mean_accesses, "buckets per element")
      .number("miss_accesses", end.miss_accesses, "buckets")
      .number("time", end.time, "when placement stopped");
  if (multilevel) out.fractions("level_fractions", table.level_fractions, "level");
  out.fractions("occupancy", end.occupancy, "load", 0);
  if (!end.levels.empty()) out.grid("levels", end.levels, "level", "load", 0);
  if (chosen_here)
    out.note("The level fractions are those that meet the bound at the cut-off (OFH, Theorem 6).");
  return out;
}

}  // namespace

const command fluid_command{
    .name = "fluid",
    .summary = "occupancy, overflow and accesses of a scheme",
    .details =
        "What each scheme does to a large table, at any time, with hard capacity or with "
        "--admit-probability, with or without an access budget. Multilevel without "
        "--level-fractions uses the partition that is optimal at the cut-off.",
    .source = "OFH, Sections IV-VI; ECB, Sections IV-VI; d-random and d-left by their own limits",
    .example = "--scheme sequential --load-factor 1 --bucket-capacity 4 --choices 4",
    .options = {{&scheme_of_all},
                {&load_factor},
                {&bucket_capacity},
                {&choices},
                {&level_fractions, need::optional},
                {&admit_probability, need::optional},
                {&budget, need::optional},
                {&moment, need::optional},
                {&how, need::optional}},
    .answer = answer,
};

}  // namespace oneprobe::cli
