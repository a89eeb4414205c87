#include "oneprobe/model/fluid.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <numeric>

#include "oneprobe/model/balance.hpp"
#include "oneprobe/model/overflow_bound.hpp"
#include "unit/model/expect.hpp"

namespace {

using namespace oneprobe::model;

double sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

/// Any scheme, partition, admission rule, budget and time.
fluid_parameters any_parameters(std::initializer_list<scheme_kind> schemes) {
  fluid_parameters parameters;
  parameters.scheme = *rc::gen::elementOf(std::vector<scheme_kind>(schemes));
  parameters.load_factor = *rc::gen::inRange(100, 1600) / 1000.0;
  parameters.bucket_capacity = *rc::gen::inRange(1u, 17u);
  parameters.choices = *rc::gen::inRange(1u, 6u);
  if (parameters.scheme == scheme_kind::multilevel) {
    for (unsigned level = 0; level < parameters.choices; ++level)
      parameters.level_fractions.push_back(*rc::gen::inRange(1, 1000));
    const double total = sum(parameters.level_fractions);
    for (double& fraction : parameters.level_fractions) fraction /= total;
  }
  const bool parallel =
      parameters.scheme == scheme_kind::d_random || parameters.scheme == scheme_kind::d_left;
  if (!parallel && *rc::gen::arbitrary<bool>())
    parameters.admit_probability = *rc::gen::inRange(0, 1001) / 1000.0;
  if (*rc::gen::arbitrary<bool>()) parameters.access_budget = *rc::gen::inRange(1, 2500) / 1000.0;
  if (*rc::gen::arbitrary<bool>()) parameters.time = *rc::gen::inRange(0, 1001) / 1000.0;
  return parameters;
}

constexpr std::initializer_list<scheme_kind> first_fit{scheme_kind::single, scheme_kind::sequential,
                                                       scheme_kind::multilevel};
constexpr std::initializer_list<scheme_kind> all_schemes{
    scheme_kind::single, scheme_kind::sequential, scheme_kind::multilevel, scheme_kind::d_random,
    scheme_kind::d_left};

RC_GTEST_PROP(fluid, the_closed_form_is_the_solution_of_the_differential_equations, ()) {
  const fluid_parameters parameters = any_parameters(first_fit);
  const fluid_state closed = fluid_limit(parameters);
  const fluid_state ode = fluid_limit_by_ode(parameters);
  const auto close = [](double a, double b) {
    return std::abs(a - b) <= 1e-8 * (std::abs(b) + 1e-6);
  };
  RC_ASSERT(close(closed.time, ode.time));
  RC_ASSERT(close(closed.overflow_fraction, ode.overflow_fraction));
  RC_ASSERT(close(closed.cumulative_overflow_fraction, ode.cumulative_overflow_fraction));
  RC_ASSERT(close(closed.mean_accesses, ode.mean_accesses));
  RC_ASSERT(close(closed.miss_accesses, ode.miss_accesses));
  RC_ASSERT(closed.occupancy.size() == ode.occupancy.size());
  for (std::size_t i = 0; i < ode.occupancy.size(); ++i)
    RC_ASSERT(close(closed.occupancy[i], ode.occupancy[i]));
  RC_ASSERT(closed.levels.size() == ode.levels.size());
}

RC_GTEST_PROP(fluid, elements_are_in_buckets_or_in_the_overflow, ()) {
  const fluid_parameters parameters = any_parameters(all_schemes);
  const fluid_state state = fluid_limit(parameters);
  // Closed forms to 1e-12; what is integrated, to the tolerance of the integration.
  const bool integrated =
      parameters.scheme == scheme_kind::d_random || parameters.scheme == scheme_kind::d_left;
  RC_ASSERT(std::abs(sum(state.occupancy) - 1) <= 1e-12);
  double held = 0;
  for (std::size_t i = 0; i < state.occupancy.size(); ++i)
    held += static_cast<double>(i) * state.occupancy[i];
  const double per_bucket = parameters.load_factor * parameters.bucket_capacity;
  RC_ASSERT(std::abs(held / per_bucket + state.overflow_fraction - 1) <=
            (integrated ? 1e-8 : 1e-12));
  RC_ASSERT(state.overflow_fraction >= 0 && state.overflow_fraction <= 1 + 1e-12);
  if (parameters.access_budget)
    RC_ASSERT(state.mean_accesses <= *parameters.access_budget * (1 + 1e-9));
}

RC_GTEST_PROP(fluid, no_scheme_beats_the_bound, ()) {
  fluid_parameters parameters = any_parameters(all_schemes);
  parameters.admit_probability = 0;  // the bound is for hard capacity
  const fluid_state state = fluid_limit(parameters);
  const double bound =
      overflow_bound(state.mean_accesses, parameters.load_factor, parameters.bucket_capacity);
  RC_ASSERT(state.overflow_fraction >= bound * (1 - 1e-8) - 1e-15);
}

RC_GTEST_PROP(fluid, more_elements_overflow_more, ()) {
  fluid_parameters parameters = any_parameters(all_schemes);
  parameters.access_budget.reset();
  parameters.time = 1;
  const double here = fluid_limit(parameters).overflow_fraction;
  parameters.load_factor *= 1.05;
  RC_ASSERT(fluid_limit(parameters).overflow_fraction >= here * (1 - 1e-9));
}

RC_GTEST_PROP(fluid, no_scheme_has_flatter_loads_than_the_balancing_bound, ()) {
  // Any threshold and coin: at the accesses made and the elements left out, P_LB has the least
  // variance and the least cost of any kind.
  fluid_parameters parameters = any_parameters(first_fit);
  parameters.access_budget.reset();
  parameters.time = 1;
  const fluid_state state = fluid_limit(parameters);
  const double r = parameters.load_factor * parameters.bucket_capacity;
  const load_distribution loads{state.occupancy};
  const load_distribution best =
      lower_bound_loads(r, state.mean_accesses, std::min(1.0, state.overflow_fraction)).loads;
  RC_ASSERT(loads.variance() >= best.variance() - 1e-9 * (1 + r * r));
  const double bend = *rc::gen::inRange(0, 20);
  const auto hinge = [=](std::size_t load) {
    return std::max(0.0, static_cast<double>(load) - bend);
  };
  RC_ASSERT(loads.cost(hinge) >= best.cost(hinge) - 1e-9 * (1 + r));
}

TEST(fluid, many_choices_stay_within_their_range) {
  for (const scheme_kind scheme :
       {scheme_kind::d_random, scheme_kind::d_left, scheme_kind::sequential})
    for (const unsigned choices : {8u, 16u, 32u})
      for (const unsigned capacity : {1u, 4u, 8u})
        for (const double load : {0.5, 0.9, 1.5}) {
          const fluid_state state = fluid_limit_by_ode({.scheme = scheme,
                                                        .load_factor = load,
                                                        .bucket_capacity = capacity,
                                                        .choices = choices});
          const std::string where = std::string(name_of(scheme)) + " " + std::to_string(choices);
          EXPECT_NEAR(sum(state.occupancy), 1, 1e-9) << where;
          EXPECT_GE(state.overflow_fraction, 0) << where;
          EXPECT_LE(state.overflow_fraction, 1) << where;
        }
}

TEST(fluid, one_choice_is_the_single_scheme_whatever_it_is_called) {
  const fluid_parameters single{
      .scheme = scheme_kind::single, .load_factor = 0.9, .bucket_capacity = 6};
  const double expected = fluid_limit(single).overflow_fraction;
  for (const scheme_kind scheme : {scheme_kind::sequential, scheme_kind::d_random,
                                   scheme_kind::d_left, scheme_kind::multilevel}) {
    fluid_parameters other = single;
    other.scheme = scheme;
    other.choices = 1;
    other.level_fractions = {1.0};
    expect_relative(fluid_limit(other).overflow_fraction, expected, 1e-9);
  }
}

TEST(fluid, an_overflow_of_1e_30_keeps_its_digits) {
  // Two levels of equal size at a twentieth of the load: products of tails.
  fluid_parameters parameters{.scheme = scheme_kind::multilevel,
                              .load_factor = 0.05,
                              .bucket_capacity = 8,
                              .level_fractions = {0.5, 0.5}};
  const fluid_state closed = fluid_limit(parameters);
  const fluid_state ode = fluid_limit_by_ode(parameters);
  EXPECT_LT(closed.overflow_fraction, 1e-30);
  EXPECT_GT(closed.overflow_fraction, 0);
  expect_relative(ode.overflow_fraction, closed.overflow_fraction, 1e-6);
}

TEST(fluid, a_level_without_buckets_sends_everything_on) {
  const fluid_parameters parameters{.scheme = scheme_kind::multilevel,
                                    .load_factor = 1,
                                    .bucket_capacity = 4,
                                    .level_fractions = {0.6, 0.0, 0.4}};
  const fluid_parameters without{.scheme = scheme_kind::multilevel,
                                 .load_factor = 1,
                                 .bucket_capacity = 4,
                                 .level_fractions = {0.6, 0.4}};
  expect_relative(fluid_limit(parameters).overflow_fraction, fluid_limit(without).overflow_fraction,
                  1e-14);
  EXPECT_GT(fluid_limit(parameters).mean_accesses, fluid_limit(without).mean_accesses);
  expect_relative(fluid_limit(parameters).mean_accesses,
                  fluid_limit_by_ode(parameters).mean_accesses, 1e-8);
}

TEST(fluid, nothing_has_happened_at_time_zero) {
  for (const scheme_kind scheme : all_schemes) {
    const fluid_state state = fluid_limit({.scheme = scheme,
                                           .load_factor = 1,
                                           .bucket_capacity = 3,
                                           .choices = 2,
                                           .level_fractions = {0.7, 0.3},
                                           .time = 0});
    EXPECT_EQ(state.occupancy[0], 1.0);
    EXPECT_EQ(state.overflow_fraction, 1.0);
    EXPECT_EQ(state.cumulative_overflow_fraction, 0.0);
    EXPECT_EQ(state.mean_accesses, 0.0);
  }
}

TEST(fluid, bad_parameters_are_refused_by_name) {
  const auto limit = [](auto change) {
    return [change] {
      fluid_parameters parameters{.scheme = scheme_kind::multilevel,
                                  .load_factor = 1,
                                  .bucket_capacity = 4,
                                  .choices = 2,
                                  .level_fractions = {0.7, 0.3}};
      change(parameters);
      fluid_limit(parameters);
    };
  };
  expect_refused(limit([](auto& p) { p.load_factor = -1; }), "load factor");
  expect_refused(limit([](auto& p) { p.bucket_capacity = 0; }), "bucket capacity");
  expect_refused(limit([](auto& p) { p.level_fractions = {}; }), "level fractions");
  expect_refused(limit([](auto& p) { p.level_fractions = {0.5, 0.4}; }), "level fractions");
  expect_refused(limit([](auto& p) { p.level_fractions = {1.5, -0.5}; }), "level fractions");
  expect_refused(limit([](auto& p) { p.level_fractions = {0.0, 1.0}; }), "level fractions");
  expect_refused(limit([](auto& p) {
                   p.level_fractions = {std::nan(""), 1.0};
                 }),
                 "level fractions");
  expect_refused(limit([](auto& p) { p.admit_probability = 2; }), "admit probability");
  expect_refused(limit([](auto& p) { p.access_budget = -1; }), "accesses");
  expect_refused(limit([](auto& p) { p.time = 1.1; }), "time");
  expect_refused(limit([](auto& p) {
                   p.scheme = scheme_kind::sequential;
                   p.choices = 0;
                 }),
                 "choices");
  expect_refused(limit([](auto& p) {
                   p.scheme = scheme_kind::d_left;
                   p.admit_probability = 0.5;
                 }),
                 "admit probability");
}

}  // namespace
