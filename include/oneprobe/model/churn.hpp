// Tables under churn: elements are erased and others inserted at constant size.
//
// The papers' limits hold for tables that only fill. Under churn every bucket is an Erlang loss
// system: a bucket of level j sees lambda_j new elements per residence time, refuses the fraction
// ErlangB(h, lambda_j), and the overflow is the product over the levels. A table that is safe while
// it fills can lose percents of its elements to the overflow once it churns.
//
//   churn_state s = churn_limit({.scheme = scheme_kind::multilevel, .load_factor = 0.77,
//                                .bucket_capacity = 8, .level_fractions = {0.70, 0.2, 0.07,
//                                0.03}});
//   double c = largest_load_factor_under_churn(1e-6, 8, 4);      // 0.7787
//
// Beyond the papers. Pure and thread-safe.
#pragma once

#include <vector>

#include "oneprobe/model/fluid.hpp"
#include "oneprobe/model/partition.hpp"

namespace oneprobe::inline v0_1::model {

/// ErlangB(h, lambda): the fraction of arrivals that find all h slots taken.
double erlang_b(unsigned slots, double offered_load);

/// A table that lives: elements come and go, and their number stays.
struct churn_parameters {
  scheme_kind scheme = scheme_kind::multilevel;  // how candidates are drawn
  double load_factor = 0.8;                      // elements present / (m h)
  unsigned bucket_capacity = 8;                  // h
  unsigned choices = 1;                          // d; from the levels for multilevel
  std::vector<double> level_fractions{};         // multilevel
};

/// Such a table after a long time.
struct churn_state {
  double overflow_fraction = 0;            // of the elements present, and of the arrivals
  std::vector<double> overflow_per_level;  // multilevel: ErlangB of each level; else one entry, the
                                           // probability that a candidate is full
  double mean_accesses = 0;                // buckets per insertion
  std::vector<double> occupancy;           // fraction of buckets with 0 .. h elements
  std::vector<std::vector<double>> levels;  // the same per level (multilevel, d-left)
};

/// Multilevel: product form. Sequential: the fixed point lambda = r (1 - B^d) / (1 - B). d-random
/// and d-left: stationary mean field of join-the-least-loaded with departures.
churn_state churn_limit(const churn_parameters& parameters);

/// The partition with the least overflow under churn; the same stationarity argument as
/// least_overflow_partition, with ErlangB in place of the fill-only loss.
partition least_overflow_partition_under_churn(double load_factor, unsigned bucket_capacity,
                                               unsigned choices);

/// Largest load factor whose least-overflow partition under churn overflows at most this fraction.
double largest_load_factor_under_churn(double overflow_fraction, unsigned bucket_capacity,
                                       unsigned choices);

}  // namespace oneprobe::inline v0_1::model
