// Variance of the overflow of a finite table, for any scheme: the diffusion limit of the placement
// process, through its adjoint. Private to src/model.
//
// A table's state x moves a little with every event (an element arrives, or one leaves). Let
// V(t, x) be the value we care about - the final overflow - expected from state x at time t, and pi
// its gradient along the fluid limit. An event of kind k changes n V by y_k; the value at the end
// is the sum of these martingale steps, so its variance is n times the integral of Var(y) over
// time. pi obeys the adjoint equation -d pi / dt = dH / dx, with H = sum_k w_k(x) y_k(pi) the mean
// step.
#pragma once

#include "oneprobe/model/churn.hpp"
#include "oneprobe/model/fluid.hpp"

namespace oneprobe::inline v0_1::model::detail {

/// Var(overflow) / n after filling to parameters.time.
double overflow_noise_filling(const fluid_parameters& parameters);

/// Var(overflow) / n at a random moment of churn at constant size, in the given stationary state.
double overflow_noise_churning(const churn_parameters& parameters, const churn_state& state);

}  // namespace oneprobe::inline v0_1::model::detail
