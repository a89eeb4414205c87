// OFH, Fig. 7: SIMPLE, GREEDY, MHT and d-left as tables, in the simulator's store, in the simulator
// and in the model. Buckets of four have one group of slots: nothing but a full bucket refuses.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "agreement.hpp"
#include "support/figure_seven.hpp"
#include "support/sampled.hpp"

namespace {

using namespace oneprobe;

constexpr std::uint64_t buckets = 20'000;
constexpr unsigned seeds = 5;

TEST(figure_seven, tables_place_as_the_counters_of_the_simulator_do) {
  for (const tables::figure_seven_row& row : tables::figure_seven_rows()) {
    const table_plan plan = tables::figure_seven_plan(row.scheme, buckets);
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const tables::placed_counts counted = tables::place_in_counters(plan, seeded_hash(seed));
      for (const unsigned slot_bytes : {16u, 24u}) {
        const tables::placed_counts found = tables::place_in_map(plan, slot_bytes, seed);
        EXPECT_EQ(found.counts, counted.counts) << row.name << ", seed " << seed;
        EXPECT_EQ(found.accesses, counted.accesses) << row.name << ", seed " << seed;
      }
    }
  }
}

/// Of four schemes the overflow against model and simulator, and the accesses: 12 comparisons,
/// false alarms 1e-4 in all.
TEST(figure_seven, tables_overflow_as_model_and_simulator_say) {
  generated::agreement with({.sigmas = 4.5});
  for (const tables::figure_seven_row& row : tables::figure_seven_rows()) {
    const table_plan plan = tables::figure_seven_plan(row.scheme, buckets);
    const auto n = static_cast<double>(plan.elements);
    std::vector<double> overflows, accesses;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      const tables::placed_counts found = tables::place_in_map(plan, 16, seed);
      overflows.push_back(static_cast<double>(found.counts.overflow) / n);
      accesses.push_back(static_cast<double>(found.accesses) / n);
    }
    const auto estimate = [](const std::vector<double>& values) {
      const sampled mean = sampled::of(values);
      return sim::estimate{.mean = mean.mean, .standard_error = mean.standard_error};
    };
    const model::fluid_parameters table = tables::filling(plan, plan.elements);
    const model::fluid_state model = model::fluid_limit(table);
    const double deviation = model::overflow_spread_filling(table, n).standard_deviation / n;
    sim::scenario scenario = tables::figure_seven_scenario(plan);
    scenario.trials = 40;
    const sim::look simulated = sim::simulate(scenario).end();
    const auto error_of = [&](double tables) { return deviation / std::sqrt(tables); };
    const double both = std::hypot(error_of(seeds), error_of(scenario.trials));
    std::printf("%-7s overflow %.4f +- %.4f, simulated %.4f, model %.4f\n", row.name.c_str(),
                estimate(overflows).mean, error_of(seeds), simulated.overflow_fraction.mean,
                model.overflow_fraction);
    with.expect_near(row.name + " overflow", estimate(overflows), model.overflow_fraction,
                     {error_of(seeds)}, 1 / n);
    with.expect_near(row.name + " overflow and the simulator's", estimate(overflows),
                     simulated.overflow_fraction.mean, {both}, 1 / n);
    // Accesses stray from table to table as the simulator's do.
    const double per_table =
        simulated.mean_accesses.standard_error * std::sqrt(static_cast<double>(scenario.trials));
    with.expect_near(row.name + " accesses", estimate(accesses), model.mean_accesses,
                     {per_table / std::sqrt(static_cast<double>(seeds))}, 1 / n);
  }
  with.report();
}

}  // namespace
