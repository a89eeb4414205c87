// How bits lie in a block of a filter, and when a query leaves one: names that models, plans and
// products share.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>

namespace oneprobe::inline v0_1 {

/// How an element's k bits lie in its block. The values are written to files.
enum class block_layout : std::uint8_t {
  independent = 0,  // k independent positions, repetitions possible
  distinct = 1,     // k different positions; models only
  lanes = 2,        // one position in each of k equal lanes ("split block")
};

/// "independent", "distinct", "lanes".
constexpr std::string_view name_of(block_layout layout) {
  switch (layout) {
    case block_layout::independent:
      return "independent";
    case block_layout::distinct:
      return "distinct";
    case block_layout::lanes:
      return "lanes";
  }
  return "unknown";
}

/// When a query goes on to the next candidate, given that this block's bits said no. The values are
/// written to files.
enum class lookup_rule : std::uint8_t {
  counter = 0,    // load >= h (the papers' rule made safe; erratum 0.22)
  coin = 1,       // load > h, or load = h and the element's replayed coin refuses it (0.22, 0.23)
  flag = 2,       // the block has refused an element (erratum 0.24)
  coin_flag = 3,  // flag, and coin
  tracking = 4,   // counter for admission, w bits that track what it refused (p = 0)
  popcount = 5,   // no counter: refuses once its popcount reaches T; w bits track what
};

/// "counter", "coin", "flag", "coin-flag", "tracking", "popcount".
constexpr std::string_view name_of(lookup_rule rule) {
  switch (rule) {
    case lookup_rule::counter:
      return "counter";
    case lookup_rule::coin:
      return "coin";
    case lookup_rule::flag:
      return "flag";
    case lookup_rule::coin_flag:
      return "coin-flag";
    case lookup_rule::tracking:
      return "tracking";
    case lookup_rule::popcount:
      return "popcount";
  }
  return "unknown";
}

/// What a block keeps besides its Bloom bits.
struct block_state {
  lookup_rule rule = lookup_rule::popcount;
  std::uint32_t threshold = 256;    // h elements; for popcount T bits
  double admit_probability = 0;     // p; 0 for tracking and popcount
  std::uint32_t tracking_bits = 1;  // w >= 1 for tracking and popcount, else of no meaning

  /// Whether a block has a load counter.
  constexpr bool counts_elements() const noexcept { return rule != lookup_rule::popcount; }
  /// Whether a block remembers by bits what it refused.
  constexpr bool tracks() const noexcept {
    return rule == lookup_rule::popcount || rule == lookup_rule::tracking;
  }
  /// Whether a block remembers by a flag that it refused an element.
  constexpr bool flags() const noexcept {
    return rule == lookup_rule::flag || rule == lookup_rule::coin_flag;
  }
  /// The largest load of a block that nothing was forced into.
  constexpr std::uint32_t largest_load() const noexcept {
    return threshold + (admit_probability > 0 ? 1 : 0);
  }
  /// Bits of the load counter (errata 0.24, 0.25). With a flag there are further states: "full and
  /// has refused", for each load at which a block can refuse.
  constexpr unsigned counter_bits() const noexcept {
    if (!counts_elements()) return 0;
    const std::uint32_t flagged = flags() ? (admit_probability > 0 ? 2 : 1) : 0;
    return static_cast<unsigned>(std::bit_width(largest_load() + flagged));
  }
  /// All bits of the block that are not Bloom bits.
  constexpr unsigned bits() const noexcept {
    return counter_bits() + (tracks() ? tracking_bits : 0);
  }

  friend constexpr bool operator==(const block_state&, const block_state&) = default;
};

}  // namespace oneprobe::inline v0_1
