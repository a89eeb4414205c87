// How long the models take: interactive tools and planners call them many times.

#include <benchmark/benchmark.h>

#include "oneprobe/model/balance.hpp"
#include "oneprobe/model/balanced.hpp"
#include "oneprobe/model/bloom.hpp"
#include "oneprobe/model/churn.hpp"
#include "oneprobe/model/crisis.hpp"
#include "oneprobe/model/fingerprint.hpp"
#include "oneprobe/model/finite_size.hpp"
#include "oneprobe/model/fluid.hpp"
#include "oneprobe/model/overflow_bound.hpp"
#include "oneprobe/model/partition.hpp"

namespace {

using namespace oneprobe::model;

void overflow_bound_of_a_budget(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(overflow_bound(1.2, 0.95, 8));
}
BENCHMARK(overflow_bound_of_a_budget);

void cutoff_sequential(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(sequential_cutoff(1, 4, 4));
}
BENCHMARK(cutoff_sequential);

void cutoff_multilevel(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(multilevel_cutoff(1, 4, 4));
}
BENCHMARK(cutoff_multilevel);

void least_overflow_filling(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(least_overflow_partition(0.93, 8, 4));
}
BENCHMARK(least_overflow_filling);

void least_overflow_churning(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(least_overflow_partition_under_churn(0.77, 8, 4));
}
BENCHMARK(least_overflow_churning);

void balance_sequential(benchmark::State& state) {
  const balance_needs needs{.elements_per_bucket = 8, .choices = 3, .accesses = 1.1};
  for (auto _ : state) benchmark::DoNotOptimize(sequential_balance(needs));
}
BENCHMARK(balance_sequential);

void fluid_d_left(benchmark::State& state) {
  const fluid_parameters table{
      .scheme = scheme_kind::d_left, .load_factor = 1, .bucket_capacity = 4, .choices = 4};
  for (auto _ : state) benchmark::DoNotOptimize(fluid_limit(table));
}
BENCHMARK(fluid_d_left);

void spread_multilevel_churning(benchmark::State& state) {
  const churn_parameters table{
      .load_factor = 0.77, .bucket_capacity = 8, .level_fractions = {0.53, 0.31, 0.13, 0.03}};
  for (auto _ : state) benchmark::DoNotOptimize(overflow_spread_churning(table, 1e6));
}
BENCHMARK(spread_multilevel_churning);

void blocked_filter(benchmark::State& state) {
  const blocked_shape shape{.bits_per_element = 16, .block_bits = 512, .bits_set = 9};
  for (auto _ : state) benchmark::DoNotOptimize(blocked_error(shape));
}
BENCHMARK(blocked_filter);

void balanced_filter_evaluated(benchmark::State& state) {
  const balanced_shape shape{.bits_set = 13, .choices = 4, .threshold = 252, .tracking_bits = 12};
  for (auto _ : state) benchmark::DoNotOptimize(evaluate(shape, 28.13));
}
BENCHMARK(balanced_filter_evaluated);

void balanced_filter_chosen(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(choose_balanced({.bits_per_element = 20}));
}
BENCHMARK(balanced_filter_chosen)->Unit(benchmark::kMillisecond);

void fingerprint_filter_chosen(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(choose_fingerprint({.bits_per_element = 20}));
}
BENCHMARK(fingerprint_filter_chosen)->Unit(benchmark::kMillisecond);

void crisis_of_100000(benchmark::State& state) {
  const level_sizes levels{400000, 100000, 50000, 25000, 12500, 12500};
  for (auto _ : state) benchmark::DoNotOptimize(crisis(100000, levels));
}
BENCHMARK(crisis_of_100000)->Unit(benchmark::kMillisecond);

}  // namespace
