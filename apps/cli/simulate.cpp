#include "simulate.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "command.hpp"
#include "model/common.hpp"
#include "oneprobe/detail/base/levels.hpp"
#include "oneprobe/model/churn.hpp"
#include "oneprobe/model/partition.hpp"
#include "oneprobe/sim/simulate.hpp"
#include "progress.hpp"
#include "simulate/findings_report.hpp"
#include "simulate/prediction.hpp"

namespace oneprobe::cli {
namespace {

constexpr option buckets{"--buckets", "M", "number of buckets, m; 10M and 1e8 are numbers"};
constexpr option level_sizes{"--levels", "A,B,...", "multilevel: buckets in each level"};
constexpr option slots{"--bucket-capacity", "H", "slots per bucket, h (default: no limit)"};
constexpr option budget{"--accesses", "A", "stop placing after A accesses per element in total"};
constexpr option churning{
    "--churn", "NAME",
    "erase and insert at constant size; what leaves: random, oldest, or level "
    "(a random one of --level while it has any)"};
constexpr option emptied_level{"--level", "J",
                               "the level that --churn level empties; 1 is the first"};
constexpr option warm_up{"--warm-up", "T",
                         "turnovers before anything is counted (default 5; oldest 50)"};
constexpr option batches{"--batches", "B", "samples taken from each churning table (default 10)"};
constexpr option batch_turnovers{"--batch-turnovers", "T", "turnovers per sample (default 2)"};
constexpr option looks{"--looks", "X,Y,...",
                       "look when these shares of the elements have arrived (default 1)"};
constexpr option trials{"--trials", "T", "independent tables (default 10)"};
constexpr option seed{"--seed", "S", "start of all random numbers (default 1)"};
constexpr option threads{"--threads", "K",
                         "threads; the results are the same (default: all cores)"};

constexpr unsigned default_trials = 10;
constexpr unsigned most_threads = 1024;
// Where the oldest leave, every element stays equally long: the order of the filling comes back
// with every turnover and fades slowly. docs/simulator.md says how slowly.
constexpr double oldest_warm_up_turnovers = 50;
// Each is a walk over all buckets and a call of the model.
constexpr std::size_t most_looks = 1000;

constexpr std::array<word<sim::departure>, 3> departures{{
    {"random", sim::departure::random},
    {"oldest", sim::departure::oldest},
    {"level", sim::departure::one_level},
}};

std::uint64_t read_elements(const arguments& in, std::uint64_t m,
                            const std::optional<unsigned>& h) {
  in.exactly_one_of(elements, load_factor);
  if (!in.has(load_factor)) return in.count(elements);
  const double c = in.number(load_factor);
  if (!(c > 0)) throw usage_error(fmt::format("{} must be above 0; found {}", load_factor.flag, c));
  if (!h) throw usage_error("--load-factor needs --bucket-capacity; or give --elements");
  const double n = std::round(c * static_cast<double>(m) * *h);
  if (!(n >= 1 && n <= static_cast<double>(largest_count)))
    throw usage_error(
        fmt::format("--load-factor must come to 1 to 10^13 elements; found {:.6g}", n));
  return static_cast<std::uint64_t>(n);
}

/// The names that the library has for the options. A word of English is translated only where it
/// is the parameter that a sentence is about.
constexpr std::array<std::pair<std::string_view, const option*>, 13> names_of_options{{
    {"admit_probability", &admit_probability},
    {"access_budget", &budget},
    {"bucket_capacity", &slots},
    {"level_fractions", &level_fractions},
    {"level_sizes", &level_sizes},
    {"warm_up_turnovers", &warm_up},
    {"batch_turnovers", &batch_turnovers},
    {"batches", &batches},
    {"buckets", &buckets},
    {"choices", &choices},
    {"elements", &elements},
    {"looks", &looks},
    {"trials", &trials},
}};

/// A refusal of the library, in the names of the options.
std::string in_options(std::string_view refusal) {
  const std::size_t subject_end = refusal.find(" must ");
  std::string text;
  std::size_t at = 0;
  while (at < refusal.size()) {
    const std::size_t word_end = std::min(refusal.find_first_of(" ,;", at), refusal.size());
    const std::string_view word = refusal.substr(at, word_end - at);
    const auto found = std::find_if(names_of_options.begin(), names_of_options.end(),
                                    [&](const auto& each) { return each.first == word; });
    const bool is_name =
        word.find('_') != word.npos || (subject_end != refusal.npos && word_end <= subject_end);
    text += found != names_of_options.end() && is_name ? found->second->flag : word;
    at = word_end;
    if (at < refusal.size()) text += refusal[at++];
  }
  return text;
}

/// Calls the library; what it refuses is the fault of an option.
template <class Call>
auto asked_by_options(Call call) {
  try {
    return call();
  } catch (const std::invalid_argument& refused) {
    throw usage_error(in_options(refused.what()));
  }
}

unsigned whole_between(const arguments& in, const option& what, unsigned low, unsigned high) {
  const auto typed = in.maybe_text(what);
  if (!typed) return in.whole(what);  // says that it is missing
  try {
    if (const unsigned value = in.whole(what); value >= low && value <= high) return value;
  } catch (const usage_error&) {
    // Not a whole number: the same sentence.
  }
  throw usage_error(fmt::format("{} must be a whole number from {} to {}; found {}", what.flag, low,
                                high, in_quotes(*typed)));
}

unsigned read_candidates(const arguments& in, scheme_kind scheme) {
  if (scheme == scheme_kind::single) return read_choices(in, scheme);
  return whole_between(in, choices, 1, largest_choices);
}

sim::churn_settings read_churn(const arguments& in, unsigned levels_there) {
  sim::churn_settings how;
  how.leaves = in.choice(churning, departures);
  if (how.leaves == sim::departure::one_level) {
    const unsigned level = in.whole(emptied_level);
    if (level < 1 || level > levels_there)
      throw usage_error(fmt::format("--level must be from 1 to {}; found {}", levels_there, level));
    how.level = level - 1;
  }
  const double default_warm_up =
      how.leaves == sim::departure::oldest ? oldest_warm_up_turnovers : how.warm_up_turnovers;
  how.warm_up_turnovers = in.maybe_number(warm_up).value_or(default_warm_up);
  how.batch_turnovers = in.maybe_number(batch_turnovers).value_or(how.batch_turnovers);
  how.batches = in.maybe_whole(batches).value_or(how.batches);
  return how;
}

std::vector<double> read_looks(const arguments& in) {
  auto shares = in.numbers(looks);
  if (shares.size() > most_looks)
    throw usage_error(
        fmt::format("--looks must have at most {} items; found {}", most_looks, shares.size()));
  return shares;
}

std::uint64_t sum_of(const std::vector<std::uint64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{0});
}

unsigned checked_choices(const arguments& in, std::size_t items, const option& list) {
  const auto found = static_cast<unsigned>(items);
  const unsigned d = in.maybe_whole(choices).value_or(found);
  if (d != found)
    throw usage_error(
        fmt::format("{} must have as many items as --choices, {}; found {}", list.flag, d, found));
  return d;
}

std::vector<std::uint64_t> levels_of_least_overflow(const arguments& in, sim::scenario& what,
                                                    std::vector<std::string>& notes) {
  if (!what.bucket_capacity)
    throw usage_error("--levels is missing; without --bucket-capacity there are none to choose");
  what.choices = whole_between(in, choices, 1, largest_choices);
  const double c = static_cast<double>(what.elements) /
                   (static_cast<double>(what.buckets) * static_cast<double>(*what.bucket_capacity));
  const model::partition best =
      in.has(churning)
          ? model::least_overflow_partition_under_churn(c, *what.bucket_capacity, what.choices)
          : model::least_overflow_partition(c, *what.bucket_capacity, what.choices);
  if (std::any_of(best.level_fractions.begin(), best.level_fractions.end(),
                  [](double share) { return !(share > 0); }))
    throw usage_error(
        fmt::format("--choices {} is too large for this load: the first levels take everything, "
                    "and nothing is left to size the last by",
                    what.choices));
  auto sizes = split_into_levels(what.buckets, best.level_fractions);
  std::vector<std::string> shown;
  shown.reserve(sizes.size());
  for (const std::uint64_t size : sizes) shown.push_back(grouped(static_cast<double>(size)));
  notes.push_back(fmt::format("The levels, {} buckets, are those of least overflow {}.",
                              fmt::join(shown, " + "),
                              in.has(churning) ? "under churn" : "for a table that only fills"));
  return sizes;
}

void read_table(const arguments& in, sim::scenario& what, std::vector<std::string>& notes) {
  what.scheme = in.choice(scheme_of_all, all_schemes);
  what.bucket_capacity = in.maybe_whole(slots);
  if (what.bucket_capacity == 0U)
    throw usage_error("--bucket-capacity must be at least 1; found 0");
  if (what.scheme != scheme_kind::multilevel) {
    what.buckets = in.count(buckets);
    what.choices = read_candidates(in, what.scheme);
    what.elements = read_elements(in, what.buckets, what.bucket_capacity);
    return;
  }
  if (in.has(level_sizes)) {
    if (in.has(level_fractions)) throw usage_error("give --levels or --level-fractions, not both");
    what.level_sizes = in.counts(level_sizes);
    what.choices = checked_choices(in, what.level_sizes.size(), level_sizes);
    what.buckets = in.maybe_count(buckets).value_or(sum_of(what.level_sizes));
  } else {
    what.buckets = in.count(buckets);
  }
  if (what.buckets == 0) throw usage_error("--buckets must be at least 1; found 0");
  what.elements = read_elements(in, what.buckets, what.bucket_capacity);
  if (in.has(level_fractions)) {
    const auto fractions = in.numbers(level_fractions);
    what.choices = checked_choices(in, fractions.size(), level_fractions);
    for (const double share : fractions)
      if (!(share > 0 && share <= 1))
        throw usage_error(fmt::format(
            "each of --level-fractions must be above 0 and at most 1; found {:.6g}", share));
    if (what.buckets < fractions.size())
      throw usage_error(
          fmt::format("--buckets must be at least one for each level; found {}", what.buckets));
    what.level_sizes = split_into_levels(what.buckets, fractions);
  } else if (what.level_sizes.empty()) {
    what.level_sizes = levels_of_least_overflow(in, what, notes);
  }
}

/// Refuses what would be killed for want of memory half way.
void check_memory(const sim::scenario& what) {
  const double bytes = sim::memory_needed(what);
  const double machine =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (bytes > machine)
    throw system_failure(
        fmt::format("not enough memory: this needs {:.3g} GiB, the machine has {:.3g}; fewer "
                    "--threads or --trials need less",
                    bytes / 0x1p30, machine / 0x1p30));
}

/// What is too small for a limit of many buckets; empty if nothing is.
std::string too_small(const sim::scenario& what) {
  // The limit is off by about a bucket. Of a thousand, where a tenth have some load, that is a
  // tenth of the spread of their number; of a level of ten it is a tenth of the level.
  constexpr std::uint64_t few_buckets = 1000;
  constexpr std::uint64_t few_in_level = 10;
  const std::uint64_t all = what.level_sizes.empty() ? what.buckets : sum_of(what.level_sizes);
  if (all < few_buckets) return fmt::format("a table of {}", all);
  std::uint64_t least = all;
  for (const std::uint64_t size : what.level_sizes) least = std::min(least, size);
  return least < few_in_level ? fmt::format("a level of {}", least) : std::string();
}

report answer(const arguments& in) {
  sim::scenario what;
  std::vector<std::string> notes;
  asked_by_options([&] { read_table(in, what, notes); });
  what.admit_probability = in.maybe_number(admit_probability).value_or(0.0);
  what.trials = in.maybe_whole(trials).value_or(default_trials);
  what.seed = in.maybe_seed(seed).value_or(what.seed);
  if (in.has(threads)) what.threads = whole_between(in, threads, 1, most_threads);
  if (in.has(churning)) {
    for (const option* of_filling : {&looks, &budget})
      if (in.has(*of_filling))
        throw usage_error(fmt::format("{} does not apply with --churn", of_filling->flag));
    what.churn = read_churn(in, what.choices);
  } else {
    what.access_budget = in.maybe_number(budget);
    if (in.has(looks)) what.looks = read_looks(in);
  }
  // Before the work, not after it.
  in.refuse_unread();
  asked_by_options([&] { check_memory(what); });

  progress_bar bar;
  const sim::findings found =
      sim::simulate(what, [&](double done) { bar.show(done, "simulating"); });
  const prediction said = predict(what);

  if (!said.missing.empty())
    notes.push_back(fmt::format("Not predicted: {}.", said.missing));
  else
    notes.push_back(
        fmt::format("Predicted by {}. Deviations are in standard errors.", said.source));
  // A standard error of k samples is itself uncertain by a part of 1 / sqrt(2 (k - 1)).
  constexpr unsigned enough_samples = 10;
  const double samples = static_cast<double>(what.trials) * (what.churn ? what.churn->batches : 1);
  if (said.missing.empty() && samples > 1 && samples < enough_samples)
    notes.emplace_back("So few samples know their standard error badly: see more of them first.");
  if (const std::string small = too_small(what); said.missing.empty() && !small.empty())
    notes.push_back(
        fmt::format("The prediction is a limit of many buckets and does not hold for {}.", small));
  if (!found.end().levels.empty()) notes.emplace_back("The loads of each level: with --json.");
  if (!in.ignored().empty())
    notes.push_back(fmt::format("Ignored: {}.", fmt::join(in.ignored(), " ")));
  return report_of(what, found, said, notes);
}

const command simulate_command{
    .name = "simulate",
    .summary = "run a scheme on a table of counters, beside the model",
    .details =
        "Fills a table of load counters with the placement code of the library, or fills and then "
        "churns it, and shows what was found with its standard error beside what the models "
        "predict. Multilevel without --levels and --level-fractions uses those of least overflow. "
        "The same seed gives the same findings, whatever the number of threads.",
    .source = "",
    .example = "--scheme multilevel --buckets 100k --choices 4 --bucket-capacity 4 --load-factor 1",
    .options = {{&scheme_of_all},
                {&buckets, need::optional},
                {&level_sizes, need::optional},
                {&level_fractions, need::optional},
                {&choices, need::optional},
                {&slots, need::optional},
                {&admit_probability, need::optional},
                {&elements, need::optional},
                {&load_factor, need::optional},
                {&budget, need::optional},
                {&looks, need::optional},
                {&churning, need::optional},
                {&emptied_level, need::optional},
                {&warm_up, need::optional},
                {&batches, need::optional},
                {&batch_turnovers, need::optional},
                {&trials, need::optional},
                {&seed, need::optional},
                {&threads, need::optional}},
    .answer = answer,
};

}  // namespace

void add_simulate(CLI::App& app) { add_command(app, simulate_command); }

}  // namespace oneprobe::cli
