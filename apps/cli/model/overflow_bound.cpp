#include "oneprobe/model/overflow_bound.hpp"

#include "model/common.hpp"

namespace oneprobe::cli {
namespace {

report answer(const arguments& in) {
  const double c = in.number(load_factor);
  const unsigned h = in.whole(bucket_capacity);
  in.exactly_one_of(accesses, overflow);
  report out("The least overflow any scheme can reach on an access budget",
             "OFH, Theorems 1 and 2");
  if (const auto a = in.maybe_number(accesses)) {
    out.fraction("overflow_fraction", model::overflow_bound(*a, c, h), "of the elements");
    out.number("mean_accesses", *a, "buckets per element");
  } else {
    const double gamma = in.number(overflow);
    out.number("mean_accesses", model::accesses_for_overflow(gamma, c, h), "buckets per element");
    out.fraction("overflow_fraction", gamma, "of the elements");
  }
  return out.number("load_factor", c).whole("bucket_capacity", h, "slots");
}

}  // namespace

const command overflow_bound_command{
    .name = "overflow-bound",
    .summary = "least overflow of any scheme on an access budget",
    .details =
        "With --accesses: the least fraction that overflows. With --overflow: the least "
        "accesses that allow it.",
    .source = "OFH, Theorems 1 and 2, and the inverse",
    .example = "--load-factor 1 --bucket-capacity 4 --accesses 1.5",
    .options = {{&load_factor},
                {&bucket_capacity},
                {&accesses, need::optional},
                {&overflow, need::optional}},
    .answer = answer,
};

}  // namespace oneprobe::cli
