#include "model/common.hpp"
#include "oneprobe/model/churn.hpp"
#include "oneprobe/model/partition.hpp"

namespace oneprobe::cli {
namespace {

constexpr option churning{"--churn", "", "elements are erased and others inserted for ever"};

report answer(const arguments& in) {
  in.exactly_one_of(load_factor, overflow);
  const unsigned h = in.whole(bucket_capacity);
  const unsigned d = in.whole(choices);
  const bool churn = in.is_set(churning);

  report out(churn ? "Level sizes of least overflow under churn"
                   : "Level sizes of least overflow for a table that only fills",
             churn ? "Erlang loss systems, beyond the papers" : "OFH, Section VI (erratum 3.16)");
  double c = 0;
  if (const auto gamma = in.maybe_number(overflow)) {
    c = churn ? model::largest_load_factor_under_churn(*gamma, h, d)
              : model::largest_load_factor(*gamma, h, d);
    out.number("load_factor", c, "the largest with this overflow");
  } else {
    c = in.number(load_factor);
    out.number("load_factor", c);
  }
  const model::partition best = churn ? model::least_overflow_partition_under_churn(c, h, d)
                                      : model::least_overflow_partition(c, h, d);
  return out.fraction("overflow_fraction", best.overflow_fraction, "of the elements")
      .number("mean_accesses", best.mean_accesses, "buckets per element")
      .fractions("level_fractions", best.level_fractions, "level");
}

}  // namespace

const command least_overflow_command{
    .name = "least-overflow",
    .summary = "level sizes with the least overflow",
    .details =
        "Multilevel placement without an access budget. With --overflow instead of "
        "--load-factor: the largest load factor that keeps it.",
    .source = "OFH, Section VI, beyond Theorem 6 (erratum 3.16); churn is beyond the papers",
    .example = "--load-factor 0.9 --bucket-capacity 8 --choices 4 --churn",
    .options = {{&bucket_capacity},
                {&choices},
                {&load_factor, need::optional},
                {&overflow, need::optional},
                {&churning, need::optional}},
    .answer = answer,
};

}  // namespace oneprobe::cli
