// The parameters of a balancer: plain numbers. The models compute them; the balancer does not
// depend on how.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "oneprobe/scheme_kind.hpp"

namespace oneprobe::inline v0_1 {

/// Where a job goes that no candidate admitted. Either costs no further probe.
enum class last_resort {
  last_reachable,  // the last candidate whose probe answered
  least_loaded,    // the least loaded of those that answered, the first of equals
};

struct balancer_plan {
  scheme_kind scheme = scheme_kind::single;  // how candidates are drawn
  std::uint64_t resources = 0;               // m
  unsigned choices = 1;                   // d; ignored by single, taken from levels by multilevel
  std::vector<double> level_fractions{};  // multilevel: share of the resources in each level
  /// h: a resource with fewer jobs admits one; none: all admit. Not for d-random and d-left, which
  /// compare loads instead.
  std::optional<std::uint32_t> threshold{};
  double admit_probability = 0;  // p: a resource with h jobs admits one with this probability
  last_resort overflow = last_resort::last_reachable;  // for jobs that no candidate admitted
};

}  // namespace oneprobe::inline v0_1
