// The least overflow any hashing scheme can reach on an access budget (OFH, Section III).
//
// With m buckets of capacity h, n = c m h elements and at most a n bucket accesses in total, no
// scheme - not even one that moves elements or sees them all in advance - overflows less than
// overflow_bound(a, c, h) of them, for n to infinity.
//
//   double least = overflow_bound(1.5, 1.0, 4);           // a, c, h
//   double a = accesses_for_overflow(0.01, 0.9, 4);       // its inverse in a
//
// Pure and thread-safe; std::invalid_argument names the parameter that is out of range.
#pragma once

#include <span>

namespace oneprobe::inline v0_1::model {

/// gamma_LB(a; c, h), OFH Theorems 1 and 2, clamped at 0: for c < 1 the printed expression turns
/// negative once the budget suffices to place everything.
/// accesses >= 0, load_factor > 0, bucket_capacity >= 1.
double overflow_bound(double accesses, double load_factor, unsigned bucket_capacity);

/// The least mean number of accesses a with overflow_bound(a, c, h) <= overflow_fraction.
/// Throws std::invalid_argument when no budget suffices (overflow_fraction <= 1 - 1/c for c >= 1).
double accesses_for_overflow(double overflow_fraction, double load_factor,
                             unsigned bucket_capacity);

/// How far the expected unused memory of a finite table can be from the Poisson limit behind the
/// bound when its hash functions follow l different distributions: 2 l / m (OFH eq. (2) and the
/// proof of Theorem 2; erratum 3.11).
double poisson_error_bound(double distributions, double buckets);

/// OFH, Section II: the mean accesses of a lookup when a fraction of the keys looked up is stored,
/// p a + (1 - p) d. An upper bound only: a miss may stop at a bucket with room (erratum 3.15).
double lookup_accesses_bound(double stored_fraction, double mean_accesses, unsigned choices);

/// One hash-function distribution of a mixture, OFH Theorem 2: the fraction k_p of all accesses it
/// makes, and for each group of buckets its density relative to uniform (m f_p(i); 1 is uniform).
struct access_distribution {
  double access_fraction;                    // k_p: its share of all accesses
  std::span<const double> relative_density;  // m f_p(i), for each group of buckets
};

/// Overflow reached by offline placement when accesses follow the mixture: equals overflow_bound
/// exactly if the mixture is uniform, and is larger otherwise (OFH Theorem 2).
/// `group_fractions` are the shares of buckets in each group and sum to 1; so do the access
/// fractions; each density averages to 1 over the groups.
double mixture_overflow(double accesses, double load_factor, unsigned bucket_capacity,
                        std::span<const double> group_fractions,
                        std::span<const access_distribution> mixture);

/// How far the mixture is from the optimality condition of OFH Theorem 2, sum_p k_p f_p(i) = 1/m:
/// the largest |m sum_p k_p f_p(i) - 1| over the groups. 0 means the bound is reached.
double mixture_imbalance(std::span<const double> group_fractions,
                         std::span<const access_distribution> mixture);

}  // namespace oneprobe::inline v0_1::model
