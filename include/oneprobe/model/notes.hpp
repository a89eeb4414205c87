// Notes of buckets: how often a lookup of an absent key goes on, and what that costs.
//
// A bucket of h slots keeps a counter for each of K kinds of element, and an element's kind is any
// of them with equal probability: so many of this kind has the bucket turned away that are stored
// further on. A lookup goes on past a bucket only if the counter of its kind is up, that is, not 0.
//
//   note_law first = notes_churning(16, 16.0, 16);    // h, offered load, K
//   first.up;                                         // how often a miss reads a second bucket
//   table_accesses cost = table_accesses_churning({.load_factor = 0.81, .bucket_capacity = 16,
//       .level_fractions = {0.81, 0.155, 0.03, 0.005}}, 16);
//
// Limits of many buckets, exact there: candidates are then independent. Counters are taken to count
// without end; those of the tables stick at 15, which as good as never happens with 16 kinds.
//
// Beyond the papers. Pure and thread-safe. Up to 128 slots, 1e9 arrivals per bucket, 1024 kinds.
#pragma once

#include "oneprobe/model/churn.hpp"
#include "oneprobe/model/fluid.hpp"

namespace oneprobe::inline v0_1::model {

/// What an element that is not there finds in one of its candidates.
struct note_law {
  double up = 0;           // the note of its kind is up
  double full = 0;         // all slots are taken
  double full_and_up = 0;  // both
};

/// While a table fills: X ~ Poisson(mean) elements came, (X - h)+ of them were turned away.
note_law notes_filling(unsigned slots, double arrivals_mean, unsigned kinds);

/// Under churn: an Erlang loss system whose losses live on elsewhere for as long as they would have
/// here. Stationary law of load and counter together, by elimination without subtractions.
note_law notes_churning(unsigned slots, double offered_load, unsigned kinds);

/// Mean buckets per operation, those of the overflow left out.
struct table_accesses {
  double insert = 0;         // of a new key: until it is known to be absent and a bucket has room
  double hit = 0;            // of any element present
  double miss = 0;           // of an absent key
  double miss_overflow = 0;  // P(a miss goes past all candidates, to the overflow)
};

/// Single, sequential and multilevel placement without a budget. Notes are up in full buckets only,
/// so an insertion reads no more than a placement does.
table_accesses table_accesses_filling(const fluid_parameters& parameters, unsigned kinds);

/// The same schemes. Here a bucket with room may have notes that are up.
table_accesses table_accesses_churning(const churn_parameters& parameters, unsigned kinds);

}  // namespace oneprobe::inline v0_1::model
