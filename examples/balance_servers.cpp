// Jobs over servers: how flat the loads get, and for how many probes.
//
//   balance_servers [SERVERS]
//
// For each way of choosing a server: probes per job, the largest load, the variance of the load,
// and how many times flatter that is than one choice; beside it what the model predicts
// (balance_prediction.hpp). First the servers are filled, then the same with some that do not
// answer, then with a departure for every arrival.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "balance_plans.hpp"
#include "balance_prediction.hpp"
#include "oneprobe/balancer.hpp"
#include "oneprobe/model/balance.hpp"

namespace {

using namespace balance_example;
using oneprobe::balancer_plan;
using oneprobe::key_hash;
using oneprobe::last_resort;
using oneprobe::scheme_kind;

constexpr double probe_budget = 1.2;
constexpr unsigned most_choices = 3;
// One server in so many does not answer.
constexpr std::uint64_t silent_every = 20;
constexpr unsigned filling_rounds = 5;
// After so many turnovers e^-4 of the first jobs are left; then one turnover is counted.
constexpr double warm_up_turnovers = 4;
constexpr double counted_turnovers = 1;

enum class servers_answer { all, most };

bool answers(servers_answer who, std::uint64_t server) {
  return who == servers_answer::all || server % silent_every != 0;
}

struct way {
  std::string name;
  balancer_plan plan;
};

struct outcome {
  double probes = 0;
  double largest = 0;
  double variance = 0;
  double nowhere = 0;
};

/// Numbered random bits, for each purpose others.
class random_stream {
 public:
  enum class purpose : std::uint64_t { arrivals, departures };

  random_stream(purpose what, std::uint64_t round)
      : base_{
            oneprobe::mix_bits(oneprobe::mix_bits(round + 1) + static_cast<std::uint64_t>(what))} {}
  std::uint64_t operator()(std::uint64_t number) const {
    return oneprobe::hash_stream(base_, number);
  }

