// The experiments of ECB, Energy-Constrained Balancing.

#include "reproduce/ecb_common.hpp"

namespace oneprobe::cli {

const std::vector<experiment>& ecb_experiments() {
  using namespace balancing;
  static const std::vector<experiment> all{
      {.id = "ECB-Fig1",
       .title = "The flattest loads on a budget",
       .claim =
           "With a accesses per element no scheme can spread 8 elements per bucket more evenly "
           "than a certain distribution: Poisson, cut off at the right. The larger the budget, "
           "the earlier it is cut.",
       .quick_seconds = 0.05,
       .normal_seconds = 0.5,
       .compute =
           [](const conditions& in) {
             return lower_bound_figure(in, {ecb, "Fig. 1", "ecb-fig1"});
           }},
      {.id = "ECB-Fig2",
       .title = "SIMPLE filling up",
       .claim = "The differential equations of a bucket with threshold 2 and admit probability one "
                "half describe a table of 10,000 buckets while 25,000 elements arrive.",
       .quick_seconds = 0.05,
       .normal_seconds = 0.3,
       .compute = single_over_time},
      {.id = "ECB-Fig3",
       .title = "How much overflow optimality needs, by budget",
       .claim = "GREEDY and MHT reach the lower bound if enough elements may overflow; MHT needs "
                "less. For an overflow of 1 %, GREEDY is optimal up to about 1.1 accesses.",
       .quick_seconds = 0.2,
       .normal_seconds = 2.5,
       .compute =
           [](const conditions& in) {
             return region_over_accesses(in, {ecb, "Fig. 3", "ecb-fig3"});
           }},
      {.id = "ECB-Fig4",
       .title = "How much overflow optimality needs, by load",
       .claim = "The overflow that MHT needs does not depend on the elements per bucket; that of "
                "GREEDY grows with them.",
       .quick_seconds = 0.3,
       .normal_seconds = 5.5,
       .compute =
           [](const conditions& in) {
             return region_over_load(in, {ecb, "Fig. 4", "ecb-fig4"});
           }},
      {.id = "ECB-Theorem6",
       .title = "All levels alike",
       .claim = "With levels that shrink geometrically by the right factor, the buckets of all "
                "levels of MHT have the same loads: those of the lower bound.",
       .quick_seconds = 0.02,
       .normal_seconds = 0.4,
       .compute = identical_levels},
      {.id = "ECB-SectionVIII",
       .title = "Chained tables with the least variance",
       .claim = "With the square of the load as cost, the same schemes give a chained hash table "
                "whose chain lengths have the least variance that the budget allows.",
       .quick_seconds = 0.1,
       .normal_seconds = 1.5,
       .compute = chain_lengths},
      {.id = "ECB-Fig6",
       .title = "False positives of four filters",
       .claim =
           "Blocks of 256 bits filled by MHT with 1.2 accesses per insertion err less than a "
           "blocked filter by two orders of magnitude where memory is ample, and more where it "
           "is scarce.",
       .quick_seconds = 1,
       .normal_seconds = 19,
       .compute =
           [](const conditions& in) {
             return filter_figure(in, {ecb, "Fig. 6", "ecb-fig6"});
           }},
      {.id = "ECB-SectionIX",
       .title = "The filters in numbers",
       .claim =
           "At 40 bits per element the standard filter errs 6.1e-9, MHT 1.4e-7 and the blocked "
           "filter 2.3e-5; MHT needs an overflow list of 0.49 %.",
       .quick_seconds = 0.4,
       .normal_seconds = 7,
       .compute = ecb_filter_numbers},
  };
  return all;
}

}  // namespace oneprobe::cli
