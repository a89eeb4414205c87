// How plans are held to what is allowed, one parameter after the other. For plans of all products.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/scheme_kind.hpp"

namespace oneprobe::inline v0_1::detail {

/// Keeps the first fault as a sentence.
struct plan_check {
  std::optional<std::string> fault{};

  template <class Number>
  constexpr void operator()(bool fine, std::string_view name, std::string_view allowed,
                            Number found) {
    if (fine || fault) return;
    fault = std::string(name) + " must be " + std::string(allowed) + "; found ";
    if constexpr (std::is_floating_point_v<Number>)
      *fault += in_words(found);
    else
      *fault += std::to_string(found);
  }
};

/// The sizes of 1 to 8 levels: at least 1 each, and no more than `most` in all.
inline void check_levels(plan_check& check, std::span<const std::uint64_t> sizes,
                         std::string_view name, std::uint64_t most, std::string_view allowed) {
  std::uint64_t sum = 0;
  for (const std::uint64_t size : sizes) {
    check(size >= 1 && size <= most - sum, name, allowed, size);
    if (check.fault) return;
    sum += size;
  }
}

/// Whether a scheme can have these choices and levels.
/// REQUIRES: the sizes have been checked.
inline void check_scheme(plan_check& check, scheme_kind scheme, std::uint32_t choices,
                         std::span<const std::uint64_t> sizes, std::string_view name) {
  check(scheme <= scheme_kind::d_left, "scheme", "one of the five", static_cast<unsigned>(scheme));
  const bool levelled = scheme == scheme_kind::multilevel || scheme == scheme_kind::d_left;
  check(levelled || sizes.size() == 1, "levels", "1 in this scheme", sizes.size());
  check(scheme == scheme_kind::single ? choices == 1 : choices >= 1 && choices <= 8, "choices",
        "1 to 8, and 1 for single placement", choices);
  check(!levelled || choices == sizes.size(), "choices", "one per level", choices);
  if (check.fault || scheme != scheme_kind::d_left) return;
  std::uint64_t sum = 0;
  for (const std::uint64_t size : sizes) sum += size;
  for (std::size_t i = 0; i < sizes.size() && !check.fault; ++i)
    check(sizes[i] == sum / sizes.size() + (i < sum % sizes.size() ? 1 : 0), name,
          "equal in d-left, the first ones perhaps one more", sizes[i]);
}

}  // namespace oneprobe::inline v0_1::detail
