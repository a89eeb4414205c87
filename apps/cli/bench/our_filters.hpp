// Our own filters as contenders, each planned for the same elements and the same memory.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/contender.hpp"
#include "oneprobe/filter/plan.hpp"

namespace oneprobe::cli {

/// The filter that the others are compared with: bits anywhere in a block of 512.
inline constexpr const char* reference_name = "blocked 512";

struct our_filters {
  contender_list list;
  /// Filters that cannot be had with this memory, and why.
  std::vector<std::string> left_out;
};

/// Those of the given kinds.
our_filters make_our_filters(const contest_size& size, const std::vector<contender_kind>& kinds);

}  // namespace oneprobe::cli
