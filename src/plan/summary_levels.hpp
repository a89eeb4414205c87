// How elements spread over the levels of a table with a summary. Private to src/plan.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "oneprobe/one_probe/plan.hpp"

namespace oneprobe::inline v0_1::planning {

/// How the buckets of a level fill.
struct level_law {
  std::uint32_t bucket_capacity = 1;
  bool churns = false;  // elements come and go; else they only come
  bool worst = false;   // only those of the first level go

  /// Of `entering` elements at a level of `buckets` buckets, those that find no room, on average.
  double left_over(double entering, double buckets) const;
  /// The share of its buckets that are not empty.
  double nonempty(double entering, double buckets) const;
};

/// Elements by level, on average.
struct level_loads {
  std::vector<double> entering;  // of each level
  std::vector<double> stored;    // in each level
  std::vector<double> nonempty;  // share of its buckets
  double left = 0;               // that no level takes
  double elements = 0;           // in all
  bool churns = false;

  /// In this level or beyond, in some level; at most all elements.
  double from(std::size_t level) const;
};
/// If only elements of the first level go, and none is ever moved down to it, those beyond are as
/// many as there are elements in the end, in levels that were only filled; and where
/// reconstructions move elements down, those that stay are those that collide: fewer than the
/// losses of churn say.
level_loads loads_of(const level_law& law, double elements, const std::vector<double>& buckets);

/// Levels for so many elements in so many buckets, of which on average no more than `most_left`
/// are left over, with as few elements beyond the first level as can be; none if they cannot.
std::optional<std::vector<double>> levels_with_skew(const level_law& law, double elements,
                                                    double buckets, std::uint32_t levels,
                                                    double most_left);

}  // namespace oneprobe::inline v0_1::planning
