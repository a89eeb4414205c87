// Filters of fingerprints in bounded buckets: pocket dictionaries filled by a multilevel scheme.
//
// A bucket of B bits holds up to h remainders of f bits, a unary header of Q + h bits for their
// quotients, and w note bits; a query compares quotient and remainder at once, so a stored element
// collides with probability 1 / (Q 2^f). Beyond the papers; related work: the pocket
// dictionaries of prefix filters (2022), the overflow tracking of Morton filters (2018).
//
//   fingerprint_shape shape{.block_bits = 512, .bucket_capacity = 27, .remainder_bits = 16};
//   filter_error e = evaluate(shape, 28.6);
//
// Memory and accesses are counted as in balanced.hpp. Pure and thread-safe.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "oneprobe/model/balanced.hpp"
#include "oneprobe/model/balanced_levels.hpp"

namespace oneprobe::inline v0_1::model {

/// Which element leaves a full bucket, and what tells a query to go on.
enum class overflow_order {
  first_come,  // the newcomer; w tracking bits remember it
  prefix,      // the largest fingerprint; a query goes on only if its own exceeds the largest kept
};

/// "first-come", "prefix".
std::string_view name_of(overflow_order order);

/// The shape of a filter of fingerprints.
struct fingerprint_shape {
  unsigned block_bits = 512;                      // B
  unsigned bucket_capacity = 27;                  // h
  unsigned remainder_bits = 16;                   // f, 0 to 56
  unsigned note_bits = 1;                         // w
  unsigned choices = 3;                           // d
  overflow_order order = overflow_order::prefix;  // which element a full bucket gives up
  bool quotient_header = true;    // false: plain slots of f bits, zero meaning empty
  overflow_list_cost overflow{};  // what an overflowed element costs
  /// Q: what is left of the block for the header, B - w - h (f + 1); 1 without a header. 0 or less:
  /// does not fit.
  long quotients() const;
};

/// A full filter whose buckets saw `arrivals_mean` elements each. With prefix order the next level
/// is addressed by (bucket, fingerprint), so a query collides with all arrivals, not only with the
/// kept ones; first-come addresses it by fresh hash bits. A query that equals a fingerprint passed
/// on is counted as stopped there, though it reads on to find it: negative accesses are low by the
/// order of the error.
filter_error evaluate(const fingerprint_shape& shape, double arrivals_mean);

/// The arrivals per bucket at which the filter uses exactly `bits_per_element` bits of memory, or
/// none if the shape cannot.
std::optional<double> arrivals_for_memory(const fingerprint_shape& shape, double bits_per_element);

/// A filter sized for `design_arrivals` per bucket, levels after the first enlarged by `slack`,
/// then filled to `fill` times its rated number of elements.
struct overfilled {
  double overflow_fraction = 0;       // of the elements inserted
  double fpr = 0;                     // false positives, of absent keys asked for
  double hit_accesses = 0;            // buckets, and the overflow list as one
  double miss_accesses = 0;           // likewise, of absent keys
  double block_bits_per_element = 0;  // at the rated number
  std::vector<double> arrivals_mean;  // per bucket, by level
};
overfilled overfill(const fingerprint_shape& shape, double design_arrivals, double slack,
                    double fill);

/// The fraction of `arrivals_mean` elements each that buckets pass on. Equal fingerprints are one.
double handed_on_fraction(const fingerprint_shape& shape, double arrivals_mean);

/// A filter in prefix order as it is built: levels of any size, an overflow list with so many
/// slots, and any number of elements, more than planned included. Elements of a bucket that have
/// equal fingerprints take one slot. Once the list is full, a bucket of the last level that hands
/// another on is saturated: it matches everything from then on. `forced_fraction` are those events
/// by element. `shape.choices` does not matter: there are as many as levels.
built_error evaluate_built(const fingerprint_shape& shape, double elements,
                           const built_levels& levels);

/// A shape, and how it does with the arrivals that fill the memory.
struct fingerprint_point {
  fingerprint_shape shape;   // of the filter
  double arrivals_mean = 0;  // per bucket
  filter_error error;        // of that shape with those arrivals
};

/// What is given of a filter of fingerprints; the rest is chosen.
struct fingerprint_needs {
  double bits_per_element = 16;  // of all memory
  unsigned block_bits = 512;     // B
  double access_limit = 1.2;     // the most that a query may cost on average, positive or negative
  unsigned largest_choices = 4;  // d is at most this
  std::optional<unsigned> choices{};              // d; none: the best
  std::optional<unsigned> remainder_bits{};       // f; none: the best
  overflow_order order = overflow_order::prefix;  // which element a full bucket gives up
  overflow_list_cost overflow{};                  // what an overflowed element costs
};
/// The least FPR within the access limit. Throws std::invalid_argument when nothing fits.
fingerprint_point choose_fingerprint(const fingerprint_needs& needs);

}  // namespace oneprobe::inline v0_1::model
