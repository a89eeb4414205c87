// The four filters that ECB Fig. 6 and BBF Fig. 4 compare, each three ways: as the texts compute
// it, exactly, and as a plan for a filter of the library.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "oneprobe/model/balanced.hpp"
#include "reproduce/ecb_common.hpp"
#include "reproduce/ecb_filter_measurement.hpp"

namespace oneprobe::cli::balancing {

inline constexpr unsigned block_bits = 256;  // B

enum class contender { standard, blocked, single, multilevel };
inline constexpr std::array contenders{contender::standard, contender::blocked, contender::single,
                                       contender::multilevel};

/// "standard", "blocked", "SIMPLE", "MHT".
std::string name_of(contender kind, const text_names& text);

/// k = beta ln 2, rounded: with r in place of beta (erratum 0.5) the texts' own k would not come
/// out.
unsigned bits_set_for(double bits_per_element);

/// r = B / beta.
constexpr double elements_per_block(double bits_per_element) {
  return block_bits / bits_per_element;
}

/// The overflow that MHT needs, and that both texts give to SIMPLE as well: a = 1.2, d = 3.
double usual_overflow();

/// The false positive rate by the texts' formulas.
double error_as_printed(contender kind, double bits_per_element);

/// The false positive rate without their approximations: exact occupancy of a block's bits, and the
/// walk of a query instead of the sum over its blocks (errata 0.19, 0.26).
double exact_error(contender kind, double bits_per_element);

/// Everything about the texts' MHT filter: rule `counter`, or `coin`, a list that answers without
/// error and is not charged.
model::filter_error exact_multilevel(double bits_per_element,
                                     lookup_rule rule = lookup_rule::counter);

/// Fraction of all elements that MHT misses if a query stops at load h, with the levels coupled
/// through time: what is refused in one level came late, and so is refused late in the next one as
/// well. The model's missed_if_query_stops_at_threshold takes the levels as independent.
double missed_through_time(double bits_per_element);

/// How much is built and asked.
struct filter_effort {
  std::uint64_t blocks = 0;  // of the texts' filters; others have a number of elements
  unsigned trials = 1;
  double wanted_positives = 0;  // queries end when about so many false positives have been seen ...
  std::uint64_t most_queries = 0;  // ... or after so many queries
};
filter_effort filter_effort_for(effort how_much);

/// Whether enough false positives can be seen to judge the rate by its standard error.
bool is_measurable(double error, const filter_effort& size);

/// The filter of the texts as a plan of the library, of about so many blocks. The texts do not
/// charge the overflow list, and neither does `bits_per_element` here: the filter has its list on
/// top. Its 32-bit fingerprints err so rarely that no figure shows it.
filter_plan plan_for(contender kind, double bits_per_element, std::uint64_t blocks);

/// `error`: the rate to be expected, from which the number of queries follows.
filter_trials trials_of(const filter_plan& plan, double error, const filter_effort& size);

}  // namespace oneprobe::cli::balancing
