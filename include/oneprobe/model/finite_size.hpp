// Finite tables: how far the overflow strays from its mean, so that a reserve can be planned.
//
// Fluid limits give means. For n elements the number that overflow has a standard deviation of
// order sqrt(n gamma); the reserve must cover its upper tail.
//
//   overflow_spread s = overflow_spread_filling(fluid, 1'000'000);
//   double slots = reserve_for(s, 1e-9);      // exceeded with probability at most 1e-9
//
// The deviation is of first order in the fluctuations. Where the last level has only tens of
// buckets and a handful of elements overflow, the true one is larger: a third in a table of 12,000
// buckets whose last level has 60. Give such levels slack.
//
// Beyond the papers. Pure and thread-safe.
#pragma once

#include "oneprobe/model/churn.hpp"
#include "oneprobe/model/fluid.hpp"

namespace oneprobe::inline v0_1::model {

/// How many elements overflow, and how far that differs from table to table.
struct overflow_spread {
  double mean = 0;                // elements
  double standard_deviation = 0;  // elements
};

/// Overflow of n elements placed one after the other (nothing erased, no access budget). Single and
/// multilevel level by level in closed form; sequential, d-random and d-left from the diffusion
/// limit of the placement process (bucket capacity up to 128).
overflow_spread overflow_spread_filling(const fluid_parameters& parameters, double elements);

/// Overflow present at a random moment under churn at constant size, all schemes: diffusion limit
/// around the stationary state. Bucket capacity up to 128.
overflow_spread overflow_spread_churning(const churn_parameters& parameters, double elements);

/// A number of slots q with P(overflow > q) <= probability (1e-30 to 1) for an overflow with this
/// mean and deviation: the quantile of a Poisson distribution, or of a negative binomial one where
/// the variance exceeds the mean (overflow is bursty); for large means the normal quantile
/// corrected for skewness. It does not know how many elements there are: no table needs more slots
/// than that.
double reserve_for(const overflow_spread& spread, double probability);

}  // namespace oneprobe::inline v0_1::model
