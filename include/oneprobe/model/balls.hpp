// Balls and bins: the lecture's statements as functions (LEC, Section 7.1 and 7.2.1).
//
//   double p = collision_probability(23, 365);            // 0.507: the birthday paradox
//   unsigned load = max_load_union_bound(1e6, 1e6, 1e-6); // no bin above it, but with prob. 1e-6
//
// m balls, n bins. Pure and thread-safe.
#pragma once

#include <cstdint>
#include <vector>

namespace oneprobe::inline v0_1::model {

/// Expected number of colliding pairs, C(m, 2) / n (7.1.2).
double expected_collisions(double balls, double bins);
/// Probability that some pair collides, 1 - prod (1 - i / n).
double collision_probability(double balls, double bins);
/// The least number of balls with collision_probability >= p; 23 for 365 and 1/2 (erratum 2.1).
double birthday_balls(double bins, double probability);
/// The number of balls m (real) with expected_collisions = 1; 27.52 for 365 (erratum 2.1).
double balls_for_one_collision(double bins);
/// Expected collisions of one fixed element among m, (m - 1) / n (7.2.7): its chain's other nodes.
double expected_chain_collisions(double balls, double bins);

/// (1 - 1/n)^m: the expected fraction of empty bins (7.1.3).
double empty_fraction(double balls, double bins);
/// P(a bin has exactly / at least k balls), exact (Questions 4, 5).
double bin_has(double balls, double bins, std::uint64_t count);
double bin_has_at_least(double balls, double bins, std::uint64_t count);
/// LEC's bounds for m = n: 1/k! (7.1.4) and (e/k)^k (7.1.5); and C(m, k) / n^k for any m, n.
double bin_has_bound(std::uint64_t count);
double bin_has_at_least_bound(std::uint64_t count);
double bin_has_at_least_union_bound(double balls, double bins, std::uint64_t count);

/// The most balls per bin for which occupancies are listed.
inline constexpr double largest_balls_per_bin = 1000;

/// Fractions of bins with exactly 0, 1, ... balls: binomial for one choice, the fluid limit of
/// d-random for more. Entries end where they fall below 1e-18 (but hold at least eight).
std::vector<double> bin_occupancy(double balls, double bins, unsigned choices);
/// Fluid fractions of bins with at least 1, 2, ..., `count` balls after balls / bins = ratio per
/// bin with d choices each.
std::vector<double> bins_with_at_least(double balls_per_bin, unsigned choices, unsigned count);

/// 3 ln n / ln ln n: with probability 1 - 1/n no bin of n exceeds it when n balls fall, one choice
/// (Theorem 7.1.1; errata 2.2, 2.4). n >= 3.
double max_load_theorem(double bins);
/// ln n above which the step "n large enough" of the printed proof holds (erratum 2.4).
double max_load_proof_threshold();
/// Leading term of the expected maximum load for m = n: ln n / ln ln n for one choice (erratum
/// 2.2), ln ln n / ln t for t choices, + O(1) (erratum 2.3).
double max_load_leading_term(double bins, unsigned choices);
/// n P(bin > k): the union bound on the probability that the maximum load exceeds k; one choice.
double max_load_exceeds_bound(double balls, double bins, std::uint64_t load);
/// The least k with max_load_exceeds_bound(k) <= probability.
std::uint64_t max_load_union_bound(double balls, double bins, double probability);
/// The most balls and bins for the exact distribution of the maximum load.
inline constexpr double most_exact_balls = 2000;
/// The least k with n s_{k+1} <= probability, s_i the fluid fraction of bins with at least i balls
/// when each ball takes the least loaded of t bins: the union bound with the limit in place of the
/// tail.
std::uint64_t max_load_fluid_bound(double balls, double bins, unsigned choices, double probability);
/// Exact P(maximum load >= 1), P(>= 2), ..., P(>= count), one choice.
std::vector<double> max_load_at_least(std::uint64_t balls, std::uint64_t bins, unsigned count);
/// Exact expected maximum load, one choice.
double expected_max_load(std::uint64_t balls, std::uint64_t bins);

}  // namespace oneprobe::inline v0_1::model
