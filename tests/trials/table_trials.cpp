// Trials of the tables at length, for the record: prints JSON.
//
//   table_trials overflow --elements 1000000 --overflow 250 --seeds 5
//       over-full tables of many designs, filling and churning: overflow, levels and accesses
//       beside the models'.
//   table_trials tags --elements 1000000
//       how much more overflows because buckets refuse an element whose tag is in a full group of
//       slots, by the model alone.
//   table_trials lasts --elements 1000000
//       churns the default table 60 times over: accesses per miss, notes that stick.
//   table_trials figure-seven --buckets 100000 --seeds 20
//       the schemes of OFH's Fig. 7 as tables, beside model and simulator.
//   table_trials stress --seconds 600
//       readers and writers on one concurrent_map.
//
// Exit code 1 if a table broke its word: an element torn or lost, a count that differs between two
// stores; 2 if the command line makes no sense. docs/table-trials.md says what was found.
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "concurrent/map_stress.hpp"
#include "oneprobe/map/default_plan.hpp"
#include "oneprobe/model/fluid.hpp"
#include "support/figure_seven.hpp"
#include "support/sampled.hpp"
#include "support/table_trial.hpp"
#include "trials/command_line.hpp"

namespace {

using namespace oneprobe;
using nlohmann::json;
using tables::design;

struct settings {
  std::uint64_t elements = 1'000'000;
  std::uint64_t overflow = 250;  // expected, of each over-full table
  std::uint64_t seeds = 5;
  std::uint64_t buckets = 100'000;
  std::uint64_t seconds = 600;
  std::uint64_t threads = trials::threads_here();
};

json to_json(const sampled& value) {
  return {{"mean", value.mean}, {"standard_error", value.standard_error}};
}

// ---- overflow: over-full tables and their models ----

/// The churning tables first: they take longest.
std::vector<design> all_designs(const settings& how) {
  std::vector<design> list;
  const auto add = [&](table_needs needs) {
    needs.elements = how.elements;
    needs.detail = plan_detail::plan_only;
    for (const unsigned slot_bytes : {16u, 24u})
      list.push_back(tables::over_full(needs, slot_bytes, static_cast<double>(how.overflow)));
  };
  for (const table_workload workload : {table_workload::churn, table_workload::fill_only}) {
    for (const std::uint32_t capacity : {16u, 8u, 4u})
      for (const std::uint32_t choices : {2u, 3u, 4u})
        add({.workload = workload, .largest_choices = choices, .bucket_capacity = capacity});
    for (const scheme_kind scheme :
         {scheme_kind::single, scheme_kind::sequential, scheme_kind::d_left, scheme_kind::d_random})
      add({.workload = workload, .largest_choices = 3, .scheme = scheme});
  }
  return list;
}

json levels_of(const design& what, const std::vector<tables::seen>& found,
               const tables::expected& model) {
  json levels = json::array();
  for (std::uint32_t level = 0; level < what.plan.choices; ++level) {
    double mean = 0;
    for (const tables::seen& one : found)
      mean += one.levels[level] / static_cast<double>(found.size());
    levels.push_back({{"elements", mean}, {"model", model.levels[level]}});
  }
  return levels;
}

/// Over the tables of all seeds.
sampled over(const std::vector<tables::seen>& found, double tables::seen::*what) {
  std::vector<double> values;
  for (const tables::seen& one : found) values.push_back(one.*what);
  return sampled::of(values);
}

json row_of(const design& what, const std::vector<tables::seen>& found) {
  const tables::expected model = tables::expect(what);
  const sampled overflow = over(found, &tables::seen::overflow);
  const double predicted = model.table.overflow_mean;
  const double error = model.overflow_deviation / std::sqrt(static_cast<double>(found.size()));
  json row{
      {"design", what.name()},
      {"elements", what.elements},
      {"pressure", static_cast<double>(what.elements) / static_cast<double>(what.plan.elements)},
      {"load_factor", static_cast<double>(what.elements) /
                          static_cast<double>(what.plan.buckets() * what.plan.bucket_capacity)},
      {"groups", what.groups()},
      {"churns", what.churns()},
      {"overflow", to_json(overflow)},
      {"overflow_model", predicted},
      {"overflow_deviation", model.table.overflow_deviation},
      {"standard_error_model", error},
      {"excess", overflow.mean / predicted - 1},
      {"excess_error", error / predicted},
      {"sigmas", (overflow.mean - predicted) / error},
      {"levels", levels_of(what, found, model)},
      {"hit", to_json(over(found, &tables::seen::hit_accesses))},
      {"hit_model", model.table.hit_accesses},
      {"miss", to_json(over(found, &tables::seen::miss_accesses))},
      {"stuck_note_fraction", over(found, &tables::seen::stuck_note_fraction).mean}};
  if (what.groups() > 1 && what.tags_are_modelled())
    row["added_for_tags"] = predicted / model.plain_overflow - 1;
  // Of the other schemes the model knows no more than the most that a miss can cost.
  if (what.first_fit()) row["miss_model"] = model.table.miss_accesses;
  if (what.churns() && what.first_fit()) {
    row["insert"] = to_json(over(found, &tables::seen::insert_accesses));
    row["insert_model"] = model.table.insert_accesses;
  }
  if (what.churns()) {
    row["settled_miss"] = over(found, &tables::seen::settled_miss_accesses).mean;
    row["last_miss"] = over(found, &tables::seen::last_miss_accesses).mean;
  }
  return row;
}

int overflow(const settings& how) {
  constexpr unsigned samples = 100'000;  // of each operation, for its accesses
  const std::vector<design> designs = all_designs(how);
  std::vector<std::vector<tables::seen>> found(designs.size(),
                                               std::vector<tables::seen>(how.seeds));
  trials::in_parallel(designs.size() * how.seeds, how.threads, [&](std::size_t task) {
    const std::size_t at = task / how.seeds, seed = task % how.seeds;
    found[at][seed] = tables::live_through(designs[at], 100 * at + seed + 1, samples);
    std::fprintf(stderr, "%s: overflow %.1f of %llu expected\n", designs[at].name().c_str(),
                 found[at][seed].overflow, static_cast<unsigned long long>(how.overflow));
  });
  std::vector<json> rows, beyond;
  for (std::size_t i = 0; i < designs.size(); ++i) {
    rows.push_back(row_of(designs[i], found[i]));
    if (designs[i].churns() && std::abs(rows.back()["excess"].get<double>()) > 0.2)
      beyond.push_back(rows.back()["design"]);
  }
  std::printf("%s\n", json{{"trial", "overflow"},
                           {"planned_elements", how.elements},
                           {"seeds", how.seeds},
                           {"more_than_20_percent_off", beyond},
                           {"tables", rows}}
                          .dump(2)
                          .c_str());
  return 0;
}

// ---- tags: what buckets refuse for a tag, by the model alone ----

/// Elements in the overflow of a churning table, by ErlangB and with the refusals.
struct two_overflows {
  double plain = 0;
  double grouped = 0;

