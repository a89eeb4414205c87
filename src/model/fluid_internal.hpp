// What the closed forms, the differential equations and the finite-size corrections share. Private
// to src/model.
#pragma once

#include <span>

#include "check.hpp"
#include "oneprobe/model/fluid.hpp"

namespace oneprobe::inline v0_1::model::detail {

/// The differential equations have a component for each load; beyond this they take too long.
inline constexpr unsigned largest_ode_capacity = 128;

/// The most arrivals per bucket times components the differential equations take on: a few seconds.
inline constexpr double most_ode_work = 1e7;

/// d-left has a component for each load and group, and its clock runs d times as fast.
inline constexpr unsigned largest_left_product = 256;

/// The limits of d-random and d-left, in any model.
void check_parallel(unsigned bucket_capacity, unsigned choices, scheme_kind scheme);

void check_fluid(const fluid_parameters& parameters);
double elements_per_bucket(const fluid_parameters& parameters);  // r = c h
threshold admission_of(const fluid_parameters& parameters);

/// Probability that a bucket drawn from this occupancy refuses: (1 - p) f_h + f_{h+1}.
double refusal_of(std::span<const double> occupancy, const fluid_parameters& parameters);

/// From state.time and the overflowed elements (per element of the table).
void set_overflow(fluid_state& state, double overflowed);

}  // namespace oneprobe::inline v0_1::model::detail
