// The simulator: any placement scheme over load counters, filling or churning, at scale.
//
// It runs the placement code of the products (detail/placement/) over the plainest store (one
// counter per bucket), so what it finds is a statement about what ships. Every trial draws its own
// key hashes from (seed, trial): the same scenario gives the same findings, whatever the number of
// threads.
//
//   scenario s{.scheme = scheme_kind::sequential, .buckets = 100'000, .choices = 4,
//              .bucket_capacity = 4, .elements = 400'000, .trials = 20};
//   findings f = simulate(s);
//   f.end().overflow_fraction;    // mean and standard error over the trials
//
// Thread-safe; starts threads of its own. std::invalid_argument names what is out of range.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "oneprobe/scheme_kind.hpp"

namespace oneprobe::inline v0_1::sim {

/// Which element leaves a churning table when another arrives.
enum class departure {
  random,     // any element, those in the overflow included
  oldest,     // the one that came first
  one_level,  // a random one of a given level while it has any: the adversary that empties it
};

/// A table of constant size: filled first, then one departure and one arrival at a time. A turnover
/// is as many of these as there are elements.
struct churn_settings {
  departure leaves = departure::random;  // which element an arrival drives out
  unsigned level = 0;            // one_level: candidates of this number (0 is the first) leave
  double warm_up_turnovers = 5;  // before anything is counted
  double batch_turnovers = 2;    // each batch gives one sample of every mean
  unsigned batches = 10;         // samples of every mean
};

/// What is simulated, and how often.
struct scenario {
  scheme_kind scheme = scheme_kind::single;  // how candidates are drawn
  std::uint64_t buckets = 0;                 // m; multilevel: left 0, or the sum of level_sizes
  unsigned choices = 1;  // d; ignored by single, taken from levels by multilevel
  std::vector<std::uint64_t> level_sizes{};   // multilevel: buckets of each level
  std::optional<unsigned> bucket_capacity{};  // h; none: unbounded, up to 2^32 - 2 elements
  double admit_probability = 0;               // p at load h; not for d-random and d-left
  std::uint64_t elements = 0;                 // n
  std::optional<double> access_budget{};      // a: placement stops after a n accesses; filling only
  std::optional<churn_settings> churn{};      // none: the table only fills
  std::vector<double> looks{1.0};  // filling: shares of the elements after which to look, ascending
  unsigned trials = 1;             // tables that are simulated
  std::uint64_t seed = 1;  // the same seed gives the same findings, on any number of threads
  unsigned threads = 0;    // 0: one per core
};

/// A mean over samples: trials, or under churn the batches of all trials, which are nearly
/// independent if batches are longer than an element stays.
struct estimate {
  double mean = 0;            // over the samples
  double standard_error = 0;  // 0 with a single sample
  double least = 0;           // of all samples
  double most = 0;            // of all samples
};

/// The table at one moment. The names are those of model::fluid_state.
struct look {
  double time = 0;                            // share of the elements that have arrived
  estimate overflow_fraction;                 // filling: 1 - placed / n; churning: of the arrivals
  estimate cumulative_overflow_fraction;      // of the elements handled so far, or of the arrivals
  estimate mean_accesses;                     // filling: accesses so far / n; churning: per arrival
  estimate largest_load;                      // elements in the fullest bucket
  estimate load_mean;                         // over the buckets
  estimate load_variance;                     // over the buckets
  std::vector<estimate> occupancy;            // fraction of buckets with 0, 1, ... elements
  std::vector<std::vector<estimate>> levels;  // the same per level (multilevel, d-left)
};

/// What all trials together have shown.
struct findings {
  std::vector<look> looks;         // one per entry of scenario::looks; one under churn
  std::vector<estimate> accesses;  // fraction of the arrivals that took 0, 1, ..., d accesses
  estimate budget_end;             // share of the elements handled when the budget ended; else 1
  std::uint64_t placements = 0;    // of all trials together
  double seconds = 0;              // wall clock

  const look& end() const { return looks.back(); }
};

/// Told now and then how much of the work is done, 0 to 1, from one thread at a time.
using progress = std::function<void(double)>;

/// Simulates the scenario. `tell` hears how far it is.
findings simulate(const scenario& what, const progress& tell = {});

/// The most bytes that `simulate` will hold at a time, nearly: counters and residents of each
/// thread, and what is kept of every trial until the end.
double memory_needed(const scenario& what);

}  // namespace oneprobe::inline v0_1::sim
