// Cut-off points and level sizes: how far a scheme stays optimal, and how to cut a table in levels.
//
//   cutoff edge = multilevel_cutoff(1.0, 4, 4);           // c, h, d
//   partition best = least_overflow_partition(0.9, 8, 4);
//
// A scheme meets the overflow bound of overflow_bound.hpp for budgets up to its cut-off a_co and
// not beyond. Results allocate the vector of level fractions. Pure and thread-safe.
#pragma once

#include <vector>

namespace oneprobe::inline v0_1::model {

/// How far a scheme meets the overflow bound.
struct cutoff {
  double mean_accesses = 0;             // a_co
  double overflow_fraction = 0;         // at a_co
  std::vector<double> level_fractions;  // multilevel: the geometric partition; else empty
};

/// OFH Theorem 4: a_co = f^a(1) of sequential placement; Section V-C is h = 1, d = 2
/// (errata 3.1-3.5, 3.13).
cutoff sequential_cutoff(double load_factor, unsigned bucket_capacity, unsigned choices);

/// OFH Theorem 6, eqs. (19), (20): the fixed point a_co = (1 - p(a)^d) / (1 - p(a)).
cutoff multilevel_cutoff(double load_factor, unsigned bucket_capacity, unsigned choices);

/// Level sizes, and what a table that is cut so does.
struct partition {
  std::vector<double> level_fractions;  // alpha_j, decreasing, summing to 1
  double mean_accesses = 0;             // a
  double overflow_fraction = 0;         // gamma
  double end_time = 1;                  // t_0, when the budget is used up; 1 without one
};

/// OFH Theorem 6, eqs. (19), (22): the partition that meets the bound at budget `accesses`, which
/// must not exceed the cut-off. It touches the bound at that budget only (erratum 3.17).
partition access_optimal_partition(double accesses, double load_factor, unsigned bucket_capacity,
                                   unsigned choices);

/// The partition with the least overflow when nothing is erased and accesses are not limited
/// (erratum 3.16: it is not the paper's geometric one). Found from its stationarity condition
/// P(X_j+1 > h) = P(X_j > h) P(X_j+1 >= h), X_j the arrivals at a bucket of level j, by one
/// root search whatever the number of levels.
partition least_overflow_partition(double load_factor, unsigned bucket_capacity, unsigned choices);

/// Largest load factor c whose least-overflow partition overflows at most `overflow_fraction`.
double largest_load_factor(double overflow_fraction, unsigned bucket_capacity, unsigned choices);

}  // namespace oneprobe::inline v0_1::model
