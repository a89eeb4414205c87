// What the plug-in of peers is made of: each adds its tables to a list if it can.
#pragma once

#include <string>

#include "bench/table_contender.hpp"

namespace oneprobe::cli::peers {

/// Why a peer is not there; empty if it is.
using absence = std::string;
inline constexpr const char* not_compiled_in = "not found when this tool was configured";

absence add_standard(table_list& list, const table_contest_size& size);
absence add_boost(table_list& list, const table_contest_size& size);
absence add_absl(table_list& list, const table_contest_size& size);
absence add_libcuckoo(table_list& list, const table_contest_size& size);
absence add_tbb(table_list& list, const table_contest_size& size);
absence add_rte(table_list& list, const table_contest_size& size);

/// Our hash in the form that most of them want.
struct plain_hash {
  using is_avalanching = void;  // its bits are all good: Boost does not mix them again
  seeded_hash hash{};
  std::size_t operator()(std::uint64_t key) const noexcept {
    return static_cast<std::size_t>(hash(key).value);
  }
};

/// The largest power of two that is not above `most`. REQUIRES: at least 1.
constexpr std::uint64_t power_of_two_within(double most) noexcept {
  std::uint64_t power = 1;
  while (2.0 * static_cast<double>(power) <= most) power *= 2;
  return power;
}

}  // namespace oneprobe::cli::peers
