// Balancing on an access budget: the flattest loads any scheme can reach (ECB, BBF).
//
// r elements per bucket, a accesses per element on average, a fraction gamma may be left out. The
// lower-bound distribution P_LB minimises every convex cost of the loads at once; single,
// sequential and multilevel placement reach it with the right threshold h and probability p.
//
//   balance_plan plan = multilevel_balance({.elements_per_bucket = 8, .choices = 3,
//                                           .accesses = 1.2});
//   double spread = plan.loads.variance();
//
// Results allocate the distributions they return. Pure and thread-safe; std::invalid_argument
// names what is out of range and what is allowed.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace oneprobe::inline v0_1::model {

/// Fraction of buckets with 0, 1, 2, ... elements.
struct load_distribution {
  std::vector<double> fractions;  // of 0, 1, 2, ... elements

  /// Of the elements in a bucket.
  double mean() const;
  double variance() const;

  /// Sum of fractions(i) cost(i): the balancing cost phi^BAL of ECB, Definition 3, for any cost.
  template <class Cost>
  double cost(Cost&& cost_of_load) const {
    double sum = 0;
    for (std::size_t i = 0; i < fractions.size(); ++i)
      sum += fractions[i] * static_cast<double>(cost_of_load(i));
    return sum;
  }

  /// Mean nodes read in a chained table by a lookup of an absent key: the mean load.
  double chain_nodes_absent() const { return mean(); }
  /// ... and of a stored key: E[X (X + 1) / 2] / E[X] (ECB, Section VIII).
  double chain_nodes_present() const;
};

/// P_LB of ECB/BBF Theorem 1 (errata 0.1, 0.7-0.9).
struct balance_bound {
  std::optional<unsigned> k0;  // loads are Poisson up to here; none: nothing is cut off
  double e0 = 0;               // E[X; X <= k0], X ~ Poisson(a r)
  double p0 = 0;               // P(X <= k0)
  load_distribution loads;     // P_LB itself
  /// The least maximum load any scheme can have on this budget (BBF, Section IV, as the limit of
  /// convex costs): k0 + 1. None: unbounded.
  std::optional<unsigned> largest_load() const;
};

/// P_LB of so many elements in many buckets. Requires accesses >= 1 - overflow_fraction: an element
/// that is placed is accessed.
balance_bound lower_bound_loads(double elements_per_bucket, double accesses,
                                double overflow_fraction);

/// The same for n elements in m buckets: the loads before removal are binomial, of a n trials
/// rounded down (ECB, proof of Theorem 1). At most 64 accesses per element and
/// 10^4 per bucket.
balance_bound lower_bound_loads_finite(double elements, double buckets, double accesses,
                                       double overflow_fraction);

/// What is to be balanced: parameters of the three schemes below.
struct balance_needs {
  double elements_per_bucket = 1;             // r
  unsigned choices = 1;                       // d
  double accesses = 1;                        // a
  std::optional<double> overflow_fraction{};  // gamma; none: the least that allows optimality
};

/// A threshold and a probability, and what comes of them.
struct balance_plan {
  std::optional<unsigned> threshold;    // h = k0; none: admit always
  double admit_probability = 0;         // p
  double overflow_fraction = 0;         // gamma: of the elements, those left out
  double mean_accesses = 0;             // a: probes per element
  double end_time = 1;                  // t_0 <= 1: when the budget is used up
  std::vector<double> level_fractions;  // multilevel
  load_distribution loads;              // equals P_LB
};

/// Theorem 3: optimal for a <= 1.
balance_plan single_balance(const balance_needs& needs);
/// Theorem 4: optimal for overflow >= least_overflow_sequential.
balance_plan sequential_balance(const balance_needs& needs);
/// ECB Theorem 6, BBF Theorem 5 (errata 0.6, 0.11): optimal for overflow >=
/// least_overflow_multilevel.
balance_plan multilevel_balance(const balance_needs& needs);

/// The admit probability p that makes a bucket with threshold h reach a given fraction of buckets
/// above h: the fixed-point equation of Theorems 3, 4 and 6 without its 0/0 at p = 1 (erratum
/// 0.10).
double admit_probability_for(double arrivals_mean, unsigned threshold, double fraction_above);

/// Optimality regions (ECB Figs. 3, 4; BBF Fig. 3): the least overflow for which the scheme reaches
/// the bound with budget a, 1 <= a <= d; and the same edge read the other way, the budget up to
/// which it does so with a given overflow.
double least_overflow_sequential(double elements_per_bucket, unsigned choices, double accesses);
double least_overflow_multilevel(unsigned choices, double accesses);
double edge_accesses_sequential(double elements_per_bucket, unsigned choices,
                                double overflow_fraction);
double edge_accesses_multilevel(unsigned choices, double overflow_fraction);

/// The overflow of multilevel placement if one admission coin u(x) served all levels instead of an
/// independent one per level (erratum 0.23: more than least_overflow_multilevel promises).
double shared_coin_overflow(double elements_per_bucket, unsigned choices, double accesses);

}  // namespace oneprobe::inline v0_1::model
