// The Balanced Bloom Filter: local Bloom blocks filled by a placement scheme (ECB and BBF, Sec.
// IX).
//
// An element sits in the first of its d candidate blocks that admits it. A query walks the same
// candidates and stops early where a *lookup rule* allows it. The rule decides what a negative
// query costs; all rules here are free of false negatives.
//
//   balanced_shape shape{.block_bits = 512, .bits_set = 13, .rule = lookup_rule::popcount,
//                        .threshold = 252, .tracking_bits = 12, .choices = 4};
//   balanced_error e = evaluate(shape, 28.13);     // mean arrivals per block
//   balanced_choice best = choose_balanced({.bits_per_element = 20});
//
// Memory counts everything: block bits with their counters and notes, and the overflow list
// (erratum 0.20). Accesses count the probe of the overflow list. Pure and thread-safe.
#pragma once

#include <optional>
#include <vector>

#include "oneprobe/filter/block_rules.hpp"
#include "oneprobe/model/fluid.hpp"

namespace oneprobe::inline v0_1::model {

// The rules' names belong to all parts of the library.
using oneprobe::lookup_rule;
using oneprobe::name_of;

/// What an overflowed element costs in memory and in false positives: fingerprints in a linear
/// probing table. Defaults: 32-bit fingerprints at 75 % load.
struct overflow_list_cost {
  double fingerprint_bits = 32;  // of one entry
  double list_load = 0.75;       // entries over slots of the table
  /// Memory for each overflowed element.
  double bits_per_element() const { return fingerprint_bits / list_load; }
  /// Probability that an absent key matches: entries compared by a miss times 2^-bits.
  double error() const;
};

/// The shape of a balanced filter.
struct balanced_shape {
  unsigned block_bits = 512;                     // B: everything in the block, notes included
  unsigned bits_set = 8;                         // k
  scheme_kind scheme = scheme_kind::multilevel;  // single, sequential or multilevel
  unsigned choices = 3;                          // d
  lookup_rule rule = lookup_rule::popcount;      // when a query goes on
  unsigned threshold = 256;                      // h elements; for popcount T bits
  double admit_probability = 0;                  // p; 0 for tracking and popcount
  unsigned tracking_bits = 1;                    // w >= 1 for tracking and popcount
  bool exact_block_error = true;                 // false: the papers' exponential
  overflow_list_cost overflow{};                 // what an overflowed element costs
  /// Bits of the block that are not Bloom bits: counter (errata 0.24, 0.25) and tracking bits.
  unsigned state_bits() const;
};

/// What a filter is predicted to do.
struct filter_error {
  double fpr = 0;                   // false positives, of absent keys asked for
  double bits_per_element = 0;      // all memory
  double elements_per_block = 0;    // r
  double insert_accesses = 0;       // a: blocks
  double hit_accesses = 0;          // overflow probe included; false positives on the way, which
                                    // stop a query early, are not
  double miss_accesses = 0;         // overflow probe included
  double miss_block_accesses = 0;   // blocks only, as the papers count
  double overflow_fraction = 0;     // gamma
  double block_error = 0;           // E[phi]: false positive in one block
  double continue_probability = 0;  // P(a block sends a query on), whether or not it said no
};

/// A full filter whose blocks saw `arrivals_mean` elements each (lambda = a r). For multilevel the
/// levels are geometric, so that all blocks look alike (ECB Theorem 6); the exact walk replaces the
/// union bound of ECB, Section IX-B (erratum 0.26).
filter_error evaluate(const balanced_shape& shape, double arrivals_mean);

/// The arrivals per block at which the filter uses exactly `bits_per_element` bits of memory, or
/// none if the shape cannot.
std::optional<double> arrivals_for_memory(const balanced_shape& shape, double bits_per_element);

/// The papers' operating point (ECB, Section IX-C): insertion budget a, d choices, the least
/// overflow, h and p from Theorem 1, counter of ceil(log2(k0 + 2)) bits.
struct printed_point {
  unsigned threshold = 0;        // h = k0
  double admit_probability = 0;  // p
  unsigned counter_bits = 0;     // of a block's load counter
  double overflow_fraction = 0;  // gamma
  double block_error = 0;        // E[phi], papers' approximation
  double query_continues = 0;    // q = P(load >= h)
  double fpr = 0;                // sum_j q^(j-1) E[phi], as printed
  double fpr_walk = 0;           // the walk with the same approximation
  double miss_accesses = 0;      // blocks, by the walk
};
printed_point balanced_as_printed(double bits_per_element, unsigned block_bits, unsigned bits_set,
                                  double accesses, unsigned choices);

/// The papers' SINGLE filter: one choice, overflow fraction gamma (ECB, Fig. 6).
double single_as_printed(double bits_per_element, unsigned block_bits, unsigned bits_set,
                         double overflow_fraction);

/// Shape of the papers' filter at a given insertion budget, with the overflow list charged: returns
/// the shape and the arrivals per block that use exactly `bits_per_element` bits.
struct balanced_point {
  balanced_shape shape;
  double arrivals_mean = 0;  // per block
  filter_error error;        // of that shape with those arrivals
};
balanced_point balanced_at_budget(double bits_per_element, unsigned block_bits, unsigned bits_set,
                                  double accesses, unsigned choices, lookup_rule rule,
                                  const overflow_list_cost& overflow = {});

/// Fraction of stored elements a query would miss if it stopped at load = h without replaying the
/// coin (erratum 0.22: why it must not). The levels are taken as independent; an element meets them
/// at one time, and simulated filters miss 0.9 % of that fewer (12.47 % where this says 12.58 %).
double missed_if_query_stops_at_threshold(double arrivals_mean, threshold rule, unsigned choices);

/// Chooses everything that is not given: the least FPR whose negative and positive queries stay
/// within the access limit.
struct balanced_needs {
  double bits_per_element = 16;  // 4 to 64
  unsigned block_bits = 512;     // 64 to 512
  double access_limit = 1.2;     // the most that a query may cost on average, positive or negative
  unsigned largest_choices = 4;  // d is at most this
  std::optional<lookup_rule> rule{};   // none: popcount
  std::optional<unsigned> choices{};   // d; none: the best
  std::optional<unsigned> bits_set{};  // k; none: the best
  overflow_list_cost overflow{};       // what an overflowed element costs
};
/// A multilevel filter, or a single one where that is best. Throws std::invalid_argument when
/// nothing fits.
balanced_point choose_balanced(const balanced_needs& needs);

}  // namespace oneprobe::inline v0_1::model
