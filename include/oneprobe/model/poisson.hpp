// Poisson probabilities and truncated means, exact in relative terms down to the smallest double.
//
// Every model of this folder reduces to one question: a bucket sees X arrivals, X ~ Poisson(mean);
// how many does it keep, how many does it turn away? Tails are summed, never subtracted from one.
//
//   double lost = oneprobe::model::poisson_excess(0.93 * 8, 8);  // E[(X - 8)+]
//
// All functions are pure and thread-safe. They throw std::invalid_argument on a mean that is
// negative, not finite or above `largest_mean`.
#pragma once

#include <cstdint>

namespace oneprobe::inline v0_1::model {

/// The largest mean number of arrivals per bucket that the models accept.
inline constexpr double largest_mean = 1e9;

/// P(X = count).
double poisson_probability(double mean, std::uint64_t count);

/// P(X <= count).
double poisson_at_most(double mean, std::uint64_t count);

/// P(X >= count).
double poisson_at_least(double mean, std::uint64_t count);

/// E[(X - limit)+]: what a bucket of capacity `limit` turns away on average. Decreases to 0 with
/// `limit` and keeps its relative accuracy there.
double poisson_excess(double mean, std::uint64_t limit);

/// E[(limit - X)+]: the room that such a bucket has left. Decreases to 0 with `mean`, likewise.
double poisson_shortfall(double mean, std::uint64_t limit);

/// E[min(X, limit)]: what such a bucket keeps.
double poisson_kept(double mean, std::uint64_t limit);

}  // namespace oneprobe::inline v0_1::model
