#include "reproduce/ofh.hpp"

namespace oneprobe::cli {

const std::vector<experiment>& ofh_experiments() {
  static const std::vector<experiment> all{
      {.id = "OFH-SecI-C",
       .title = "Largest loads with one and with several choices",
       .claim =
           "Of n elements in n buckets, the fullest bucket holds about log n with one choice, log "
           "log n / log d + O(1) with the least loaded of d, and d-left does better still.",
       .quick_seconds = 0.7,
       .normal_seconds = 7,
       .compute = ofh::largest_loads},
      {.id = "OFH-Thm1",
       .title = "The least overflow any scheme can reach",
       .claim = "With a accesses per element on average no scheme, not even one that moves "
                "elements, overflows less than the bound of Theorem 1. For single slots and c = 1 "
                "it is e^-a: it never reaches zero.",
       .quick_seconds = 0.4,
       .normal_seconds = 4,
       .compute = ofh::lower_bound},
      {.id = "OFH-Fig3",
       .title = "Unequal hash functions that are optimal together",
       .claim =
           "Hash functions need not be uniform: a third of the accesses to the first third of the "
           "buckets and the rest to the rest reach the bound, since their weighted average is "
           "uniform (Theorem 2).",
       .quick_seconds = 0.2,
       .normal_seconds = 3,
       .compute = ofh::mixtures},
      {.id = "OFH-SecIV-C",
       .title = "SIMPLE with buckets of one slot",
       .claim =
           "One hash function and one slot per bucket lose 1 - (1 - e^-c) / c of the elements: "
           "36.8 % at load 1.",
       .quick_seconds = 0.2,
       .normal_seconds = 2,
       .compute = ofh::single_slots},
      {.id = "OFH-Fig5a",
       .title = "SIMPLE: how full the buckets are over time",
       .claim = "With c = 1, h = 3 and m = 10,000 the fractions of buckets with 0 to 3 elements "
                "follow the fluid model at all times; in the end 57.68 % are full.",
       .quick_seconds = 0.1,
       .normal_seconds = 1,
       .compute = ofh::single_occupancy},
      {.id = "OFH-Fig5b",
       .title = "SIMPLE: overflow over time",
       .claim =
           "The overflow fraction falls from 1, the cumulative one rises from 0, and both meet in "
           "the end.",
       .quick_seconds = 0.1,
       .normal_seconds = 1,
       .compute = ofh::single_overflow},
      {.id = "OFH-SecV-C",
       .title = "GREEDY with two choices of one slot",
       .claim = "For h = 1 and d = 2 the equations have a closed solution: GREEDY is optimal up to "
                "1.4338 accesses at load 1 and up to 1.0499 at load 0.1.",
       .quick_seconds = 0.4,
       .normal_seconds = 7,
       .compute = ofh::sequential_case},
      {.id = "OFH-SecVI-D",
       .title = "MHT with two levels of one slot",
       .claim =
           "For h = 1 and d = 2 the cut-off has a closed form in Lambert's W: MHT is optimal up to "
           "1.4777 accesses at load 1 and up to 1.0507 at load 0.1.",
       .quick_seconds = 0.3,
       .normal_seconds = 5,
       .compute = ofh::multilevel_case},
      {.id = "OFH-Fig7",
       .title = "Overflow against accesses: SIMPLE, GREEDY, MHT and d-left",
       .claim = "With d = h = 4 and c = 1, SIMPLE and GREEDY follow the lower bound up to their "
                "cut-offs; MHT touches it where its partition is made for; d-left overflows little "
                "less than MHT and needs more than twice the accesses.",
       .quick_seconds = 0.8,
       .normal_seconds = 17,
       .compute = ofh::partitions},
      {.id = "OFH-SecVII",
       .title = "What each scheme costs and keeps",
       .claim =
           "At d = h = 4 and c = 1, MHT at its cut-off saves more than half of the accesses of "
           "d-left at about the same overflow.",
       .quick_seconds = 0.6,
       .normal_seconds = 9,
       .compute = ofh::comparison},
      {.id = "OFH-Fig8a",
       .title = "Cut-off points against load",
       .claim = "With d = h = 4, MHT stays optimal up to more accesses than GREEDY at every load.",
       .quick_seconds = 0.7,
       .normal_seconds = 14,
       .compute = ofh::cutoffs_by_load},
      {.id = "OFH-Fig8b",
       .title = "Overflow at the cut-off points against load",
       .claim = "With d = h = 4, MHT at its cut-off overflows less than GREEDY at its own.",
       .quick_seconds = 0.7,
       .normal_seconds = 14,
       .compute = ofh::overflow_by_load},
  };
  return all;
}

}  // namespace oneprobe::cli
