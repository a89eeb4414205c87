#include "bench.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "bench/boost_bloom.hpp"
#include "bench/commands.hpp"
#include "bench/filters_report.hpp"
#include "bench/kinds.hpp"
#include "bench/line_limit.hpp"
#include "bench/machine.hpp"
#include "bench/our_filters.hpp"
#include "group.hpp"
#include "oneprobe/detail/simd/isa.hpp"
#include "progress.hpp"

namespace oneprobe::cli {
namespace {

constexpr option element_count{"--elements", "N", "elements in each filter (default 10M)"};
constexpr option memory_per_element{"--bits-per-element", "B,B,...",
                                    "bits of memory per element, all of it counted (default 16)"};
constexpr option round_count{"--rounds", "R", "rounds over all of them (default 5)"};
constexpr option chosen_kinds{
    "--kind", "NAME,...",
    "only these: standard, partitioned, blocked, counting, balanced, fingerprint, boost (default "
    "all)"};
constexpr option vector_level{"--simd", "LEVEL",
                              "use at most: plain, avx2, avx512 (default what the processor has)"};
constexpr option key_seed{"--seed", "S", "start of the random keys (default 1)"};

constexpr std::uint64_t default_elements = 10'000'000;
constexpr double default_bits = 16;
constexpr unsigned default_rounds = 5;
constexpr unsigned most_rounds = 1000;
// Fewer do not fill a filter; more would need a hundred gigabytes for all of them at once.
constexpr std::uint64_t fewest_elements = 1000;
constexpr std::uint64_t most_elements = 4'000'000'000;
constexpr double fewest_bits = 4;
constexpr double most_bits = 64;
// A quarter of the elements, and enough for a clock.
constexpr std::uint64_t fewest_queries = 100'000;
constexpr std::uint64_t elements_per_query = 4;

constexpr std::array<word<contender_kind>, 7> kind_names{{
    {"standard", contender_kind::standard},
    {"partitioned", contender_kind::partitioned},
    {"blocked", contender_kind::blocked},
    {"counting", contender_kind::counting},
    {"balanced", contender_kind::balanced},
    {"fingerprint", contender_kind::fingerprint},
    {"boost", contender_kind::boost},
}};

constexpr std::array<word<isa>, 3> level_names{{
    {"plain", isa::plain},
    {"avx2", isa::avx2},
    {"avx512", isa::avx512},
}};

std::vector<contender_kind> read_kinds(const arguments& in) {
  std::vector<contender_kind> kinds =
      cli::read_kinds(in, chosen_kinds, kind_names,
                      "standard, partitioned, blocked, counting, balanced, fingerprint or boost");
  if (kinds == std::vector{contender_kind::boost} && boost_bloom_state() == peer_state::absent)
    throw usage_error("--kind boost needs cmake -DONEPROBE_PEER_BOOST_BLOOM=DIR");
  return kinds;
}

race_settings read_settings(const arguments& in) {
  race_settings settings;
  settings.elements = in.maybe_count(element_count).value_or(default_elements);
  if (settings.elements < fewest_elements || settings.elements > most_elements)
    throw usage_error(fmt::format("--elements must be from {} to {}; found {}", fewest_elements,
                                  most_elements, settings.elements));
  settings.rounds = in.maybe_whole(round_count).value_or(default_rounds);
  if (settings.rounds < 1 || settings.rounds > most_rounds)
    throw usage_error(
        fmt::format("--rounds must be from 1 to {}; found {}", most_rounds, settings.rounds));
  settings.queries = std::max(settings.elements / elements_per_query, fewest_queries);
  settings.seed = in.maybe_seed(key_seed).value_or(settings.seed);
  return settings;
}

std::vector<double> read_bits(const arguments& in) {
  if (!in.has(memory_per_element)) return {default_bits};
  std::vector<double> sizes = in.numbers(memory_per_element);
  for (const double bits : sizes)
    if (!(bits >= fewest_bits && bits <= most_bits))
      throw usage_error(fmt::format("--bits-per-element must be from {} to {}; found {}",
                                    fewest_bits, most_bits, bits));
  return sizes;
}

contender_list all_contenders(const contest_size& size, const std::vector<contender_kind>& kinds,
                              std::vector<std::string>& left_out) {
  contender_list list;
  const auto bytes = static_cast<std::uint64_t>(
      std::llround(static_cast<double>(size.elements) * size.bits_per_element / 8));
  list.push_back(make_line_limit(bytes, size.hash, line_asking::first_cache));
  list.push_back(make_line_limit(bytes, size.hash, line_asking::own_ring));
  our_filters ours = make_our_filters(size, kinds);
  std::move(ours.list.begin(), ours.list.end(), std::back_inserter(list));
  left_out = std::move(ours.left_out);
  if (std::find(kinds.begin(), kinds.end(), contender_kind::boost) != kinds.end()) {
    contender_list peers = make_boost_bloom(size);
    std::move(peers.begin(), peers.end(), std::back_inserter(list));
  }
  return list;
}

report answer(const arguments& in) {
  const race_settings settings = read_settings(in);
  const std::vector<double> sizes = read_bits(in);
  const std::vector<contender_kind> kinds = read_kinds(in);
  const isa level = in.maybe_choice(vector_level, level_names).value_or(most_simd);
  in.refuse_unread();  // before the work, which takes a while
  limit_simd(level);
  const machine_facts machine = describe_machine();
  progress_bar bar;
  std::vector<filter_contest> contests;
  for (const double bits : sizes) {
    filter_contest contest;
    contest.size = {.elements = settings.elements,
                    .bits_per_element = bits,
                    .hash = seeded_hash(settings.seed)};
    contest.settings = settings;
    const contender_list contenders = all_contenders(contest.size, kinds, contest.left_out);
    const auto tell = [&](double done, std::string_view what) {
      const auto before = static_cast<double>(contests.size());
      bar.show((before + done) / static_cast<double>(sizes.size()),
               fmt::format("{} bits, {}", bits, what));
    };
    std::vector<race_result> results = race(contenders, settings, tell);
    for (std::size_t i = 0; i < results.size(); ++i)
      contest.entries.push_back({contenders[i]->facts(), std::move(results[i])});
    contests.push_back(std::move(contest));
  }
  return report_of(contests, machine);
}

const command filters_command{
    .name = "filters",
    .summary = "all filters, Boost.Bloom if it is there, and the bare memory, in one run",
    .details =
        "Every filter gets the same memory, the same random 64-bit keys and the same hash. Rounds "
        "go over all of them in turn, so that what disturbs the machine disturbs neighbours alike: "
        "compare ratios, which are taken within a round, rather than times. Times are CPU time of "
        "one thread in ns per operation, the median of the rounds; hashing the key is included and "
        "nothing is subtracted. \"one\": a loop over the call for one key; \"bulk\": the call for "
        "many keys. insert: into filters from empty until 2 % are missing; those are inserted one "
        "by one and watched, each by the wall clock. negative: keys that were not inserted. "
        "positive: keys that were. FPR: false positives of the negatives asked. \"one "
        "random line\": one word read from a random cache line of an array as large as the filter, "
        "in a plain loop and (bulk) with a rolling ring of 32 prefetches to the first cache; \"our "
        "ring\": bulk as our filters ask for lines, and no filter out of the cache can be faster. "
        "lines: cache lines that a negative query touches, counted. f and h: bits of a remainder "
        "and remainders of a bucket, of a fingerprint filter. In JSON: "
        "fpr_model is predicted for the plan and current_fpr follows from the bits as they are; "
        "accesses are blocks (bits, where there are no blocks) and the overflow list. Every answer "
        "is checked: a false negative, a bulk answer that differs or more false positives than "
        "chance explains end the run with exit code 1.",
    .source = "",
    .example = "--elements 1M --bits-per-element 12,20 --rounds 3",
    .options = {{&element_count, need::optional},
                {&memory_per_element, need::optional},
                {&round_count, need::optional},
                {&chosen_kinds, need::optional},
                {&vector_level, need::optional},
                {&key_seed, need::optional}},
    .answer = answer,
};

const command_group bench_group{
    .name = "bench",
    .summary = "measure on this machine",
    .text = "measure on this machine, products beside peers",
    .more = "",
    .example = "filters --elements 1M --rounds 3",
    .commands = {&filters_command, &bench_tables_command, &bench_readers_command,
                 &bench_store_command},
};

}  // namespace

void add_bench(CLI::App& app) { add_group(app, bench_group); }

}  // namespace oneprobe::cli
