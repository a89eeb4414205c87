#include "oneprobe/sim/simulate.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <system_error>
#include <thread>

#include "check.hpp"
#include "trial.hpp"

namespace oneprobe::inline v0_1::sim {
namespace {

using detail::sample;
using detail::trial_findings;

/// Calls `use` with the scheme of the scenario.
template <class Use>
auto with_scheme(const scenario& what, Use use) {
  switch (what.scheme) {
    case scheme_kind::single:
      return use(single(what.buckets));
    case scheme_kind::sequential:
      return use(sequential(what.buckets, what.choices));
    case scheme_kind::multilevel:
      return use(multilevel(what.level_sizes));
    case scheme_kind::d_random:
      return use(d_random(what.buckets, what.choices));
    case scheme_kind::d_left:
      return use(d_left(what.buckets, what.choices));
  }
  throw std::logic_error("oneprobe: unknown scheme");
}

template <class Counter, class Scheme>
trial_findings run_trial(const Scheme& scheme, const scenario& what, std::uint64_t trial,
                         std::atomic<std::uint64_t>& done) {
  if (what.churn) return detail::churn<Scheme, Counter>(scheme, what, trial, done);
  if (what.access_budget) {
    const double accesses = *what.access_budget * static_cast<double>(what.elements);
    return detail::fill<Scheme, Counter>(
        scheme, what, trial, access_budget{static_cast<std::uint64_t>(std::llround(accesses))},
        done);
  }
  return detail::fill<Scheme, Counter>(scheme, what, trial, unlimited_accesses{}, done);
}

trial_findings run_trial(const scenario& what, std::uint64_t trial,
                         std::atomic<std::uint64_t>& done) {
  return with_scheme(what, [&](const auto& scheme) {
    return detail::bytes_suffice(what) ? run_trial<std::uint8_t>(scheme, what, trial, done)
                                       : run_trial<std::uint32_t>(scheme, what, trial, done);
  });
}

std::uint64_t placements_per_trial(const scenario& what) {
  const double elements = static_cast<double>(what.elements);
  if (!what.churn) return static_cast<std::uint64_t>(std::llround(what.looks.back() * elements));
  const double turnovers = what.churn->warm_up_turnovers +
                           what.churn->batch_turnovers * static_cast<double>(what.churn->batches);
  return static_cast<std::uint64_t>(std::llround((1 + turnovers) * elements));
}

/// Runs all trials on `threads` threads. Results are in the order of the trials, so that nothing
/// depends on which thread was first.
std::vector<trial_findings> run_trials(const scenario& what, unsigned threads,
                                       const progress& tell) {
  std::vector<trial_findings> results(what.trials);
  std::atomic<std::uint64_t> next_trial{0};
  std::atomic<std::uint64_t> done{0};
  std::mutex mutex;
  std::condition_variable someone_ended;
  unsigned running = threads;
  std::exception_ptr failure;

  const auto work = [&] {
    try {
      for (std::uint64_t trial; (trial = next_trial.fetch_add(1)) < what.trials;)
        results[trial] = run_trial(what, trial, done);
    } catch (...) {
      next_trial = what.trials;
      const std::lock_guard lock(mutex);
      if (!failure) failure = std::current_exception();
    }
    const std::lock_guard lock(mutex);
    --running;
    someone_ended.notify_one();
  };

  std::vector<std::jthread> workers;
  try {
    while (workers.size() < threads) workers.emplace_back(work);
  } catch (const std::system_error&) {
    // The system gives no more threads: those that are there do the work, or else this one.
    {
      const std::lock_guard lock(mutex);
      running -= threads - static_cast<unsigned>(workers.size());
      running += workers.empty() ? 1U : 0U;
    }
    if (workers.empty()) work();
  }
  const double total = static_cast<double>(placements_per_trial(what)) * what.trials;
  std::unique_lock lock(mutex);
  while (running > 0) {
    someone_ended.wait_for(lock, std::chrono::milliseconds(100));
    if (!tell) continue;
    lock.unlock();
    tell(std::min(1.0, static_cast<double>(done.load()) / total));
    lock.lock();
  }
  if (failure) std::rethrow_exception(failure);
  return results;
}

/// The mean of independent samples, in their order.
estimate estimate_of(const std::vector<double>& samples) {
  const double count = static_cast<double>(samples.size());
  estimate result;
  result.mean = std::accumulate(samples.begin(), samples.end(), 0.0) / count;
  double squares = 0;
  for (const double value : samples) squares += (value - result.mean) * (value - result.mean);
  if (samples.size() > 1) result.standard_error = std::sqrt(squares / (count - 1) / count);
  const auto [least, most] = std::minmax_element(samples.begin(), samples.end());
  result.least = *least;
  result.most = *most;
  return result;
}

/// The estimate of what `of` reads from each sample.
template <class Samples, class Of>
estimate over(const Samples& samples, Of of) {
  std::vector<double> values;
  values.reserve(samples.size());
  for (const auto* each : samples) values.push_back(of(*each));
  return estimate_of(values);
}

/// The same for lists, entry by entry; missing entries count as 0.
template <class Samples, class Of>
std::vector<estimate> over_lists(const Samples& samples, Of of) {
  std::size_t longest = 0;
  for (const auto* each : samples) longest = std::max(longest, of(*each).size());
  std::vector<estimate> result;
  for (std::size_t i = 0; i < longest; ++i)
    result.push_back(over(samples, [&](const auto& each) {
      const std::vector<double>& list = of(each);
      return i < list.size() ? list[i] : 0.0;
    }));
  return result;
}

look look_over(const std::vector<const sample*>& samples, double time) {
  look result;
  result.time = time;
  result.overflow_fraction = over(samples, [](const sample& s) { return s.overflow_fraction; });
  result.cumulative_overflow_fraction =
      over(samples, [](const sample& s) { return s.cumulative_overflow_fraction; });
  result.mean_accesses = over(samples, [](const sample& s) { return s.mean_accesses; });
  result.largest_load = over(samples, [](const sample& s) { return s.largest_load; });
  result.load_mean = over(samples, [](const sample& s) { return s.load_mean; });
  result.load_variance = over(samples, [](const sample& s) { return s.load_variance; });
  result.occupancy = over_lists(
      samples, [](const sample& s) -> auto& { return s.occupancy; });
  for (std::size_t level = 0; level < samples.front()->levels.size(); ++level)
    result.levels.push_back(over_lists(
        samples, [level](const sample& s) -> auto& { return s.levels[level]; }));
  return result;
}

findings combined(const scenario& what, const std::vector<trial_findings>& trials) {
  findings result;
  const auto gather = [&](std::size_t first, std::size_t last) {
    std::vector<const sample*> samples;
    for (const trial_findings& trial : trials)
      for (std::size_t i = first; i < last; ++i) samples.push_back(&trial.samples[i]);
    return samples;
  };
  if (what.churn) {
    result.looks.push_back(look_over(gather(0, what.churn->batches), 1));
  } else {
    for (std::size_t i = 0; i < what.looks.size(); ++i)
      result.looks.push_back(look_over(gather(i, i + 1), what.looks[i]));
  }

  std::vector<const std::vector<double>*> accesses;
  std::vector<const trial_findings*> each_trial;
  for (const trial_findings& trial : trials) {
    for (const auto& shares : trial.accesses) accesses.push_back(&shares);
    each_trial.push_back(&trial);
    result.placements += trial.placements;
  }
  result.accesses = over_lists(
      accesses, [](const std::vector<double>& shares) -> auto& { return shares; });
  result.budget_end =
      over(each_trial, [](const trial_findings& trial) { return trial.budget_end; });
  return result;
}

unsigned threads_of(const scenario& what) {
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  return std::min(what.threads == 0 ? cores : what.threads, what.trials);
}

}  // namespace

double memory_needed(const scenario& what) {
  detail::check(what);
  const double elements = static_cast<double>(what.elements);
  double buckets = static_cast<double>(what.buckets);
  if (what.scheme == scheme_kind::multilevel)
    buckets = static_cast<double>(
        std::accumulate(what.level_sizes.begin(), what.level_sizes.end(), std::uint64_t{0}));
  double per_thread = buckets * (detail::bytes_suffice(what) ? 1 : 4);
  if (what.churn) per_thread += 8 * elements;
  // The list of those that shall leave doubles its room as it grows.
  if (what.churn && what.churn->leaves == departure::one_level) per_thread += 3 * 8 * elements;

  // Of each sample the shares of every load, in the whole table and in each level.
  const double mean = elements / buckets;
  const double unbounded_loads = mean + 10 * std::sqrt(mean) + 32;
  const double loads = what.bucket_capacity ? std::min(*what.bucket_capacity + 2.0, unbounded_loads)
                                            : unbounded_loads;
  const double tables =
      1 + static_cast<double>(std::max<std::size_t>(
              what.level_sizes.size(), what.scheme == scheme_kind::d_left ? what.choices : 0));
  const double samples =
      what.trials * static_cast<double>(what.churn ? what.churn->batches : what.looks.size());
  constexpr double per_sample = 320;  // of a sample without its lists, measured
  return threads_of(what) * per_thread + samples * (per_sample + 8 * loads * tables);
}

findings simulate(const scenario& what, const progress& tell) {
  detail::check(what);
  const auto start = std::chrono::steady_clock::now();
  findings result = combined(what, run_trials(what, threads_of(what), tell));
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return result;
}

}  // namespace oneprobe::inline v0_1::sim
