// Sums over the upper tail of a Poisson distribution, term by term. Private to src/model.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "oneprobe/model/poisson.hpp"

namespace oneprobe::inline v0_1::model::detail {

/// Calls visit(i, P(X = i)) for i = from, from + 1, ... in order, for as long as `visit` returns
/// true; far below the bulk of the distribution, where probabilities vanish, it skips ahead.
/// `visit` must end the sum itself; `negligible` tells when.
template <class Visit>
void for_poisson_from(double mean, std::uint64_t from, Visit&& visit) {
  // Each from the one before, except near the smallest double, where that has no digits to give.
  constexpr double precise = 1e-250;
  const double bulk = mean - 40 * std::sqrt(mean) - 40;
  const std::uint64_t start =
      bulk > static_cast<double>(from) ? static_cast<std::uint64_t>(bulk) : from;
  double probability = poisson_probability(mean, start);
  for (std::uint64_t i = start; visit(i, probability); ++i)
    // The quotient does not wait for the probability before: it is most of the time of many plans.
    probability = probability > precise ? probability * (mean / static_cast<double>(i + 1))
                                        : poisson_probability(mean, i + 1);
}

/// True once the terms have passed the bulk and can no longer change `sum`: what follows is less
/// than a geometric series that starts with this term.
inline bool negligible(double mean, std::uint64_t i, double term, double sum) {
  const double ratio = mean / static_cast<double>(i + 1);
  return ratio < 1 && term <= 1e-17 * (1 - ratio) * (1 - ratio) * sum;
}

}  // namespace oneprobe::inline v0_1::model::detail
