// The numbers of a run as CSV (RFC 4180, lines ended by \n): every digit, for other programs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reproduce/experiment.hpp"

namespace oneprobe::cli {

/// One field: in quotes if it has to be.
std::string csv_field(std::string_view text);

/// series,kind,x,y,standard_error: one line per point.
std::string csv_of(const chart& what);

/// The heading of rows.csv.
std::string csv_heading();
/// Its lines for one experiment.
std::string csv_of(std::string_view experiment_id, const std::vector<row>& rows);

}  // namespace oneprobe::cli
