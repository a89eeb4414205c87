// False positives of Bloom filters without load balancing: standard, partitioned, blocked,
// counting.
//
//   double e = blocked_error({.bits_per_element = 16, .block_bits = 512, .bits_set = 9});
//   unsigned k = best_bits_set_standard(16);
//
// "exact" means the exact distribution of the number of set bits, not its mean: inside a block of
// 256 bits the textbook exponential is up to 22 % too low (erratum 0.19). Pure and thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "oneprobe/filter/block_rules.hpp"

namespace oneprobe::inline v0_1::model {

/// The largest k the models accept. Bits per element: 0.01 to 10^6. Block bits: 1 to 4096.
inline constexpr unsigned largest_bits_set = 256;
inline constexpr unsigned largest_block_bits = 4096;

/// Standard filter, n to infinity: (1 - e^(-k / beta))^k. SSH, Section III.
double standard_error(double bits_per_element, unsigned bits_set);

/// Standard filter of finite size, exact: E[(set bits / m)^k], by way of the k probes: r of their
/// positions differ, and those r are all covered by some of the k n balls. Any size, in no time.
double standard_error_exact(std::uint64_t bits, std::uint64_t elements, unsigned bits_set);

/// The usual formula for a filter of finite size, (1 - (1 - 1/m)^(k n))^k: the power of the mean
/// instead of the mean of the power, hence a little below standard_error_exact. SSH, Section III.
double standard_error_finite(double bits, double elements, unsigned bits_set);

/// Partitioned filter (one range of m / k bits per hash): (1 - (1 - k / m)^n)^k. SSH, Section III,
/// and Lemma 8.1.
double partitioned_error(double bits, double elements, unsigned bits_set);

/// The integer k (1 to `largest_bits_set`) with the least standard_error.
unsigned best_bits_set_standard(double bits_per_element);

/// Mean memory accesses of a query for an absent key that reads bit after bit and stops at the
/// first zero, each bit in a line of its own: (1 - x^k) / (1 - x), x the fraction of ones.
double standard_miss_accesses(double bits_per_element, unsigned bits_set);

using oneprobe::block_layout;

/// Probability that all k bits of a new element are set in a block of `block_bits` bits that holds
/// `load` elements. Exact (erratum 0.4: the papers' outer exponent must be k).
double block_error(unsigned block_bits, unsigned bits_set, unsigned load,
                   block_layout layout = block_layout::independent);

/// The papers' approximation (1 - e^(-k load / B))^k (ECB, Section IX; erratum 0.4).
double block_error_approximate(double block_bits, double bits_set, double load);

/// block_error for loads 0 .. largest_load, in one pass. Allocates the returned vector.
std::vector<double> block_errors(unsigned block_bits, unsigned bits_set, unsigned largest_load,
                                 block_layout layout = block_layout::independent);

/// The shape of a blocked filter.
struct blocked_shape {
  double bits_per_element = 8;                      // beta
  unsigned block_bits = 512;                        // B
  unsigned bits_set = 5;                            // k
  block_layout layout = block_layout::independent;  // how an element's bits lie in its block
};

/// Blocked filter: Poisson mixture of block_error over the loads of the blocks, n to infinity.
double blocked_error(const blocked_shape& shape);
/// The same with the papers' in-block approximation, as printed (ECB, Fig. 6; erratum 0.19).
double blocked_error_approximate(const blocked_shape& shape);
/// The same for n elements in m blocks: binomial loads.
double blocked_error_finite(std::uint64_t elements, std::uint64_t blocks, unsigned block_bits,
                            unsigned bits_set, block_layout layout = block_layout::independent);
/// The integer k with the least blocked_error (erratum 0.20: well below beta ln 2). For lanes,
/// among the divisors of the block size that are powers of two.
unsigned best_bits_set_blocked(double bits_per_element, unsigned block_bits,
                               block_layout layout = block_layout::independent);
/// The error of blocks with perfectly equal loads B / beta: what balancing alone could reach at
/// best where block_error is convex in the load (from a few bits set on). Between whole loads it is
/// interpolated geometrically, a little below any mixture of the two.
double perfectly_balanced_error(const blocked_shape& shape);

/// Counting filter: expected number of counters (out of `cells`) that reach `value` or more when
/// each of `elements` elements (which may be a mean, hence a fraction) increments k independent
/// counters. By the Poisson approximation of SSH, Section XI-B, which errs upwards in the tail (by
/// 0.1 % for 10,000 elements and counters that reach 13).
double expected_counters_at_least(double cells, double elements, unsigned bits_set, unsigned value);
/// The smallest counter width whose expected number of overflowing counters, which reach 2^width,
/// is at most `allowed` (above 0).
unsigned counter_bits_for(double cells, double elements, unsigned bits_set, double allowed);

}  // namespace oneprobe::inline v0_1::model
