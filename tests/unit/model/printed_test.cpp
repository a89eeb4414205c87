// Every number that OFH, ECB and BBF print, with its place: reproduced to the digits printed, or
// explained by the erratum named. SSH's numbers are in crisis_test, summary_test and
// reconstruction_test, LEC's in balls_test.

#include <gtest/gtest.h>

#include <cmath>

#include "oneprobe/model/balance.hpp"
#include "oneprobe/model/balanced.hpp"
#include "oneprobe/model/bloom.hpp"
#include "oneprobe/model/fluid.hpp"
#include "oneprobe/model/overflow_bound.hpp"
#include "oneprobe/model/partition.hpp"
#include "unit/model/expect.hpp"

namespace {

using namespace oneprobe::model;

fluid_state single(double load_factor, unsigned capacity, double time = 1) {
  return fluid_limit({.scheme = scheme_kind::single,
                      .load_factor = load_factor,
                      .bucket_capacity = capacity,
                      .time = time});
}

// --- OFH ---------------------------------------------------------------------------------------

TEST(printed_ofh, section_iv_c_single_slots_overflow_36_8_percent) {
  EXPECT_TRUE(prints_as(100 * single(1, 1).overflow_fraction, "36.8"));
}

TEST(printed_ofh, section_iv_d_and_fig_5a_final_occupancy) {
  const std::vector<double> occupancy = single(1, 3).occupancy;
  EXPECT_TRUE(prints_as(100 * occupancy[3], "57.68"));
  EXPECT_TRUE(prints_as(100 * occupancy[2], "22.40"));
  EXPECT_TRUE(prints_as(100 * occupancy[1], "14.94"));
  EXPECT_TRUE(prints_as(100 * occupancy[0], "4.98"));
}

TEST(printed_ofh, fig_5b_overflow_falls_from_one_and_its_cumulative_form_rises_to_meet_it) {
  double overflow = 2, cumulative = -1;
  for (const double t : {0.0, 0.25, 0.5, 0.75, 1.0}) {
    const fluid_state state = single(1, 3, t);
    EXPECT_LT(state.overflow_fraction, overflow);
    EXPECT_GT(state.cumulative_overflow_fraction, cumulative);
    overflow = state.overflow_fraction;
    cumulative = state.cumulative_overflow_fraction;
  }
  EXPECT_DOUBLE_EQ(overflow, cumulative);
}

TEST(printed_ofh, section_v_c_sequential_with_two_single_slots) {
  const cutoff full = sequential_cutoff(1, 1, 2);
  EXPECT_TRUE(prints_as(full.mean_accesses, "1.4338"));
  EXPECT_TRUE(prints_as(100 * full.overflow_fraction, "23.8"));
  expect_relative(full.mean_accesses, std::log((std::exp(2.0) + 1) / 2), 1e-12);
  expect_relative(full.overflow_fraction, 2 / (std::exp(2.0) + 1), 1e-12);
  const cutoff tenth = sequential_cutoff(0.1, 1, 2);
  EXPECT_TRUE(prints_as(tenth.mean_accesses, "1.0499"));
  EXPECT_TRUE(prints_as(100 * tenth.overflow_fraction, "0.33"));
}

TEST(printed_ofh, section_v_c_the_range_of_optimality_needs_m_over_n) {  // erratum 3.1
  const double c = 0.1;
  const double printed = c * std::log((1 + std::exp(2 * c)) / 2);
  const double right = std::log((1 + std::exp(2 * c)) / 2) / c;
  EXPECT_LT(printed, 0.011);
  expect_relative(sequential_cutoff(c, 1, 2).mean_accesses, right, 1e-12);
}

TEST(printed_ofh, equations_9_to_12_hold_in_their_corrected_form) {  // errata 3.2, 3.3, 3.5
  const double c = 0.7, a = 1.1;
  const double t = std::log(2 * std::exp(c * a) - 1) / (2 * c);  // (11), exponent (n/m) a
  const fluid_state state = fluid_limit({.scheme = scheme_kind::sequential,
                                         .load_factor = c,
                                         .bucket_capacity = 1,
                                         .choices = 2,
                                         .access_budget = a});
  expect_relative(state.time, t, 1e-10);
  const double nine = 1 - (std::exp(2 * c * t) - 1) / (std::exp(2 * c * t) + 1) / c;
  expect_relative(state.overflow_fraction, nine, 1e-10);
  expect_relative(state.overflow_fraction, 1 - 1 / c + std::exp(-c * a) / c, 1e-10);         // (12)
  expect_relative(state.mean_accesses, std::log((1 + std::exp(2 * c * t)) / 2) / c, 1e-10);  // (10)
}

TEST(printed_ofh, theorem_4_substitutes_in_equation_5_not_6) {  // erratum 3.4
  // d = h = 4, c = 1, a = 1.2.
  const fluid_state end = fluid_limit({.scheme = scheme_kind::sequential,
                                       .load_factor = 1,
                                       .bucket_capacity = 4,
                                       .choices = 4,
                                       .access_budget = 1.2});
  EXPECT_TRUE(prints_as(end.overflow_fraction, "0.123183"));
  EXPECT_TRUE(prints_as(overflow_bound(1.2, 1, 4), "0.123183"));
  EXPECT_TRUE(prints_as(refused_fraction(1.2 * 4, {4, 0}), "0.269319"));  // (6): p(a), not gamma
}

TEST(printed_ofh, theorem_6_the_refused_fraction_is_the_same_at_every_level) {  // errata 3.6, 3.7
  const cutoff edge = multilevel_cutoff(1, 4, 4);
  const fluid_state end = fluid_limit({.scheme = scheme_kind::multilevel,
                                       .load_factor = 1,
                                       .bucket_capacity = 4,
                                       .level_fractions = edge.level_fractions});
  for (const auto& level : end.levels)
    for (std::size_t i = 0; i < level.size(); ++i)
      expect_relative(level[i], end.levels[0][i], 1e-10);
}

TEST(printed_ofh, section_vi_d_multilevel_with_two_single_slots) {
  const cutoff full = multilevel_cutoff(1, 1, 2);
  EXPECT_TRUE(prints_as(full.mean_accesses, "1.4777"));
  EXPECT_TRUE(prints_as(100 * full.overflow_fraction, "22.8"));
  expect_relative(full.overflow_fraction, std::exp(-full.mean_accesses), 1e-12);
  // (24): a = 1 + 2 W(e^(-1/2) / 2), that is w = (a - 1) / 2 solves w e^w = e^(-1/2) / 2.
  const double w = (full.mean_accesses - 1) / 2;
  expect_relative(w * std::exp(w), 0.5 * std::exp(-0.5), 1e-12);
  const cutoff tenth = multilevel_cutoff(0.1, 1, 2);
  EXPECT_TRUE(prints_as(tenth.mean_accesses, "1.0507"));
  EXPECT_TRUE(prints_as(100 * tenth.overflow_fraction, "0.26"));
}

TEST(printed_ofh, section_vi_d_closed_forms_of_two_levels) {
  const double a1 = 0.6, a2 = 0.4, t = 0.7;
  const fluid_state state = fluid_limit({.scheme = scheme_kind::multilevel,
                                         .load_factor = 1,
                                         .bucket_capacity = 1,
                                         .level_fractions = {a1, a2},
                                         .time = t});
  const double empty1 = std::exp(-t / a1);
  const double empty2 = std::exp(-t / a2 - a1 / a2 * empty1 + a1 / a2);
  expect_relative(state.overflow_fraction, a1 * empty1 + a2 * empty2, 1e-12);
  expect_relative(state.mean_accesses, 2 * t + a1 * empty1 - a1, 1e-12);
}

TEST(printed_ofh, section_vii_cut_offs_of_the_three_schemes) {
  EXPECT_TRUE(prints_as(100 * single(1, 4).overflow_fraction, "19.5"));
  const cutoff sequential = sequential_cutoff(1, 4, 4);
  EXPECT_FALSE(prints_as(sequential.mean_accesses, "1.488"));  // erratum 3.13: truncated
  EXPECT_TRUE(prints_as(sequential.mean_accesses, "1.489"));
  EXPECT_EQ(std::floor(sequential.mean_accesses * 1000), 1488);
  EXPECT_TRUE(prints_as(100 * sequential.overflow_fraction, "6.00"));
  const cutoff multilevel = multilevel_cutoff(1, 4, 4);
  EXPECT_TRUE(prints_as(multilevel.mean_accesses, "1.697"));
  EXPECT_TRUE(prints_as(100 * multilevel.overflow_fraction, "3.45"));
  EXPECT_TRUE(prints_as(100 * access_optimal_partition(1, 1, 4, 4).overflow_fraction, "19.5"));
}

TEST(printed_ofh, section_vii_d_left_overflow_is_one_run_within_its_spread) {  // erratum 3.14
  const fluid_state d_left = fluid_limit(
      {.scheme = scheme_kind::d_left, .load_factor = 1, .bucket_capacity = 4, .choices = 4});
  EXPECT_NEAR(100 * d_left.overflow_fraction, 3.17, 0.25);
  EXPECT_TRUE(prints_as(100 * d_left.overflow_fraction, "3.20687"));
  // "On average MHT saves more than half of the memory accesses."
  EXPECT_LT(multilevel_cutoff(1, 4, 4).mean_accesses, d_left.mean_accesses / 2);
}

TEST(printed_ofh, section_ii_the_lookup_cost_is_an_upper_bound) {  // erratum 3.15
  const auto negative = [](scheme_kind scheme) {
    return fluid_limit({.scheme = scheme,
                        .load_factor = 1,
                        .bucket_capacity = 4,
                        .choices = 4,
                        .level_fractions = multilevel_cutoff(1, 4, 4).level_fractions})
        .miss_accesses;
  };
  EXPECT_TRUE(prints_as(negative(scheme_kind::sequential), "3.161"));
  EXPECT_TRUE(prints_as(negative(scheme_kind::multilevel), "3.473"));
}

TEST(printed_ofh, the_geometric_partition_is_not_the_one_of_least_overflow) {  // erratum 3.16
  const partition best = least_overflow_partition(1, 4, 4);
  EXPECT_TRUE(prints_as(100 * best.overflow_fraction, "2.8166"));
  EXPECT_TRUE(prints_as(best.mean_accesses, "1.878"));
  EXPECT_TRUE(prints_as(best.level_fractions[0], "0.4772"));
  EXPECT_TRUE(prints_as(best.level_fractions[3], "0.0805"));
}

TEST(printed_ofh, fig_7_a_partition_touches_the_bound_at_its_own_budget_only) {  // erratum 3.17
  for (const double planned : {1.0, multilevel_cutoff(1, 4, 4).mean_accesses}) {
    const partition plan = access_optimal_partition(planned, 1, 4, 4);
    for (const double budget : {0.5, 0.8, 1.0, 1.2, 1.5, planned}) {
      if (budget > planned + 0.3) continue;
      const double found = fluid_limit({.scheme = scheme_kind::multilevel,
                                        .load_factor = 1,
                                        .bucket_capacity = 4,
                                        .level_fractions = plan.level_fractions,
                                        .access_budget = budget})
                               .overflow_fraction;
      const double bound = overflow_bound(budget, 1, 4);
      if (budget == planned)
        expect_relative(found, bound, 1e-9);
      else
        EXPECT_GT(found, bound * 1.001);
    }
  }
}

TEST(printed_ofh, fig_8_multilevel_has_the_larger_cut_off_and_less_overflow_at_every_load) {
  for (double load = 0.5; load <= 1.5; load += 0.1) {
    const cutoff sequential = sequential_cutoff(load, 4, 4);
    const cutoff multilevel = multilevel_cutoff(load, 4, 4);
    EXPECT_GT(multilevel.mean_accesses, sequential.mean_accesses);
    EXPECT_LT(multilevel.overflow_fraction, sequential.overflow_fraction);
  }
}

// --- ECB and BBF -------------------------------------------------------------------------------

TEST(printed_ecb, theorem_1_normalises_only_with_the_row_the_print_lost) {  // erratum 0.1
  const double r = 8, a = 1.1, overflow = 0;
  const balance_bound bound = lower_bound_loads(r, a, overflow);
  const double k0 = *bound.k0;
  expect_relative(bound.loads.fractions.back(), -bound.e0 - k0 + k0 * bound.p0 + r * (1 - overflow),
                  1e-9);
}

TEST(printed_ecb, fig_1_and_bbf_fig_2_the_distribution_narrows_with_the_budget) {
  EXPECT_FALSE(lower_bound_loads(8, 1, 0).k0.has_value());
  EXPECT_EQ(lower_bound_loads(8, 1.1, 0).k0, 9u);
  EXPECT_EQ(lower_bound_loads(8, 1.2, 0).k0, 8u);
  EXPECT_NEAR(lower_bound_loads(8, 1.2, 0).loads.fractions[9], 0.556, 0.0005);
}

TEST(printed_ecb, equation_3_conserves_mass_only_with_p_times_f_h) {  // erratum 0.2
  const fluid_state state = fluid_limit_by_ode({.scheme = scheme_kind::single,
                                                .load_factor = 1.25,
                                                .bucket_capacity = 2,
                                                .admit_probability = 0.5});
  double mass = 0;
  for (const double fraction : state.occupancy) mass += fraction;
  EXPECT_NEAR(mass, 1, 1e-10);
  EXPECT_TRUE(prints_as(state.occupancy[3], "0.305448"));
}

TEST(printed_ecb, fig_3_one_percent_of_overflow_suffices_for_sequential_at_1_1) {  // erratum 0.16
  EXPECT_TRUE(prints_as(edge_accesses_sequential(8, 3, 0.01), "1.1251"));
  EXPECT_TRUE(prints_as(edge_accesses_sequential(8, 3, 0.01), "1.1"));
  EXPECT_TRUE(prints_as(100 * least_overflow_sequential(8, 3, 1.1), "0.587"));
}

TEST(printed_ecb, fig_4_multilevel_does_not_depend_on_r_and_sequential_grows_with_it) {
  double last = 0;
  for (const double r : {1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0}) {
    const double sequential = least_overflow_sequential(r, 3, 1.2);
    EXPECT_GT(sequential, last);
    EXPECT_GT(sequential, least_overflow_multilevel(3, 1.2));
    last = sequential;
    EXPECT_DOUBLE_EQ(multilevel_balance({.elements_per_bucket = r, .choices = 3, .accesses = 1.2})
                         .overflow_fraction,
                     least_overflow_multilevel(3, 1.2));
  }
}

TEST(printed_ecb, section_ix_c_overflow_list_of_0_49_percent) {  // erratum 0.15
  const double overflow = 100 * least_overflow_multilevel(3, 1.2);
  EXPECT_TRUE(prints_as(overflow, "0.498447190"));
  EXPECT_EQ(std::floor(overflow * 100), 49);  // ECB truncates
  EXPECT_TRUE(prints_as(overflow, "0.5"));    // BBF rounds
  expect_relative(least_overflow_multilevel(2, 1.05), 0.05 * 0.05, 1e-13);
}

TEST(printed_ecb, sections_ix_b_and_c_hash_counts_are_beta_ln_2) {  // erratum 0.5
  EXPECT_EQ(std::lround(24 * std::log(2)), 17);
  EXPECT_EQ(std::lround(40 * std::log(2)), 28);
  EXPECT_EQ(std::lround(30 * std::log(2)), 21);  // BBF, Section I
  EXPECT_EQ(best_bits_set_standard(24), 17u);
  EXPECT_EQ(best_bits_set_standard(40), 28u);
}

TEST(printed_ecb, section_ix_c_the_standard_filter_was_charged_the_counter) {  // erratum 0.17
  EXPECT_TRUE(prints_as(standard_error(40.0 * 252 / 256, 28), "6.1e-9"));
  EXPECT_TRUE(prints_as(standard_error(40, 28), "4.507e-9"));
}

TEST(printed_ecb, section_ix_c_the_multilevel_filter_errs_1_4e_7) {  // erratum 0.18
  const printed_point point = balanced_as_printed(40, 256, 28, 1.2, 3);
  EXPECT_TRUE(prints_as(point.fpr, "1.4e-7"));
  EXPECT_EQ(point.threshold, 7u);
  EXPECT_TRUE(prints_as(point.admit_probability, "0.11282"));
  EXPECT_EQ(point.counter_bits, 4u);
  EXPECT_TRUE(prints_as(point.query_continues, "0.6460"));
}

TEST(printed_ecb, section_ix_c_the_blocked_filter_errs_2_3e_5_as_computed_there) {  // erratum 0.19
  const blocked_shape shape{.bits_per_element = 40, .block_bits = 256, .bits_set = 28};
  EXPECT_TRUE(prints_as(blocked_error_approximate(shape), "2.357e-5"));
  EXPECT_EQ(std::floor(blocked_error_approximate(shape) * 1e6), 23);  // truncated to 2.3e-5
  EXPECT_TRUE(prints_as(blocked_error(shape), "3.02e-5"));
}

TEST(printed_ecb,
     section_ix_c_two_orders_of_magnitude_shrink_with_fair_accounting) {  // erratum 0.20
  EXPECT_EQ(best_bits_set_blocked(40, 256), 14u);
  const double blocked = blocked_error({.bits_per_element = 40, .block_bits = 256, .bits_set = 14});
  EXPECT_TRUE(prints_as(blocked, "4.5e-6"));
  const double as_printed =
      blocked_error_approximate({.bits_per_element = 40, .block_bits = 256, .bits_set = 28}) /
      balanced_as_printed(40, 256, 28, 1.2, 3).fpr;
  EXPECT_TRUE(prints_as(as_printed, "169"));
  const double fair =
      blocked / balanced_at_budget(40, 256, 28, 1.2, 3, lookup_rule::counter).error.fpr;
  EXPECT_TRUE(prints_as(fair, "19"));
}

TEST(printed_bbf, the_access_average_of_1_2_is_that_of_insertions) {  // erratum 0.21
  const printed_point at40 = balanced_as_printed(40, 256, 28, 1.2, 3);
  EXPECT_TRUE(prints_as(at40.miss_accesses, "2.06"));
  const printed_point at12 = balanced_as_printed(12, 256, 8, 1.2, 3);
  EXPECT_TRUE(prints_as(at12.miss_accesses, "2.55"));
}

TEST(printed_bbf, stopping_at_load_h_would_lose_an_eighth_of_the_elements) {  // erratum 0.22
  const balance_plan plan =
      multilevel_balance({.elements_per_bucket = 6.4, .choices = 3, .accesses = 1.2});
  EXPECT_TRUE(prints_as(
      100 * missed_if_query_stops_at_threshold(7.68, {*plan.threshold, plan.admit_probability}, 3),
      "12.58"));
}

TEST(printed_ecb, the_union_bound_is_off_by_little_at_40_bits_and_much_at_4) {  // erratum 0.26
  const auto excess = [](double bits, unsigned k) {
    const printed_point point = balanced_as_printed(bits, 256, k, 1.2, 3);
    return point.fpr / point.fpr_walk - 1;
  };
  EXPECT_TRUE(prints_as(excess(40, 28), "7e-8"));
  EXPECT_TRUE(prints_as(100 * excess(12, 8), "0.35"));
  EXPECT_TRUE(prints_as(100 * excess(8, 6), "2.3"));
  EXPECT_TRUE(prints_as(100 * excess(4, 3), "17"));
}

TEST(printed_ecb, section_viii_variance_as_a_cost_is_the_variance) {
  const balance_bound bound = lower_bound_loads(8, 1.1, 0.01);
  const double mean = 8 * 0.99;
  const double cost = bound.loads.cost(
      [=](std::size_t load) { return static_cast<double>(load * load) - mean * mean; });
  expect_relative(cost, bound.loads.variance(), 1e-10);
}

}  // namespace
