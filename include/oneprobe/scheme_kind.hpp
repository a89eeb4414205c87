// The placement schemes by name, for the parts that treat them alike: models, simulator, plans.
#pragma once

#include <string_view>

namespace oneprobe::inline v0_1 {

/// The papers' schemes. SIMPLE = single, GREEDY = sequential, MHT = multilevel.
/// d_random and d_left look at all d candidates and take the least loaded.
enum class scheme_kind { single, sequential, multilevel, d_random, d_left };

/// "single", "sequential", "multilevel", "d-random", "d-left".
constexpr std::string_view name_of(scheme_kind scheme) {
  switch (scheme) {
    case scheme_kind::single:
      return "single";
    case scheme_kind::sequential:
      return "sequential";
    case scheme_kind::multilevel:
      return "multilevel";
    case scheme_kind::d_random:
      return "d-random";
    case scheme_kind::d_left:
      return "d-left";
  }
  return "unknown";
}

/// More choices than this are refused, by models and by schemes alike.
inline constexpr unsigned largest_choices = 32;

}  // namespace oneprobe::inline v0_1
