// Summaries: which level holds a key, told from a small fast memory (SSH, Sections IV, VII-IX, XI).
//
//   level_sizes levels{40000, 10000, 5000, 2500, 2500};
//   summary_error e = multi_filter_summary(10000, levels, {106000, 87500, 5500, 500, 100},
//                                          {7, 49, 49, 49, 49});
//
// A *false positive* sends an absent key to a bucket needlessly. A *failure* is a stored key sent
// to the wrong level; a *crisis* is an element the table cannot take. Probabilities are the bounds
// of SSH, Appendix III, tight when small. Bytes include one occupancy bit per bucket (Section V).
// Pure and thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "oneprobe/model/crisis.hpp"

namespace oneprobe::inline v0_1::model {

/// What a summary costs, and how often it is wrong.
struct summary_error {
  double bytes = 0;                       // fast memory, occupancy bits included
  double false_positive_probability = 0;  // for one absent key
  double failure_probability = 0;         // for any stored key
  double crisis_probability = 0;          // for any element
  std::vector<double> failure_per_level;  // f_1, ..., f_{d-1}; empty for interpolation
};

/// SSH, Section VII: n strings of b bits (1 to 512), each with ceil(log2 d) bits for its level,
/// packed (erratum 1.17). Failure: two equal strings, the birthday problem.
summary_error interpolation_summary(std::uint64_t elements, std::span<const std::uint64_t> levels,
                                    unsigned string_bits);
/// The two probabilities alone.
double interpolation_failure(double elements, unsigned string_bits);
double interpolation_false_positive(double elements, unsigned string_bits);

/// SSH, Section VIII-A and Appendix III-B: m cells, k hashes, each cell the largest level seen.
summary_error single_filter_summary(std::uint64_t elements, std::span<const std::uint64_t> levels,
                                    std::uint64_t cells, unsigned hashes);
/// q_l of SSH, Appendix III-B, C: (1 - (1 - k/m)^l)^k.
double misdirection_probability(double cells, unsigned hashes, double elements_above);

/// The (real) number of hashes with the least error for this many elements, (ln 2) m / n. SSH,
/// Section VIII-A: with all elements it is best against false positives, with those above level 1
/// it is best against failures of type 1; a single filter must compromise.
double hashes_of_least_error(double cells, double elements);

/// SSH, Section VIII-B and Appendix III-C (errata 1.1, 1.2, 1.7, 1.14): one Bloom filter per level
/// threshold, B_0 .. B_{d-1}; as many filter sizes and hash counts as levels.
summary_error multi_filter_summary(std::uint64_t elements, std::span<const std::uint64_t> levels,
                                   std::span<const std::uint64_t> filter_bits,
                                   std::span<const unsigned> hashes);

/// Bytes of `cells` cells with `values` possible values each: whole cells per byte where the powers
/// of `values` allow it (three cells of six values in a byte), else bits per cell, whichever is
/// smaller. Bytes are not rounded up, here and below.
double packed_bytes(double cells, unsigned values);

/// The scheme of Song et al. (SSH, Section IV): one counter of `counter_bits` bits per bucket of a
/// table of `buckets` buckets, d hashes. False positive: a Bloom filter's, (1 - e^(-n d / m))^d.
struct song_error {
  double bytes = 0;                       // fast memory: the counters
  double false_positive_probability = 0;  // for one absent key
};
song_error song_summary(double elements, double buckets, unsigned choices, unsigned counter_bits);

/// Counting variants (SSH, Section XI-B): bytes of filters with the given counter widths, without
/// the occupancy bits.
double counting_summary_bytes(std::span<const std::uint64_t> filter_bits,
                              std::span<const unsigned> counter_bits);

/// The least width for one filter's counters such that the expected number of counters that
/// overflow, by the Poisson approximation of SSH, Section XI-B, is at most `allowed`, given the
/// expected number of elements in the filter (which may be a fraction).
unsigned summary_counter_bits(double filter_bits, double expected_elements, unsigned hashes,
                              double allowed);

/// How high the counters of one filter get (SSH, Section XI-B), over how many elements it holds,
/// for the values 1, 2, ..., `most_value`.
struct counter_law {
  std::vector<double> expected;  // counters that reach the value
  std::vector<double> any;       // P(any does), the counters taken as independent
};
/// How an element counts where several of its hashes meet.
enum class counted : std::uint8_t {
  each_hash,  // once for every hash
  once,       // an element counts once for a counter that several of its hashes meet
};
/// The law for a filter with so many cells and hashes, in which so many elements are.
counter_law counters_reaching(const count_distribution& elements, double filter_bits,
                              unsigned hashes, counted how, unsigned most_value);
/// P(the largest counter of so many builds is at least 1, 2, ...).
std::vector<double> largest_counter_at_least(const counter_law& law, double builds);

/// Filter sizes and hash counts sufficient by the asymptotic argument of SSH, Appendix II
/// (errata 1.12, 1.13): failure probability o(n^-c).
struct asymptotic_filter {
  double cells = 0;     // of a filter
  unsigned hashes = 0;  // of an element
};
/// The one array of a single filter; the exponent is c.
asymptotic_filter asymptotic_single_filter(double elements, double exponent);
/// The filter of each level, the first level first; c1 and c2 as in skew_sequence.
std::vector<asymptotic_filter> asymptotic_multi_filter(double elements, double c1, double c2,
                                                       unsigned levels, double exponent);

}  // namespace oneprobe::inline v0_1::model
