// OFH, Sections V-C and VI-D: the cases with closed solutions, two choices of one slot.

#include <fmt/format.h>

#include "oneprobe/detail/base/levels.hpp"
#include "oneprobe/model/fluid.hpp"
#include "oneprobe/model/overflow_bound.hpp"
#include "oneprobe/model/partition.hpp"
#include "reproduce/estimates.hpp"
#include "reproduce/ofh.hpp"

namespace oneprobe::cli::ofh {
namespace {

constexpr unsigned two_choices = 2;

// The two loads of the text: n = m, and n = 0.1 m.
struct printed_case {
  double load_factor;
  std::string accesses;  // a_co
  std::string overflow;  // percent
};

/// What one of the two schemes does at one load.
struct scheme_at_load {
  scheme_kind scheme;
  double load_factor;
  model::cutoff edge;

  model::fluid_parameters parameters() const {
    return {.scheme = scheme,
            .load_factor = load_factor,
            .bucket_capacity = 1,
            .choices = two_choices,
            .level_fractions = edge.level_fractions};
  }
  model::fluid_state within(double budget) const {
    model::fluid_parameters q = parameters();
    q.access_budget = budget;
    return model::fluid_limit(q);
  }
  model::fluid_state at(double time) const {
    model::fluid_parameters q = parameters();
    q.time = time;
    return model::fluid_limit(q);
  }
  sim::scenario scenario(std::uint64_t elements, unsigned trials) const {
    const auto buckets =
        static_cast<std::uint64_t>(std::llround(static_cast<double>(elements) / load_factor));
    sim::scenario result{.scheme = scheme,
                         .buckets = buckets,
                         .choices = two_choices,
                         .bucket_capacity = 1,
                         .elements = elements,
                         .trials = trials};
    if (scheme == scheme_kind::multilevel)
      result.level_sizes = split_into_levels(buckets, edge.level_fractions);
    return result;
  }
};

scheme_at_load make(scheme_kind scheme, double load) {
  return {scheme, load,
          scheme == scheme_kind::sequential ? model::sequential_cutoff(load, 1, two_choices)
                                            : model::multilevel_cutoff(load, 1, two_choices)};
}

std::string_view paper_name(scheme_kind scheme) {
  return scheme == scheme_kind::sequential ? "GREEDY" : "MHT";
}

struct effort_of_case {
  std::uint64_t elements;
  unsigned trials;
};

effort_of_case how_large(const conditions& in) {
  return {by_effort<std::uint64_t>(in.how_much, 20'000, 100'000, 1'000'000),
          by_effort(in.how_much, 64u, 300u, 600u)};
}

/// The rows and curves that both cases have: a_co and overflow at the two loads, and overflow
/// against accesses on the way there.
void run_loads(const std::vector<printed_case>& cases, scheme_kind scheme,
               const std::string& source, simulation_plan& plan, const conditions& in,
               outcome& result) {
  chart picture{.name = scheme == scheme_kind::sequential ? "ofh-secV-C" : "ofh-secVI-D",
                .title = fmt::format("{} with h = 1, d = 2", paper_name(scheme)),
                .x_label = "accesses per element a",
                .y_label = "overflow fraction",
                .y_scale = scale::logarithmic,
                .lines = {}};
  const auto [elements, trials] = how_large(in);
  int colour = 0;
  for (const auto& [load, accesses, overflow] : cases) {
    const scheme_at_load here = make(scheme, load);
    sim::scenario table = here.scenario(elements, trials);
    table.looks = {0.2, 0.4, 0.6, 0.8, 1.0};
    const sim::findings found = plan.run(table);
    const std::string where = load == 1 ? "n = m" : fmt::format("n = {:g} m", load);
    result.rows.push_back({.source = source,
                           .what = "cut-off point, " + where,
                           .printed = as_printed(accesses),
                           .model = here.edge.mean_accesses,
                           .simulated = found.end().mean_accesses});
    result.rows.push_back({.source = source,
                           .what = "overflow at the cut-off, " + where,
                           .printed = printed_percent(overflow),
                           .model = here.edge.overflow_fraction,
                           .simulated = found.end().overflow_fraction});
    // The bound goes on where the scheme ends, until nothing overflows.
    constexpr double shown_range = 1.15;
    const auto bound = [load = load](double a) { return model::overflow_bound(a, load, 1); };
    picture.lines.push_back(
        {.name = fmt::format("lower bound, c = {:g}", load),
         .points = curve(grid(0, shown_range * here.edge.mean_accesses, 150), bound),
         .colour = colour,
         .dashed = true});
    std::erase_if(picture.lines.back().points, [](const point& at) { return at.y <= 0; });
    series line{.name = fmt::format("c = {:g}, model", load), .points = {}, .colour = colour};
    for (const double time : grid(0, 1, 200)) {
      const model::fluid_state state = here.at(time);
      line.points.push_back({.x = state.mean_accesses, .y = state.overflow_fraction});
    }
    series marks{.name = fmt::format("c = {:g}, simulation", load),
                 .how = series::kind::marks,
                 .points = {},
                 .colour = colour++};
    for (const sim::look& look : found.looks)
      marks.points.push_back(mark(look.mean_accesses.mean, look.overflow_fraction));
    picture.lines.push_back(std::move(line));
    picture.lines.push_back(std::move(marks));
  }
  result.charts.push_back(std::move(picture));
}

}  // namespace

outcome sequential_case(const conditions& in) {
  outcome result;
  const std::string source = "OFH, Section V-C";
  simulation_plan plan(in, 4);
  run_loads({{1, "1.4338", "23.8"}, {0.1, "1.0499", "0.33"}}, scheme_kind::sequential, source, plan,
            in, result);

  // What is printed with n/m and m/n exchanged shows at loads other than 1. The corrected values
  // are those of the right formulas, worked out with 20 digits.
  const scheme_at_load tenth = make(scheme_kind::sequential, 0.1);
  const double c = tenth.load_factor;
  const double budget = 1.02;
  const auto [elements, trials] = how_large(in);
  sim::scenario table = tenth.scenario(elements, trials);
  table.access_budget = budget;
  const sim::findings stopped = plan.run(table);
  const model::fluid_state end = tenth.within(budget);
  result.rows.push_back(
      {.source = source,
       .what = "upper end of the range of optimality, n = 0.1 m",
       .printed = printed_number{.text = "(n/m) ln((1 + e^(2n/m)) / 2)",
                                 .value = c * std::log((1 + std::exp(2 * c)) / 2),
                                 .half_unit = 5e-5},
       .model = tenth.edge.mean_accesses,
       .known_erratum = erratum{.number = "3.1", .corrected = 1.0499, .half_unit = 5e-5},
       .remark =
           "the factor is m/n; the formula, evaluated, is held to four decimals like the 1.0499 "
           "next to it"});
  result.rows.push_back(
      {.source = "OFH, eq. (11)",
       .what = "time at which a = 1.02 accesses are used up, n = 0.1 m",
       .printed = printed_number{.text = "(m/2n) ln(2 e^((m/n) a) - 1)",
                                 .value = std::log(2 * std::exp(budget / c) - 1) / (2 * c),
                                 .half_unit = 5e-7},
       .model = end.time,
       .simulated = stopped.budget_end,
       .known_erratum = erratum{.number = "3.2", .corrected = 0.972761, .half_unit = 5e-7},
       .remark =
           "the exponent is (n/m) a; the formula as printed leaves the range of time, 0 to 1"});
  result.rows.push_back(
      {.source = "OFH, eq. (12)",
       .what = "overflow with a = 1.02 accesses, n = 0.1 m",
       .printed = printed_number{.text = "1 - m/n + (m/n) e^(-(m/n) a)",
                                 .value = 1 - 1 / c + std::exp(-budget / c) / c,
                                 .half_unit = 5e-8},
       .model = end.overflow_fraction,
       .simulated = stopped.end().overflow_fraction,
       .known_erratum = erratum{.number = "3.3", .corrected = 0.0302955, .half_unit = 5e-8},
       .remark = "the exponent is -(n/m) a; the formula as printed is negative"});

  const double middle = 1.2;
  const scheme_at_load full = make(scheme_kind::sequential, 1);
  table = full.scenario(elements, trials);
  table.access_budget = middle;
  const sim::findings half_way = plan.run(table);
  result.rows.push_back({.source = "OFH, eq. (12)",
                         .what = "overflow with a = 1.2 accesses, n = m",
                         .printed = printed_number{.text = "1 - m/n + (m/n) e^(-(m/n) a)",
                                                   .value = std::exp(-middle),
                                                   .half_unit = 1e-9},
                         .model = full.within(middle).overflow_fraction,
                         .simulated = half_way.end().overflow_fraction,
                         .remark = "at n = m the printed formula is right; held to nine decimals"});
  result.found = fmt::format(
      "Cut-offs and overflows are as printed: {:.4f} accesses and {:.2f} % at n = m, {:.4f} and "
      "{:.3f} % at n = 0.1 m. Three formulas beside them have m/n and n/m exchanged, which shows "
      "only away from n = m; put right, they give what the simulation gives, time {:.4f} and "
      "overflow {:.3f} % for a budget of 1.02.",
      full.edge.mean_accesses, 100 * full.edge.overflow_fraction, tenth.edge.mean_accesses,
      100 * tenth.edge.overflow_fraction, stopped.budget_end.mean,
      100 * stopped.end().overflow_fraction.mean);
  return result;
}

outcome multilevel_case(const conditions& in) {
  outcome result;
  const std::string source = "OFH, Section VI-D";
  simulation_plan plan(in, 3);
  run_loads({{1, "1.4777", "22.8"}, {0.1, "1.0507", "0.26"}}, scheme_kind::multilevel, source, plan,
            in, result);
  const scheme_at_load full = make(scheme_kind::multilevel, 1);
  const double a = full.edge.mean_accesses;
  result.rows.push_back({.source = "OFH, eq. (24)",
                         .what = "W(e^(-1/2) / 2), from the cut-off",
                         .printed = printed_number{.text = "1 + 2 W(e^(-1/2) / 2)",
                                                   .value = 0.5 * std::exp(-0.5),
                                                   .half_unit = 1e-12},
                         .model = (a - 1) / 2 * std::exp((a - 1) / 2),
                         .remark = "w = (a - 1) / 2 must solve w e^w = e^(-1/2) / 2"});
  result.rows.push_back(
      {.source = source,
       .what = "overflow at the cut-off, n = m, from the closed form",
       .printed = printed_number{.text = "e^(-a_co)", .value = std::exp(-a), .half_unit = 1e-12},
       .model = full.edge.overflow_fraction,
       .remark = "equal but for the rounding of doubles"});

  // The closed forms of gamma(t) and f^a(t), for a partition of our own and half of the elements.
  const double first = 0.6, second = 0.4, time = 0.5;
  const double empty_first = std::exp(-time / first);
  const double empty_second = std::exp((-time - first * empty_first + first) / second);
  scheme_at_load uneven = full;
  uneven.edge.level_fractions = {first, second};
  const auto [elements, trials] = how_large(in);
  sim::scenario table = uneven.scenario(elements, trials);
  table.looks = {time};
  const sim::findings found = plan.run(table);
  result.rows.push_back(
      {.source = source,
       .what = "gamma(t) for alpha = (0.6, 0.4), t = 0.5",
       .printed = printed_number{.text = "alpha_1 e^(-t/alpha_1) + alpha_2 e^(...)",
                                 .value = first * empty_first + second * empty_second,
                                 .half_unit = 1e-9},
       .model = uneven.at(time).overflow_fraction,
       .simulated = found.end().overflow_fraction,
       .remark = "the printed closed form, evaluated; held to nine decimals"});
  result.rows.push_back({.source = source,
                         .what = "f^a(t) for alpha = (0.6, 0.4), t = 0.5",
                         .printed = printed_number{.text = "2t + alpha_1 e^(-t/alpha_1) - alpha_1",
                                                   .value = 2 * time + first * empty_first - first,
                                                   .half_unit = 1e-9},
                         .model = uneven.at(time).mean_accesses,
                         .simulated = found.end().mean_accesses,
                         .remark = "the printed closed form, evaluated; held to nine decimals"});
  const scheme_at_load tenth = make(scheme_kind::multilevel, 0.1);
  const model::cutoff rival = model::sequential_cutoff(1, 1, two_choices);
  result.found = fmt::format(
      "Levels of {:.1f} % and {:.1f} % keep MHT optimal up to {:.4f} accesses at n = m, where "
      "GREEDY ends at {:.4f}, and overflow {:.2f} % instead of {:.2f} %. At n = 0.1 m the second "
      "level needs only {:.1f} % of the buckets, and {:.3f} % overflows.",
      100 * full.edge.level_fractions[0], 100 * full.edge.level_fractions[1], a,
      rival.mean_accesses, 100 * full.edge.overflow_fraction, 100 * rival.overflow_fraction,
      100 * tenth.edge.level_fractions[1], 100 * tenth.edge.overflow_fraction);
  return result;
}

}  // namespace oneprobe::cli::ofh
