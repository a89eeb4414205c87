// The Balanced Bloom Filter as it is built: levels of any size, slack included, an overflow list
// with so many slots, and any number of elements, more than planned included.
//
//   built_filter filter({.bits_set = 13, .choices = 3, .threshold = 252, .tracking_bits = 12});
//   built_levels levels{.blocks = {1e6, 1.2e5, 1.2e4}, .overflow_slots = 64, .overflow_reserve =
//   48}; built_error error = filter.at(27e6, levels);
//
// model/balanced.hpp knows levels of exact geometric size, in which all blocks look alike; here
// every level has arrivals of its own: what the level before turned away. Once the overflow list is
// full, elements are forced into their first candidate, and the error grows accordingly.
//
// Limits of many blocks, as all of this part. Construction takes about a millisecond and throws
// std::invalid_argument for a shape that no filter has; asking is cheap. Immutable, thread-safe.
#pragma once

#include <memory>
#include <vector>

#include "oneprobe/model/balanced.hpp"

namespace oneprobe::inline v0_1::model {

/// P(an absent key matches in the overflow list) when so much of it is taken: a miss in a linear
/// probing table compares (1 / (1 - load)^2 - 1) / 2 entries before it meets a free slot.
double overflow_list_match(double fingerprint_bits, double load);

/// How large the levels and the overflow list of a filter are.
struct built_levels {
  /// Of each level: as many as there are choices, whatever the shape says, in a multilevel filter;
  /// one for single and sequential placement.
  std::vector<double> blocks;
  double overflow_slots = 0;    // of the overflow list
  double overflow_reserve = 0;  // so many of the slots may be taken, then elements are forced
};

/// What a filter with such levels is predicted to do.
struct built_error {
  double fpr = 0;                     // false positives, of absent keys asked for
  double insert_accesses = 0;         // blocks
  double hit_accesses = 0;            // blocks, and the list as one
  double miss_accesses = 0;           // likewise, of absent keys
  double list_queries = 0;            // P(a negative query asks the overflow list)
  double overflow_fraction = 0;       // gamma: of all elements, no candidate had room for them
  double overflow_deviation = 0;      // standard deviation of their number; sequential: as if each
                                      // overflowed independently
  double forced_fraction = 0;         // of all elements, the list had no slot for them either
  std::vector<double> arrivals_mean;  // per block of each level
};

/// A balanced filter as it is built, with levels of any size and any number of elements.
class built_filter {
 public:
  /// Computes what holds for all sizes of this shape.
  explicit built_filter(const balanced_shape& shape);

  /// The fraction that blocks turn away of `arrivals_mean` elements each.
  double refused_fraction(double arrivals_mean) const;

  /// The filter with these levels and so many elements.
  built_error at(double elements, const built_levels& levels) const;

 private:
  struct law;
  std::shared_ptr<const law> law_;
};

}  // namespace oneprobe::inline v0_1::model
