// A run of `oneprobe reproduce` for the terminal: a table per experiment, and the counts.
#pragma once

#include <string>

#include "reproduce/result.hpp"
#include "reproduce/row_text.hpp"

namespace oneprobe::cli {

/// The table of one experiment, at most 100 columns wide. Points of a figure that are printed
/// nowhere and agree are only counted if there are many.
std::string table_of(const experiment_result& what);

/// "412 numbers: 398 agree, 14 explained by an erratum, none disagrees."
std::string sentence_of(const verdict_counts& counts);

}  // namespace oneprobe::cli
