// Independent trials on several threads, with a result that does not depend on their number, and
// means with their standard errors.
//
//   struct tally {
//     sample moves;
//     void merge(const tally& other) { moves.merge(other.moves); }
//   };
//   const tally t = run_trials<tally>(100'000, in.threads, in.tell, [&] {
//     return [&, table = some_table()](std::uint64_t trial, tally& into) mutable {
//       random_bits random(in.seed, trial);
//       into.moves.add(...);
//     };
//   });
//   t.moves.estimate();
//
// Every trial draws its numbers from (seed, trial). Trials are handed out in batches whose bounds
// depend on the number of trials only, each batch fills a tally of its own, and the tallies are
// merged in order: the same bits on one thread and on sixty-four.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/key_hash.hpp"
#include "oneprobe/sim/simulate.hpp"

namespace oneprobe::cli {

/// SplitMix64, started from a seed and the number of a trial.
class random_bits {
 public:
  random_bits(std::uint64_t seed, std::uint64_t trial)
      : state_(mix_bits(mix_bits(seed) + trial * golden_ratio_64)) {}

  std::uint64_t next() { return mix_bits(state_ += golden_ratio_64); }
  key_hash next_hash() { return {next()}; }
  /// Uniform on [0, n), n from 1 up.
  std::uint64_t below(std::uint64_t n) { return reduce(next(), n); }
  /// Uniform on [0, 1).
  double unit() { return std::ldexp(static_cast<double>(next() >> 11), -53); }

 private:
  std::uint64_t state_;
};

/// Mean, spread and extremes of numbers that come one at a time (Welford), or in parts (Chan).
class sample {
 public:
  void add(double value) {
    ++count_;
    const double from_mean = value - mean_;
    mean_ += from_mean / static_cast<double>(count_);
    squares_ += from_mean * (value - mean_);
    least_ = std::min(least_, value);
    most_ = std::max(most_, value);
  }

  void merge(const sample& other) {
    if (other.count_ == 0) return;
    const double ours = static_cast<double>(count_), theirs = static_cast<double>(other.count_);
    const double apart = other.mean_ - mean_;
    count_ += other.count_;
    mean_ += apart * theirs / (ours + theirs);
    squares_ += other.squares_ + apart * apart * ours * theirs / (ours + theirs);
    least_ = std::min(least_, other.least_);
    most_ = std::max(most_, other.most_);
  }

  std::uint64_t count() const { return count_; }
  double mean() const { return mean_; }
  double sum() const { return mean_ * static_cast<double>(count_); }
  double variance() const { return count_ > 1 ? squares_ / static_cast<double>(count_ - 1) : 0; }
  double standard_deviation() const { return std::sqrt(variance()); }
  double standard_error() const {
    return count_ > 1 ? std::sqrt(variance() / static_cast<double>(count_)) : 0;
  }
  /// 0 where nothing was added.
  double least() const { return count_ > 0 ? least_ : 0; }
  double most() const { return count_ > 0 ? most_ : 0; }

  sim::estimate estimate() const { return {mean(), standard_error(), least(), most()}; }

 private:
  std::uint64_t count_ = 0;
  double mean_ = 0;
  double squares_ = 0;  // of the distances from the mean
  double least_ = std::numeric_limits<double>::infinity();
  double most_ = -std::numeric_limits<double>::infinity();
};

/// How often something was seen in `trials`, per trial. Where it is rare, a sample hardly knows its
/// own spread, so the error is that of a Poisson count with the mean that the model expects. A
/// Poisson count is skewed: as far out as four normal errors it strays (4^2 - 1) / 6 further
/// (Cornish and Fisher), a quarter of which is added, so that four errors mean what they mean
/// elsewhere. `seen_error` is the error that the sample itself shows; the larger one counts.
inline sim::estimate rare(double events, std::uint64_t trials, double expected_per_trial,
                          double seen_error = 0) {
  constexpr double skewness = (4.0 * 4 - 1) / 6 / 4;
  const double n = static_cast<double>(trials);
  const double poisson = (std::sqrt(std::max(0.0, expected_per_trial * n)) + skewness) / n;
  return {.mean = events / n, .standard_error = std::max(seen_error, poisson)};
}

/// Calls worker(trial, tally) for trial = 0, 1, ..., trials - 1, where each thread has a worker of
/// its own from make_worker(), and gives all tallies merged. An exception of a worker is thrown
/// here, once all threads have ended. threads = 0: one per core.
template <class Tally, class MakeWorker>
Tally run_trials(std::uint64_t trials, unsigned threads, const sim::progress& tell,
                 MakeWorker make_worker) {
  // Enough for threads to end together, few enough for tallies to be large.
  constexpr std::uint64_t most_batches = 128;
  const std::uint64_t batches = std::min(trials, most_batches);
  std::vector<Tally> tallies(batches);
  std::atomic<std::uint64_t> next = 0;
  std::uint64_t done = 0;
  std::exception_ptr failure;
  std::mutex guard;

  const auto work = [&] {
    try {
      auto worker = make_worker();
      for (std::uint64_t batch = next++; batch < batches; batch = next++) {
        Tally tally;  // on this thread's stack, away from the cache lines of others
        for (std::uint64_t i = batch * trials / batches; i < (batch + 1) * trials / batches; ++i)
          worker(i, tally);
        tallies[batch] = std::move(tally);
        const std::lock_guard lock(guard);
        ++done;
        if (tell) tell(static_cast<double>(done) / static_cast<double>(batches));
      }
    } catch (...) {
      const std::lock_guard lock(guard);
      if (!failure) failure = std::current_exception();
      next = batches;
    }
  };

  if (threads == 0) threads = std::max(1u, std::thread::hardware_concurrency());
  {
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < std::min<std::uint64_t>(threads, batches); ++i)
      others.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
  Tally all;
  for (const Tally& tally : tallies) all.merge(tally);
  return all;
}

}  // namespace oneprobe::cli
