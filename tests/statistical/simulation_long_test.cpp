// The simulator against the models once more: more tables, more trials, other seeds.
//
// Some 2500 comparisons of filled tables at 5.2 standard errors, most with an error that is known
// (2.0e-7 each), the others with one sampled from 100 tables (Student, 99 degrees of freedom). Each
// test prints the sum of the rates; together they are 6e-4, so that the family-wise false-alarm
// rate, if the seeds were drawn anew, is below 1e-3. The seeds are fixed. Churn: as in
// simulation_test.cpp, with 5 standard errors.

#include <gtest/gtest.h>

#include "agreement.hpp"

namespace {

using namespace generated;

constexpr unsigned trials = 100;
constexpr tolerance allowed{.sigmas = 5.2, .samples = trials};
constexpr tolerance allowed_churning{.sigmas = 5, .slack = 0.1};

void fill(scheme_kind scheme) {
  tables drawn(11'000 + static_cast<std::uint64_t>(scheme));
  agreement with(allowed);
  for (int i = 0; i < 20; ++i) compare_filled(drawn.next(scheme), trials, with);
  with.report();
}

TEST(simulation_long, single_fills_as_predicted) { fill(scheme_kind::single); }
TEST(simulation_long, sequential_fills_as_predicted) { fill(scheme_kind::sequential); }
TEST(simulation_long, multilevel_fills_as_predicted) { fill(scheme_kind::multilevel); }
TEST(simulation_long, d_random_fills_as_predicted) { fill(scheme_kind::d_random); }
TEST(simulation_long, d_left_fills_as_predicted) { fill(scheme_kind::d_left); }

void churn(scheme_kind scheme) {
  tables drawn(12'000 + static_cast<std::uint64_t>(scheme));
  agreement with(allowed_churning);
  for (int i = 0; i < 8; ++i) {
    sim::scenario what = drawn.next(scheme);
    what.trials = 2;
    compare_churned(what, {.warm_up_turnovers = 8, .batch_turnovers = 2, .batches = 10}, with);
  }
  with.report();
}

TEST(simulation_long, single_churns_as_predicted) { churn(scheme_kind::single); }
TEST(simulation_long, sequential_churns_as_predicted) { churn(scheme_kind::sequential); }
TEST(simulation_long, multilevel_churns_as_predicted) { churn(scheme_kind::multilevel); }
TEST(simulation_long, d_random_churns_as_predicted) { churn(scheme_kind::d_random); }
TEST(simulation_long, d_left_churns_as_predicted) { churn(scheme_kind::d_left); }

}  // namespace
