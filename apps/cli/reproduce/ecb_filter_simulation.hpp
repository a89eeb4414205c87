// The papers' filters, built and queried: blocks of bits beside the load counters that decide where
// an element goes.
//
// Elements are led to their blocks by the placement walk, queries by the search walk of scheme/;
// nothing here chooses. One level is the blocked filter (and SIMPLE, with a threshold); one level
// of one block is the standard filter.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "oneprobe/sim/simulate.hpp"
#include "reproduce/trials.hpp"

namespace oneprobe::cli::balancing {

struct filter_setup {
  std::vector<std::uint64_t> level_sizes;  // blocks of each level
  std::uint64_t bloom_bits = 0;            // of a block: what its counter leaves
  unsigned bits_set = 1;                   // k, at independent positions
  std::optional<unsigned> threshold{};     // h; none: every block admits always
  double admit_probability = 0;            // p
  std::uint64_t elements = 0;
  std::uint64_t queries = 0;        // of absent keys, in all trials together
  std::uint64_t stored_stride = 1;  // every so many-th element is queried as well
  unsigned trials = 1;
};

struct filter_tally {
  sample false_positives;    // fraction of the absent keys queried
  sample absent_accesses;    // blocks read per absent key
  sample insert_accesses;    // blocks visited per element
  sample overflow;           // fraction of the elements
  sample missed;             // fraction of the stored elements queried that are not found
  sample missed_if_hasty;    // ... if a query takes a block at load h for one that admits
  sample insert_worst_case;  // the most blocks that an insertion visited

  void merge(const filter_tally& other);
};

/// A query goes on past a block with load >= h whose bits say no (erratum 0.22).
filter_tally simulate_filter(const filter_setup& what, std::uint64_t seed, unsigned threads,
                             const sim::progress& tell);

}  // namespace oneprobe::cli::balancing
