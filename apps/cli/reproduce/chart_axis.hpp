// One axis of a chart: what it spans, where its ticks are and how they are labelled.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "reproduce/experiment.hpp"

namespace oneprobe::cli {

struct tick {
  double value;
  std::string label;  // empty: a lesser tick
};

struct axis {
  double low = 0;
  double high = 1;
  scale how = scale::linear;
  std::vector<tick> ticks{};

  /// Where a value lies, 0 at the low end and 1 at the high one; nothing if it cannot be shown.
  std::optional<double> share(double value) const;
};

/// The least and the largest value that an axis has to show.
class span_of_values {
 public:
  explicit span_of_values(scale how) : how_(how) {}
  /// Passes over what the scale cannot show: on a logarithmic one, all but positive values.
  void add(double value);
  /// Widens it at both ends; does not make it less whole.
  void make_room(double room);
  bool empty() const { return low_ > high_; }
  double low() const { return low_; }
  double high() const { return high_; }
  /// Loads, levels, choices: ticks between whole numbers would mean nothing.
  bool whole() const { return whole_; }
  scale how() const { return how_; }

 private:
  scale how_;
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
  bool whole_ = true;
};

/// How an axis treats the ends of what it shows.
enum class axis_ends {
  tight,     // as they are
  padded,    // a little room, so that marks are not cut
  at_ticks,  // at round numbers, and at zero if that is near
  at_zero,   // at round numbers, and zero is in it: for bars
};

axis fit_axis(const span_of_values& values, axis_ends ends);

}  // namespace oneprobe::cli
