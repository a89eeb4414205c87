// Trials of the summaries at length, for the record: prints JSON.
//
//   summary_trials failures --builds 1000000
//       SSH, Section X: the paper's single filter for 10,000 elements and its smaller variant,
//       built again and again: how often any element is misdirected. Some of the builds are also
//       made as maps, which must fail in the same ones. Says whether the count is consistent with
//       the plan.
//   summary_trials moves --builds 100000
//       SSH, Section XI-A: elements that a reconstruction moves.
//   summary_trials counters --builds 1000000
//       SSH, Section XI-B: the largest counters of the counting multi-filter summary, beside their
//       law.
//   summary_trials absent --builds 100 --queries 100000
//       buckets that absent keys read, in maps of every kind, beside the plans.
//   summary_trials deletions --elements 10000 --turnovers 10 --seeds 5
//       counting and lazy deletion under three orders of departure.
//   summary_trials break-even --elements 1000000
//       how much a bucket access must cost for a summary to pay.
//
// Exit code 1 if a map broke its word, an element lost, a second bucket read, or if failures are
// inconsistent with the plan; 2 if the command line makes no sense. docs/summary-trials.md says
// what was found.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <functional>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "oneprobe/map/bounded_map.hpp"
#include "oneprobe/model/crisis.hpp"
#include "oneprobe/model/poisson.hpp"
#include "oneprobe/model/summary.hpp"
#include "oneprobe/one_probe/interpolation_summary.hpp"
#include "support/sampled.hpp"
#include "support/summary_trial.hpp"
#include "trials/command_line.hpp"

