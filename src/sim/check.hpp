// Parameter checks of the simulator, and the tables it can build. Private to src/sim.
#pragma once

#include "oneprobe/sim/simulate.hpp"

namespace oneprobe::inline v0_1::sim::detail {

/// Throws std::invalid_argument that names the parameter, what is allowed and what was found.
void check(const scenario& what);

}  // namespace oneprobe::inline v0_1::sim::detail
