// How the numbers of a row are written for people, in the terminal and in the report alike: in the
// unit in which the document prints them, with two digits more than it does.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "reproduce/experiment.hpp"

namespace oneprobe::cli {

/// The first number in a text, and what stands around it.
struct written_number {
  double value = 0;
  int decimals = 0;  // digits after the point
  int exponent = 0;  // "2.17e-9": -9
  std::string_view before{};
  std::string_view after{};
};

/// Nothing if the text only has words.
std::optional<written_number> first_number(std::string_view text);

struct row_text {
  std::string printed;    // "57.68 %"; empty where there is none
  std::string model;      // "57.6810 %"
  std::string simulated;  // "57.691 ± 0.013 %"
};

row_text text_of(const row& what);

/// What is printed or does not agree stands in the open; the mere points of a figure, which all
/// agree, are folded away if there are many.
struct shown_rows {
  std::vector<const row*> open;
  std::vector<const row*> folded;
};

shown_rows rows_to_show(const std::vector<row>& all);

/// How many numbers came to which verdict.
struct verdict_counts {
  std::size_t agree = 0;
  std::size_t errata = 0;
  std::size_t disagree = 0;

  std::size_t all() const { return agree + errata + disagree; }
  void add(judgement how);
};

verdict_counts count(const std::vector<row>& rows);

}  // namespace oneprobe::cli
