// Findings beside the prediction: as JSON and as a table of 80 columns.
#pragma once

#include "oneprobe/sim/simulate.hpp"
#include "output.hpp"
#include "simulate/prediction.hpp"

namespace oneprobe::cli {

/// Deviations are in standard errors: of the samples, or of the model's own spread where there is
/// but one sample.
/// `notes` are sentences below the table.
report report_of(const sim::scenario& what, const sim::findings& found, const prediction& said,
                 const std::vector<std::string>& notes);

}  // namespace oneprobe::cli
