// Level sizes in the limit of many buckets. Private to src/plan.
#pragma once

#include <cstdint>
#include <vector>

#include "oneprobe/detail/planning/table_layout.hpp"
#include "oneprobe/detail/planning/tag_refusals.hpp"
#include "oneprobe/plan/table.hpp"

namespace oneprobe::inline v0_1::planning {

/// How a bucket loses elements: filling or churning, full or for a tag in a full group.
class bucket_loss {
 public:
  /// Of elements of so many bytes; 0: of any that are not in groups.
  bucket_loss(table_workload workload, std::uint32_t capacity, std::uint32_t slot_bytes);

  table_workload workload() const { return workload_; }
  std::uint32_t capacity() const { return capacity_; }
  bool in_groups() const { return for_tags_ != nullptr; }

  /// L(y): of y arrivals per bucket, the fraction turned away.
  double refused_fraction(double offered) const;
  /// y^2 L'(y): what one more bucket keeps of the elements, in elements. Rises with y from 0 to h.
  double gain(double offered) const;
  /// The y at which that is so much; of what is out of reach, an end of what may be offered.
  double offered_for(double log_gain) const;

 private:
  double refused_when_full(double offered) const;
  double gain_when_full(double offered) const;

  table_workload workload_;
  std::uint32_t capacity_;
  const detail::tag_refusals* for_tags_;  // none: slots are in one group
  std::vector<double> log_gains_;         // where as a rule y is: a search begins beside it
};

/// The levels with the fewest accesses per element among those that overflow at most a fraction.
///
/// Let a bucket cost mu accesses and an element in the overflow phi. What it costs to see n
/// elements through the levels from j on is proportional to n; v_j n, say, with
///
///     v_j = 1 + min over y of (mu / y + L(y) v_{j+1}),    v_{d+1} = phi,
///
/// for n / y buckets are paid and n L(y) elements go on. So every level is one root,
/// y^2 L'(y) = mu / v_{j+1}, from the last one back; phi is found from the overflow, mu from the
/// number of buckets.
///
/// REQUIRES: a load factor below the largest that keeps the overflow.
table_design least_access_levels(const bucket_loss& loss, std::uint32_t choices, double load_factor,
                                 double overflow_fraction);

/// The levels with the fewest buckets among those that overflow at most a fraction: those above if
/// accesses cost nothing.
table_design fullest_levels(const bucket_loss& loss, std::uint32_t choices,
                            double overflow_fraction);

/// Levels with these shares of the buckets, at a load factor, as buckets with this loss see them.
table_design levels_of(const bucket_loss& loss, const std::vector<double>& fractions,
                       double load_factor);

/// Of all elements, those that pass every level.
double overflow_of(const bucket_loss& loss, const table_design& design);

/// Accesses per hit with `share` of the elements that the design is for.
double hit_accesses_of(const bucket_loss& loss, const table_design& design, double share);

/// Buckets per element.
double space_of(const table_design& design);

}  // namespace oneprobe::inline v0_1::planning
