#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "bench/commands.hpp"
#include "bench/kinds.hpp"
#include "bench/machine.hpp"
#include "bench/our_tables.hpp"
#include "bench/table_contest.hpp"
#include "bench/table_peers.hpp"
#include "bench/tables_report.hpp"
#include "progress.hpp"

namespace oneprobe::cli {
namespace {

constexpr option element_count{"--elements", "N", "elements in each table (default 2M)"};
constexpr option round_count{"--rounds", "R", "rounds over all of them (default 3)"};
constexpr option churn_amount{
    "--churn", "K", "churn operations per element in each round, 0 for none (default 10)"};
constexpr option chosen_kinds{
    "--kind", "NAME,...",
    "only these: ours, boost, absl, libcuckoo, tbb, std, rte (default all that are there)"};
constexpr option key_seed{"--seed", "S", "start of the random keys and the hash (default 1)"};

constexpr std::uint64_t default_elements = 2'000'000;
constexpr unsigned most_rounds = 1000;
constexpr double most_churn = 10'000;
// Fewer do not fill a table; more would need tens of gigabytes for one of them.
constexpr std::uint64_t fewest_elements = 1000;
constexpr std::uint64_t most_elements = 500'000'000;
// A quarter of the elements, and enough for a clock.
constexpr std::uint64_t fewest_queries = 100'000;
constexpr std::uint64_t elements_per_query = 4;

constexpr std::array<word<table_kind>, 7> kind_names{{
    {"ours", table_kind::ours},
    {"boost", table_kind::boost},
    {"absl", table_kind::absl},
    {"libcuckoo", table_kind::libcuckoo},
    {"tbb", table_kind::tbb},
    {"std", table_kind::standard},
    {"rte", table_kind::rte},
}};

std::vector<table_kind> read_kinds(const arguments& in) {
  return cli::read_kinds(in, chosen_kinds, kind_names,
                         "ours, boost, absl, libcuckoo, tbb, std or rte");
}

std::uint64_t read_elements(const arguments& in) {
  const std::uint64_t elements = in.maybe_count(element_count).value_or(default_elements);
  if (elements < fewest_elements || elements > most_elements)
    throw usage_error(fmt::format("--elements must be from {} to {}; found {}", fewest_elements,
                                  most_elements, elements));
  return elements;
}

table_race_settings read_settings(const arguments& in, std::uint64_t elements) {
  table_race_settings settings;
  settings.rounds = in.maybe_whole(round_count).value_or(settings.rounds);
  if (settings.rounds < 1 || settings.rounds > most_rounds)
    throw usage_error(
        fmt::format("--rounds must be from 1 to {}; found {}", most_rounds, settings.rounds));
  settings.churn = in.maybe_number(churn_amount).value_or(settings.churn);
  if (!(settings.churn >= 0 && settings.churn <= most_churn))
    throw usage_error(
        fmt::format("--churn must be from 0 to {}; found {}", most_churn, settings.churn));
  settings.queries = std::max(elements / elements_per_query, fewest_queries);
  settings.seed = in.maybe_seed(key_seed).value_or(settings.seed);
  return settings;
}

report answer(const arguments& in) {
  table_contest contest;
  contest.size.elements = read_elements(in);
  contest.settings = read_settings(in, contest.size.elements);
  contest.size.hash = seeded_hash(contest.settings.seed);
  const std::vector<table_kind> kinds = read_kinds(in);
  in.refuse_unread();  // before the work, which takes a while
  const machine_facts machine = describe_machine();

  table_list tables;
  if (std::find(kinds.begin(), kinds.end(), table_kind::ours) != kinds.end())
    tables = make_our_tables(contest.size);
  table_peers peers = load_table_peers(contest.size, kinds);
  std::move(peers.list.begin(), peers.list.end(), std::back_inserter(tables));
  contest.absent = std::move(peers.absent);
  if (tables.empty())
    throw usage_error(fmt::format("--kind names only what is absent: {}: {}",
                                  contest.absent.front().name, contest.absent.front().why));

  progress_bar bar;
  std::vector<table_result> results = race_tables(
      tables, contest.settings, [&](double done, std::string_view what) { bar.show(done, what); });
  for (std::size_t i = 0; i < results.size(); ++i)
    contest.entries.push_back({tables[i]->facts(), std::move(results[i])});
  return report_of(contest, machine);
}

}  // namespace

const command bench_tables_command{
    .name = "tables",
    .summary = "our tables and those peers that are there, in one run",
    .details =
        "The tables are ours, boost::unordered_flat_map, absl::flat_hash_map, libcuckoo, "
        "tbb::concurrent_hash_map, std::unordered_map and DPDK's rte_hash. Every one maps the same "
        "random 64-bit keys to 64-bit values, by the same hash (rte_hash: folded to its 32 bits), "
        "with room reserved in advance and large arrays on huge "
        "pages. In each round the tables are built, measured and dropped in turn; compare ratios, "
        "which are taken within a round, rather than times. Times are CPU time of one thread in ns "
        "per operation, the median of the rounds. load: elements over slots (over buckets where "
        "there are chains); our tables are at the load of their default plan, \"rte_hash filled\" "
        "at as many entries as its buckets have slots, \"libcuckoo at 0.944\" at that load. B/el: "
        "all bytes allocated (small pieces: what malloc gives) over the elements. insert: from "
        "empty to full, page faults included. hit, miss: a loop over the call for one key. chain: "
        "a hit whose key is known only when the value before it has arrived. hit*, miss*: the call "
        "for many keys, ours 8192 at a time, rte_hash 64, the most it takes; in JSON bulk64 is "
        "ours "
        "by 64 as well. p50 to max: single insertions by a fenced rdtsc (elsewhere clock_gettime), "
        "less the cost of the clock; this is wall-clock time, so other programs show, mostly in "
        "max, the worst of all rounds; max* is the worst without the time in which the thread did "
        "not run, though what a host takes from a virtual machine counts as running. An insertion "
        "that is refused counts there and under failed. "
        "Churn: one random element leaves, one comes, at constant size. A filling of its own, "
        "every "
        "insertion of which is watched, ends each round. In JSON: accesses and "
        "lines are counted for our tables over samples of keys, null for peers; "
        "churn_overflow_fraction is a mean over the second half of the churn beside the model's. "
        "Every answer is checked: an element not found, found wrongly or with another value ends "
        "the run with exit code 1. A peer that is not installed when the tool is configured is "
        "named as absent; ./run bench installs them. At 20M elements a round of everything takes "
        "about half an hour, and 2 to 3 GB.",
    .source = "",
    .example = "--elements 1M --rounds 2 --churn 5",
    .options = {{&element_count, need::optional},
                {&round_count, need::optional},
                {&churn_amount, need::optional},
                {&chosen_kinds, need::optional},
                {&key_seed, need::optional}},
    .answer = answer,
};

}  // namespace oneprobe::cli
