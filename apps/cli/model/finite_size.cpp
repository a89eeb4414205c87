#include "oneprobe/model/finite_size.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "model/common.hpp"
#include "oneprobe/model/churn.hpp"
#include "oneprobe/model/partition.hpp"

namespace oneprobe::cli {
namespace {

constexpr option churning{"--churn", "", "elements are erased and others inserted for ever"};
constexpr option exceeded{"--probability", "Q",
                          "how likely the reserve may be exceeded (default 1e-9)"};

model::overflow_spread spread_of(const scheme_on_table& table, bool churn, double n) {
  if (churn)
    return model::overflow_spread_churning({.scheme = table.scheme,
                                            .load_factor = table.load_factor,
                                            .bucket_capacity = table.bucket_capacity,
                                            .choices = table.choices,
                                            .level_fractions = table.level_fractions},
                                           n);
  return model::overflow_spread_filling({.scheme = table.scheme,
                                         .load_factor = table.load_factor,
                                         .bucket_capacity = table.bucket_capacity,
                                         .choices = table.choices,
                                         .level_fractions = table.level_fractions},
                                        n);
}

report answer(const arguments& in) {
  const auto n = in.count(elements);
  scheme_on_table table = read_scheme_on_table(in);
  const bool churn = in.is_set(churning);
  if (table.scheme == model::scheme_kind::multilevel && table.level_fractions.empty())
    table.level_fractions = (churn ? model::least_overflow_partition_under_churn(
                                         table.load_factor, table.bucket_capacity, table.choices)
                                   : model::least_overflow_partition(
                                         table.load_factor, table.bucket_capacity, table.choices))
                                .level_fractions;
  const double q = in.maybe_number(exceeded).value_or(1e-9);
  const model::overflow_spread spread = spread_of(table, churn, static_cast<double>(n));

  report out(fmt::format("Overflow of {} elements, and the room to reserve for it",
                         grouped(static_cast<double>(n))),
             "Beyond the papers");
  out.text("scheme", std::string(model::name_of(table.scheme)))
      .number("mean", spread.mean, "elements overflow on average")
      .number("standard_deviation", spread.standard_deviation, "elements")
      .amount("reserve", std::min(model::reserve_for(spread, q), static_cast<double>(n)), "slots")
      .probability("probability", q);
  if (!table.level_fractions.empty())
    out.fractions("level_fractions", table.level_fractions, "level");
  return out;
}

}  // namespace

const command finite_size_command{
    .name = "finite-size",
    .summary = "standard deviation of the overflow, and a reserve",
    .details =
        "How far the overflow of N elements strays from its mean, and the slots that "
        "suffice but with probability Q. Multilevel without --level-fractions uses those of "
        "least overflow.",
    .source = "beyond the papers: the diffusion limit around the fluid limit",
    .example = "--elements 1M --load-factor 0.9 --bucket-capacity 8 --choices 4",
    .options = {{&elements},
                {&load_factor},
                {&bucket_capacity},
                {&choices},
                {&scheme_of_all, need::optional},
                {&level_fractions, need::optional},
                {&churning, need::optional},
                {&exceeded, need::optional}},
    .answer = answer,
};

}  // namespace oneprobe::cli
