// What the models say about a scenario of the simulator, in the shape of its findings.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "oneprobe/sim/simulate.hpp"

namespace oneprobe::cli {

/// One look. Lists are as long as the model's; an absent value is not predicted.
struct predicted_look {
  std::optional<double> overflow_fraction;
  std::optional<double> cumulative_overflow_fraction;
  std::optional<double> mean_accesses;
  std::optional<double> largest_load;
  std::optional<double> load_mean;
  std::optional<double> load_variance;
  std::vector<double> occupancy;
  std::vector<std::vector<double>> levels;
  /// How far the overflow fraction of one table strays from its mean.
  std::optional<double> overflow_deviation;
};

struct prediction {
  std::vector<predicted_look> looks;  // as many as the simulator's; all empty where there is none
  std::vector<double> accesses;       // share of the arrivals with 0, 1, ..., d accesses
  std::optional<double> budget_end;
  std::string source;   // the models that were asked; empty: none
  std::string missing;  // why there is no prediction; empty: there is one
};

/// Never throws for a scenario that the simulator accepts: what a model refuses is not predicted.
prediction predict(const sim::scenario& asked);

}  // namespace oneprobe::cli
