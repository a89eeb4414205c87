// Which scheme a plan means. For the products; there is nothing here to call.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <type_traits>

#include "oneprobe/detail/placement/schemes.hpp"
#include "oneprobe/scheme_kind.hpp"

namespace oneprobe::inline v0_1::detail {

template <class Scheme>
constexpr scheme_kind kind_of_scheme() noexcept {
  if constexpr (std::is_same_v<Scheme, single>) return scheme_kind::single;
  if constexpr (std::is_same_v<Scheme, sequential>) return scheme_kind::sequential;
  if constexpr (std::is_same_v<Scheme, d_random>) return scheme_kind::d_random;
  if constexpr (std::is_same_v<Scheme, d_left>) return scheme_kind::d_left;
  return scheme_kind::multilevel;
}

/// Why a plan for `planned` is for another scheme. A plan for single placement is one for a single
/// level.
template <class Scheme>
std::optional<std::string> find_other_scheme(scheme_kind planned) {
  constexpr scheme_kind kind = kind_of_scheme<Scheme>();
  if (planned == kind || (kind == scheme_kind::multilevel && planned == scheme_kind::single))
    return std::nullopt;
  return "scheme must be " + std::string(name_of(kind)) + "; found " +
         std::string(name_of(planned));
}

/// The scheme over levels of these sizes; those that have no levels are given one.
template <class Scheme>
Scheme scheme_over(std::span<const std::uint64_t> level_sizes, std::uint32_t choices) {
  if constexpr (std::is_same_v<Scheme, multilevel>) {
    return Scheme(level_sizes);
  } else {
    std::uint64_t buckets = 0;
    for (const std::uint64_t size : level_sizes) buckets += size;
    if constexpr (std::is_same_v<Scheme, single>)
      return Scheme(buckets);
    else
      return Scheme(buckets, choices);
  }
}

}  // namespace oneprobe::inline v0_1::detail
