#include "oneprobe/model/churn.hpp"

#include <fmt/format.h>

#include "model/common.hpp"

namespace oneprobe::cli {
namespace {

report answer(const arguments& in) {
  scheme_on_table table = read_scheme_on_table(in);
  const bool multilevel = table.scheme == model::scheme_kind::multilevel;
  if (multilevel && table.level_fractions.empty())
    table.level_fractions = model::least_overflow_partition_under_churn(
                                table.load_factor, table.bucket_capacity, table.choices)
                                .level_fractions;
  const model::churn_state state = model::churn_limit({
      .scheme = table.scheme,
      .load_factor = table.load_factor,
      .bucket_capacity = table.bucket_capacity,
      .choices = table.choices,
      .level_fractions = table.level_fractions,
  });
  report out(fmt::format("{} placement under churn at constant size", model::name_of(table.scheme)),
             "Erlang loss systems, beyond the papers");
  out.text("scheme", std::string(model::name_of(table.scheme)))
      .fraction("overflow_fraction", state.overflow_fraction, "of the elements")
      .number("mean_accesses", state.mean_accesses, "buckets per insertion");
  if (multilevel) out.fractions("level_fractions", table.level_fractions, "level");
  out.fractions("overflow_per_level", state.overflow_per_level, "level");
  return out.fractions("occupancy", state.occupancy, "load", 0);
}

}  // namespace

const command churn_command{
    .name = "churn",
    .summary = "overflow while elements come and go",
    .details =
        "Elements are erased and others inserted at constant size. Without --scheme: "
        "multilevel; without --level-fractions: those of least overflow for --choices.",
    .source = "beyond the papers: an Erlang loss system per level",
    .example = "--load-factor 0.774 --bucket-capacity 8 --level-fractions 0.70,0.20,0.07,0.03",
    .options = {{&load_factor},
                {&bucket_capacity},
                {&level_fractions, need::optional},
                {&choices, need::optional},
                {&scheme_of_all, need::optional}},
    .answer = answer,
};

}  // namespace oneprobe::cli
