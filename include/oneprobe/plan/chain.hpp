// From an access budget to a chained table whose chains vary as little as any scheme can make them
// on it (ECB, Section VIII).
//
//   chain_plan plan = plan_chains({.elements = 160'000, .accesses = 1.2});
//   chained_map<std::uint64_t, int> map(plan);
//   plan.predicted.length_variance;      // and single_variance: of the ordinary table
//
// Pure and thread-safe. Throws std::invalid_argument that names what is out of range.
#pragma once

#include <cstdint>

#include "oneprobe/map/chain_plan.hpp"

namespace oneprobe::inline v0_1 {

/// What a chained table must do.
struct chain_needs {
  std::uint64_t elements = 0;     // 1 to 2^32
  double elements_per_chain = 8;  // 0.001 to 1000
  double accesses = 1.2;          // chains visited to place a new element, 1 up to `choices`
  std::uint32_t choices = 3;      // 1 to 8, of which each has a level; 1: the ordinary table
};

/// Levels, threshold and probability, with the chains for elements that no bucket admits.
chain_plan plan_chains(const chain_needs& needs);

}  // namespace oneprobe::inline v0_1