namespace {

using namespace oneprobe;
using nlohmann::json;
using summaries::built;
using summaries::departures;
using summaries::number_map;

struct settings {
  std::uint64_t builds = 1'000;
  std::uint64_t queries = 100'000;
  std::uint64_t elements = 10'000;
  std::uint64_t turnovers = 10;
  std::uint64_t seeds = 5;
  std::uint64_t threads = trials::threads_here();
};

json to_json(const sampled& value) {
  return {{"mean", value.mean}, {"standard_error", value.standard_error}};
}

void print(const json& what) { std::printf("%s\n", what.dump(2).c_str()); }

/// Ranges of builds, so that each task has some seconds of work at most.
struct range {
  std::uint64_t first, last;
};
std::vector<range> ranges_of(std::uint64_t builds) {
  std::vector<range> ranges;
  constexpr std::uint64_t each = 500;
  for (std::uint64_t first = 0; first < builds; first += each)
    ranges.push_back({first, std::min(builds, first + each)});
  return ranges;
}

void tell(const char* what, std::size_t done, std::size_t all) {
  if (done % 20 == 0) std::fprintf(stderr, "%s: part %zu of %zu\n", what, done, all);
}

int failures(const settings& how) {
  const std::vector<range> ranges = ranges_of(how.builds);
  // A map takes as long as ten builds without one.
  constexpr std::uint64_t maps_in_each = 10;
  std::vector<json> rows;
  bool kept = true;
  for (const std::string_view name : {"ssh-10k-single", "ssh-10k-single-small"}) {
    const summary_plan plan = paper_summary(name).value();
    std::vector<built> parts(ranges.size()), maps(ranges.size()), same(ranges.size());
    trials::in_parallel(ranges.size(), how.threads, [&](std::size_t i) {
      const auto [first, last] = ranges[i];
      const std::uint64_t last_map = std::min(last, first + maps_in_each);
      maps[i] = summaries::build_many<single_filter_summary>(plan, first, last_map, 100);
      same[i] = summaries::build_bare<single_filter_summary>(plan, first, last_map, 100);
      parts[i] = same[i];
      parts[i].merge(summaries::build_bare<single_filter_summary>(plan, last_map, last, 100));
      tell(name.data(), i, ranges.size());
    });
    built all, all_maps, all_same;
    for (const built& part : parts) all.merge(part);
    for (const built& part : maps) all_maps.merge(part);
    for (const built& part : same) all_same.merge(part);
    kept = kept && all.lost == 0 && all_maps.lost == 0 && all_maps.accesses <= 1 &&
           all_maps.failed_builds == all_same.failed_builds && all_maps.levels == all_same.levels;
    const double expected =
        static_cast<double>(all.builds) *
        (plan.predicted.failure_probability + plan.predicted.equal_hash_probability);
    // Two-sided: the bound is tight where failures are rare.
    constexpr double least_probability = 1e-3;
    const double at_least = model::poisson_at_least(expected, all.failed_builds),
                 at_most = model::poisson_at_most(expected, all.failed_builds);
    const double as_far = std::min(1.0, 2 * std::min(at_least, at_most));
    const bool consistent = as_far >= least_probability;
    kept = kept && consistent;
    json levels;
    for (std::uint32_t i = 0; i < plan.levels; ++i)
      levels.push_back(all.levels[i] / static_cast<double>(all.builds));
    rows.push_back({{"design", name},
                    {"builds", all.builds},
                    {"failed_builds", all.failed_builds},
                    {"failed_builds_expected_at_most", expected},
                    {"probability_of_as_many_or_more", at_least},
                    {"probability_of_as_far_off", as_far},
                    {"consistent", consistent},
                    {"crises", all.crises},
                    {"misdirected", all.lost},
                    {"maps", all_maps.builds},
                    {"maps_failed", all_maps.failed_builds},
                    {"lost", all_maps.lost},
                    {"most_accesses", all_maps.accesses},
                    {"elements_by_level", levels}});
  }
  print({{"trial", "failures"}, {"designs", rows}});
  return kept ? 0 : 1;
}

int moves(const settings& how) {
  std::vector<json> rows;
  for (const auto& [order, printed] :
       {std::pair(departures::uniform, 96.98), std::pair(departures::first_level, 114.25)}) {
    std::vector<double> moved(how.builds);
    trials::in_parallel(how.builds, how.threads, [&, order = order](std::size_t i) {
      moved[i] = static_cast<double>(summaries::moves_of_reconstruction(order, i + 1));
    });
    const sampled mean = sampled::of(moved);
    rows.push_back({{"departures", name_of(order)},
                    {"trials", how.builds},
                    {"moved", to_json(mean)},
                    {"printed", printed},
                    {"standard_errors_off", (mean.mean - printed) / mean.standard_error},
                    {"least", *std::min_element(moved.begin(), moved.end())},
                    {"most", *std::max_element(moved.begin(), moved.end())}});
  }
  print({{"trial", "moves"}, {"rows", rows}});
  return 0;
}

int counters(const settings& how) {
  // 16 bits, as the paper has them where it looks for the largest.
  summary_plan plan = paper_summary("ssh-10k-counting").value();
  plan.counter_bits = {16, 16, 16, 16, 16};
  using largest = std::array<std::uint64_t, summary_plan::most_levels>;
  const std::vector<range> ranges = ranges_of(how.builds);
  std::vector<largest> parts(ranges.size());
  // Where the cells of each filter end, as changes number them.
  std::array<std::uint64_t, summary_plan::most_levels> end{};
  std::uint64_t cells = 0;
  for (std::uint32_t i = 0; i < plan.levels; ++i) end[i] = cells += plan.filter_cells[i];
  std::vector<std::uint64_t> failed(ranges.size());
  trials::in_parallel(ranges.size(), how.threads, [&](std::size_t part) {
    summaries::bare_build<counting_multi_filter_summary> bare(plan);
    for (std::uint64_t build = ranges[part].first; build < ranges[part].last; ++build) {
      bare.fill(build, [&](const cell_changes& changed) {
        std::size_t filter = 0;
        for (const cell_changes::change& one : changed.all()) {
          while (one.cell >= end[filter]) ++filter;
          parts[part][filter] = std::max(parts[part][filter], one.before + 1);
        }
      });
      failed[part] += bare.fails() ? 1u : 0u;
    }
    tell("counters", part, ranges.size());
  });
  largest all{};
  for (const largest& part : parts)
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = std::max(all[i], part[i]);
  const model::crisis_result filled =
      model::crisis(plan.elements, std::span(plan.level_buckets).first(plan.levels));
  std::vector<double> expected, as_seen, at_most;
  for (std::uint32_t i = 0; i < plan.levels; ++i) {
    constexpr unsigned most_value = 24;
    const model::counter_law law = model::counters_reaching(
        filled.left_after[i], static_cast<double>(plan.filter_cells[i]), plan.filter_hashes[i],
        i < plan.counted_once_from ? model::counted::each_hash : model::counted::once, most_value);
    const std::vector<double> reached =
        model::largest_counter_at_least(law, static_cast<double>(how.builds));
    const auto at_least = [&](std::uint64_t value) {
      return value == 0 ? 1.0 : value > most_value ? 0.0 : reached[value - 1];
    };
    expected.push_back(std::accumulate(reached.begin(), reached.end(), 0.0));
    as_seen.push_back(at_least(all[i]) - at_least(all[i] + 1));
    at_most.push_back(1 - at_least(all[i] + 1));
  }
  print({{"trial", "counters"},
         {"builds", how.builds},
         {"largest_expected", expected},
         {"probability_of_largest", as_seen},
         {"probability_of_at_most_largest", at_most},
         {"failed_builds", std::accumulate(failed.begin(), failed.end(), std::uint64_t{0})},
         {"largest", std::vector<std::uint64_t>(all.begin(), all.begin() + plan.levels)},
         {"printed_for_a_million", {12, 11, 12, 4, 1}}});
  return 0;
}

/// Maps that were filled, or also churned, of which some were erased, then asked for absent keys.
template <class Summary>
json absent_row(const std::string& name, const summary_plan& plan, const settings& how,
                std::uint64_t turnovers, bool& kept, std::uint64_t erased = 0) {
  std::vector<double> reads(how.builds), positives(how.builds);
  std::vector<std::uint64_t> accesses(how.builds);
  trials::in_parallel(how.builds, how.threads, [&](std::size_t i) {
    // Lazy and incremental maps differ in what comes later only: other elements for each.
    const std::uint64_t seed = i + 1 + erased;
    number_map<Summary> map(plan, seeded_hash(seed));
    summaries::life lived(map, seed);
    lived.fill(plan.elements + (plan.is_lazy() ? plan.deleted_limit : 0));
    lived.churn(turnovers * plan.elements, departures::uniform);
    for (std::uint64_t gone = 0; gone < erased; ++gone) lived.remove(departures::uniform);
    const summaries::in_vain seen = summaries::ask_absent(map, how.queries, seed);
    reads[i] = seen.reads;
    positives[i] = seen.false_positives;
    accesses[i] = seen.most_accesses;
  });
  const auto off = [](const sampled& seen, double expected) {
    return (seen.mean - expected) / seen.standard_error;
  };
  const sampled read = sampled::of(reads), positive = sampled::of(positives);
  const std::uint64_t most = *std::max_element(accesses.begin(), accesses.end());
  kept = kept && most <= 1;
  return {{"design", name},
          {"maps", how.builds},
          {"queries", how.queries},
          {"reads", to_json(read)},
          {"reads_planned", plan.predicted.absent_read_probability},
          {"reads_standard_errors_off", off(read, plan.predicted.absent_read_probability)},
          {"false_positives", to_json(positive)},
          {"false_positives_planned", plan.predicted.false_positive_probability},
          {"false_positives_standard_errors_off",
           off(positive, plan.predicted.false_positive_probability)},
          {"most_accesses", most}};
}

summary_plan planned(summary_kind kind, std::uint64_t elements,
                     summary_deletion deletion = summary_deletion::counting) {
  return plan_summary({.elements = elements,
                       .deletion = deletion,
                       .kind = kind,
                       .detail = plan_detail::plan_only})
      .plan.value();
}

int absent(const settings& how) {
  bool kept = true;
  std::vector<json> rows;
  const auto paper_of = [](std::string_view name) { return paper_summary(name).value(); };
  rows.push_back(absent_row<single_filter_summary>("ssh-10k-single", paper_of("ssh-10k-single"),
                                                   how, 0, kept));
  rows.push_back(
      absent_row<multi_filter_summary>("ssh-10k-multi", paper_of("ssh-10k-multi"), how, 0, kept));
  rows.push_back(absent_row<counting_single_filter_summary>(
      "planned counting single filter, 5 turnovers",
      planned(summary_kind::single_filter, how.elements), how, 5, kept));
  rows.push_back(absent_row<counting_multi_filter_summary>(
      "planned counting multi-filter, 5 turnovers",
      planned(summary_kind::multi_filter, how.elements), how, 5, kept));
  rows.push_back(absent_row<interpolation_summary>("interpolation, 14-bit remainders, 5 turnovers",
                                                   summaries::with_short_strings(how.elements), how,
                                                   5, kept));
  // As many marked as there may be before a reconstruction begins.
  for (const auto kind : {summary_kind::single_filter, summary_kind::multi_filter})
    for (const auto deletion : {summary_deletion::lazy, summary_deletion::incremental}) {
      const summary_plan plan = planned(kind, how.elements, deletion);
      const std::uint64_t limit =
          deletion == summary_deletion::lazy ? plan.deleted_limit : plan.deleted_limit / 2;
      const std::uint64_t marked = std::max<std::uint64_t>(limit, 1) - 1;
      const std::string name = "planned " + std::string(name_of(kind)) + ", " +
                               std::string(name_of(deletion)) + ", " + std::to_string(marked) +
                               " marked";
      rows.push_back(kind == summary_kind::single_filter
                         ? absent_row<single_filter_summary>(name, plan, how, 0, kept, marked)
                         : absent_row<multi_filter_summary>(name, plan, how, 0, kept, marked));
    }
  print({{"trial", "absent"}, {"rows", rows}});
  return kept ? 0 : 1;
}

/// What was seen of one map after each turnover, and in the end.
struct life_seen {
  struct look {
    double false_positives = 0, reads = 0, failures = 0, crises = 0, overflow = 0, beyond = 0,
           marked = 0;
  };
  std::vector<look> looks;
  one_probe_stats stats;
  std::uint64_t lost = 0;
  bool room = true;
};

/// A map under one order of departure.
template <class Summary>
life_seen live(const summary_plan& plan, departures order, const settings& how,
               std::uint64_t seed) {
  number_map<Summary> map(plan, seeded_hash(seed));
  summaries::life lived(map, seed);
  lived.fill(plan.elements);
  life_seen seen;
  std::uint64_t failures_before = 0;
  for (std::uint64_t turnover = 1; turnover <= how.turnovers && seen.room; ++turnover) {
    seen.room = lived.churn(plan.elements, order);
    const one_probe_stats stats = map.stats();
    const summaries::in_vain asked = summaries::ask_absent(map, how.queries, turnover);
    life_seen::look look{.false_positives = asked.false_positives, .reads = asked.reads};
    look.failures = static_cast<double>(stats.failures - failures_before);
    look.crises = static_cast<double>(stats.crises);
    look.overflow = static_cast<double>(stats.counts.overflow);
    look.marked = static_cast<double>(stats.marked);
    for (std::uint32_t i = 1; i < plan.levels; ++i)
      look.beyond += static_cast<double>(stats.counts.levels[i]);
    seen.looks.push_back(look);
    failures_before = stats.failures;
  }
  for (const std::uint64_t key : lived.keys()) seen.lost += map.contains(key) ? 0u : 1u;
  seen.stats = map.stats();
  return seen;
}

/// A design under an order of departure, to be tried with several seeds.
struct deletion_case {
  std::string name;
  summary_plan plan;
  departures order;
  std::function<life_seen(std::uint64_t seed)> live;
};

/// Means over the seeds; of what one change may do, the most.
json deletion_row(const deletion_case& tried, const std::vector<life_seen>& seeds) {
  const summary_plan& plan = tried.plan;
  json looks = json::array();
  for (std::size_t at = 0;; ++at) {
    std::vector<life_seen::look> here;
    for (const life_seen& one : seeds)
      if (at < one.looks.size()) here.push_back(one.looks[at]);
    if (here.empty()) break;
    const auto mean = [&](double life_seen::look::*what) {
      double sum = 0;
      for (const life_seen::look& one : here) sum += one.*what;
      return sum / static_cast<double>(here.size());
    };
    using look = life_seen::look;
    looks.push_back({{"turnovers", at + 1},
                     {"false_positives", mean(&look::false_positives)},
                     {"reads", mean(&look::reads)},
                     {"failures", mean(&look::failures)},
                     {"crises", mean(&look::crises)},
                     {"overflow", mean(&look::overflow)},
                     {"beyond_first_level", mean(&look::beyond)},
                     {"marked", mean(&look::marked)}});
  }
  std::vector<double> positives;
  std::uint64_t reconstructions = 0, moved = 0, most_work = 0, lost = 0;
  bool room = true;
  for (const life_seen& one : seeds) {
    double sum = 0;
    for (const life_seen::look& look : one.looks) sum += look.false_positives;
    positives.push_back(sum / static_cast<double>(one.looks.size()));
    reconstructions += one.stats.reconstructions;
    moved += one.stats.moved;
    most_work = std::max(most_work, one.stats.most_work);
    lost += one.lost;
    room = room && one.room;
  }
  return {
      {"design", tried.name},
      {"departures", name_of(tried.order)},
      {"seeds", seeds.size()},
      {"found_room", room},
      {"false_positives_planned", plan.predicted.false_positive_probability},
      {"false_positives", to_json(sampled::of(positives))},
      {"reads_planned", plan.predicted.absent_read_probability},
      {"failures_per_turnover_planned", plan.predicted.overflow_mean},
      {"looks", looks},
      {"reconstructions", reconstructions},
      {"moved_per_reconstruction",
       reconstructions == 0 ? 0.0
                            : static_cast<double>(moved) / static_cast<double>(reconstructions)},
      {"most_work", most_work},
      {"work_per_change", plan.work_per_change},
      {"deleted_limit", plan.deleted_limit},
      {"lost", lost}};
}

int deletions(const settings& how) {
  using enum summary_departures;
  using enum summary_kind;
  const auto plan_for = [&](summary_kind kind, summary_deletion deletion, summary_departures who) {
    return plan_summary({.elements = how.elements,
                         .deletion = deletion,
                         .departures = who,
                         .kind = kind,
                         .detail = plan_detail::plan_only})
        .plan.value();
  };
  std::vector<deletion_case> cases;
  const auto add = [&]<class Summary>(std::type_identity<Summary>, std::string name,
                                      const summary_plan& plan, departures order) {
    cases.push_back({std::move(name), plan, order, [plan, order, &how](std::uint64_t seed) {
                       return live<Summary>(plan, order, how, seed);
                     }});
  };
  constexpr std::type_identity<counting_single_filter_summary> counting_single;
  constexpr std::type_identity<counting_multi_filter_summary> counting_several;
  constexpr std::type_identity<multi_filter_summary> several;
  using enum summary_deletion;
  for (const departures order : summaries::all_departures) {
    add(counting_several, "counting", plan_for(multi_filter, counting, any), order);
    add(counting_single, "counting, one filter", plan_for(single_filter, counting, any), order);
    add(counting_several, "counting, the paper's filters",
        paper_summary("ssh-10k-counting").value(), order);
    add(several, "lazy", plan_for(multi_filter, lazy, any), order);
    add(several, "incremental", plan_for(multi_filter, incremental, any), order);
    if (order != departures::first_level) continue;
    add(counting_several, "counting, planned for it", plan_for(multi_filter, counting, first_level),
        order);
    add(counting_single, "counting, one filter, planned for it",
        plan_for(single_filter, counting, first_level), order);
    add(several, "lazy, planned for it", plan_for(multi_filter, lazy, first_level), order);
    add(several, "incremental, planned for it", plan_for(multi_filter, incremental, first_level),
        order);
  }
  std::vector<std::vector<life_seen>> seen(cases.size(), std::vector<life_seen>(how.seeds));
  trials::in_parallel(cases.size() * how.seeds, how.threads, [&](std::size_t task) {
    const std::size_t which = task / how.seeds, seed = task % how.seeds;
    seen[which][seed] = cases[which].live(seed + 1);
  });
  std::vector<json> rows;
  std::uint64_t lost = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    rows.push_back(deletion_row(cases[i], seen[i]));
    lost += rows.back()["lost"].get<std::uint64_t>();
  }
  print({{"trial", "deletions"}, {"elements", how.elements}, {"rows", rows}});
  return lost == 0 ? 0 : 1;
}

