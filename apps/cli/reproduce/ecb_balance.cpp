// The balancing problem: the distribution that bounds every scheme (ECB Fig. 1, BBF Fig. 2), and
// the overflow from which the schemes reach it (ECB Figs. 3 and 4, BBF Fig. 3).

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "oneprobe/model/balance.hpp"
#include "reproduce/ecb_common.hpp"
#include "reproduce/estimates.hpp"
#include "reproduce/trials.hpp"

namespace oneprobe::cli::balancing {
namespace {

// --- the lower bound ---------------------------------------------------------------------------

constexpr std::array<double, 3> bound_budgets{1.0, 1.1, 1.2};
constexpr std::size_t largest_drawn_load = 20;  // where the figure's axis ends
// Rarer loads are drawn, but too few are seen to judge them by their standard error.
constexpr double least_judged = 1e-3;

/// The proof's removal process on a table's loads (fractions of buckets with 0, 1, ... elements):
/// elements are taken from the fullest buckets until `kept` per bucket are left.
void remove_from_the_fullest(std::vector<double>& fractions, double kept) {
  double excess = -kept;
  for (std::size_t load = 0; load < fractions.size(); ++load)
    excess += static_cast<double>(load) * fractions[load];
  for (std::size_t load = fractions.size() - 1; load > 0 && excess > 0; --load) {
    const double moved = std::min(excess, fractions[load]);
    fractions[load] -= moved;
    fractions[load - 1] += moved;
    excess -= moved;
  }
}

struct bound_tally {
  std::array<sample, largest_drawn_load + 1> fractions;

