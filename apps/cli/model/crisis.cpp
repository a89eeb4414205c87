#include "oneprobe/model/crisis.hpp"

#include <fmt/format.h>

#include "model/common.hpp"

namespace oneprobe::cli {
namespace {

report answer(const arguments& in) {
  const auto n = in.count(elements);
  const auto sizes = in.counts(levels);
  const model::crisis_result result = model::crisis(n, sizes);
  report out(fmt::format("{} elements in {} levels of single slots",
                         grouped(static_cast<double>(n)), sizes.size()),
             "SSH, Section VI and Appendix III-A");
  return out.probability("crisis_probability", result.crisis_probability)
      .yes_no("exact", result.exact)
      .wholes("levels", sizes, "level")
      .numbers("expected_per_level", result.expected_per_level, "level")
      .numbers("approximate_per_level", result.approximate_per_level, "level");
}

}  // namespace

const command crisis_command{
    .name = "crisis",
    .summary = "probability that a multilevel table fails",
    .details =
        "Elements enter level 1; those that find their slot taken enter level 2, and so on. "
        "A crisis is an element that no level can take.",
    .source = "SSH, Section VI and Appendix III-A; Tables I and II",
    .example = "--elements 10k --levels 40k,10k,5k,2.5k,2.5k",
    .options = {{&elements}, {&levels}},
    .answer = answer,
};

}  // namespace oneprobe::cli
