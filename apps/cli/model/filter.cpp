#include <fmt/format.h>

#include <cmath>

#include "model/common.hpp"
#include "oneprobe/model/balanced.hpp"
#include "oneprobe/model/bloom.hpp"
#include "oneprobe/model/fingerprint.hpp"

namespace oneprobe::cli {
namespace {

enum class filter_kind { standard, partitioned, blocked, balanced, fingerprint };

constexpr option kind{"--kind", "NAME", "standard, partitioned, blocked, balanced, fingerprint"};
constexpr option bits_per_element{"--bits-per-element", "BETA", "all memory, in bits per element"};
constexpr option block_bits{"--block-bits", "B",
                            "bits of a block (default 512; 256 with --as-printed)"};
constexpr option bits_set{"--bits-set", "K", "bits set per element (default: the best)"};
constexpr option limit{"--accesses", "A",
                       "most blocks a query may read on average, or the insertion budget of the "
                       "papers' rules (default 1.2)"};
constexpr option as_printed{"--as-printed", "", "the papers' own formulas and operating point"};
constexpr option finite{"--elements", "N",
                        "of so many elements, not the limit (kinds that set bits)"};
constexpr option layout{"--layout", "NAME", "blocked: independent (default), distinct or lanes"};
// Balanced.
constexpr option rule{"--rule", "NAME",
                      "balanced: counter, coin, flag, coin-flag, tracking or popcount"};
constexpr option threshold{"--threshold", "H",
                           "balanced: elements or bits at which a block refuses"};
constexpr option tracking_bits{"--tracking-bits", "W", "balanced: bits that note refusals"};
constexpr option arrivals{"--arrivals", "L",
                          "mean arrivals per block, in place of --bits-per-element"};
// Fingerprints.
constexpr option order{"--order", "NAME", "fingerprint: prefix (default) or first-come"};
constexpr option remainder_bits{"--remainder-bits", "F", "fingerprint: bits of a remainder"};
constexpr option note_bits{"--note-bits", "W", "fingerprint: bits that note refusals"};

constexpr std::array<word<filter_kind>, 5> kinds{{
    {"standard", filter_kind::standard},
    {"partitioned", filter_kind::partitioned},
    {"blocked", filter_kind::blocked},
    {"balanced", filter_kind::balanced},
    {"fingerprint", filter_kind::fingerprint},
}};
constexpr std::array<word<model::block_layout>, 3> layouts{{
    {"independent", model::block_layout::independent},
    {"distinct", model::block_layout::distinct},
    {"lanes", model::block_layout::lanes},
}};
constexpr std::array<word<model::lookup_rule>, 10> rules{{
    {"counter", model::lookup_rule::counter},
    {"coin", model::lookup_rule::coin},
    {"flag", model::lookup_rule::flag},
    {"coin-flag", model::lookup_rule::coin_flag},
    {"tracking", model::lookup_rule::tracking},
    {"popcount", model::lookup_rule::popcount},
    // The same under the names of the study that compared them.
    {"load", model::lookup_rule::counter},
    {"hash", model::lookup_rule::coin},
    {"hashflag", model::lookup_rule::coin_flag},
    {"track", model::lookup_rule::tracking},
}};
constexpr std::array<word<model::overflow_order>, 2> orders{{
    {"prefix", model::overflow_order::prefix},
    {"first-come", model::overflow_order::first_come},
}};

constexpr double default_accesses = 1.2;
constexpr unsigned default_choices = 3;
constexpr unsigned printed_block_bits = 256;
constexpr unsigned usual_block_bits = 512;
constexpr unsigned most_block_bits = 4096;

/// k = beta ln 2, rounded: the papers' number of bits per element (erratum 0.5).
unsigned printed_bits_set(double beta) {
  if (!(beta > 0 && beta <= 1e6))
    throw usage_error(
        fmt::format("--bits-per-element must be above 0 and at most 1e+06; found {}", beta));
  return static_cast<unsigned>(std::max(1.0, std::round(beta * std::log(2.0))));
}

unsigned block_bits_or_default(const arguments& in, bool printed) {
  return in.maybe_whole(block_bits).value_or(printed ? printed_block_bits : usual_block_bits);
}

/// The k from 1 to a little above beta ln 2 with the least error.
template <class Error>
unsigned best_bits_set(double beta, Error&& error_for) {
  unsigned best = 1;
  double least = 2;
  for (unsigned k = 1; k <= printed_bits_set(beta) + 2; ++k) {
    const double error = error_for(k);
    if (error < least) {
      least = error;
      best = k;
    }
  }
  return best;
}

// What a filter costs; every kind reports the same keys.
struct costs {
  double fpr;
  double bits_per_element;
  std::optional<unsigned> bits_set;
  double insert_accesses;
  double hit_accesses;
  double miss_accesses;
  double overflow_fraction = 0;
};

report report_costs(std::string_view name, std::string source, const costs& c) {
  report out(fmt::format("A {} filter", name), std::move(source));
  return out.text("kind", std::string(name))
      .probability("fpr", c.fpr)
      .number("bits_per_element", c.bits_per_element, "all memory")
      .whole_or("bits_set", c.bits_set, "none: fingerprints", "per element, k")
      .number("insert_accesses", c.insert_accesses, "blocks or lines")
      .number("hit_accesses", c.hit_accesses, "per query of a stored key")
      .number("miss_accesses", c.miss_accesses, "per query of an absent key")
      .fraction("overflow_fraction", c.overflow_fraction, "of the elements");
}

report report_walk(std::string_view name, const model::filter_error& e, std::optional<unsigned> k,
                   double arrivals_mean) {
  report out =
      report_costs(name, "ECB and BBF, Section IX, with the overflow list and all notes charged",
                   {e.fpr, e.bits_per_element, k, e.insert_accesses, e.hit_accesses,
                    e.miss_accesses, e.overflow_fraction});
  return out.number("miss_block_accesses", e.miss_block_accesses, "without overflow list")
      .number("elements_per_block", e.elements_per_block)
      .number("arrivals_mean", arrivals_mean, "per block")
      .probability("block_error", e.block_error)
      .fraction("continue_probability", e.continue_probability, "a block sends a query on");
}

// --- standard and partitioned -------------------------------------------------------------------

/// Options of the other kinds that a script may pass to all of them alike.
void ignore_walk_options(const arguments& in) {
  in.ignore_whole(choices, 1, model::largest_choices);
  in.ignore_number(limit, 1, model::largest_choices);
}

double plain_error(filter_kind which, double beta, unsigned k,
                   const std::optional<std::uint64_t>& n) {
  // In the limit the two are the same.
  if (!n) return model::standard_error(beta, k);
  const double bits = std::round(beta * static_cast<double>(*n));
  if (which == filter_kind::partitioned)
    return model::partitioned_error(bits, static_cast<double>(*n), k);
  if (!(bits >= 1 && bits <= static_cast<double>(largest_count)))
    throw usage_error("--elements times --bits-per-element must be from 1 to 10^13 bits");
  return model::standard_error_exact(static_cast<std::uint64_t>(bits), *n, k);
}

report plain(filter_kind which, const arguments& in) {
  const double beta = in.number(bits_per_element);
  const bool printed = in.is_set(as_printed);
  ignore_walk_options(in);
  in.ignore_whole(block_bits, 1, most_block_bits);
  const unsigned k = in.has(bits_set) ? in.whole(bits_set)
                     : printed        ? printed_bits_set(beta)
                                      : model::best_bits_set_standard(beta);
  const double error = plain_error(which, beta, k, in.maybe_count(finite));
  return report_costs(which == filter_kind::standard ? "standard" : "partitioned",
                      "SSH, Section III",
                      // Every bit lies in a line of its own.
                      {error, beta, k, 1.0 * k, 1.0 * k, model::standard_miss_accesses(beta, k)});
}

// --- blocked ------------------------------------------------------------------------------------

double blocked_fpr(const model::blocked_shape& shape, bool printed,
                   const std::optional<std::uint64_t>& n) {
  if (printed) return model::blocked_error_approximate(shape);
  if (!n) return model::blocked_error(shape);
  const double blocks =
      std::round(static_cast<double>(*n) * shape.bits_per_element / shape.block_bits);
  if (!(blocks >= 1 && blocks <= static_cast<double>(largest_count)))
    throw usage_error("--elements times --bits-per-element must be from 1 to 10^13 blocks");
  return model::blocked_error_finite(*n, static_cast<std::uint64_t>(blocks), shape.block_bits,
                                     shape.bits_set, shape.layout);
}

report blocked(const arguments& in) {
  const bool printed = in.is_set(as_printed);
  ignore_walk_options(in);
  model::blocked_shape shape{.bits_per_element = in.number(bits_per_element),
                             .block_bits = block_bits_or_default(in, printed)};
  std::optional<std::uint64_t> n;
  if (!printed) {
    n = in.maybe_count(finite);
    shape.layout = in.maybe_choice(layout, layouts).value_or(shape.layout);
  }
  shape.bits_set = in.has(bits_set) ? in.whole(bits_set)
                   : printed        ? printed_bits_set(shape.bits_per_element)
                                    : model::best_bits_set_blocked(shape.bits_per_element,
                                                                   shape.block_bits, shape.layout);
  const double error = blocked_fpr(shape, printed, n);
  return report_costs("blocked",
                      printed ? "ECB, Fig. 6: the exponential inside the block"
                              : "ECB, Section IX, exact inside the block (erratum 0.19)",
                      {error, shape.bits_per_element, shape.bits_set, 1, 1, 1})
      .whole("block_bits", shape.block_bits)
      .number("elements_per_block", shape.block_bits / shape.bits_per_element);
}

// --- balanced -----------------------------------------------------------------------------------

report balanced_printed(const arguments& in) {
  const double beta = in.number(bits_per_element);
  const unsigned bits = block_bits_or_default(in, true);
  const unsigned k = in.maybe_whole(bits_set).value_or(printed_bits_set(beta));
  const double a = in.maybe_number(limit).value_or(default_accesses);
  const unsigned d = in.maybe_whole(choices).value_or(default_choices);
  if (in.maybe_choice(rule, rules).value_or(model::lookup_rule::counter) !=
      model::lookup_rule::counter)
    throw usage_error("--as-printed knows one rule, counter");
  const model::printed_point p = model::balanced_as_printed(beta, bits, k, a, d);
  return report_costs("balanced", "ECB, Section IX-C, as printed",
                      {p.fpr, beta, k, a, a, p.miss_accesses, p.overflow_fraction})
      .probability("fpr_walk", p.fpr_walk)
      .probability("block_error", p.block_error)
      .fraction("continue_probability", p.query_continues, "a block sends a query on")
      .number("elements_per_block", bits / beta)
      .whole("threshold", p.threshold, "elements")
      .number("admit_probability", p.admit_probability)
      .whole("counter_bits", p.counter_bits)
      .whole("choices", d)
      .text("rule", "counter")
      .text("scheme", "multilevel")
      .whole("block_bits", bits);
}

model::balanced_point balanced_exact(const arguments& in) {
  model::balanced_shape shape{
      .block_bits = block_bits_or_default(in, false),
      .scheme = in.maybe_choice(scheme_of_three, placement_schemes)
                    .value_or(model::scheme_kind::multilevel),
      .rule = in.maybe_choice(rule, rules).value_or(model::lookup_rule::popcount),
      .threshold = in.whole(threshold),
      .admit_probability = in.maybe_number(admit_probability).value_or(0.0),
      .tracking_bits = in.maybe_whole(tracking_bits).value_or(1),
  };
  shape.choices = shape.scheme == model::scheme_kind::single
                      ? read_choices(in, shape.scheme)
                      : in.maybe_whole(choices).value_or(default_choices);
  shape.bits_set = in.whole(bits_set);
  auto mean = in.maybe_number(arrivals);
  if (!mean) mean = model::arrivals_for_memory(shape, in.number(bits_per_element));
  if (!mean)
    throw usage_error(
        fmt::format("no load gives this shape {} bits per element", in.number(bits_per_element)));
  return {shape, *mean, model::evaluate(shape, *mean)};
}

model::balanced_point balanced_at_budget(const arguments& in, model::lookup_rule which) {
  const double beta = in.number(bits_per_element);
  const unsigned bits = block_bits_or_default(in, false);
  const double a = in.number(limit);
  const unsigned d = in.maybe_whole(choices).value_or(default_choices);
  const auto with = [&](unsigned k) {
    return model::balanced_at_budget(beta, bits, k, a, d, which);
  };
  const unsigned k = in.has(bits_set)
                         ? in.whole(bits_set)
                         : best_bits_set(beta, [&](unsigned each) { return with(each).error.fpr; });
  return with(k);
}

model::balanced_point balanced_chosen(const arguments& in,
                                      std::optional<model::lookup_rule> which) {
  model::balanced_needs needs{.bits_per_element = in.number(bits_per_element),
                              .block_bits = block_bits_or_default(in, false),
                              .access_limit = in.maybe_number(limit).value_or(default_accesses),
                              .rule = which,
                              .choices = in.maybe_whole(choices),
                              .bits_set = in.maybe_whole(bits_set)};
  const auto scheme = in.maybe_choice(scheme_of_three, placement_schemes);
  if (scheme == model::scheme_kind::sequential)
    throw usage_error(
        "--scheme sequential needs --threshold: only multilevel filters are searched");
  if (scheme == model::scheme_kind::single) {
    if (needs.choices.value_or(1) != 1)
      throw usage_error("--choices must be 1 with --scheme single");
    needs.choices = 1;
  }
  return model::choose_balanced(needs);
}

bool is_papers_rule(model::lookup_rule which) {
  return which != model::lookup_rule::tracking && which != model::lookup_rule::popcount;
}

report balanced(const arguments& in) {
  if (in.is_set(as_printed)) return balanced_printed(in);
  const auto which = in.maybe_choice(rule, rules);
  const model::balanced_point point = in.has(threshold) ? balanced_exact(in)
                                      : which && is_papers_rule(*which) && in.has(limit)
                                          ? balanced_at_budget(in, *which)
                                          : balanced_chosen(in, which);
  const model::balanced_shape& shape = point.shape;
  return report_walk("balanced", point.error, shape.bits_set, point.arrivals_mean)
      .whole("threshold", shape.threshold,
             shape.rule == model::lookup_rule::popcount ? "bits" : "elements")
      .number("admit_probability", shape.admit_probability)
      .whole("tracking_bits", shape.tracking_bits)
      .whole("choices", shape.choices)
      .text("rule", std::string(model::name_of(shape.rule)))
      .text("scheme", std::string(model::name_of(shape.scheme)))
      .whole("block_bits", shape.block_bits);
}

// --- fingerprint --------------------------------------------------------------------------------

model::fingerprint_point fingerprint_exact(const arguments& in) {
  const model::fingerprint_shape shape{
      .block_bits = block_bits_or_default(in, false),
      .bucket_capacity = in.whole(bucket_capacity),
      .remainder_bits = in.whole(remainder_bits),
      .note_bits = in.maybe_whole(note_bits).value_or(1),
      .choices = in.maybe_whole(choices).value_or(default_choices),
      .order = in.maybe_choice(order, orders).value_or(model::overflow_order::prefix),
  };
  auto mean = in.maybe_number(arrivals);
  if (!mean) mean = model::arrivals_for_memory(shape, in.number(bits_per_element));
  if (!mean)
    throw usage_error(
        fmt::format("no load gives this shape {} bits per element", in.number(bits_per_element)));
  return {shape, *mean, model::evaluate(shape, *mean)};
}

model::fingerprint_point fingerprint_chosen(const arguments& in) {
  model::fingerprint_needs needs{
      .bits_per_element = in.number(bits_per_element),
      .block_bits = block_bits_or_default(in, false),
      .access_limit = in.maybe_number(limit).value_or(default_accesses),
      .choices = in.maybe_whole(choices),
      .remainder_bits = in.maybe_whole(remainder_bits),
  };
  needs.order = in.maybe_choice(order, orders).value_or(needs.order);
  return model::choose_fingerprint(needs);
}

report fingerprint(const arguments& in) {
  if (in.is_set(as_printed))
    throw usage_error("--as-printed: a fingerprint filter is not in the papers");
  const model::fingerprint_point point =
      in.has(bucket_capacity) ? fingerprint_exact(in) : fingerprint_chosen(in);
  const model::fingerprint_shape& shape = point.shape;
  return report_walk("fingerprint", point.error, std::nullopt, point.arrivals_mean)
      .whole("bucket_capacity", shape.bucket_capacity, "elements per block")
      .whole("remainder_bits", shape.remainder_bits)
      .whole("quotients", static_cast<std::uint64_t>(std::max(0L, shape.quotients())))
      .whole("note_bits", shape.note_bits)
      .whole("choices", shape.choices)
      .text("order", std::string(model::name_of(shape.order)))
      .whole("block_bits", shape.block_bits);
}

report answer(const arguments& in) {
  switch (const auto which = in.choice(kind, kinds)) {
    case filter_kind::blocked:
      return blocked(in);
    case filter_kind::balanced:
      return balanced(in);
    case filter_kind::fingerprint:
      return fingerprint(in);
    default:
      return plain(which, in);
  }
}

}  // namespace

const command filter_command{
    .name = "filter",
    .summary = "false positives and accesses of a filter",
    .details =
        "Memory counts everything, notes and overflow list included. A balanced or fingerprint "
        "filter chooses what is not given, for the least error with queries of both kinds within "
        "--accesses. The papers' rules (counter, coin, flag, coin-flag) with --accesses are "
        "evaluated at the papers' operating point for that insertion budget. --threshold "
        "(balanced) "
        "or --bucket-capacity (fingerprint) evaluates one exact shape.",
    .source = "SSH, Section III; ECB and BBF, Section IX; fingerprints are beyond the papers",
    .example = "--kind balanced --bits-per-element 20",
    .options = {{&kind},
                {&bits_per_element},
                {&block_bits, need::optional},
                {&bits_set, need::optional},
                {&choices, need::optional},
                {&limit, need::optional},
                {&as_printed, need::optional},
                {&finite, need::optional},
                {&layout, need::optional},
                {&rule, need::optional},
                {&scheme_of_three, need::optional},
                {&threshold, need::optional},
                {&admit_probability, need::optional},
                {&tracking_bits, need::optional},
                {&arrivals, need::optional},
                {&order, need::optional},
                {&bucket_capacity, need::optional},
                {&remainder_bits, need::optional},
                {&note_bits, need::optional}},
    .answer = answer,
};

}  // namespace oneprobe::cli
