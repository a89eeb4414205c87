// What ECB says of loads and BBF leaves to it: SIMPLE over time (Fig. 2), the equal levels of
// Theorem 6, and chained tables (Section VIII).

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "oneprobe/model/balance.hpp"
#include "oneprobe/model/fluid.hpp"
#include "reproduce/ecb_common.hpp"
#include "reproduce/estimates.hpp"

namespace oneprobe::cli::balancing {
namespace {

constexpr place over_time{ecb, "Fig. 2", "ecb-fig2"};
constexpr place equal_levels{ecb, "Theorem 6", "ecb-theorem6"};
constexpr place chains{ecb, "Section VIII", "ecb-section8"};

/// What equation (3) makes of f_0 + ... + f_3 at t = 1 if its row h + 1 is taken as printed, for
/// h = 2: f_3 then grows with p r f_1 instead of p r f_2, to p (1 - e^-r (1 + r)).
double mass_as_printed(const std::vector<double>& right, double load, double probability) {
  const double above = probability * (1 - std::exp(-load) * (1 + load));
  return right[0] + right[1] + right[2] + above;
}

/// Nodes read by a lookup of a stored key in a chained table, E[X (X + 1) / 2] / E[X], from the
/// simulated mean and variance of the loads. The mean is known so much better than the variance
/// that its error is simply added.
sim::estimate chain_nodes_present(const sim::look& table) {
  const double mean = table.load_mean.mean, variance = table.load_variance.mean;
  const double by_variance = 1 / (2 * mean);
  const double by_mean = 0.5 - variance / (2 * mean * mean);
  return {.mean = (variance + mean * mean + mean) / (2 * mean),
          .standard_error = std::abs(by_variance) * table.load_variance.standard_error +
                            std::abs(by_mean) * table.load_mean.standard_error};
}

}  // namespace

outcome single_over_time(const conditions& in) {
  // ECB, Section IV-B: "we used n = 25,000, and so m = 10,000".
  constexpr std::uint64_t elements = 25'000, buckets = 10'000;
  constexpr double load = 2.5, probability = 0.5;
  constexpr unsigned threshold = 2;
  constexpr unsigned looks = 20, looks_per_row = 4, drawn = 100;

  sim::scenario table{.scheme = scheme_kind::single,
                      .buckets = buckets,
                      .bucket_capacity = threshold,
                      .admit_probability = probability,
                      .elements = elements,
                      .looks = {},
                      .trials = by_effort(in.how_much, 128u, 1024u, 4096u)};
  for (unsigned i = 1; i <= looks; ++i) table.looks.push_back(static_cast<double>(i) / looks);
  simulation_plan work(in, 1);
  const sim::findings simulated = work.run(table);

  const auto model_at = [](double time) {
    return model::fluid_limit({.scheme = scheme_kind::single,
                               .load_factor = load / threshold,
                               .bucket_capacity = threshold,
                               .admit_probability = probability,
                               .time = time})
        .occupancy;
  };
  outcome found;
  chart fractions{.name = std::string(over_time.chart),
                  .title = "SIMPLE filling up (r = 2.5, h = 2, p = 0.5)",
                  .x_label = "time t: share of the elements that have arrived",
                  .y_label = "fraction of buckets"};
  for (unsigned held = 0; held <= threshold + 1; ++held) {
    const int colour = static_cast<int>(held);
    fractions.lines.push_back(
        {.name = fmt::format("f{}: buckets with {}", held, held),
         .how = series::kind::line,
         .points = curve(grid(0, 1, drawn), [&](double time) { return model_at(time)[held]; }),
         .colour = colour});
    series marks{
        .name = fmt::format("f{}, simulated", held), .how = series::kind::marks, .colour = colour};
    for (std::size_t i = 0; i < simulated.looks.size(); ++i) {
      const sim::look& seen = simulated.looks[i];
      marks.points.push_back(mark(table.looks[i], seen.occupancy[held]));
      if ((i + 1) % looks_per_row == 0)
        found.rows.push_back(compared(over_time,
                                      fmt::format("t = {}: buckets with {}", table.looks[i], held),
                                      model_at(table.looks[i])[held], seen.occupancy[held]));
    }
    fractions.lines.push_back(std::move(marks));
  }
  found.charts.push_back(std::move(fractions));

  const std::vector<double> end = model_at(1);
  const double printed_mass = mass_as_printed(end, load, probability);
  found.rows.push_back(
      {.source = "ECB, eq. (3)",
       .what = "sum of all f at t = 1, row h + 1 as printed",
       .printed = printed_number{.text = "1", .value = 1, .half_unit = 1e-9},
       .model = printed_mass,
       .known_erratum = erratum{"0.2", 1.050903, 5e-7},
       .remark = "the row must be driven by p·F_h; with F_(h−1) buckets come from nowhere"});
  found.found = fmt::format(
      "With the paper's own table of {} buckets and {} elements, {} times over, the differential "
      "equations are right to the noise, provided row h + 1 is driven by f_h: as printed, the "
      "fractions would add up to {:.4f}. At the end {:.2f} % of the buckets hold three.",
      buckets, elements, table.trials, printed_mass, 100 * end[threshold + 1]);
  return found;
}

outcome identical_levels(const conditions& in) {
  const model::balance_plan plan = model::multilevel_balance(
      {.elements_per_bucket = usual_load, .choices = usual_choices, .accesses = usual_accesses});
  const std::vector<double> bound =
      model::lower_bound_loads(usual_load, usual_accesses, plan.overflow_fraction).loads.fractions;
  const sim::scenario table =
      scenario_of(scheme_kind::multilevel, plan, usual_load, usual_choices, size_for(in.how_much));
  simulation_plan work(in, 1);
  const sim::look end = work.run(table).end();

  outcome found;
  chart levels{.name = std::string(equal_levels.chart),
               .title = "The loads of each level of MHT at the optimum (r = 8, a = 1.2, d = 3)",
               .x_label = "elements in a bucket",
               .y_label = "fraction of the level's buckets"};
  series line{.name = "lower bound", .how = series::kind::line};
  for (std::size_t load = 0; load < bound.size(); ++load)
    line.points.push_back({static_cast<double>(load), bound[load]});
  levels.lines.push_back(std::move(line));
  for (std::size_t level = 0; level < end.levels.size(); ++level) {
    series marks{.name = fmt::format("level {}, simulated", level + 1), .how = series::kind::marks};
    for (std::size_t load = 0; load < end.levels[level].size(); ++load)
      marks.points.push_back(mark(static_cast<double>(load), end.levels[level][load]));
    levels.lines.push_back(std::move(marks));
    for (std::size_t load = *plan.threshold - 2; load <= *plan.threshold + 1; ++load)
      found.rows.push_back(compared(equal_levels,
                                    fmt::format("level {}: buckets with load {}", level + 1, load),
                                    bound[load], end.levels[level][load]));
  }
  found.charts.push_back(std::move(levels));
  found.rows.push_back(compared(equal_levels, "overflow γ", plan.overflow_fraction,
                                end.overflow_fraction, "the least for which t₀ ≤ 1"));
  found.rows.push_back(
      compared(equal_levels, "largest load of a bucket", *plan.threshold + 1, end.largest_load,
               "h + 1: the least that any scheme can have on this budget (BBF, Section IV)"));
  found.rows.push_back(
      compared(equal_levels, "mean accesses", plan.mean_accesses, end.mean_accesses));
  found.found = fmt::format(
      "Levels of {}, {} and {} buckets: {:.1f} % of the keys reach the last one, and yet its "
      "buckets "
      "look like those of the first. With h = {} and p = {:.4f} all three have the loads of the "
      "lower bound, so no scheme with 1.2 accesses and {:.3f} % of overflow is flatter.",
      table.level_sizes[0], table.level_sizes[1], table.level_sizes[2],
      100 * std::pow(plan.level_fractions[1] / plan.level_fractions[0], 2), *plan.threshold,
      plan.admit_probability, 100 * plan.overflow_fraction);
  return found;
}

outcome chain_lengths(const conditions& in) {
  constexpr std::array<double, 5> budgets{1.0, 1.05, 1.1, 1.15, 1.2};
  constexpr unsigned drawn = 40;
  const table_size size = size_for(in.how_much);
  const auto plan_of = [](double accesses) {
    return model::multilevel_balance(
        {.elements_per_bucket = usual_load, .choices = usual_choices, .accesses = accesses});
  };

  outcome found;
  chart variance{.name = std::string(chains.chart),
                 .title = "Variance of the chain length (MHT, r = 8, d = 3, least overflow)",
                 .x_label = "mean accesses a",
                 .y_label = "variance of the load of a bucket"};
  const std::vector<double> places = grid(budgets.front(), budgets.back(), drawn);
  variance.lines.push_back(
      {.name = "lower bound",
       .how = series::kind::line,
       .points = curve(places,
                       [&](double accesses) {
                         return model::lower_bound_loads(
                                    usual_load, accesses,
                                    model::least_overflow_multilevel(usual_choices, accesses))
                             .loads.variance();
                       }),
       .colour = 0});
  series marks{.name = "MHT, simulated", .how = series::kind::marks, .colour = 0};

  simulation_plan work(in, budgets.size());
  double nodes_before = 0, nodes_after = 0;
  for (const double accesses : budgets) {
    // Without a second look every element goes to its first bucket.
    const bool looks_twice = accesses > 1;
    const model::balance_plan plan =
        looks_twice
            ? plan_of(accesses)
            : model::single_balance({.elements_per_bucket = usual_load, .overflow_fraction = 0.0});
    const sim::look end =
        work.run(scenario_of(looks_twice ? scheme_kind::multilevel : scheme_kind::single, plan,
                             usual_load, usual_choices, size))
            .end();
    const model::load_distribution bound =
        model::lower_bound_loads(usual_load, accesses, plan.overflow_fraction).loads;
    const double mean = usual_load * (1 - plan.overflow_fraction);
    // Section VIII: this cost of a bucket makes the balancing cost the variance.
    const double cost = bound.cost([mean](std::size_t load) {
      const auto x = static_cast<double>(load);
      return x * x - mean * mean;
    });
    marks.points.push_back(mark(accesses, end.load_variance));
    found.rows.push_back(
        compared(chains, fmt::format("a = {}: cost of i² − ((1−γ)n/m)², the variance", accesses),
                 cost, end.load_variance));
    // With one look nothing overflows, and the average is no random number.
    if (looks_twice)
      found.rows.push_back(compared(
          chains,
          fmt::format("a = {}: average load (1−γ)n/m, nodes read for an absent key", accesses),
          bound.chain_nodes_absent(), end.load_mean));
    found.rows.push_back(compared(chains,
                                  fmt::format("a = {}: nodes read for a stored key", accesses),
                                  bound.chain_nodes_present(), chain_nodes_present(end)));
    (looks_twice ? nodes_after : nodes_before) = bound.chain_nodes_present();
  }
  variance.lines.push_back(std::move(marks));
  found.charts.push_back(std::move(variance));
  found.found = fmt::format(
      "A budget of {} accesses takes the variance of the chains from {:.2f} to {:.2f}, the least "
      "there is at this budget; a stored key is then found after {:.3f} nodes instead of {:.3f}. "
      "An absent key reads the whole chain whatever the variance; the mean only falls by what "
      "overflows.",
      usual_accesses, usual_load,
      model::lower_bound_loads(usual_load, usual_accesses,
                               model::least_overflow_multilevel(usual_choices, usual_accesses))
          .loads.variance(),
      nodes_after, nodes_before);
  return found;
}

}  // namespace oneprobe::cli::balancing
