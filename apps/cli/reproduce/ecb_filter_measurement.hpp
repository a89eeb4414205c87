// The filters of the library, built, filled and asked: what ECB and BBF say of filters is held to
// these.
//
// What the texts do differently is a plan or a view of the same bytes:
//
//   their query           rule `counter`: it goes on past every block with load >= h
//   an insertion's way    rule `coin` over the bytes as they are then: a query for a new element
//                         that replays its coins visits the blocks that its insertion visits
//   a hasty query         threshold h + 1 without a coin: it takes a block at load h for one that
//                         admits (erratum 0.22); no plan of a filter to be filled says that
#pragma once

#include <cstdint>

#include "oneprobe/filter/plan.hpp"
#include "oneprobe/sim/simulate.hpp"
#include "reproduce/trials.hpp"

namespace oneprobe::cli::balancing {

struct filter_trials {
  filter_plan plan;                 // standard, blocked or balanced
  std::uint64_t queries = 0;        // of absent keys, in all trials together
  std::uint64_t stored_stride = 1;  // every so many-th element is queried as well
  unsigned trials = 1;
};

struct filter_tally {
  sample false_positives;  // fraction of the absent keys queried
  sample error_by_bits;    // the same from the bits of the filters: stats().current_fpr
  sample absent_accesses;  // per absent key, the overflow list counted as one; bits where there
                           // are no blocks
  sample absent_blocks;    // blocks only, as the texts count
  sample overflow;         // fraction of the elements
  sample forced;           // elements that the list had no slot for
  sample missed;           // fraction of the stored elements queried that are not found

  // Of filters with rule `counter` only.
  sample insert_accesses;    // blocks visited per element
  sample insert_worst_case;  // the most blocks that an insertion visited
  sample coin_blocks;        // blocks read per absent key if queries replay the coins
  sample missed_by_coin;     // fraction of the stored elements that such a query does not find
  sample missed_if_hasty;    // ... and one that takes a block at load h for one that admits

  void merge(const filter_tally& other);
};

filter_tally measure_filter(const filter_trials& what, std::uint64_t seed, unsigned threads,
                            const sim::progress& tell);

}  // namespace oneprobe::cli::balancing
