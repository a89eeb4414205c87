// Where the entries of a legend stand: in as few rows as fit, with entries of one colour together.
#pragma once

#include <cstddef>
#include <vector>

namespace oneprobe::cli {

/// What an entry needs.
struct legend_entry {
  double width;
  std::size_t colour;
};

struct legend_place {
  double x;
  std::size_t row;
};

struct legend_layout {
  std::vector<legend_place> places;  // one per entry, in their order
  std::size_t rows = 0;
};

/// `gap` is left free between columns. An entry that is wider than `room` has a row of its own.
legend_layout arrange(const std::vector<legend_entry>& entries, double room, double gap);

}  // namespace oneprobe::cli
