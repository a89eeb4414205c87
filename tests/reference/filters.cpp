// "C/...": the filters of ECB and BBF, Section IX, and of SSH, Section III.

#include <bit>
#include <cmath>

#include "oneprobe/model/balance.hpp"
#include "oneprobe/model/balanced.hpp"
#include "oneprobe/model/bloom.hpp"
#include "registry.hpp"

namespace reference {
namespace {

using namespace oneprobe::model;

lookup_rule rule(const arguments& a) {
  static const std::map<std::string, lookup_rule> rules{{"load", lookup_rule::counter},
                                                        {"hash", lookup_rule::coin},
                                                        {"flag", lookup_rule::flag},
                                                        {"hashflag", lookup_rule::coin_flag}};
  return rules.at(a.text("rule"));
}

/// The papers' point: r = B / beta, the overflow list not charged, blocks alone counted.
filter_error uncharged(const arguments& a, lookup_rule rule, bool exact_block_error,
                       unsigned bits_set) {
  const double per_block = a.number("B") / a.number("beta");
  const double accesses = 1.2;
  const unsigned choices = 3;
  const balance_plan plan = multilevel_balance(
      {.elements_per_bucket = per_block, .choices = choices, .accesses = accesses});
  balanced_shape shape{.block_bits = a.whole("B"),
                       .bits_set = bits_set,
                       .choices = choices,
                       .rule = rule,
                       .threshold = plan.threshold.value(),
                       .admit_probability = plan.admit_probability,
                       .exact_block_error = exact_block_error,
                       .overflow = {.fingerprint_bits = 1000}};
  // The reference counts ceil(log2(k0 + 2)) bits of state under every rule; a flag beside a coin
  // needs two states more, which take one more bit at some sizes. Same Bloom bits for both.
  const unsigned reference_bits = static_cast<unsigned>(std::bit_width(plan.threshold.value() + 1));
  shape.block_bits += shape.state_bits() - reference_bits;
  return evaluate(shape, accesses * per_block);
}

printed_point printed(const arguments& a) {
  return balanced_as_printed(a.number("beta"), a.whole("B"), a.whole("k"), 1.2, 3);
}

bool ends_with(const arguments& a, std::string_view end) { return a.key().ends_with(end); }

/// "C/Fig6(B=256,beta=40,k=28)/standard" and its eight companions.
numbers figure_6(const arguments& a) {
  const double beta = a.number("beta");
  const unsigned block = a.whole("B"), k = a.whole("k");
  const blocked_shape blocked{.bits_per_element = beta, .block_bits = block, .bits_set = k};
  const printed_point point = printed(a);
  if (ends_with(a, "/standard")) return {standard_error(beta, k)};
  if (ends_with(a, "/blocked_approx")) return {blocked_error_approximate(blocked)};
  if (ends_with(a, "/blocked_exact")) return {blocked_error(blocked)};
  if (ends_with(a, "/SINGLE_approx"))
    return {single_as_printed(beta, block, k, point.overflow_fraction)};
  if (ends_with(a, "/MHT_load_approx_sumPjFPRj")) return {point.fpr};
  if (ends_with(a, "/MHT_load_approx_walk")) return {point.fpr_walk};
  if (ends_with(a, "/MHT_load_exact_walk"))
    return {uncharged(a, lookup_rule::counter, true, k).fpr};
  if (ends_with(a, "/MHT_hashflag_approx_walk"))
    return {uncharged(a, lookup_rule::coin_flag, false, k).fpr};
  if (ends_with(a, "/MHT_h,p,b"))
    return {static_cast<double>(point.threshold), point.admit_probability,
            static_cast<double>(point.counter_bits)};
  return {};
}

}  // namespace

void add_filters(registry& all) {
  all.add("C/std_fpr(", exact, [](const arguments& a, const numbers&) {
    // One key reads beta=40*252/256: the counter bits charged to the standard filter.
    const double beta = a.text("beta") == "40*252/256" ? 40.0 * 252 / 256 : a.number("beta");
    return numbers{standard_error(beta, a.whole("k"))};
  });
  all.add("C/std_fpr_exact(", exact, [](const arguments& a, const numbers&) {
    return numbers{standard_error_exact(a.whole("m"), a.whole("n"), a.whole("k"))};
  });
  all.add("C/partitioned_fpr(", exact, [](const arguments& a, const numbers&) {
    return numbers{partitioned_error(a.number("m"), a.number("n"), a.whole("k"))};
  });
  all.add("C/blocked_best_exact(", exact, [](const arguments& a, const numbers&) {
    const unsigned k = best_bits_set_blocked(a.number("beta"), a.whole("B"));
    return numbers{
        blocked_error(
            {.bits_per_element = a.number("beta"), .block_bits = a.whole("B"), .bits_set = k}),
        static_cast<double>(k)};
  });
  all.add("C/blocked_fpr_finite(", exact, [](const arguments& a, const numbers&) {
    return numbers{blocked_error_finite(a.whole("n"), a.whole("m"), a.whole("B"), a.whole("k"))};
  });
  all.add("C/phi_exact(", exact, [](const arguments& a, const numbers&) {
    return numbers{block_error(a.whole("B"), a.whole("k"), a.whole("i"))};
  });
  all.add("C/phi_approx(", exact, [](const arguments& a, const numbers&) {
    return numbers{block_error_approximate(a.number("B"), a.number("k"), a.number("i"))};
  });
  all.add("C/phi_distinct(", exact, [](const arguments& a, const numbers&) {
    return numbers{block_error(a.whole("B"), a.whole("k"), a.whole("i"), block_layout::distinct)};
  });
  all.add("C/phi_split(", exact, [](const arguments& a, const numbers&) {
    return numbers{block_error(a.whole("B"), a.whole("k"), a.whole("i"), block_layout::lanes)};
  });
  all.add("C/MHT_fpr(", exact, [](const arguments& a, const numbers&) {
    return numbers{uncharged(a, rule(a), a.text("phi") == "exact", a.whole("k")).fpr};
  });
  // Of the 40-bit point the file has the walk with the papers' approximation in the blocks.
  all.add("C/MHT_neg_accesses(", exact, [](const arguments& a, const numbers&) {
    const bool exact_block_error = a.number("beta") != 40;
    return numbers{uncharged(a, rule(a), exact_block_error, a.whole("k")).miss_block_accesses};
  });
  all.add("C/MHT_q(", exact, [](const arguments& a, const numbers&) {
    return numbers{uncharged(a, rule(a), true, 28).continue_probability};
  });
  all.add("C/MHT_params(", exact, [](const arguments&, const numbers&) {
    const printed_point point = balanced_as_printed(40, 256, 28, 1.2, 3);
    return numbers{static_cast<double>(point.threshold), point.admit_probability,
                   static_cast<double>(point.counter_bits), point.overflow_fraction,
                   point.block_error};
  });
  all.add("C/FNR_if_lookup_stops_at_load_h(", exact, [](const arguments& a, const numbers&) {
    const double per_block = a.number("B") / a.number("beta");
    const balance_plan plan = multilevel_balance(
        {.elements_per_bucket = per_block, .choices = a.whole("d"), .accesses = a.number("a")});
    return numbers{missed_if_query_stops_at_threshold(
        a.number("a") * per_block, {plan.threshold.value(), plan.admit_probability}, a.whole("d"))};
  });
  all.add("C/MHT_shared_coin_overflow(", exact, [](const arguments& a, const numbers&) {
    return numbers{shared_coin_overflow(a.number("r"), a.whole("d"), a.number("a"))};
  });
  all.add("C/Fig6(", exact, [](const arguments& a, const numbers&) { return figure_6(a); });
}

}  // namespace reference
