// What a file holds, by the kind in its preamble: the numbers are given out here.
//
//   contents_of(head.kind)                         // "a growing filter", "a page store"
//   return wrong_kind(name, head.kind, "a map");   // what was asked for
//
// Pure functions on values, thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "oneprobe/files.hpp"
#include "oneprobe/filter/plan.hpp"

namespace oneprobe::inline v0_1 {

// 1 to 6 are filters, by their filter_kind.

/// Files of several filters, each of them a file of its own: detail/filter/parts_parameters.hpp.
enum class parts_kind : std::uint16_t {
  growing = 64,
  rotating = 65,
};
constexpr std::string_view name_of(parts_kind kind) {
  switch (kind) {
    case parts_kind::growing:
      return "growing";
    case parts_kind::rotating:
      return "rotating";
  }
  return "unknown";
}

/// Tables: detail/map/parameters.hpp. A map has values, a set has keys only.
enum class table_kind : std::uint16_t {
  map = 128,
  set = 129,
};
constexpr std::string_view name_of(table_kind kind) {
  switch (kind) {
    case table_kind::map:
      return "map";
    case table_kind::set:
      return "set";
  }
  return "unknown";
}

/// detail/page_store/parameters.hpp.
inline constexpr std::uint16_t page_store_kind = 192;

constexpr bool is_one_filter(std::uint16_t kind) {
  return kind <= 0xff && name_of(static_cast<filter_kind>(kind)) != "unknown";
}

/// As a sentence says it.
inline std::string contents_of(std::uint16_t kind) {
  if (is_one_filter(kind))
    return "a " + std::string(name_of(static_cast<filter_kind>(kind))) + " filter";
  if (const auto name = name_of(static_cast<parts_kind>(kind)); name != "unknown")
    return "a " + std::string(name) + " filter";
  if (const auto name = name_of(static_cast<table_kind>(kind)); name != "unknown")
    return "a " + std::string(name);
  if (kind == page_store_kind) return "a page store";
  return "something of the unknown kind " + std::to_string(kind);
}

inline load_failure wrong_kind(std::string_view name, std::string_view holds,
                               std::string_view asked) {
  return {load_error::wrong_kind, std::string(name) + " is of the wrong kind: it holds " +
                                      std::string(holds) + ", asked for was " + std::string(asked)};
}
inline load_failure wrong_kind(std::string_view name, std::uint16_t kind, std::string_view asked) {
  return wrong_kind(name, contents_of(kind), asked);
}

}  // namespace oneprobe::inline v0_1