  double excess() const { return grouped / plain - 1; }
};

two_overflows overflows_of(const table_plan& plan, double elements) {
  const auto n = static_cast<std::uint64_t>(elements);
  return {.plain = forecast(plan, n, 0).predicted.overflow_mean,
          .grouped = forecast(plan, n, 16).predicted.overflow_mean};
}

json tags_row(const table_plan& plan) {
  const auto n = static_cast<double>(plan.elements);
  // The fuller, the less of the overflow is due to tags.
  double low = 1, high = 2;
  for (int step = 0; step < 30; ++step) {
    const double middle = (low + high) / 2;
    (overflows_of(plan, middle * n).excess() > 0.2 ? low : high) = middle;
  }
  json row{{"choices", plan.choices},
           {"bucket_capacity", plan.bucket_capacity},
           {"pressure_at_20_percent", high},
           {"fraction_at_20_percent", overflows_of(plan, high * n).plain / (high * n)}};
  for (const double pressure : {1.0, 1.02}) {
    const two_overflows found = overflows_of(plan, pressure * n);
    row["planned"].push_back({{"pressure", pressure},
                              {"fraction", found.plain / (pressure * n)},
                              {"fraction_with_tags", found.grouped / (pressure * n)}});
  }
  return row;
}

int tags(const settings& how) {
  std::vector<json> rows;
  for (const std::uint32_t capacity : {16u, 8u})
    for (const std::uint32_t choices : {2u, 3u, 4u}) {
      const table_proposal proposal = plan_table({.elements = how.elements,
                                                  .largest_choices = choices,
                                                  .bucket_capacity = capacity,
                                                  .detail = plan_detail::plan_only});
      rows.push_back(tags_row(proposal.plan.value()));
    }
  std::printf(
      "%s\n",
      json{{"trial", "tags"}, {"planned_elements", how.elements}, {"rows", rows}}.dump(2).c_str());
  return 0;
}

// ---- lasts: long churn ----

/// A churned table, looked at now and then.
json looks_of(const table_plan& plan, std::uint64_t elements, std::uint64_t seed) {
  bounded_map<std::uint64_t, std::uint64_t> map(plan, seeded_hash(seed));
  tables::life lived(map, seed);
  lived.fill(elements);
  json looks;
  unsigned before = 0;
  for (const unsigned turnovers : {5u, 20u, 60u}) {
    lived.churn((turnovers - before) * elements);
    before = turnovers;
    const table_stats stats = map.stats();
    looks.push_back({{"turnovers", turnovers},
                     {"miss", stats.miss_accesses},
                     {"hit", stats.hit_accesses},
                     {"overflow", stats.counts.overflow},
                     {"stuck_notes", stats.stuck_notes},
                     {"stuck_note_fraction", stats.stuck_note_fraction}});
  }
  return looks;
}

int lasts(const settings& how) {
  const std::vector<double> pressures{1.0, 1.02, 1.05};
  const table_plan plan = default_table_plan(how.elements);
  std::vector<json> rows;
  for (const double pressure : pressures) {
    const auto elements = static_cast<std::uint64_t>(pressure * static_cast<double>(how.elements));
    const table_prediction predicted = forecast(plan, elements, 16).predicted;
    rows.push_back({{"pressure", pressure},
                    {"elements", elements},
                    {"overflow_model", predicted.overflow_mean},
                    {"miss_model", predicted.miss_accesses},
                    {"tables", std::vector<json>(how.seeds)}});
  }
  trials::in_parallel(rows.size() * how.seeds, how.threads, [&](std::size_t task) {
    json& row = rows[task / how.seeds];
    const std::size_t seed = task % how.seeds;
    row["tables"][seed] =
        looks_of(tables::with_wide_overflow(plan, row["overflow_model"].get<double>()),
                 row["elements"].get<std::uint64_t>(), seed + 1);
  });
  std::printf("%s\n", json{{"trial", "lasts"},
                           {"planned_elements", how.elements},
                           {"seeds", how.seeds},
                           {"rows", rows}}
                          .dump(2)
                          .c_str());
  return 0;
}

// ---- figure-seven: OFH's comparison ----

int figure_seven(const settings& how) {
  std::uint64_t differing = 0;
  std::vector<json> rows;
  for (const tables::figure_seven_row& row : tables::figure_seven_rows()) {
    const table_plan plan = tables::figure_seven_plan(row.scheme, how.buckets);
    const auto n = static_cast<double>(plan.elements);
    std::vector<double> overflows(how.seeds), accesses(how.seeds);
    std::vector<int> differ(how.seeds);
    trials::in_parallel(how.seeds, how.threads, [&](std::size_t i) {
      const std::uint64_t seed = i + 1;
      const tables::placed_counts counted = tables::place_in_counters(plan, seeded_hash(seed));
      for (const unsigned slot_bytes : {16u, 24u}) {
        const tables::placed_counts found = tables::place_in_map(plan, slot_bytes, seed);
        differ[i] += found.counts != counted.counts || found.accesses != counted.accesses ? 1 : 0;
        overflows[i] = static_cast<double>(found.counts.overflow) / n;
        accesses[i] = static_cast<double>(found.accesses) / n;
      }
    });
    int differing_tables = 0;
    for (const int tables_of_seed : differ) differing_tables += tables_of_seed;
    differing += static_cast<std::uint64_t>(differing_tables);
    sim::scenario scenario = tables::figure_seven_scenario(plan);
    scenario.trials = 100;
    scenario.seed = 7;
    const sim::look simulated = sim::simulate(scenario).end();
    const model::fluid_state model = model::fluid_limit(tables::filling(plan, plan.elements));
    rows.push_back({{"scheme", row.name},
                    {"printed_accesses", row.printed_accesses},
                    {"printed_overflow_percent", row.printed_overflow},
                    {"model_accesses", model.mean_accesses},
                    {"model_overflow", model.overflow_fraction},
                    {"simulated_accesses", simulated.mean_accesses.mean},
                    {"simulated_overflow", simulated.overflow_fraction.mean},
                    {"simulated_error", simulated.overflow_fraction.standard_error},
                    {"table_accesses", sampled::of(accesses).mean},
                    {"table_overflow", to_json(sampled::of(overflows))},
                    {"tables", 2 * how.seeds},
                    {"tables_that_differ_from_counters", differing_tables}});
  }
  std::printf(
      "%s\n",
      json{{"trial", "figure-seven"}, {"buckets", how.buckets}, {"rows", rows}}.dump(2).c_str());
  return differing == 0 ? 0 : 1;
}

// ---- stress: readers and writers together ----

int stress(const settings& how) {
  constexpr std::uint64_t operations = 200'000;
  constexpr unsigned readers = 4, writers = 4;
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  map_stress::result sum;
  std::uint64_t maps = 0;
  while (elapsed() < static_cast<double>(how.seconds)) {
    sum += map_stress::run(
        {.operations = operations, .readers = readers, .writers = writers, .seed = ++maps});
    if (sum.torn + sum.lost + sum.unexpected != 0) break;
  }
  // A writer's operation is an insertion or an erasure, and four changes of values.
  std::printf("%s\n", json{{"trial", "stress"},
                           {"seconds", elapsed()},
                           {"cores", trials::threads_here()},
                           {"readers", readers},
                           {"writers", writers},
                           {"maps", maps},
                           {"insertions_and_erasures", maps * operations * writers},
                           {"changes_of_values", 4 * maps * operations * writers},
                           {"reads", sum.reads},
                           {"retries", sum.retries},
                           {"refused", sum.refused},
                           {"torn", sum.torn},
                           {"lost", sum.lost},
                           {"unexpected", sum.unexpected}}
                          .dump(2)
                          .c_str());
  return sum.torn + sum.lost + sum.unexpected == 0 ? 0 : 1;
}

int usage() {
  std::fputs(
      "usage: table_trials overflow [--elements N] [--overflow N] [--seeds N] [--threads N]\n"
      "       table_trials tags [--elements N]\n"
      "       table_trials lasts [--elements N] [--seeds N] [--threads N]\n"
      "       table_trials figure-seven [--buckets N] [--seeds N] [--threads N]\n"
      "       table_trials stress [--seconds N]\n",
      stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  settings how;
  if (!trials::read_counts(argc, argv,
                           {{"--elements", &how.elements},
                            {"--overflow", &how.overflow},
                            {"--seeds", &how.seeds},
                            {"--buckets", &how.buckets},
                            {"--seconds", &how.seconds},
                            {"--threads", &how.threads}}))
    return usage();
  const std::string_view verb = argc > 1 ? argv[1] : "";
  if (verb == "overflow") return overflow(how);
  if (verb == "tags") return tags(how);
  if (verb == "lasts") return lasts(how);
  if (verb == "figure-seven") return figure_seven(how);
  if (verb == "stress") return stress(how);
  return usage();
}