  void merge(const bound_tally& other) {
    for (std::size_t load = 0; load < fractions.size(); ++load)
      fractions[load].merge(other.fractions[load]);
  }
};

/// a n elements hashed once each, then (a - 1) n of them removed: what the bound is made of.
bound_tally simulated_bound(const conditions& in, std::uint64_t seed, double accesses,
                            const sim::progress& tell) {
  const table_size size = size_for(in.how_much);
  const auto hashed = static_cast<std::uint64_t>(
      std::llround(accesses * usual_load * static_cast<double>(size.buckets)));
  return run_trials<bound_tally>(size.trials, in.threads, tell, [&] {
    return [&](std::uint64_t trial, bound_tally& into) {
      const sim::findings found = sim::simulate({.scheme = scheme_kind::single,
                                                 .buckets = size.buckets,
                                                 .elements = hashed,
                                                 .trials = 1,
                                                 .seed = random_bits(seed, trial).next(),
                                                 .threads = 1});
      std::vector<double> fractions;
      for (const sim::estimate& share : found.end().occupancy) fractions.push_back(share.mean);
      remove_from_the_fullest(fractions, usual_load);
      fractions.resize(into.fractions.size());
      for (std::size_t load = 0; load < fractions.size(); ++load)
        into.fractions[load].add(fractions[load]);
    };
  });
}

// --- the optimality regions --------------------------------------------------------------------

struct scheme_in_text {
  scheme_kind scheme;
  std::string name;
};

std::vector<scheme_in_text> schemes_with_choices(const text_names& text) {
  return {{scheme_kind::sequential, std::string(text.sequential)},
          {scheme_kind::multilevel, "MHT"}};
}

model::balance_plan plan_for(scheme_kind scheme, double elements_per_bucket, double accesses) {
  const model::balance_needs needs{
      .elements_per_bucket = elements_per_bucket, .choices = usual_choices, .accesses = accesses};
  return scheme == scheme_kind::multilevel ? model::multilevel_balance(needs)
                                           : model::sequential_balance(needs);
}

double least_overflow(scheme_kind scheme, double elements_per_bucket, double accesses) {
  return scheme == scheme_kind::multilevel
             ? model::least_overflow_multilevel(usual_choices, accesses)
             : model::least_overflow_sequential(elements_per_bucket, usual_choices, accesses);
}

}  // namespace

outcome lower_bound_figure(const conditions& in, const place& at) {
  outcome found;
  chart loads{.name = std::string(at.chart),
              .title = "The flattest loads on a budget of a accesses per element (r = 8, γ = 0)",
              .x_label = "elements in a bucket",
              .y_label = "fraction of buckets"};
  std::string cut_at;
  for (std::size_t i = 0; i < bound_budgets.size(); ++i) {
    const double accesses = bound_budgets[i];
    const model::balance_bound bound = model::lower_bound_loads(usual_load, accesses, 0);
    const bound_tally simulated =
        simulated_bound(in, seed_of(in, i), accesses, part_of(in.tell, i, bound_budgets.size()));

    const int colour = static_cast<int>(i);
    series line{
        .name = fmt::format("a = {}", accesses), .how = series::kind::line, .colour = colour};
    series marks{.name = fmt::format("a = {}, simulated removal", accesses),
                 .how = series::kind::marks,
                 .colour = colour};
    for (std::size_t load = 0; load <= largest_drawn_load; ++load) {
      const auto x = static_cast<double>(load);
      const double fraction =
          load < bound.loads.fractions.size() ? bound.loads.fractions[load] : 0.0;
      line.points.push_back({x, fraction});
      const sim::estimate seen = simulated.fractions[load].estimate();
      marks.points.push_back(mark(x, seen));
      if (fraction >= least_judged)
        found.rows.push_back(compared(
            at, fmt::format("a = {}: buckets with load {}", accesses, load), fraction, seen));
    }
    loads.lines.push_back(std::move(line));
    loads.lines.push_back(std::move(marks));
    if (bound.k0)
      cut_at +=
          fmt::format("{}a = {} cuts at k₀ = {} and leaves a variance of {:.3f}",
                      cut_at.empty() ? "" : "; ", accesses, *bound.k0, bound.loads.variance());
    else
      // The text names a distribution; its parameter is exact, and it is its variance.
      found.rows.push_back(
          {.source = at.source(),
           .what = "a = 1: variance of the loads, which are Poisson with λ = r = 8",
           .printed = printed_number{.text = "8", .value = usual_load, .half_unit = 1e-9},
           .model = bound.loads.variance(),
           .remark = "k₀ is infinite, nothing is removed"});
  }
  found.charts.push_back(std::move(loads));
  found.found = fmt::format(
      "The marks are the proof carried out: a·n keys hashed into {} buckets, then elements taken "
      "from the fullest buckets until n are left. {}; without a second look the loads are Poisson "
      "and their variance is 8.",
      size_for(in.how_much).buckets, cut_at);
  return found;
}

outcome region_over_accesses(const conditions& in, const place& at) {
  constexpr std::array<double, 4> simulated_at{1.05, 1.1, 1.15, 1.2};
  constexpr double stated_overflow = 0.01;  // "for a CAM size of 1%"
  constexpr double stated_accesses = 1.1;
  constexpr double last = 1.2;
  constexpr unsigned drawn = 40;
  const table_size size = size_for(in.how_much);
  const auto schemes = schemes_with_choices(at.text);

  outcome found;
  chart region{.name = std::string(at.chart),
               .title = "Least overflow with which the lower bound is reached (r = 8, d = 3)",
               .x_label = "mean accesses a",
               .y_label = "overflow fraction γ"};
  simulation_plan work(in, schemes.size() * simulated_at.size() + 1);
  for (std::size_t s = 0; s < schemes.size(); ++s) {
    const auto& [scheme, name] = schemes[s];
    const int colour = static_cast<int>(s);
    series line{.name = name, .how = series::kind::line, .colour = colour};
    line.points = curve(grid(1, last, drawn), [&, kind = scheme](double accesses) {
      return least_overflow(kind, usual_load, accesses);
    });
    series marks{.name = name + ", simulated", .how = series::kind::marks, .colour = colour};
    for (const double accesses : simulated_at) {
      const model::balance_plan plan = plan_for(scheme, usual_load, accesses);
      const sim::look end =
          work.run(scenario_of(scheme, plan, usual_load, usual_choices, size)).end();
      marks.points.push_back({end.mean_accesses.mean, end.overflow_fraction.mean,
                              end.overflow_fraction.standard_error});
      found.rows.push_back(
          compared(at, fmt::format("{}, a = {}: overflow γ", name, accesses),
                   plan.overflow_fraction, end.overflow_fraction,
                   fmt::format("h = {}, p = {:.4f}", *plan.threshold, plan.admit_probability)));
      found.rows.push_back(compared(at, fmt::format("{}, a = {}: mean accesses", name, accesses),
                                    accesses, end.mean_accesses));
      found.rows.push_back(compared(
          at, fmt::format("{}, a = {}: variance of the loads", name, accesses),
          model::lower_bound_loads(usual_load, accesses, plan.overflow_fraction).loads.variance(),
          end.load_variance, "the model is the lower bound itself"));
    }
    region.lines.push_back(std::move(line));
    region.lines.push_back(std::move(marks));
  }
  found.charts.push_back(std::move(region));

  // The number that the text reads off the figure, both ways.
  const double edge = model::edge_accesses_sequential(usual_load, usual_choices, stated_overflow);
  const model::balance_plan plan = plan_for(scheme_kind::sequential, usual_load, edge);
  const sim::look end =
      work.run(scenario_of(scheme_kind::sequential, plan, usual_load, usual_choices, size)).end();
  found.rows.push_back(
      {.source = at.source(),
       .what = fmt::format("{}: budget a for which γ = 1 % suffices", at.text.sequential),
       .printed = as_printed("1.1"),
       .model = edge,
       .simulated = end.mean_accesses,
       .known_erratum = erratum{"0.16", 1.1251, 0.00005},
       .remark = "a reading of the figure to one decimal (erratum 0.16)"});
  found.rows.push_back({.source = at.source(),
                        .what = fmt::format("{}: the overflow at that budget", at.text.sequential),
                        .printed = as_printed("1", 0.01),
                        .model = plan.overflow_fraction,
                        .simulated = end.overflow_fraction});
  const double at_stated =
      model::least_overflow_sequential(usual_load, usual_choices, stated_accesses);
  const double multilevel_at_stated =
      model::least_overflow_multilevel(usual_choices, stated_accesses);
  found.found = fmt::format(
      "Each mark is a table with the threshold and probability of the theorem; it spent the "
      "accesses and lost the elements that the line foresees, and its loads have the variance of "
      "the lower bound. 1 % of overflow is what {} needs at a = {:.4f}; at a = 1.1 exactly it "
      "needs "
      "{:.3f} %, MHT only {:.3f} %.",
      at.text.sequential, edge, 100 * at_stated, 100 * multilevel_at_stated);
  return found;
}

outcome region_over_load(const conditions& in, const place& at) {
  constexpr std::array<double, 7> simulated_at{1, 2, 4, 8, 16, 32, 64};
  // The threshold jumps once per element of load, and GREEDY's line with it: finely drawn, it is a
  // row of arcs. Whole loads will do where time is short.
  const unsigned drawn_per_element = by_effort(in.how_much, 1u, 8u, 8u);
  const auto drawn =
      static_cast<unsigned>(simulated_at.back() - simulated_at.front()) * drawn_per_element;
  const auto schemes = schemes_with_choices(at.text);

  outcome found;
  chart region{.name = std::string(at.chart),
               .title = "Least overflow with which the lower bound is reached (a = 1.2, d = 3)",
               .x_label = "elements per bucket r",
               .y_label = "overflow fraction γ",
               .x_scale = scale::logarithmic};
  simulation_plan work(in, schemes.size() * simulated_at.size());
  for (std::size_t s = 0; s < schemes.size(); ++s) {
    const auto& [scheme, name] = schemes[s];
    const int colour = static_cast<int>(s);
    series line{.name = name, .how = series::kind::line, .colour = colour};
    line.points =
        curve(grid(simulated_at.front(), simulated_at.back(), drawn),
              [kind = scheme](double load) { return least_overflow(kind, load, usual_accesses); });
    series marks{.name = name + ", simulated", .how = series::kind::marks, .colour = colour};
    for (const double load : simulated_at) {
      const model::balance_plan plan = plan_for(scheme, load, usual_accesses);
      // As many elements as at r = 8 where buckets are fuller, but never so few buckets that the
      // last level of MHT is a handful.
      table_size size = size_for(in.how_much);
      size.buckets =
          std::max(size.buckets / 2, static_cast<std::uint64_t>(static_cast<double>(size.buckets) *
                                                                std::min(1.0, usual_load / load)));
      const sim::look end = work.run(scenario_of(scheme, plan, load, usual_choices, size)).end();
      marks.points.push_back(mark(load, end.overflow_fraction));
      found.rows.push_back(
          compared(at, fmt::format("{}, r = {}: overflow γ", name, load), plan.overflow_fraction,
                   end.overflow_fraction,
                   fmt::format("h = {}, p = {:.4f}", *plan.threshold, plan.admit_probability)));
      found.rows.push_back(compared(at, fmt::format("{}, r = {}: mean accesses", name, load),
                                    usual_accesses, end.mean_accesses));
    }
    region.lines.push_back(std::move(line));
    region.lines.push_back(std::move(marks));
  }
  found.charts.push_back(std::move(region));
  found.found = fmt::format(
      "MHT needs {:.4f} % whatever the load: with the geometric partition all levels refuse the "
      "same "
      "share, and γ = (1 − (1 − γ)/a)^d does not contain r. {} needs {:.2f} % at r = {} and {:.2f} "
      "% at r = {}.",
      100 * model::least_overflow_multilevel(usual_choices, usual_accesses), at.text.sequential,
      100 * least_overflow(scheme_kind::sequential, simulated_at.front(), usual_accesses),
      simulated_at.front(),
      100 * least_overflow(scheme_kind::sequential, simulated_at.back(), usual_accesses),
      simulated_at.back());
  return found;
}

}  // namespace oneprobe::cli::balancing