 private:
  key_hash base_;
};

outcome measure_once(const way& how, double jobs_per_server, servers_answer who, jobs what,
                     std::uint64_t round) {
  const random_stream arrivals(random_stream::purpose::arrivals, round);
  const random_stream departures(random_stream::purpose::departures, round);
  oneprobe::balanced_loads servers(how.plan);
  const auto answering = [who](std::uint64_t server) { return answers(who, server); };
  outcome found;
  std::uint64_t number = 0;
  std::uint64_t counted = 0;
  const auto arrive = [&] {
    const oneprobe::assignment job = servers.arrive(key_hash{arrivals(number++)}, answering);
    found.probes += job.probes;
    found.nowhere += job.resource ? 0 : 1;
    ++counted;
    return job.resource;
  };

  std::vector<std::uint64_t> places;  // of the jobs that are somewhere
  const double all = jobs_per_server * static_cast<double>(how.plan.resources);
  while (static_cast<double>(number) < all)
    if (const auto place = arrive()) places.push_back(*place);

  if (what == jobs::arrive_and_depart) {
    const auto turn_over = [&](double turnovers) {
      found = {};
      counted = 0;
      while (static_cast<double>(counted) < turnovers * all) {
        const auto job =
            static_cast<std::size_t>(oneprobe::reduce(departures(number), places.size()));
        servers.depart(places[job]);
        // All servers answer, so there is a place.
        places[job] = arrive().value();
      }
    };
    turn_over(warm_up_turnovers);
    turn_over(counted_turnovers);
  }

  found.probes /= static_cast<double>(counted);
  found.nowhere /= static_cast<double>(counted);
  double resources = 0, sum = 0, squares = 0;
  for (std::uint64_t server = 0; server < servers.loads().size(); ++server) {
    if (!answers(who, server)) continue;
    const double load = servers.loads()[static_cast<std::size_t>(server)];
    found.largest = std::max(found.largest, load);
    resources += 1;
    sum += load;
    squares += load * load;
  }
  found.variance = squares / resources - (sum / resources) * (sum / resources);
  return found;
}

/// The mean over the rounds, and the largest load of all.
outcome measure(const way& how, double jobs_per_server, servers_answer who, jobs what) {
  const unsigned rounds = what == jobs::arrive ? filling_rounds : 1;
  outcome mean;
  for (unsigned round = 0; round < rounds; ++round) {
    const outcome found = measure_once(how, jobs_per_server, who, what, round);
    mean.probes += found.probes / rounds;
    mean.variance += found.variance / rounds;
    mean.nowhere += found.nowhere / rounds;
    mean.largest = std::max(mean.largest, found.largest);
  }
  return mean;
}

outcome predict(const way& how, double jobs_per_server, servers_answer who, jobs what) {
  const double silent = who == servers_answer::all ? 0 : 1 / static_cast<double>(silent_every);
  fluid_balancer limit(how.plan, jobs_per_server, silent);
  outcome expected;
  expected.probes = limit.run(jobs::arrive, 1);
  if (what == jobs::arrive_and_depart) {
    limit.run(what, warm_up_turnovers);
    expected.probes = limit.run(what, counted_turnovers);
  }
  expected.variance = limit.loads().variance();
  return expected;
}

void print_table(const std::vector<way>& ways, double jobs_per_server, servers_answer who,
                 jobs what) {
  std::printf("%-36s%16s%9s%20s%18s\n", "", "probes per job", "largest", "variance of load",
              "times flatter");
  std::printf("%-36s%8s%8s%9s%10s%10s%9s%9s\n", "", "found", "model", "load", "found", "model",
              "found", "model");
  outcome one, one_expected;
  for (const way& how : ways) {
    const outcome found = measure(how, jobs_per_server, who, what);
    const outcome expected = predict(how, jobs_per_server, who, what);
    if (&how == &ways.front()) {
      one = found;
      one_expected = expected;
    }
    std::printf("%-36s%8.3f%8.3f%9.0f%10.2f%10.2f%9.2f%9.2f", how.name.c_str(), found.probes,
                expected.probes, found.largest, found.variance, expected.variance,
                one.variance / found.variance, one_expected.variance / expected.variance);
    if (who == servers_answer::most) std::printf("  %.3f%% nowhere", 100 * found.nowhere);
    std::printf("\n");
  }
}

std::vector<way> without_threshold(std::uint64_t servers) {
  return {{"one choice", {.scheme = scheme_kind::single, .resources = servers}},
          {"two choices", {.scheme = scheme_kind::d_random, .resources = servers, .choices = 2}},
          {"three choices",
           {.scheme = scheme_kind::d_random, .resources = servers, .choices = most_choices}},
          {"d-left, three choices",
           {.scheme = scheme_kind::d_left, .resources = servers, .choices = most_choices}}};
}

std::vector<way> for_filling(const needs& n) {
  std::vector<way> ways = without_threshold(n.servers);
  ways.push_back({"budget, ECB, last reachable", ecb_plan(n, last_resort::last_reachable)});
  ways.push_back(
      {"budget, even, last reachable", even_plan(n, jobs::arrive, last_resort::last_reachable)});
  ways.push_back({"budget, ECB, least loaded", ecb_plan(n, last_resort::least_loaded)});
  ways.push_back(
      {"budget, sequential, least loaded", sequential_plan(n, last_resort::least_loaded)});
  return ways;
}

std::vector<way> for_silence(needs n) {
  std::vector<way> ways = for_filling(n);
  n.silent_fraction = 1 / static_cast<double>(silent_every);
  ways.push_back({"even for silence, last reachable",
                  even_plan(n, jobs::arrive, last_resort::last_reachable)});
  return ways;
}

std::vector<way> for_departures(const needs& n) {
  std::vector<way> ways = without_threshold(n.servers);
  ways.push_back({"filling's ECB, last reachable", ecb_plan(n, last_resort::last_reachable)});
  ways.push_back({"filling's ECB, least loaded", ecb_plan(n, last_resort::least_loaded)});
  ways.push_back({"steady even, last reachable",
                  even_plan(n, jobs::arrive_and_depart, last_resort::last_reachable)});
  ways.push_back({"steady even, least loaded",
                  even_plan(n, jobs::arrive_and_depart, last_resort::least_loaded)});
  return ways;
}

void print_bound(const needs& n) {
  const double least =
      oneprobe::model::lower_bound_loads(n.jobs_per_server, n.probes, 0).loads.variance();
  std::printf(
      "The least of any scheme that places every job with %.1f probes: variance %.2f, %.2f"
      " times flatter.\n\n",
      n.probes, least, n.jobs_per_server / least);
}

void show(std::uint64_t servers) {
  std::printf("%llu servers, %u candidates at most, budget %.1f probes per job\n\n",
              static_cast<unsigned long long>(servers), most_choices, probe_budget);
  const auto needs_at = [&](double jobs_per_server) {
    return needs{servers, jobs_per_server, most_choices, probe_budget, 0};
  };
  for (const double r : {64.0, 8.0}) {
    std::printf("Filling, %.0f jobs per server\n", r);
    print_table(for_filling(needs_at(r)), r, servers_answer::all, jobs::arrive);
    print_bound(needs_at(r));
  }
  std::printf("Filling, 64 jobs per server, one server in %llu does not answer\n",
              static_cast<unsigned long long>(silent_every));
  print_table(for_silence(needs_at(64)), 64, servers_answer::most, jobs::arrive);
  for (const double r : {64.0, 8.0}) {
    std::printf("\nA departure for every arrival, %.0f jobs per server\n", r);
    print_table(for_departures(needs_at(r)), r, servers_answer::all, jobs::arrive_and_depart);
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const long long servers = argc > 1 ? std::atoll(argv[1]) : 10'000;
    if (argc > 2 || servers < 1000 || servers > 1'000'000) {
      std::fprintf(stderr, "usage: balance_servers [SERVERS], from 1000 to 1000000\n");
      return 2;
    }
    show(static_cast<std::uint64_t>(servers));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "balance_servers: %s\n", error.what());
    return 1;
  }
}
