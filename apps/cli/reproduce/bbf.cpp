// The experiments of BBF, Access-Efficient Balanced Bloom Filters. What it shares with ECB, its
// earlier version, is computed by the same functions with other seeds.

#include "reproduce/ecb_common.hpp"

namespace oneprobe::cli {

const std::vector<experiment>& bbf_experiments() {
  using namespace balancing;
  static const std::vector<experiment> all{
      {.id = "BBF-Fig2",
       .title = "The flattest loads on a budget",
       .claim =
           "Whatever the convex cost of a bucket's load, no scheme with a accesses per element "
           "does better than one distribution, here for 8 elements per bucket and no overflow.",
       .quick_seconds = 0.05,
       .normal_seconds = 0.5,
       .compute =
           [](const conditions& in) {
             return lower_bound_figure(in, {bbf, "Fig. 2", "bbf-fig2"});
           }},
      {.id = "BBF-Fig3a",
       .title = "How much overflow optimality needs, by budget",
       .claim = "SEQUENTIAL and MHT solve the balancing problem from a certain overflow on; for "
                "about 1.1 accesses SEQUENTIAL needs about 1 %.",
       .quick_seconds = 0.2,
       .normal_seconds = 2.5,
       .compute =
           [](const conditions& in) {
             return region_over_accesses(in, {bbf, "Fig. 3(a)", "bbf-fig3a"});
           }},
      {.id = "BBF-Fig3b",
       .title = "How much overflow optimality needs, by load",
       .claim = "MHT scales better to higher loads than SEQUENTIAL.",
       .quick_seconds = 0.3,
       .normal_seconds = 5.5,
       .compute =
           [](const conditions& in) {
             return region_over_load(in, {bbf, "Fig. 3(b)", "bbf-fig3b"});
           }},
      {.id = "BBF-Fig4",
       .title = "False positives of the Balanced Bloom Filter",
       .claim = "The Balanced Bloom Filter errs up to two orders of magnitude less than a blocked "
                "filter, and one more than a standard filter that reads k places in memory.",
       .quick_seconds = 1,
       .normal_seconds = 19,
       .compute =
           [](const conditions& in) {
             return filter_figure(in, {bbf, "Fig. 4", "bbf-fig4"});
           }},
      {.id = "BBF-Fig4-Honest",
       .title = "The same with everything counted",
       .claim =
           "Balancing pays for itself. The figure compares filters with one k for all and does "
           "not charge the overflow list; here each has its best k, and pays for all its "
           "memory.",
       .quick_seconds = 3,
       .normal_seconds = 60,
       .compute =
           [](const conditions& in) {
             return honest_filter_figure(in, {bbf, "Fig. 4, fair", "bbf-fig4-honest"});
           }},
      {.id = "BBF-SectionIX",
       .title = "The Balanced Bloom Filter in numbers",
       .claim =
           "With 1.2 accesses on average, three at most, and half a percent of the elements in "
           "an overflow list, false positives fall by up to two orders of magnitude, and there "
           "are no false negatives.",
       .quick_seconds = 0.2,
       .normal_seconds = 1,
       .compute = bbf_filter_numbers},
  };
  return all;
}

}  // namespace oneprobe::cli
