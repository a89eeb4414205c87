// The four filters that ECB Fig. 6 and BBF Fig. 4 compare, each three ways: as the texts compute
// it, exactly, and as a set-up to simulate.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "oneprobe/model/balanced.hpp"
#include "reproduce/ecb_common.hpp"
#include "reproduce/ecb_filter_simulation.hpp"

namespace oneprobe::cli::balancing {

inline constexpr unsigned block_bits = 256;  // B

enum class filter_kind { standard, blocked, single, multilevel };
inline constexpr std::array filter_kinds{filter_kind::standard, filter_kind::blocked,
                                         filter_kind::single, filter_kind::multilevel};

/// "standard", "blocked", "SIMPLE", "MHT".
std::string name_of(filter_kind kind, const text_names& text);

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
double error_as_printed(filter_kind kind, double bits_per_element);

/// The false positive rate without their approximations: exact occupancy of a block's bits, and the
/// walk of a query instead of the sum over its blocks (errata 0.19, 0.26).
double exact_error(filter_kind kind, double bits_per_element);

/// Everything about the texts' MHT filter: rule `counter`, a list that answers without error and is
/// not charged.
model::filter_error exact_multilevel(double bits_per_element);

/// Fraction of all elements that MHT misses if a query stops at load h, with the levels coupled
/// through time: who is refused in one level came late, and so is refused late in the next one as
/// well. The model's missed_if_query_stops_at_threshold takes the levels as independent.
double missed_through_time(double bits_per_element);

/// How much is built and asked.
struct filter_effort {
  std::uint64_t blocks;
  unsigned trials;
  double wanted_positives;     // queries end when about so many false positives have been seen ...
  std::uint64_t most_queries;  // ... or after so many queries
};
filter_effort filter_effort_for(effort how_much);

/// Whether enough false positives can be seen to judge the rate by its standard error.
bool is_measurable(double error, const filter_effort& size);

/// `error`: the rate to be expected, from which the number of queries follows.
filter_setup setup_of(filter_kind kind, double bits_per_element, double error,
                      const filter_effort& size);

}  // namespace oneprobe::cli::balancing
