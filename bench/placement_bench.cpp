// How many elements per second the simulator places, on one core, filling and churning, with the
// counters in the cache and out of it.
//
// Each iteration is a whole simulation: counters allocated and zeroed, elements placed, loads
// counted. Times are the CPU time of the process, because the simulation runs on a thread of its
// own and other programs may use the machine. Every row says how many buckets an element visits,
// and is checked against the model: a row that overflows otherwise than predicted is an error.

#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "oneprobe/detail/base/levels.hpp"
#include "oneprobe/model/churn.hpp"
#include "oneprobe/model/fluid.hpp"
#include "oneprobe/model/partition.hpp"
#include "oneprobe/sim/simulate.hpp"

namespace {

using oneprobe::scheme_kind;
namespace model = oneprobe::model;
namespace sim = oneprobe::sim;

enum class activity { fill, churn };

struct table {
  std::string size;
  std::uint64_t buckets;
  unsigned bucket_capacity;
  unsigned trials;
};

// In the cache: the papers' four slots and four choices. Beyond it buckets of one slot, so that
// tables larger than any cache are full in less than a minute: half a billion one-byte counters
// when filling; when churning, the places of the elements take eight bytes each besides.
const table in_cache{"100k_buckets", 100'000, 4, 10};
const table in_large_cache{"1M_buckets", 1'000'000, 4, 1};
const table filled_out_of_cache{"512M_buckets", 512'000'000, 1, 1};
const table churned_out_of_cache{"40M_buckets", 40'000'000, 1, 1};

constexpr double load_factor = 0.9;
constexpr unsigned choices = 4;
// Of the prediction; the smallest table strays by less than a twentieth of it.
constexpr double agreement = 0.1;

sim::scenario scenario_of(scheme_kind scheme, activity what, const table& where) {
  const double slots = static_cast<double>(where.buckets) * where.bucket_capacity;
  sim::scenario result{.scheme = scheme,
                       .choices = scheme == scheme_kind::single ? 1 : choices,
                       .bucket_capacity = where.bucket_capacity,
                       .elements = static_cast<std::uint64_t>(load_factor * slots),
                       .trials = where.trials,
                       .threads = 1};
  if (scheme == scheme_kind::multilevel)
    result.level_sizes = oneprobe::split_into_levels(
        where.buckets,
        model::multilevel_cutoff(load_factor, where.bucket_capacity, choices).level_fractions);
  else
    result.buckets = where.buckets;
  if (what == activity::churn) {
    // Filling is a part of it. After five turnovers one in 150 is left of those that came with it.
    result.trials = 1;
    result.churn = sim::churn_settings{.warm_up_turnovers = 5, .batch_turnovers = 1, .batches = 1};
  }
  return result;
}

double predicted_overflow(const sim::scenario& what, const table& where) {
  std::vector<double> fractions;
  for (const std::uint64_t size : what.level_sizes)
    fractions.push_back(static_cast<double>(size) / static_cast<double>(where.buckets));
  if (what.churn)
    return model::churn_limit({.scheme = what.scheme,
                               .load_factor = load_factor,
                               .bucket_capacity = where.bucket_capacity,
                               .choices = what.choices,
                               .level_fractions = fractions})
        .overflow_fraction;
  return model::fluid_limit({.scheme = what.scheme,
                             .load_factor = load_factor,
                             .bucket_capacity = where.bucket_capacity,
                             .choices = what.choices,
                             .level_fractions = fractions})
      .overflow_fraction;
}

void place(benchmark::State& state, scheme_kind scheme, activity what, const table& where) {
  sim::scenario scenario = scenario_of(scheme, what, where);
  const double predicted = predicted_overflow(scenario, where);
  std::uint64_t placements = 0;
  for (auto _ : state) {
    const sim::findings found = sim::simulate(scenario);
    placements += found.placements;
    const double overflow = found.end().overflow_fraction.mean;
    if (!(std::abs(overflow - predicted) <= agreement * predicted)) {
      state.SkipWithError("the overflow is not the predicted one");
      return;
    }
    state.counters["accesses"] = found.end().mean_accesses.mean;
    state.counters["overflow_fraction"] = overflow;
    ++scenario.seed;
  }
  state.counters["predicted_overflow_fraction"] = predicted;
  state.counters["bucket_capacity"] = where.bucket_capacity;
  state.counters["choices"] = scenario.choices;
  state.counters["load_factor"] = load_factor;
  state.SetItemsProcessed(static_cast<std::int64_t>(placements));
}

void add(scheme_kind scheme, activity what, const table& where) {
  const std::string name = (what == activity::fill ? "fill/" : "churn/") +
                           std::string(oneprobe::name_of(scheme)) + '/' + where.size;
  auto* added = benchmark::RegisterBenchmark(
      name.c_str(), [=](benchmark::State& state) { place(state, scheme, what, where); });
  added->MeasureProcessCPUTime()->Unit(benchmark::kMillisecond);
  // Of the largest tables one simulation is long enough, and few are enough repetitions.
  if (where.bucket_capacity == 1) added->Iterations(1)->Repetitions(what == activity::fill ? 3 : 2);
}

const bool registered = [] {
  benchmark::AddCustomContext("compiler", ONEPROBE_BENCH_COMPILER);
  benchmark::AddCustomContext("flags", ONEPROBE_BENCH_FLAGS);
  for (const activity what : {activity::fill, activity::churn})
    for (const table& where : {in_cache, in_large_cache,
                               what == activity::fill ? filled_out_of_cache : churned_out_of_cache})
      for (const scheme_kind scheme :
           {scheme_kind::single, scheme_kind::sequential, scheme_kind::multilevel,
            scheme_kind::d_random, scheme_kind::d_left})
        add(scheme, what, where);
  return true;
}();

}  // namespace
