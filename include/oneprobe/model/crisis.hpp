// Multilevel tables of single-slot buckets: exact distribution per level, probability of a crisis.
//
// n elements enter level 1 of m_1 buckets; those that find theirs occupied enter level 2, and so
// on. A crisis is an element that no level can take (SSH, Section VI). The exact calculator of
// SSH, Appendix III-A keeps a moving window of each distribution, so that 100,000 elements take a
// second or two and a probability of 1e-30 keeps its digits (errata 1.3, 1.4).
//
//   level_sizes sizes{40000, 10000, 5000, 2500, 2500};
//   crisis_result r = crisis(10000, sizes);     // r.crisis_probability = 1.007e-12
//
// Pure and thread-safe. Allocates working memory of a few windows.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace oneprobe::inline v0_1::model {

/// Buckets of each level, the first level first.
using level_sizes = std::vector<std::uint64_t>;

/// A distribution on first, first + step, first + 2 step, ...; entries below 1e-100 at either end
/// are left out. The step is 1, except that a normal distribution too wide for 65,536 entries keeps
/// every step-th count, with the probability of all counts around it.
struct count_distribution {
  std::uint64_t first = 0;
  std::uint64_t step = 1;
  std::vector<double> probability;
  /// Of the count.
  double mean() const;
  double standard_deviation() const;
  /// P(count), 0 where no entry is.
  double at(std::uint64_t count) const;
  double at_least_one() const;  // P(count >= 1), summed
};

/// Number of non-empty bins when `balls` balls (0 to `exact_limit`) fall into `bins` bins: the
/// recurrence (3) of SSH, Appendix III-A.
count_distribution occupied_bins(std::uint64_t balls, std::uint64_t bins);

/// What the levels leave over, one after the other.
struct crisis_result {
  std::vector<count_distribution> left_after;  // |S_0|, |S_1|, ..., |S_d|: elements not placed in
                                               // levels 1..i
  std::vector<double> expected_per_level;      // exact: Tables I and II of SSH, "Exact"
  std::vector<double> approximate_per_level;  // eqs. (1), (2) of SSH, "Approximate" (erratum 1.15):
                                              // below one element it turns negative, as printed
  double crisis_probability = 0;              // P(|S_d| >= 1)
  bool exact = true;  // false: some level received more than `exact_limit` elements
};

/// What is left over by a level that receives more elements than this is approximated: normal, or
/// Poisson plus a constant where the variance is small, with the exact mean and variance.
inline constexpr std::uint64_t exact_limit = 300000;

/// elements from 1 to 10^13, at most as many as there are buckets; 1 to 64 levels; every level at
/// least one bucket.
crisis_result crisis(std::uint64_t elements, std::span<const std::uint64_t> levels);

/// SSH eqs. (1), (2): expectation by expectation, with (1 - 1/m)^a, `power`, or e^(-a/m),
/// `exponential`.
enum class approximation { power, exponential };
/// Elements placed in each level, so computed.
std::vector<double> approximate_per_level(double elements, std::span<const std::uint64_t> levels,
                                          approximation form = approximation::power);

/// The skew bound of SSH, Section VI-B: |S_i| <= |S_i-1|^2 / (2 m_i), as a sequence from |S_0| = n.
std::vector<double> skew_bound(double elements, std::span<const std::uint64_t> levels);

/// SSH, Lemma 1.2: z_i = (1 / (c1 c2))^(2^i - 1) c2^i n, for m_i = c2^(i-1) c1 n.
double skew_sequence(double elements, double c1, double c2, unsigned level);

/// SSH, Lemma 1.1 (erratum 1.9): P(|S_i| > B) < (e / 4)^(B / 2) for any B >= |S_i-1|^2 / m_i.
double skew_tail_bound(double limit);

/// SSH, Lemma 1.4 (erratum 1.8): the probability that any |S_j|, j <= level, exceeds its z_j of
/// skew_sequence is at most level (e / 4)^(z_level / 2).
double skew_sequence_bound(double elements, double c1, double c2, unsigned level);

/// A number of levels d = log log n + O(1) after which SSH, Theorem 1.1 bounds the crisis
/// probability by o(n^-c); requires c1 > 1, c2 < 1, c1 c2 > 1 (errata 1.8-1.11).
unsigned asymptotic_levels(double elements, double c1, double c2, double exponent);

}  // namespace oneprobe::inline v0_1::model
