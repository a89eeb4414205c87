// One bucket, seen alone: arrivals are Poisson, admission is by threshold.
//
// A bucket with threshold h and admit probability p takes every element while its load is below h,
// takes one more with probability p at load h, and refuses at load h + 1 (ECB, Section IV; BBF,
// Section V). Hard capacity (OFH) is p = 0. Within a level, every scheme of the papers is this
// bucket with the right number of arrivals; that is the reduction behind all their theorems.
//
//   threshold rule{.bucket_capacity = 8, .admit_probability = 0.25};
//   double lost = refused_mean(7.5, rule);   // mean number of elements a bucket turns away
//
// Pure and thread-safe; std::invalid_argument for parameters outside the stated ranges.
#pragma once

#include <vector>

namespace oneprobe::inline v0_1::model {

/// The admission rule: h (0 to `largest_threshold`) and p in [0, 1]. (h, 1) and (h + 1, 0) are the
/// same rule; (0, 0) refuses everything.
struct threshold {
  unsigned bucket_capacity = 1;    // h
  double admit_probability = 0.0;  // p
};

/// The largest threshold, and the largest capacity of a table's buckets, that the models accept.
inline constexpr unsigned largest_threshold = 65536;
inline constexpr unsigned largest_bucket_capacity = 1024;

/// Fractions of buckets holding 0, 1, ..., h (and h + 1 when p > 0) elements after Poisson
/// arrivals of the given mean. Allocates the returned vector.
/// OFH eq. (4); ECB eqs. (3), (9) with erratum 0.2 (row h + 1 is driven by p f_h) and 0.10 (f_h is
/// summed as a series, so that p near 1 does not cancel).
std::vector<double> bucket_occupancy(double arrivals_mean, threshold rule);

/// The last of them alone: the fraction of buckets at load h + 1.
double fraction_above_threshold(double arrivals_mean, threshold rule);

/// Mean number of arrivals refused per bucket. OFH Theorem 1 (p = 0): E[(X - h)+].
double refused_mean(double arrivals_mean, threshold rule);

/// Fraction of all arrivals so far that were refused: refused_mean / arrivals_mean, 0 at mean 0.
/// OFH eq. (6) at t = 1 (erratum 3.4 says which of (5) and (6) is meant where), ECB eq. (10).
double refused_fraction(double arrivals_mean, threshold rule);

/// Probability that the next arrival is refused: (1 - p) f_h + f_{h+1}; f_h when p = 0.
/// The derivative of refused_mean with respect to the mean.
double refusal_probability(double arrivals_mean, threshold rule);

}  // namespace oneprobe::inline v0_1::model
