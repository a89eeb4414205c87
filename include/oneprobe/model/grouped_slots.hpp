// Buckets whose slots are in groups: what they refuse beyond the arrivals that find them full.
//
// The tables keep the elements of one tag in one group of slots (detail/map/bucket_tags.hpp), and a
// bucket refuses an element whose tag is in a full group even if another group has room. An element
// goes to its home group, any of them with equal probability; if that is full, to the first with
// room. While F groups of s slots are full and the bucket is not, it refuses s F t of the arrivals,
// t being the chance that two elements have one tag.
//
//   grouped_slots bucket{.slots = 16, .group_slots = 4};
//   refused_churning(bucket, 8.0) / erlang_b(16, 8.0);      // 1.10
//
// To first order in t: it is not seen that an element is refused by one of its own home, nor that
// elements of one tag are together. Held to tables of which 2.5e-4 overflow (docs/table-trials.md).
// In the limit of many buckets: of smaller tables more overflows, where few do.
//
// Beyond the papers. Pure and thread-safe. 4 to 16 slots in groups of 4 or more, 1e6 arrivals per
// bucket.
#pragma once

#include "oneprobe/model/churn.hpp"
#include "oneprobe/model/fluid.hpp"

namespace oneprobe::inline v0_1::model {

struct grouped_slots {
  unsigned slots = 16;       // h
  unsigned group_slots = 4;  // divides the slots; as many as there are: the rule refuses no element
  /// The chance that two elements have one tag: of 256 low tags the first stands for two, and
  /// there are 16 high ones.
  double same_tag = 258.0 / 65536 / 16;
};

/// The fraction of the arrivals that a churning bucket refuses; with one group, ErlangB.
double refused_churning(const grouped_slots& bucket, double offered_load);

/// The same of a bucket that only fills and that Poisson(mean) elements come to.
double refused_filling(const grouped_slots& bucket, double arrivals_mean);

/// The overflow fraction of a churning table of such buckets: single, sequential and multilevel.
double grouped_overflow_churning(const churn_parameters& parameters, const grouped_slots& bucket);

/// The same of a table that only fills: single and multilevel.
double grouped_overflow_filling(const fluid_parameters& parameters, const grouped_slots& bucket);

}  // namespace oneprobe::inline v0_1::model
