#include "oneprobe/model/balance.hpp"

#include <fmt/format.h>

#include "model/common.hpp"

namespace oneprobe::cli {
namespace {

void add_loads(report& out, const model::load_distribution& loads) {
  out.number("mean", loads.mean(), "elements per bucket")
      .number("variance", loads.variance())
      .number("chain_nodes_present", loads.chain_nodes_present(), "read for a stored key")
      .number("chain_nodes_absent", loads.chain_nodes_absent(), "read for an absent key")
      .fractions("distribution", loads.fractions, "load", 0);
}

report bound(const arguments& in) {
  const double gamma = in.maybe_number(overflow).value_or(0.0);
  const model::balance_bound best =
      model::lower_bound_loads(in.number(elements_per_bucket), in.number(accesses), gamma);
  report out("The flattest loads any scheme can reach", "ECB and BBF, Theorem 1");
  out.whole_or("k0", best.k0, "unbounded")
      .number("e0", best.e0)
      .number("p0", best.p0)
      .whole_or("largest_load", best.largest_load(), "unbounded", "elements");
  add_loads(out, best.loads);
  return out;
}

model::balance_plan plan_of(model::scheme_kind scheme, const model::balance_needs& needs) {
  switch (scheme) {
    case model::scheme_kind::sequential:
      return model::sequential_balance(needs);
    case model::scheme_kind::multilevel:
      return model::multilevel_balance(needs);
    default:
      return model::single_balance(needs);
  }
}

/// The budget asked for, or the largest for which the given overflow suffices.
double read_budget(const arguments& in, model::scheme_kind scheme, double per_bucket, unsigned d) {
  if (in.has(accesses)) return in.number(accesses);
  if (!in.has(overflow)) throw usage_error("give --accesses, --overflow, or both");
  const double gamma = in.number(overflow);
  switch (scheme) {
    case model::scheme_kind::sequential:
      return model::edge_accesses_sequential(per_bucket, d, gamma);
    case model::scheme_kind::multilevel:
      return model::edge_accesses_multilevel(d, gamma);
    default:
      return 1.0;
  }
}

report plan(const arguments& in) {
  const auto scheme = in.choice(scheme_of_three, placement_schemes);
  const double per_bucket = in.number(elements_per_bucket);
  const unsigned d = read_choices(in, scheme);
  const double budget = read_budget(in, scheme, per_bucket, d);
  const model::balance_plan best =
      plan_of(scheme, {.elements_per_bucket = per_bucket,
                       .choices = d,
                       .accesses = budget,
                       .overflow_fraction = in.maybe_number(overflow)});
  report out(fmt::format("How {} placement reaches the flattest loads", model::name_of(scheme)),
             "ECB, Theorems 3, 4 and 6; BBF, Theorems 3 to 5");
  out.text("scheme", std::string(model::name_of(scheme)))
      .whole_or("threshold", best.threshold, "none: admit always", "elements, h")
      .number("admit_probability", best.admit_probability, "at load h, p")
      .fraction("overflow_fraction", best.overflow_fraction, "of the elements")
      .number("mean_accesses", best.mean_accesses, "buckets per element")
      .number("end_time", best.end_time, "when the budget is used up");
  add_loads(out, best.loads);
  return out.fractions("level_fractions", best.level_fractions, "level");
}

}  // namespace

const command balance_bound_command{
    .name = "balance-bound",
    .summary = "flattest loads of any scheme on an access budget",
    .details = "The distribution of loads that minimises every convex cost at once.",
    .source = "ECB and BBF, Theorem 1",
    .example = "--elements-per-bucket 8 --accesses 1.1 --overflow 0.01",
    .options = {{&elements_per_bucket}, {&accesses}, {&overflow, need::optional}},
    .answer = bound,
};

const command balance_command{
    .name = "balance",
    .summary = "threshold and coin that reach the flattest loads",
    .details =
        "Without --overflow: the least overflow for which the scheme is optimal. Without "
        "--accesses: the largest budget for which that overflow suffices.",
    .source = "ECB, Theorems 3, 4 and 6; BBF, Theorems 3 to 5",
    .example = "--scheme multilevel --elements-per-bucket 8 --choices 3 --accesses 1.2",
    .options = {{&scheme_of_three},
                {&elements_per_bucket},
                {&choices},
                {&accesses, need::optional},
                {&overflow, need::optional}},
    .answer = plan,
};

}  // namespace oneprobe::cli
