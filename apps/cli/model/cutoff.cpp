#include <fmt/format.h>

#include "model/common.hpp"
#include "oneprobe/model/overflow_bound.hpp"
#include "oneprobe/model/partition.hpp"

namespace oneprobe::cli {
namespace {

model::cutoff cutoff_of(model::scheme_kind scheme, double c, unsigned h, unsigned d) {
  switch (scheme) {
    case model::scheme_kind::sequential:
      return model::sequential_cutoff(c, h, d);
    case model::scheme_kind::multilevel:
      return model::multilevel_cutoff(c, h, d);
    default:
      // One access each: the bound is met there and nowhere else.
      return {1.0, model::overflow_bound(1.0, c, h), {}};
  }
}

/// The level sizes that meet the bound at a budget below the cut-off.
report partition_at(model::scheme_kind scheme, double c, unsigned h, unsigned d, double a) {
  if (scheme != model::scheme_kind::multilevel)
    throw usage_error("--accesses asks for level sizes: it needs --scheme multilevel");
  const model::partition plan = model::access_optimal_partition(a, c, h, d);
  report out("Level sizes that meet the overflow bound at a budget", "OFH, Theorem 6");
  return out.text("scheme", std::string(model::name_of(scheme)))
      .number("mean_accesses", plan.mean_accesses, "buckets per element, the budget")
      .fraction("overflow_fraction", plan.overflow_fraction, "of the elements")
      .number("end_time", plan.end_time, "when the budget is used up")
      .fractions("level_fractions", plan.level_fractions, "level");
}

report answer(const arguments& in) {
  const auto scheme = in.choice(scheme_of_three, placement_schemes);
  const double c = in.number(load_factor);
  const unsigned h = in.whole(bucket_capacity);
  const unsigned d = read_choices(in, scheme);
  if (in.has(accesses)) return partition_at(scheme, c, h, d, in.number(accesses));
  const model::cutoff edge = cutoff_of(scheme, c, h, d);
  report out(fmt::format("How far {} placement meets the overflow bound", model::name_of(scheme)),
             "OFH, Theorems 3, 4 and 6");
  return out.text("scheme", std::string(model::name_of(scheme)))
      .number("mean_accesses", edge.mean_accesses, "buckets per element, a_co")
      .fraction("overflow_fraction", edge.overflow_fraction, "of the elements, at a_co")
      .fractions("level_fractions", edge.level_fractions, "level");
}

}  // namespace

const command cutoff_command{
    .name = "cutoff",
    .summary = "how far a scheme stays optimal; level sizes",
    .details =
        "Up to this mean number of accesses the scheme overflows as little as any scheme "
        "can; for multilevel with the level sizes shown. With --accesses: the level sizes that do "
        "so "
        "at that smaller budget.",
    .source = "OFH, Theorem 4 (sequential) and Theorem 6 (multilevel)",
    .example = "--scheme multilevel --load-factor 1 --bucket-capacity 4 --choices 4",
    .options = {{&scheme_of_three},
                {&load_factor},
                {&bucket_capacity},
                {&choices},
                {&accesses, need::optional}},
    .answer = answer,
};

}  // namespace oneprobe::cli
