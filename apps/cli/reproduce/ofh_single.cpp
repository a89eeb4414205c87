// OFH, Section IV: SIMPLE, one hash function.

#include <fmt/format.h>

#include "oneprobe/model/fluid.hpp"
#include "reproduce/estimates.hpp"
#include "reproduce/ofh.hpp"

namespace oneprobe::cli::ofh {
namespace {

// Fig. 5: load c = 1, bucket size h = 3 and m = 10,000 buckets, so n = 30,000.
constexpr unsigned figure_capacity = 3;
constexpr std::uint64_t figure_buckets = 10'000;
constexpr std::uint64_t figure_elements = figure_buckets * figure_capacity;
// The simulation is looked at after each of these parts of the elements.
constexpr unsigned figure_looks = 20;

model::fluid_state single_limit(double load_factor, unsigned capacity, double time = 1) {
  return model::fluid_limit({.scheme = scheme_kind::single,
                             .load_factor = load_factor,
                             .bucket_capacity = capacity,
                             .time = time});
}

/// Both halves of Fig. 5 look at the same tables.
sim::findings figure_5(const conditions& in) {
  std::vector<double> looks = grid(0, 1, figure_looks);
  looks.erase(looks.begin());
  simulation_plan plan(in, 1);
  return plan.run({.scheme = scheme_kind::single,
                   .buckets = figure_buckets,
                   .bucket_capacity = figure_capacity,
                   .elements = figure_elements,
                   .looks = looks,
                   .trials = by_effort(in.how_much, 64u, 1'000u, 10'000u)});
}

/// The looks at a quarter, half and three quarters, where no number is printed.
bool is_quarter(std::size_t look) {
  return (look + 1) % (figure_looks / 4) == 0 && look + 1 < figure_looks;
}

}  // namespace

outcome single_slots(const conditions& in) {
  const std::vector<double> loads{0.1, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2};
  const std::uint64_t buckets = by_effort<std::uint64_t>(in.how_much, 20'000, 100'000, 1'000'000);
  outcome result;
  series simulated{.name = "simulation", .how = series::kind::marks, .points = {}};
  simulation_plan plan(in, loads.size());
  for (const double load : loads) {
    const sim::findings found = plan.run(
        {.scheme = scheme_kind::single,
         .buckets = buckets,
         .bucket_capacity = 1,
         .elements = static_cast<std::uint64_t>(std::llround(load * static_cast<double>(buckets))),
         .trials = by_effort(in.how_much, 64u, 200u, 400u)});
    const sim::estimate overflow = found.end().overflow_fraction;
    simulated.points.push_back(mark(load, overflow));
    row one{.source = "OFH, Section IV-C",
            .what = fmt::format("overflow at load {:g}, h = 1", load),
            .model = single_limit(load, 1).overflow_fraction,
            .simulated = overflow};
    if (load == 1) one.printed = printed_percent("36.8");
    result.rows.push_back(std::move(one));
  }
  const auto at_load = [](double load) { return single_limit(load, 1).overflow_fraction; };
  result.charts.push_back({.name = "ofh-secIV-C",
                           .title = "SIMPLE with single slots",
                           .x_label = "load c",
                           .y_label = "overflow fraction",
                           .lines = {{.name = "model, 1 - (1 - e^-c) / c",
                                      .how = series::kind::line,
                                      .points = curve(grid(0.02, 2, 99), at_load),
                                      .colour = 0},
                                     std::move(simulated)}});
  result.charts.back().lines.back().colour = 0;
  result.found = fmt::format(
      "At load 1 the model overflows {:.3f} %, and tables of {} simulated buckets agree. Even at "
      "half that load {:.1f} % find their one slot taken.",
      100 * at_load(1), buckets, 100 * at_load(0.5));
  return result;
}

outcome single_occupancy(const conditions& in) {
  const std::string printed[] = {"4.98", "14.94", "22.40", "57.68"};
  const sim::findings found = figure_5(in);
  outcome result;
  chart picture{.name = "ofh-fig5a",
                .title = "SIMPLE: buckets by load, c = 1, h = 3, m = 10,000",
                .x_label = "time t (share of the elements that have arrived)",
                .y_label = "fraction of buckets",
                .lines = {}};
  for (unsigned load = 0; load <= figure_capacity; ++load) {
    const auto fraction = [load](double time) {
      return single_limit(1, figure_capacity, time).occupancy[load];
    };
    const std::string name = fmt::format("{} element{}", load, load == 1 ? "" : "s");
    picture.lines.push_back({.name = name + ", model",
                             .how = series::kind::line,
                             .points = curve(grid(0, 1, 100), fraction),
                             .colour = static_cast<int>(load)});
    series simulated{.name = name + ", simulation",
                     .how = series::kind::marks,
                     .points = {},
                     .colour = static_cast<int>(load)};
    for (std::size_t i = 0; i < found.looks.size(); ++i) {
      const sim::look& look = found.looks[i];
      simulated.points.push_back(mark(look.time, entry(look.occupancy, load)));
      if (is_quarter(i))
        result.rows.push_back({.source = "OFH, Fig. 5a",
                               .what = fmt::format("buckets with {} at t = {:g}", name, look.time),
                               .model = fraction(look.time),
                               .simulated = entry(look.occupancy, load)});
    }
    result.rows.push_back({.source = "OFH, Fig. 5a",
                           .what = fmt::format("buckets with {} in the end", name),
                           .printed = printed_percent(printed[load]),
                           .model = fraction(1),
                           .simulated = entry(found.end().occupancy, load)});
    picture.lines.push_back(std::move(simulated));
  }
  result.charts.push_back(std::move(picture));
  const sim::estimate full = entry(found.end().occupancy, figure_capacity);
  result.found = fmt::format(
      "The four printed fractions are the model's, to the last digit. In our simulations {:.2f} % "
      "of the buckets end full, between {:.2f} % and {:.2f} % in single runs of 10,000 buckets: a "
      "figure of one run lies that close to the line.",
      100 * full.mean, 100 * full.least, 100 * full.most);
  return result;
}

outcome single_overflow(const conditions& in) {
  const sim::findings found = figure_5(in);
  outcome result;
  chart picture{.name = "ofh-fig5b",
                .title = "SIMPLE: overflow, c = 1, h = 3, m = 10,000",
                .x_label = "time t (share of the elements that have arrived)",
                .y_label = "overflow fraction",
                .lines = {}};
  struct quantity {
    std::string name;
    double model::fluid_state::*of_model;
    sim::estimate sim::look::*of_simulation;
  };
  const quantity both[] = {
      {"overflow fraction", &model::fluid_state::overflow_fraction, &sim::look::overflow_fraction},
      {"cumulative overflow fraction", &model::fluid_state::cumulative_overflow_fraction,
       &sim::look::cumulative_overflow_fraction}};
  int colour = 0;
  for (const auto& [name, of_model, of_simulation] : both) {
    const auto fraction = [of_model = of_model](double time) {
      return single_limit(1, figure_capacity, time).*of_model;
    };
    picture.lines.push_back({.name = name + ", model",
                             .how = series::kind::line,
                             .points = curve(grid(0, 1, 100), fraction),
                             .colour = colour});
    series simulated{
        .name = name + ", simulation", .how = series::kind::marks, .points = {}, .colour = colour};
    for (std::size_t i = 0; i < found.looks.size(); ++i) {
      const sim::look& look = found.looks[i];
      simulated.points.push_back(mark(look.time, look.*of_simulation));
      if (is_quarter(i) || i + 1 == found.looks.size())
        result.rows.push_back({.source = "OFH, Fig. 5b",
                               .what = fmt::format("{} at t = {:g}", name, look.time),
                               .model = fraction(look.time),
                               .simulated = look.*of_simulation});
    }
    picture.lines.push_back(std::move(simulated));
    ++colour;
  }
  // The text: one starts at 1, the other at 0, and both get the same value at the end.
  const model::fluid_state begin = single_limit(1, figure_capacity, 0);
  const model::fluid_state end = single_limit(1, figure_capacity, 1);
  result.rows.push_back({.source = "OFH, Fig. 5b",
                         .what = "overflow fraction at the start",
                         .printed = as_printed("1"),
                         .model = begin.overflow_fraction});
  result.rows.push_back({.source = "OFH, Fig. 5b",
                         .what = "cumulative overflow fraction at the start",
                         .printed = as_printed("0"),
                         .model = begin.cumulative_overflow_fraction});
  for (row* bound : {&result.rows[result.rows.size() - 2], &result.rows.back()})
    bound->printed->half_unit = 0;  // a statement, not a rounded number
  result.rows.push_back(
      {.source = "OFH, Fig. 5b",
       .what = "both in the end: their difference",
       .printed = printed_number{.text = "the same value", .value = 0, .half_unit = 1e-12},
       .model = end.overflow_fraction - end.cumulative_overflow_fraction,
       .remark = "equal but for the rounding of doubles"});
  result.charts.push_back(std::move(picture));
  result.found = fmt::format(
      "Both curves end at {:.2f} % (model {:.2f} %). Overflow comes late: after half of the "
      "elements only {:.2f} % of those handled were turned away.",
      100 * found.end().overflow_fraction.mean, 100 * end.overflow_fraction,
      100 * single_limit(1, figure_capacity, 0.5).cumulative_overflow_fraction);
  return result;
}

}  // namespace oneprobe::cli::ofh
