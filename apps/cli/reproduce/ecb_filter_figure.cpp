// ECB Fig. 6 and BBF Fig. 4: false positive rates of four filters over the bits per element.

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "oneprobe/model/bloom.hpp"
#include "reproduce/ecb_filter.hpp"
#include "reproduce/estimates.hpp"

namespace oneprobe::cli::balancing {
namespace {

constexpr std::array<double, 8> simulated_at{4, 8, 12, 16, 20, 24, 32, 40};
constexpr double first_drawn = simulated_at.front(), last_drawn = simulated_at.back();
constexpr unsigned drawn = 36;  // whole bits per element, since k is rounded
// Thresholds jump with the load, and the accesses with them: drawn finely enough to be seen.
constexpr unsigned drawn_for_accesses = 8 * drawn;

constexpr std::uint64_t stored_stride = 16;  // a sample: not one may be missing

/// From how many bits per element on a filter errs less than the blocked one.
double overtakes_blocked(filter_kind kind, double (*error)(filter_kind, double)) {
  for (const double bits : grid(first_drawn, last_drawn, drawn))
    if (error(kind, bits) < error(filter_kind::blocked, bits)) return bits;
  return last_drawn;
}

/// How far the texts' formula is off.
std::string remark_on(filter_kind kind, double exact, double as_printed) {
  if (kind == filter_kind::standard) return {};
  const double excess = as_printed / exact - 1;
  return fmt::format("the printed formula is {:.1f} % too {} ({})", 100 * std::abs(excess),
                     excess < 0 ? "low" : "high",
                     kind == filter_kind::multilevel ? "errata 0.19, 0.26" : "erratum 0.19");
}

}  // namespace

outcome filter_figure(const conditions& in, const place& at) {
  const filter_effort size = filter_effort_for(in.how_much);
  const std::vector<double> places = grid(first_drawn, last_drawn, drawn);

  outcome found;
  chart errors{.name = std::string(at.chart),
               .title = "False positive rates with blocks of 256 bits (a = 1.2, d = 3)",
               .x_label = "bits per element β",
               .y_label = "false positive rate",
               .y_scale = scale::logarithmic};
  chart accesses{.name = std::string(at.chart) + "-accesses",
                 .title = "Blocks that MHT reads (B = 256, a = 1.2, d = 3)",
                 .x_label = "bits per element β",
                 .y_label = "mean blocks read"};
  series absent{
      .name = "query of an absent key",
      .how = series::kind::line,
      .points = curve(grid(first_drawn, last_drawn, drawn_for_accesses),
                      [](double bits) { return exact_multilevel(bits).negative_block_accesses; }),
      .colour = 0};
  series absent_seen{
      .name = "query of an absent key, simulated", .how = series::kind::marks, .colour = 0};
  series insert{.name = "insertion",
                .how = series::kind::line,
                .points = curve(places, [](double) { return usual_accesses; }),
                .colour = 1};
  series insert_seen{.name = "insertion, simulated", .how = series::kind::marks, .colour = 1};

  const std::size_t parts = filter_kinds.size() * simulated_at.size();
  std::size_t part = 0;
  double false_negatives = 0;
  for (std::size_t i = 0; i < filter_kinds.size(); ++i) {
    const filter_kind kind = filter_kinds[i];
    const std::string name = name_of(kind, at.text);
    const int colour = static_cast<int>(i);
    errors.lines.push_back(
        {.name = name + ", as printed",
         .how = series::kind::line,
         .points = curve(places, [kind](double bits) { return error_as_printed(kind, bits); }),
         .colour = colour});
    if (kind != filter_kind::standard)
      errors.lines.push_back(
          {.name = name + ", exact",
           .how = series::kind::line,
           .points = curve(places, [kind](double bits) { return exact_error(kind, bits); }),
           .colour = colour,
           .dashed = true});
    series marks{.name = name + ", simulated", .how = series::kind::marks, .colour = colour};
    for (const double bits : simulated_at) {
      const double exact = exact_error(kind, bits);
      const sim::progress tell = part_of(in.tell, part, parts);
      const std::uint64_t seed = seed_of(in, part++);
      const bool measurable = is_measurable(exact, size);
      // Accesses can be measured where false positives are too rare to be seen.
      if (!measurable && kind != filter_kind::multilevel) continue;
      filter_setup setup = setup_of(kind, bits, exact, size);
      if (!measurable) setup.queries = setup.elements * setup.trials;
      setup.stored_stride = stored_stride;
      const filter_tally seen = simulate_filter(setup, seed, in.threads, tell);
      false_negatives += seen.missed.sum();
      if (measurable) {
        const sim::estimate rate = seen.false_positives.estimate();
        marks.points.push_back(mark(bits, rate));
        found.rows.push_back(
            compared(at, fmt::format("{}, β = {}: false positive rate", name, bits), exact, rate,
                     remark_on(kind, exact, error_as_printed(kind, bits))));
      }
      if (kind == filter_kind::multilevel) {
        absent_seen.points.push_back(mark(bits, seen.absent_accesses.estimate()));
        insert_seen.points.push_back(mark(bits, seen.insert_accesses.estimate()));
        found.rows.push_back(compared(
            at, fmt::format("{}, β = {}: blocks read for an absent key", name, bits),
            exact_multilevel(bits).negative_block_accesses, seen.absent_accesses.estimate()));
        found.rows.push_back(
            compared(at, fmt::format("{}, β = {}: blocks visited by an insertion", name, bits),
                     exact_multilevel(bits).insert_accesses, seen.insert_accesses.estimate()));
      }
    }
    errors.lines.push_back(std::move(marks));
  }
  for (series* line : {&absent, &absent_seen, &insert, &insert_seen})
    accesses.lines.push_back(std::move(*line));
  found.charts.push_back(std::move(errors));
  found.charts.push_back(std::move(accesses));

  found.rows.push_back(
      {.source = at.source(),
       .what = "false negatives of all filters simulated",
       .printed = printed_number{.text = "zero (0)", .value = 0, .half_unit = 0},
       .simulated = sim::estimate{.mean = false_negatives},
       .remark = "with a query that goes on past every block with load ≥ h (erratum 0.22)"});
  found.found = fmt::format(
      "MHT is worse than the blocked filter where memory is scarce, as the text says: it overtakes "
      "it at β = {:.0f} by the printed formulas, at {:.0f} exactly. {} is slightly better than "
      "blocked only from β = {:.0f} on; below, its counters cost more than its overflow list "
      "brings. "
      "Inside a block of 256 bits the exponential of the text is an approximation: at β = 40 the "
      "blocked filter errs {:.2e}, not {:.2e}, and MHT {:.2e}, not {:.2e}. What the figure does "
      "not "
      "show is the price: an absent key makes MHT read {:.2f} blocks at β = 40 and {:.2f} at β = "
      "12; "
      "1.2 is the cost of an insertion (erratum 0.21).",
      overtakes_blocked(filter_kind::multilevel, error_as_printed),
      overtakes_blocked(filter_kind::multilevel, exact_error), at.text.single,
      overtakes_blocked(filter_kind::single, exact_error),
      exact_error(filter_kind::blocked, last_drawn),
      error_as_printed(filter_kind::blocked, last_drawn),
      exact_error(filter_kind::multilevel, last_drawn),
      error_as_printed(filter_kind::multilevel, last_drawn),
      exact_multilevel(last_drawn).negative_block_accesses,
      exact_multilevel(12).negative_block_accesses);
  return found;
}

}  // namespace oneprobe::cli::balancing
