// Plans for a balancer that may make `probes` probes per job on average, from the models.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "balance_prediction.hpp"
#include "oneprobe/balancer_plan.hpp"
#include "oneprobe/model/balance.hpp"
#include "oneprobe/model/bucket.hpp"
#include "oneprobe/model/churn.hpp"

namespace balance_example {

struct needs {
  std::uint64_t servers = 0;
  double jobs_per_server = 1;  // r
  unsigned choices = 3;        // d
  double probes = 1.2;         // a
  double silent_fraction = 0;  // of the servers, in every level: these do not answer
};

/// ECB, Theorem 6: optimal as long as a job that no candidate admits is left out.
inline oneprobe::balancer_plan ecb_plan(const needs& n, oneprobe::last_resort overflow) {
  const auto best = oneprobe::model::multilevel_balance(
      {.elements_per_bucket = n.jobs_per_server, .choices = n.choices, .accesses = n.probes});
  return {.scheme = oneprobe::scheme_kind::multilevel,
          .resources = n.servers,
          .level_fractions = best.level_fractions,
          .threshold = best.threshold,
          .admit_probability = best.admit_probability,
          .overflow = overflow};
}

/// ECB, Theorem 4: the same with candidates from all servers, so that there are no levels.
inline oneprobe::balancer_plan sequential_plan(const needs& n, oneprobe::last_resort overflow) {
  const auto best = oneprobe::model::sequential_balance(
      {.elements_per_bucket = n.jobs_per_server, .choices = n.choices, .accesses = n.probes});
  return {.scheme = oneprobe::scheme_kind::sequential,
          .resources = n.servers,
          .choices = n.choices,
          .threshold = best.threshold,
          .admit_probability = best.admit_probability,
          .overflow = overflow};
}

/// Where f, which falls, takes this value.
template <class Falling>
double solve(Falling f, double value, double low, double high) {
  while (high - low > 1e-12 * (1 + high)) {
    const double middle = (low + high) / 2;
    (f(middle) > value ? low : high) = middle;
  }
  return low;
}

/// The share of the arrivals that a server refuses in the long run if it has a threshold and jobs
/// leave at random: Erlang's formula with one more state, entered with probability p.
inline double refused_under_churn(double arrivals, oneprobe::model::threshold rule) {
  const double full = oneprobe::model::erlang_b(rule.bucket_capacity, arrivals);
  const double above = full * rule.admit_probability * arrivals / (rule.bucket_capacity + 1);
  return (full * (1 - rule.admit_probability) + above) / (1 + above);
}

/// For a last resort that is the last candidate: every level has the same mean load, the last one
/// too, which takes all that comes. Level j is as large as the share of the jobs that end there,
/// (1 - y) y^(j-1), the last y^(d-1), where y is the share that a level passes on: 1 + y + ... +
/// y^(d-1) = a. Servers that do not answer pass on what comes to them; the others pass on x, with
/// y = s + (1 - s) x. The threshold is the one with which a server has refused x of its arrivals
/// when it is full, or does so in the long run. Exact while all answer.
inline oneprobe::balancer_plan even_plan(const needs& n, jobs what,
                                         oneprobe::last_resort overflow) {
  const double passed = solve(
      [&](double x) {
        double sum = 0;
        for (unsigned j = 0; j < n.choices; ++j) sum += std::pow(x, j);
        return -sum;
      },
      -n.probes, 0, 1);
  oneprobe::balancer_plan plan{
      .scheme = oneprobe::scheme_kind::multilevel, .resources = n.servers, .overflow = overflow};
  for (unsigned j = 0; j < n.choices; ++j)
    plan.level_fractions.push_back(std::pow(passed, j) * (j + 1 < n.choices ? 1 - passed : 1));

  const double answering = 1 - n.silent_fraction;
  const double refused = (passed - n.silent_fraction) / answering;
  const double arrivals = n.jobs_per_server / answering / (1 - refused);
  // h + p as one number: (h, 1) and (h + 1, 0) are the same rule.
  const auto rule_of = [](double level) {
    return oneprobe::model::threshold{static_cast<unsigned>(level), level - std::floor(level)};
  };
  const double level = solve(
      [&](double candidate) {
        return what == jobs::arrive
                   ? oneprobe::model::refused_fraction(arrivals, rule_of(candidate))
                   : refused_under_churn(arrivals, rule_of(candidate));
      },
      refused, 0, arrivals + 10 * std::sqrt(arrivals) + 10);
  plan.threshold = rule_of(level).bucket_capacity;
  plan.admit_probability = rule_of(level).admit_probability;
  return plan;
}

}  // namespace balance_example
