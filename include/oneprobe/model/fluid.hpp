// Fluid limits: what each scheme does to a large table, as a function of time.
//
// Elements arrive at times 0 to 1. The limit gives the fraction of buckets at each load, the
// overflow and the accesses spent at any time, with hard capacity or (h, p) admission, with or
// without a total access budget.
//
//   fluid_parameters q{.scheme = scheme_kind::multilevel, .load_factor = 1, .bucket_capacity = 4,
//                      .level_fractions = {0.589, 0.254, 0.110, 0.047}};
//   fluid_state end = fluid_limit(q);   // end.overflow_fraction, end.mean_accesses, ...
//
// Two independent computations of the same thing: `fluid_limit` uses the reduction of every level
// to a single-choice table (closed form; one quadrature for sequential), `fluid_limit_by_ode`
// integrates the papers' differential equations. d-random and d-left exist only as equations.
// Results allocate the vectors they return. Pure and thread-safe.
#pragma once

#include <optional>
#include <vector>

#include "oneprobe/model/bucket.hpp"
#include "oneprobe/scheme_kind.hpp"

namespace oneprobe::inline v0_1::model {

// The schemes' names belong to all parts of the library.
using oneprobe::largest_choices;
using oneprobe::name_of;
using oneprobe::scheme_kind;

/// A table that fills, in the limit of many buckets.
struct fluid_parameters {
  scheme_kind scheme = scheme_kind::single;  // how candidates are drawn
  double load_factor = 1.0;                  // c = n / (m h)
  unsigned bucket_capacity = 1;              // h
  unsigned choices = 1;                   // d; ignored by single, taken from levels by multilevel
  std::vector<double> level_fractions{};  // multilevel: alpha_j, summing to 1
  double admit_probability = 0.0;         // p; not for d-random and d-left
  std::optional<double> access_budget{};  // a: placement stops after a n accesses
  double time = 1.0;                      // 0 to 1
};

/// The table at one moment.
struct fluid_state {
  double time = 0;                // when placement stopped: `time`, or the budget's end t_0
  std::vector<double> occupancy;  // fraction of buckets with 0, 1, ... elements
  std::vector<std::vector<double>> levels;  // the same per level (multilevel, d-left)
  double overflow_fraction = 0;             // gamma(t): of all n, what is not in a bucket by then
  double cumulative_overflow_fraction = 0;  // of the elements handled by then
  double mean_accesses = 0;                 // f^a(t): accesses by then, over n
  double miss_accesses = 0;                 // buckets an absent key costs if a search stops at the
                                            // first bucket with room (erratum 3.15; no erasure)
};

/// OFH eqs. (4)-(6), (9)-(12), Theorems 4 and 5; ECB eqs. (6), (9)-(13), Theorem 5; errata 3.1-3.6,
/// 0.2, 0.10-0.12. For d-random and d-left the same as fluid_limit_by_ode.
fluid_state fluid_limit(const fluid_parameters& parameters);

/// OFH eqs. (3), (7), (8), (13), (14); ECB eqs. (3)-(5), (7), (8). d-random and d-left: the limits
/// of their own processes (erratum 3.14). Bucket capacity up to 128; arrivals per bucket of the
/// smallest level times the number of loads up to 1e7, so that it ends within seconds.
fluid_state fluid_limit_by_ode(const fluid_parameters& parameters);

}  // namespace oneprobe::inline v0_1::model
