// ECB Fig. 6 and BBF Fig. 4: false positive rates of four filters over the bits per element.

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "oneprobe/model/bloom.hpp"
#include "reproduce/ecb_filter.hpp"
#include "reproduce/ecb_filter_law.hpp"
#include "reproduce/estimates.hpp"

namespace oneprobe::cli::balancing {
namespace {

constexpr std::array<double, 8> measured_at{4, 8, 12, 16, 20, 24, 32, 40};
constexpr double first_drawn = measured_at.front(), last_drawn = measured_at.back();
constexpr unsigned drawn = 36;  // whole bits per element, since k is rounded
// Thresholds jump with the load, and the accesses with them: drawn finely enough to be seen.
constexpr unsigned drawn_for_accesses = 8 * drawn;

constexpr std::uint64_t stored_stride = 16;  // a sample: not one may be missing

/// From how many bits per element on a filter errs less than the blocked one.
double overtakes_blocked(contender kind, double (*error)(contender, double)) {
  for (const double bits : grid(first_drawn, last_drawn, drawn))
    if (error(kind, bits) < error(contender::blocked, bits)) return bits;
  return last_drawn;
}

/// How far the texts' formula is off.
std::string remark_on(contender kind, double exact, double as_printed) {
  if (kind == contender::standard) return {};
  const double excess = as_printed / exact - 1;
  return fmt::format("the printed formula is {:.1f} % too {} ({})", 100 * std::abs(excess),
                     excess < 0 ? "low" : "high",
                     kind == contender::multilevel ? "errata 0.19, 0.26" : "erratum 0.19");
}

/// What the texts' filter would have, which counts elements whose bits are all set already, where
/// that shows.
std::string remark_on_counting(double as_built, double counted) {
  constexpr double shows = 0.001;
  if (std::abs(as_built / counted - 1) < shows) return {};
  return fmt::format("{:.4g} if elements whose bits are all set already were counted again",
                     counted);
}

double blocks_by_counter(double bits) { return exact_multilevel(bits).miss_block_accesses; }
double blocks_by_coin(double bits) {
  return exact_multilevel(bits, lookup_rule::coin).miss_block_accesses;
}

std::string joined(std::string first, const std::string& second) {
  if (!first.empty() && !second.empty()) first += "; ";
  return first + second;
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
  const std::vector<double> finely = grid(first_drawn, last_drawn, drawn_for_accesses);
  series absent{.name = "query of an absent key",
                .how = series::kind::line,
                .points = curve(finely, blocks_by_counter),
                .colour = 0};
  series absent_seen{
      .name = "query of an absent key, measured", .how = series::kind::marks, .colour = 0};
  series replayed{.name = "the same, coins replayed",
                  .how = series::kind::line,
                  .points = curve(finely, blocks_by_coin),
                  .colour = 2};
  series replayed_seen{
      .name = "the same, coins replayed, measured", .how = series::kind::marks, .colour = 2};
  series insert{.name = "insertion",
                .how = series::kind::line,
                .points = curve(places, [](double) { return usual_accesses; }),
                .colour = 1};
  series insert_seen{.name = "insertion, measured", .how = series::kind::marks, .colour = 1};

  const std::size_t parts = contenders.size() * measured_at.size();
  std::size_t part = 0;
  double false_negatives = 0;
  for (std::size_t i = 0; i < contenders.size(); ++i) {
    const contender kind = contenders[i];
    const std::string name = name_of(kind, at.text);
    const int colour = static_cast<int>(i);
    errors.lines.push_back(
        {.name = name + ", as printed",
         .how = series::kind::line,
         .points = curve(places, [kind](double bits) { return error_as_printed(kind, bits); }),
         .colour = colour});
    if (kind != contender::standard)
      errors.lines.push_back(
          {.name = name + ", exact",
           .how = series::kind::line,
           .points = curve(places, [kind](double bits) { return exact_error(kind, bits); }),
           .colour = colour,
           .dashed = true});
    series marks{.name = name + ", measured", .how = series::kind::marks, .colour = colour};
    for (const double bits : measured_at) {
      const double exact = exact_error(kind, bits);
      const sim::progress tell = part_of(in.tell, part, parts);
      const std::uint64_t seed = seed_of(in, part++);
      const bool measurable = is_measurable(exact, size);
      filter_trials what = trials_of(plan_for(kind, bits, size.blocks), exact, size);
      // Bits and accesses can be looked at where false positives are too rare to be seen.
      if (!measurable) what.queries = what.plan.elements * what.trials;
      what.stored_stride = stored_stride;
      const filter_tally seen = measure_filter(what, seed, in.threads, tell);
      false_negatives += seen.missed.sum() + seen.missed_by_coin.sum();
      const bool counts = what.plan.kind == oneprobe::filter_kind::balanced;
      const built_law built = counts ? law_of(what.plan) : built_law{.fpr = exact};
      const sim::estimate rate =
          measurable ? seen.false_positives.estimate() : seen.error_by_bits.estimate();
      marks.points.push_back(mark(bits, rate));
      found.rows.push_back(compared(at,
                                    fmt::format("{}, β = {}: false positive rate{}", name, bits,
                                                measurable ? "" : " by the filters' bits"),
                                    built.fpr, rate,
                                    joined(remark_on(kind, exact, error_as_printed(kind, bits)),
                                           remark_on_counting(built.fpr, exact))));
      if (kind != contender::multilevel) continue;
      absent_seen.points.push_back(mark(bits, seen.absent_blocks.estimate()));
      replayed_seen.points.push_back(mark(bits, seen.coin_blocks.estimate()));
      insert_seen.points.push_back(mark(bits, seen.insert_accesses.estimate()));
      const auto add = [&](std::string_view what_of, double of_law, double ideal,
                           const sample& of_filters) {
        found.rows.push_back(compared(at, fmt::format("{}, β = {}: {}", name, bits, what_of),
                                      of_law, of_filters.estimate(),
                                      remark_on_counting(of_law, ideal)));
      };
      add("blocks read for an absent key", built.absent_blocks, blocks_by_counter(bits),
          seen.absent_blocks);
      add("the same if queries replay the coins", built.coin_blocks, blocks_by_coin(bits),
          seen.coin_blocks);
      add("blocks visited by an insertion", built.insert_accesses, usual_accesses,
          seen.insert_accesses);
    }
    errors.lines.push_back(std::move(marks));
  }
  for (series* line : {&absent, &absent_seen, &replayed, &replayed_seen, &insert, &insert_seen})
    accesses.lines.push_back(std::move(*line));
  found.charts.push_back(std::move(errors));
  found.charts.push_back(std::move(accesses));

  found.rows.push_back(
      {.source = at.source(),
       .what = "false negatives of all filters built",
       .printed = printed_number{.text = "zero (0)", .value = 0, .half_unit = 0},
       .simulated = sim::estimate{.mean = false_negatives},
       .remark =
           "queries go on past every block with load ≥ h, or replay the coins (erratum 0.22)"});
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
      "1.2 is the cost of an insertion (erratum 0.21). Queries that replay the coins read {:.2f} "
      "and "
      "{:.2f}. The measured points are balanced filters of the library with a plan of the text's "
      "numbers; its overflow list is there, but as in the text it is not counted in β.",
      overtakes_blocked(contender::multilevel, error_as_printed),
      overtakes_blocked(contender::multilevel, exact_error), at.text.single,
      overtakes_blocked(contender::single, exact_error),
      exact_error(contender::blocked, last_drawn), error_as_printed(contender::blocked, last_drawn),
      exact_error(contender::multilevel, last_drawn),
      error_as_printed(contender::multilevel, last_drawn),
      exact_multilevel(last_drawn).miss_block_accesses, exact_multilevel(12).miss_block_accesses,
      blocks_by_coin(last_drawn), blocks_by_coin(12));
  return found;
}

}  // namespace oneprobe::cli::balancing
