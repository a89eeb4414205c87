#include "oneprobe/balancer.hpp"
#include "oneprobe/detail/base/levels.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "each_scheme.hpp"
#include "oneprobe/detail/placement/load_counters.hpp"
#include "oneprobe/model/balance.hpp"
#include "oneprobe/model/balls.hpp"
#include "oneprobe/model/bucket.hpp"
#include "oneprobe/model/poisson.hpp"
#include "oneprobe/sim/simulate.hpp"

using namespace oneprobe;

namespace {

/// One plan for each scheme, on `resources` resources, with a threshold where there may be one.
std::vector<balancer_plan> plans(std::uint64_t resources, std::uint32_t threshold,
                                 double admit_probability) {
  return {{.scheme = scheme_kind::single,
           .resources = resources,
           .threshold = threshold,
           .admit_probability = admit_probability},
          {.scheme = scheme_kind::sequential,
           .resources = resources,
           .choices = 3,
           .threshold = threshold,
           .admit_probability = admit_probability},
          {.scheme = scheme_kind::multilevel,
           .resources = resources,
           .level_fractions = {0.625, 0.25, 0.125},
           .threshold = threshold,
           .admit_probability = admit_probability},
          {.scheme = scheme_kind::d_random, .resources = resources, .choices = 2},
          {.scheme = scheme_kind::d_left, .resources = resources, .choices = 4}};
}

/// One resource in each of three levels: every job has the candidates 0, 1, 2.
balancer_plan three_levels(std::uint32_t threshold, last_resort overflow) {
  return {.scheme = scheme_kind::multilevel,
          .resources = 3,
          .level_fractions = {0.4, 0.3, 0.3},
          .threshold = threshold,
          .overflow = overflow};
}

using answers = std::vector<std::optional<std::uint32_t>>;

assignment placed_among(const balancer_plan& plan, const answers& loads) {
  return balancer(plan).place(hash_of(0), [&](std::uint64_t resource) { return loads[resource]; });
}

// --- one job ---------------------------------------------------------------------------------

TEST(balancer, sends_a_job_to_the_first_candidate_that_admits_it) {
  const balancer_plan plan = three_levels(5, last_resort::last_reachable);
  EXPECT_EQ(placed_among(plan, {4, 0, 0}), (assignment{0, 1, assignment_end::admitted}));
  EXPECT_EQ(placed_among(plan, {5, 4, 0}), (assignment{1, 2, assignment_end::admitted}));
  EXPECT_EQ(placed_among(plan, {5, 9, 4}), (assignment{2, 3, assignment_end::admitted}));
}

TEST(balancer, takes_a_failed_probe_for_a_candidate_that_turned_the_job_away) {
  const balancer_plan plan = three_levels(5, last_resort::last_reachable);
  EXPECT_EQ(placed_among(plan, {{}, 4, 0}), (assignment{1, 2, assignment_end::admitted}));
  EXPECT_EQ(placed_among(plan, {{}, {}, 4}), (assignment{2, 3, assignment_end::admitted}));
}

TEST(balancer, sends_a_job_that_nobody_admits_to_the_last_that_answered) {
  const balancer_plan plan = three_levels(5, last_resort::last_reachable);
  EXPECT_EQ(placed_among(plan, {5, 6, 7}), (assignment{2, 3, assignment_end::overflowed}));
  EXPECT_EQ(placed_among(plan, {5, 6, {}}), (assignment{1, 3, assignment_end::overflowed}));
  EXPECT_EQ(placed_among(plan, {5, {}, {}}), (assignment{0, 3, assignment_end::overflowed}));
  EXPECT_EQ(placed_among(plan, {{}, 5, {}}), (assignment{1, 3, assignment_end::overflowed}));
}

TEST(balancer, or_to_the_least_loaded_that_answered_and_the_first_of_equals) {
  const balancer_plan plan = three_levels(5, last_resort::least_loaded);
  EXPECT_EQ(placed_among(plan, {6, 5, 7}), (assignment{1, 3, assignment_end::overflowed}));
  EXPECT_EQ(placed_among(plan, {6, 6, 6}), (assignment{0, 3, assignment_end::overflowed}));
  EXPECT_EQ(placed_among(plan, {{}, 8, 7}), (assignment{2, 3, assignment_end::overflowed}));
  EXPECT_EQ(placed_among(plan, {{}, {}, 9}), (assignment{2, 3, assignment_end::overflowed}));
}

TEST(balancer, says_so_when_no_candidate_answers) {
  for (const balancer_plan& plan : plans(16, 3, 0.5)) {
    const balancer servers(plan);
    const assignment job = servers.place(
        hash_of(1), [](std::uint64_t) -> std::optional<std::uint32_t> { return std::nullopt; });
    EXPECT_EQ(job, (assignment{std::nullopt, servers.choices(), assignment_end::nowhere}))
        << name_of(plan.scheme);
  }
}

TEST(balancer, compares_only_those_that_answer_where_loads_are_compared) {
  const balancer_plan plan{.scheme = scheme_kind::d_left, .resources = 3, .choices = 3};
  EXPECT_EQ(placed_among(plan, {7, 5, 6}), (assignment{1, 3, assignment_end::admitted}));
  EXPECT_EQ(placed_among(plan, {7, {}, 6}), (assignment{2, 3, assignment_end::admitted}));
  EXPECT_EQ(placed_among(plan, {{}, {}, 6}), (assignment{2, 3, assignment_end::admitted}));
}

TEST(balancer, never_takes_a_load_for_silence_however_large) {
  constexpr std::uint32_t largest = std::numeric_limits<std::uint32_t>::max();
  const balancer_plan left{.scheme = scheme_kind::d_left, .resources = 3, .choices = 3};
  EXPECT_EQ(placed_among(left, {{}, largest, {}}), (assignment{1, 3, assignment_end::admitted}));
  const balancer_plan levels = three_levels(5, last_resort::last_reachable);
  EXPECT_EQ(placed_among(levels, {largest, {}, {}}),
            (assignment{0, 3, assignment_end::overflowed}));
}

TEST(balancer, lets_what_a_probe_throws_through) {
  const balancer servers({.scheme = scheme_kind::d_random, .resources = 4, .choices = 2});
  EXPECT_THROW(servers.place(hash_of(0),
                             [](std::uint64_t) -> std::optional<std::uint32_t> {
                               throw std::runtime_error("no network");
                             }),
               std::runtime_error);
}

RC_GTEST_PROP(balancer, asks_its_candidates_once_each_and_believes_what_they_say, ()) {
  const auto threshold = *rc::gen::inRange<std::uint32_t>(0, 4);
  const double admit_probability = *rc::gen::inRange(0, 5) / 4.0;
  // Six is silence.
  answers loads;
  for (const auto load :
       *rc::gen::container<std::vector<std::uint32_t>>(16, rc::gen::inRange<std::uint32_t>(0, 7)))
    loads.push_back(load < 6 ? std::optional(load) : std::nullopt);
  const key_hash job = hash_of(*rc::gen::arbitrary<std::uint64_t>());
  for (balancer_plan plan : plans(16, threshold, admit_probability)) {
    plan.overflow = *rc::gen::element(last_resort::last_reachable, last_resort::least_loaded);
    const balancer servers(plan);
    std::vector<std::uint64_t> asked;
    const assignment placed = servers.place(job, [&](std::uint64_t resource) {
      asked.push_back(resource);
      return loads.at(resource);
    });
    RC_ASSERT(placed.probes == asked.size());
    RC_ASSERT(placed.probes >= 1u && placed.probes <= servers.choices());
    std::vector<std::uint64_t> answered;
    for (const std::uint64_t resource : asked)
      if (loads[resource]) answered.push_back(resource);
    RC_ASSERT(placed.resource.has_value() == (placed.end != assignment_end::nowhere));
    RC_ASSERT((placed.end == assignment_end::nowhere) == answered.empty());
    if (!placed.resource) {
      RC_ASSERT(placed.probes == servers.choices());
      continue;
    }
    RC_ASSERT(std::count(answered.begin(), answered.end(), *placed.resource) > 0);
    const auto least = *std::min_element(answered.begin(), answered.end(),
                                         [&](auto a, auto b) { return *loads[a] < *loads[b]; });
    if (!plan.threshold) {  // parallel
      RC_ASSERT(placed.resource == least);
    } else if (placed.end == assignment_end::admitted) {
      RC_ASSERT(placed.resource == asked.back());
      RC_ASSERT(*loads[*placed.resource] <= threshold);
    } else {
      RC_ASSERT(placed.probes == servers.choices());
      RC_ASSERT(placed.resource ==
                (plan.overflow == last_resort::least_loaded ? least : answered.back()));
      for (const std::uint64_t resource : answered) RC_ASSERT(*loads[resource] >= threshold);
    }
  }
}

// --- many jobs -------------------------------------------------------------------------------

/// Places jobs with the walk over load counters and with a balancer that is told the same loads.
template <class Scheme>
void expect_parity(const Scheme& scheme, const balancer_plan& plan) {
  const balancer servers(plan);
  ASSERT_EQ(servers.resources(), scheme.buckets());
  ASSERT_EQ(servers.choices(), scheme.choices());
  load_counters<std::uint32_t> store(scheme.buckets());
  const admission rule =
      plan.threshold ? admission(*plan.threshold, plan.admit_probability) : admission::always();
  placing walk(scheme, store, rule);
  std::vector<std::uint32_t> loads(scheme.buckets());
  for (std::uint64_t job = 0; job < 5000; ++job) {
    const auto walked = walk_to_end(walk, walk.start(hash_of(job)));
    const assignment placed = servers.place(hash_of(job), [&](std::uint64_t resource) {
      return std::optional<std::uint32_t>(loads[resource]);
    });
    ASSERT_EQ(placed.probes, walked.accesses) << job;
    ASSERT_EQ(placed.end == assignment_end::admitted, walked.end == walk_end::placed) << job;
    // An overflowed job stays out here, as it does of the counters.
    if (placed.end != assignment_end::admitted) continue;
    ASSERT_EQ(placed.resource, walked.at.bucket) << job;
    ++loads[*placed.resource];
  }
}

TEST(balancer, goes_where_the_walk_over_load_counters_goes) {
  for (const balancer_plan& plan : plans(512, 8, 0.3)) {
    SCOPED_TRACE(name_of(plan.scheme));
    switch (plan.scheme) {
      case scheme_kind::single:
        expect_parity(single(512), plan);
        break;
      case scheme_kind::sequential:
        expect_parity(sequential(512, 3), plan);
        break;
      case scheme_kind::multilevel:
        expect_parity(multilevel({320, 128, 64}), plan);
        break;
      case scheme_kind::d_random:
        expect_parity(d_random(512, 2), plan);
        break;
      case scheme_kind::d_left:
        expect_parity(d_left(512, 4), plan);
        break;
    }
  }
}

RC_GTEST_PROP(balancer, divides_resources_into_levels_by_their_fractions, ()) {
  auto fractions = *rc::gen::container<std::vector<double>>(
      *rc::gen::inRange<std::size_t>(1, 6),
      rc::gen::map(rc::gen::inRange(1, 1000), [](int part) { return static_cast<double>(part); }));
  const double sum = std::accumulate(fractions.begin(), fractions.end(), 0.0);
  for (double& fraction : fractions) fraction /= sum;
  const auto resources = *rc::gen::inRange<std::uint64_t>(fractions.size(), 60);
  const multilevel expected(split_into_levels(resources, fractions));
  const balancer servers({.scheme = scheme_kind::multilevel,
                          .resources = resources,
                          .level_fractions = fractions,
                          .threshold = 0});  // nobody admits: every level is asked
  RC_ASSERT(servers.resources() == resources);
  for (std::uint64_t job = 0; job < 20; ++job) {
    std::vector<std::uint64_t> asked;
    servers.place(hash_of(job), [&](std::uint64_t resource) {
      asked.push_back(resource);
      return std::optional<std::uint32_t>(0);
    });
    position at = expected.first(hash_of(job));
    for (const std::uint64_t resource : asked) {
      RC_ASSERT(resource == at.bucket);
      if (at.level + 1 < expected.choices()) at = expected.next(hash_of(job), at);
    }
  }
}

RC_GTEST_PROP(balanced_loads, count_what_arrives_and_what_departs, ()) {
  for (const balancer_plan& plan : plans(16, 2, 0.5)) {
    balanced_loads servers(plan);
    std::map<std::uint64_t, std::uint32_t> expected;
    std::uint64_t number = 0;
    for (const std::uint8_t event : *rc::gen::arbitrary<std::vector<std::uint8_t>>()) {
      if (event % 2 == 0) {  // one departs, if there is such a job
        const std::uint64_t from = event / 2 % 20;
        const bool known = expected[from] > 0;
        RC_ASSERT((servers.depart(from) == departure_end::departed) == known);
        if (known) --expected[from];
      } else {
        const bool resource_3_answers = number % 2 == 0;
        const assignment job = servers.arrive(hash_of(number++), [&](std::uint64_t asked) {
          return asked != 3 || resource_3_answers;
        });
        if (job.resource) ++expected[*job.resource];
      }
    }
    for (std::uint64_t i = 0; i < 16; ++i) RC_ASSERT(servers.loads()[i] == expected[i]);
  }
}

TEST(balanced_loads, have_room_again_when_a_job_has_left) {
  balanced_loads servers(three_levels(1, last_resort::last_reachable));
  for (std::uint64_t i = 0; i < 3; ++i)
    EXPECT_EQ(servers.arrive(hash_of(i)),
              (assignment{i, static_cast<std::uint32_t>(i + 1), assignment_end::admitted}));
  EXPECT_EQ(servers.arrive(hash_of(3)), (assignment{2, 3, assignment_end::overflowed}));
  EXPECT_EQ(servers.depart(1), departure_end::departed);
  EXPECT_EQ(servers.arrive(hash_of(4)), (assignment{1, 2, assignment_end::admitted}));
  EXPECT_EQ(servers.depart(0), departure_end::departed);
  EXPECT_EQ(servers.depart(0), departure_end::nothing_there);
  EXPECT_EQ(servers.depart(3), departure_end::nothing_there);
}

// --- bad plans -------------------------------------------------------------------------------

void expect_refused(const balancer_plan& plan, const std::string& parameter) {
  try {
    balancer servers(plan);
    ADD_FAILURE() << "accepted a bad " << parameter;
  } catch (const std::invalid_argument& error) {
    EXPECT_EQ(std::string(error.what()).substr(0, parameter.size()), parameter) << error.what();
  }
}

TEST(balancer, refuses_bad_plans_by_name) {
  expect_refused({}, "resources");
  expect_refused({.resources = (std::uint64_t{1} << 48) + 1}, "resources");
  expect_refused({.scheme = scheme_kind::sequential, .resources = 5, .choices = 0}, "choices");
  expect_refused({.scheme = scheme_kind::d_random, .resources = 5, .choices = 33}, "choices");
  expect_refused({.scheme = scheme_kind::d_left, .resources = 3, .choices = 4}, "resources");
  expect_refused({.resources = 5, .level_fractions = {1}}, "level_fractions");
  const auto levels = [](std::uint64_t resources, std::vector<double> fractions) {
    return balancer_plan{.scheme = scheme_kind::multilevel,
                         .resources = resources,
                         .level_fractions = std::move(fractions)};
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  expect_refused(levels(5, {}), "level_fractions");
  expect_refused(levels(50, std::vector<double>(33, 1.0 / 33)), "level_fractions");
  expect_refused(levels(5, {0.5, 0.4}), "level_fractions");
  expect_refused(levels(5, {1.5, -0.5}), "level_fractions");
  expect_refused(levels(5, {nan, 1}), "level_fractions");
  expect_refused(levels(5, {infinity, 1}), "level_fractions");
  expect_refused(levels(1, {0.5, 0.5}), "resources");
  expect_refused({.resources = 5, .threshold = 4294967295}, "threshold");
  expect_refused({.resources = 5, .threshold = 1, .admit_probability = 1.5}, "admit_probability");
  expect_refused({.resources = 5, .threshold = 1, .admit_probability = nan}, "admit_probability");
  expect_refused({.resources = 5, .admit_probability = 0.5}, "admit_probability");
  expect_refused({.scheme = scheme_kind::d_left, .resources = 5, .choices = 2, .threshold = 1},
                 "threshold");
}

// --- what the models say ---------------------------------------------------------------------
//
// Probes per job and the variance of the load over many resources, as the mean of independent
// trials. With a last resort that is the last candidate, the last level admits or not but takes all
// that comes, so its load is Poisson; the levels before do not notice. That makes the limit exact.
// At the size of these tests finite numbers shift it by less than a standard error.

constexpr unsigned trials = 20;
// Two-sided for Student's t with 19 degrees of freedom: 1e-3 over the 18 comparisons below.
constexpr double tolerance_sigmas = 5.3;

struct figure {
  double mean = 0;
  double standard_error = 0;
};

figure figure_of(const std::vector<double>& samples) {
  const double count = static_cast<double>(samples.size());
  figure result;
  result.mean = std::accumulate(samples.begin(), samples.end(), 0.0) / count;
  double squares = 0;
  for (const double sample : samples) squares += (sample - result.mean) * (sample - result.mean);
  result.standard_error = std::sqrt(squares / (count - 1) / count);
  return result;
}

void expect_figure(const figure& found, double expected) {
  EXPECT_NEAR(found.mean, expected, tolerance_sigmas * found.standard_error);
}

struct findings {
  figure probes;
  figure variance;
};

double variance_of(std::span<const std::uint32_t> loads) {
  double sum = 0, squares = 0;
  for (const std::uint32_t load : loads) {
    sum += load;
    squares += static_cast<double>(load) * load;
  }
  const double count = static_cast<double>(loads.size());
  return squares / count - (sum / count) * (sum / count);
}

/// Fills the resources; then lets `turnovers` times as many jobs leave at random and others arrive.
/// The probes are those of the filling, or of the last turnover.
findings run(const balancer_plan& plan, std::uint64_t jobs_per_resource, unsigned turnovers = 0) {
  std::vector<double> probes, variances;
  for (std::uint64_t trial = 0; trial < trials; ++trial) {
    balanced_loads servers(plan);
    const key_hash arrivals = hash_of(2 * trial), departures = hash_of(2 * trial + 1);
    const std::uint64_t jobs = jobs_per_resource * plan.resources;
    std::vector<std::uint64_t> places(jobs);
    double made = 0;
    for (std::uint64_t job = 0; job < jobs; ++job) {
      const assignment placed = servers.arrive({hash_stream(arrivals, job)});
      places[job] = placed.resource.value();
      made += placed.probes;
    }
    for (std::uint64_t turn = jobs; turn < (1 + turnovers) * jobs; ++turn) {
      if (turn % jobs == 0) made = 0;
      std::uint64_t& place = places[reduce(hash_stream(departures, turn), jobs)];
      servers.depart(place);
      const assignment placed = servers.arrive({hash_stream(arrivals, turn)});
      place = placed.resource.value();
      made += placed.probes;
    }
    probes.push_back(made / static_cast<double>(jobs));
    variances.push_back(variance_of(servers.loads()));
  }
  return {figure_of(probes), figure_of(variances)};
}

/// The variance over levels with these means and variances.
struct level_load {
  double share, mean, variance;
};
double total_variance(const std::vector<level_load>& levels) {
  double mean = 0, squares = 0;
  for (const level_load& level : levels) {
    mean += level.share * level.mean;
    squares += level.share * (level.variance + level.mean * level.mean);
  }
  return squares - mean * mean;
}

struct prediction {
  double probes = 0;
  double variance = 0;
};

/// Level by level: `of_level(arrivals)` gives the loads of a level with a threshold, from which
/// follows what it passes on; the last level takes all.
template <class LoadsOfLevel>
prediction predict(const balancer_plan& plan, double jobs_per_resource, LoadsOfLevel of_level) {
  prediction result;
  std::vector<level_load> levels;
  double reached = 1;
  for (std::size_t j = 0; j < plan.level_fractions.size(); ++j) {
    result.probes += reached;
    const double share = plan.level_fractions[j];
    const double arrivals = jobs_per_resource * reached / share;
    if (j + 1 == plan.level_fractions.size()) {
      levels.push_back({share, arrivals, arrivals});
    } else {
      const model::load_distribution loads = of_level(arrivals);
      levels.push_back({share, loads.mean(), loads.variance()});
      reached -= share * loads.mean() / jobs_per_resource;
    }
  }
  result.variance = total_variance(levels);
  return result;
}

prediction predict_filling(const balancer_plan& plan, double jobs_per_resource) {
  return predict(plan, jobs_per_resource, [&](double arrivals) {
    return model::load_distribution{
        model::bucket_occupancy(arrivals, {*plan.threshold, plan.admit_probability})};
  });
}

/// With departures at random a resource is a queue with as many servers as jobs: loads are Poisson,
/// cut off at h and thinned above.
prediction predict_churning(const balancer_plan& plan, double jobs_per_resource) {
  return predict(plan, jobs_per_resource, [&](double arrivals) {
    model::load_distribution loads;
    for (std::uint32_t i = 0; i <= *plan.threshold; ++i)
      loads.fractions.push_back(model::poisson_probability(arrivals, i));
    loads.fractions.push_back(loads.fractions.back() * plan.admit_probability * arrivals /
                              (*plan.threshold + 1));
    const double sum = std::accumulate(loads.fractions.begin(), loads.fractions.end(), 0.0);
    for (double& fraction : loads.fractions) fraction /= sum;
    return loads;
  });
}

/// ECB, Theorem 6, for 1.2 probes and three candidates.
balancer_plan optimal_plan(std::uint64_t resources, double jobs_per_resource,
                           last_resort overflow) {
  const auto best = model::multilevel_balance(
      {.elements_per_bucket = jobs_per_resource, .choices = 3, .accesses = 1.2});
  return {.scheme = scheme_kind::multilevel,
          .resources = resources,
          .level_fractions = best.level_fractions,
          .threshold = best.threshold,
          .admit_probability = best.admit_probability,
          .overflow = overflow};
}

/// The levels of which each is as large as the share of the jobs that end in it: 1 + x + x^2 = 1.2.
/// The first two are then optimal for x + x^2 on what they keep.
balancer_plan even_plan(std::uint64_t resources, double jobs_per_resource) {
  const double x = (std::sqrt(1.8) - 1) / 2;
  const auto best = model::multilevel_balance(
      {.elements_per_bucket = jobs_per_resource / (1 - x * x), .choices = 2, .accesses = 1 + x});
  return {.scheme = scheme_kind::multilevel,
          .resources = resources,
          .level_fractions = {1 - x, x * (1 - x), x * x},
          .threshold = best.threshold,
          .admit_probability = best.admit_probability};
}

constexpr std::uint64_t resources = 10'000;

TEST(balancing, with_the_optimal_levels_and_the_last_candidate_is_as_flat_as_predicted) {
  for (const unsigned r : {8u, 64u}) {
    const balancer_plan plan = optimal_plan(resources, r, last_resort::last_reachable);
    const prediction expected = predict_filling(plan, r);
    EXPECT_NEAR(expected.probes, 1.2, 1e-9);
    // The bound's variance, and a Poisson level with a times the mean.
    const double bound =
        model::lower_bound_loads(r, 1.2, model::least_overflow_multilevel(3, 1.2)).loads.variance();
    EXPECT_GT(expected.variance, bound);
    const findings found = run(plan, r);
    expect_figure(found.probes, expected.probes);
    expect_figure(found.variance, expected.variance);
    // At 64 jobs the few resources of the last level cost most of what the bound promises.
    EXPECT_GT(r / found.variance.mean, r == 8 ? 3 : 8);
  }
}

TEST(balancing, with_even_levels_beats_one_choice_threefold_at_8_and_tenfold_at_64) {
  for (const unsigned r : {8u, 64u}) {
    const balancer_plan plan = even_plan(resources, r);
    const prediction expected = predict_filling(plan, r);
    EXPECT_NEAR(expected.probes, 1.2, 1e-9);
    const findings found = run(plan, r);
    expect_figure(found.probes, expected.probes);
    expect_figure(found.variance, expected.variance);
    const findings one = run({.scheme = scheme_kind::single, .resources = resources}, r);
    expect_figure(one.variance, r * (1 - 1.0 / resources));
    EXPECT_GT(one.variance.mean / found.variance.mean, r == 8 ? 3 : 10);
  }
}

TEST(balancing, with_the_least_loaded_as_last_resort_comes_close_to_the_bound) {
  for (const unsigned r : {8u, 64u}) {
    const balancer_plan plan = optimal_plan(resources, r, last_resort::least_loaded);
    const findings found = run(plan, r);
    // No job is left out: the bound is the one without overflow. Jobs that overflow take
    // admissions from others, and the budget and the bound are missed by a little.
    const double least = model::lower_bound_loads(r, 1.2, 0).loads.variance();
    EXPECT_GT(found.variance.mean, least - tolerance_sigmas * found.variance.standard_error);
    EXPECT_LT(found.variance.mean, 1.1 * least);
    EXPECT_NEAR(found.probes.mean, 1.2, 0.001 + tolerance_sigmas * found.probes.standard_error);
    EXPECT_GT(r / found.variance.mean, r == 8 ? 3 : 10);
  }
}

TEST(balancing, by_comparing_loads_is_as_flat_as_predicted) {
  for (const unsigned choices : {2u, 3u}) {
    const balancer_plan plan{
        .scheme = scheme_kind::d_random, .resources = resources, .choices = choices};
    const model::load_distribution expected{
        model::bin_occupancy(8.0 * resources, resources, choices)};
    const findings found = run(plan, 8);
    EXPECT_EQ(found.probes.mean, choices);
    expect_figure(found.variance, expected.variance());
  }
}

TEST(balancing, under_departures_needs_a_higher_threshold) {
  const unsigned r = 8;
  const unsigned turnovers = 8;  // e^-8 of the first jobs are left
  // The plan for filling turns away too many, and the last level drowns: worse than one choice.
  const balancer_plan filling = optimal_plan(resources, r, last_resort::last_reachable);
  const prediction drowned = predict_churning(filling, r);
  EXPECT_GT(drowned.probes, 1.3);
  EXPECT_GT(drowned.variance, r);
  const findings found = run(filling, r, turnovers);
  expect_figure(found.probes, drowned.probes);
  expect_figure(found.variance, drowned.variance);

  // With even levels and a threshold of two more, the budget holds and the loads are flatter.
  balancer_plan steady = even_plan(resources, r);
  steady.threshold = *steady.threshold + 2;
  const prediction settled = predict_churning(steady, r);
  EXPECT_LT(settled.probes, 1.2);
  EXPECT_LT(settled.variance, r / 1.5);
  const findings flat = run(steady, r, turnovers);
  expect_figure(flat.probes, settled.probes);
  expect_figure(flat.variance, settled.variance);
}

}  // namespace
