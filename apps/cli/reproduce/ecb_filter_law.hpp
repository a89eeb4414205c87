// What a filter of the library with the papers' rule does, to the last element.
//
// model/balanced.hpp counts every element that a block admits. The library's filter does not count
// one whose bits are all set already: it cannot be distinguished from one that is there. Where
// memory is ample such elements are rare and the two agree; with 4 bits per element they are many,
// the blocks fill more slowly, and fewer elements go on to the next. This law knows them.
#pragma once

#include "oneprobe/filter/plan.hpp"

namespace oneprobe::cli::balancing {

struct built_law {
  double fpr = 0;
  double absent_blocks = 0;      // blocks read for an absent key
  double coin_blocks = 0;        // the same if queries replay the coins
  double insert_accesses = 0;    // blocks visited
  double overflow_fraction = 0;  // of all elements
};

/// Many blocks, in levels of the plan's sizes. REQUIRES: a balanced plan with rule `counter`,
/// multilevel or single, whose list holds what overflows.
built_law law_of(const filter_plan& plan);

}  // namespace oneprobe::cli::balancing