/// Nanoseconds of one call, the least of some rounds; of the processor's time, since others may use
/// the machine.
template <class Call>
double nanoseconds(std::uint64_t calls, Call call) {
  double least = 1e300;
  for (int round = 0; round < 5; ++round) {
    const std::clock_t start = std::clock();
    std::uint64_t sum = 0;
    for (std::uint64_t i = 0; i < calls; ++i) sum += call(i);
    const double taken = 1e9 * static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    if (sum == ~std::uint64_t{0}) std::fprintf(stderr, "never\n");  // the calls are not left out
    least = std::min(least, taken / static_cast<double>(calls));
  }
  return least;
}

/// What a summary costs, and how many accesses it saves against a bounded map that has none.
template <class Summary, std::uint32_t Capacity>
json break_even_row(const std::string& name, const summary_plan& plan) {
  using map_type =
      one_probe_map<std::uint64_t, std::uint64_t, Summary, seeded_hash, std::equal_to<>, Capacity>;
  map_type map(plan, seeded_hash(1));
  bounded_map<std::uint64_t, std::uint64_t> without(plan.elements, seeded_hash(1));
  for (std::uint64_t i = 0; i < plan.elements; ++i) {
    map.insert(i, i);
    without.insert(i, i);
  }
  constexpr std::uint64_t calls = 2'000'000;
  const auto present = [&](std::uint64_t i) { return i * 0x9e37'79b9 % plan.elements; };
  const auto ask = [&](std::uint64_t key) {
    const auto level = map.summary().where(map.hash()(key));
    return level ? std::uint64_t{*level} + 1 : 0;
  };
  const double hit = nanoseconds(calls, [&](std::uint64_t i) { return ask(present(i)); });
  const double miss =
      nanoseconds(calls, [&](std::uint64_t i) { return ask(summaries::absent_key(i)); });
  const auto find = [&](const auto& table, std::uint64_t key) {
    return table.find(key) != nullptr ? std::uint64_t{1} : 0;
  };
  const table_stats stats = without.stats();
  const double saved_hit = stats.hit_accesses - 1;
  const double saved_miss = stats.miss_accesses - plan.predicted.absent_read_probability;
  return {
      {"summary", name},
      {"elements", plan.elements},
      {"bucket_capacity", Capacity},
      {"summary_bytes", plan.summary_bytes()},
      {"where_present_ns", hit},
      {"where_absent_ns", miss},
      {"find_present_ns",
       nanoseconds(calls, [&](std::uint64_t i) { return find(map, present(i)); })},
      {"find_absent_ns",
       nanoseconds(calls, [&](std::uint64_t i) { return find(map, summaries::absent_key(i)); })},
      {"bounded_find_present_ns",
       nanoseconds(calls, [&](std::uint64_t i) { return find(without, present(i)); })},
      {"bounded_find_absent_ns",
       nanoseconds(calls,
                   [&](std::uint64_t i) { return find(without, summaries::absent_key(i)); })},
      {"bounded_accesses_per_hit", stats.hit_accesses},
      {"bounded_accesses_per_miss", stats.miss_accesses},
      {"break_even_present_ns", hit / saved_hit},
      {"break_even_absent_ns", miss / saved_miss}};
}

int break_even(const settings& how) {
  std::vector<json> rows;
  for (const std::uint64_t elements : {std::uint64_t{10'000}, how.elements})
    for (const auto kind : {summary_kind::single_filter, summary_kind::multi_filter}) {
      summary_needs needs{.elements = elements, .kind = kind, .detail = plan_detail::plan_only};
      const summary_plan ones = plan_summary(needs).plan.value();
      needs.bucket_capacity = 16;
      const summary_plan sixteens = plan_summary(needs).plan.value();
      const std::string name(name_of(kind));
      if (kind == summary_kind::single_filter) {
        rows.push_back(break_even_row<single_filter_summary, 1>(name, ones));
        rows.push_back(break_even_row<single_filter_summary, 16>(name, sixteens));
      } else {
        rows.push_back(break_even_row<multi_filter_summary, 1>(name, ones));
        rows.push_back(break_even_row<multi_filter_summary, 16>(name, sixteens));
      }
    }
  print({{"trial", "break-even"}, {"rows", rows}});
  return 0;
}

int usage() {
  std::fputs(
      "usage: summary_trials failures|moves|counters|absent|deletions|break-even [--builds N]\n"
      "       [--queries N] [--elements N] [--turnovers N] [--seeds N] [--threads N]\n",
      stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  settings how;
  const std::string_view verb = argc > 1 ? argv[1] : "";
  if (!trials::read_counts(argc, argv,
                           {{"--builds", &how.builds},
                            {"--queries", &how.queries},
                            {"--elements", &how.elements},
                            {"--turnovers", &how.turnovers},
                            {"--seeds", &how.seeds},
                            {"--threads", &how.threads}}))
    return usage();
  if (verb == "failures") return failures(how);
  if (verb == "moves") return moves(how);
  if (verb == "counters") return counters(how);
  if (verb == "absent") return absent(how);
  if (verb == "deletions") return deletions(how);
  if (verb == "break-even") return break_even(how);
  return usage();
}
