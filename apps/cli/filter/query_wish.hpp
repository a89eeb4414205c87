// What a query over many keys is asked to print, of a file or of a cluster, and its answer.
#pragma once

#include <cstdint>

#include "command.hpp"
#include "filter/key_lines.hpp"

namespace oneprobe::cli {

inline constexpr option invert_option{"--invert", "",
                                      "print the keys that are surely not contained"};
inline constexpr option count_option{"--count", "",
                                     "print how many keys there are instead of the keys"};

struct query_wish {
  enum class printing : std::uint8_t { keys, count, nothing };

  key_separator separator = key_separator::newline;
  bool wants_contained = true;  // otherwise those that surely are not
  printing print = printing::keys;
};

query_wish read_wish(const arguments& in);

struct query_totals {
  std::uint64_t keys = 0;
  std::uint64_t contained = 0;  // perhaps
};

/// Prints the count, if it is wanted.
report answer_of(const query_totals& sum, const query_wish& wish);

}  // namespace oneprobe::cli
