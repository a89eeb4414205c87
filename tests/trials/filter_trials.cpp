// Trials of all filters at length, for the record: prints JSON.
//
//   filter_trials keeps --keys 10000000 --lookups 1000000000
//       fills every filter with keys of every kind, up to three times as many as planned, looks up
//       what was inserted and counts what is lost: nothing may be. Fingerprint filters also at half
//       and at a few percent more, with each key inserted many times, and united of two halves. The
//       concurrent filters are asked while others insert.
//   filter_trials errs --queries 1000000000
//       counts the false positives of every filter at 8 to 40 bits per element beside the model's.
//   filter_trials overfills --queries 20000000 --elements 1000000
//       fills fingerprint filters with up to 20 % more elements than planned and measures error,
//       accesses and overflow beside the forecast.
//   filter_trials mixes --operations 100000000
//       inserts with many repetitions, lookups, bulk calls and unions on fingerprint filters beside
//       an exact twin, up to 1.2 times the planned elements.
//
// `--only fingerprint,standard` tries only the filters of which the name begins so; the concurrent
// ones are then left out.
//
// Exit code 1 if an element was lost or an error is far from what was predicted, 2 if the command
// line makes no sense. docs/filter-trials.md says what was found.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "statistical/filter_points.hpp"
#include "support/with_filter.hpp"
#include "trials/command_line.hpp"
#include "trials/concurrent_trial.hpp"
#include "trials/kept.hpp"
#include "trials/mixed_trial.hpp"

namespace {

using namespace oneprobe;
using nlohmann::json;

struct settings {
  std::uint64_t keys = 10'000'000;
  std::uint64_t lookups = 1'000'000'000;
  std::uint64_t queries = 1'000'000'000;
  std::uint64_t elements = 200'000;  // of each filter whose error is measured
  std::uint64_t operations = 100'000'000;
  std::string_view only{};  // filters whose name begins so, or so, after a comma
  std::uint64_t threads = trials::threads_here();
};

std::vector<filter_plan> chosen(std::vector<filter_plan> plans, const settings& how) {
  const auto wanted = [&](const std::string& name) {
    for (std::string_view rest = how.only;;) {
      const std::size_t comma = rest.find(',');
      if (name.starts_with(rest.substr(0, comma))) return true;
      if (comma == std::string_view::npos) return false;
      rest.remove_prefix(comma + 1);
    }
  };
  std::erase_if(plans,
                [&](const filter_plan& plan) { return !wanted(filters::name_of_plan(plan)); });
  return plans;
}

// ---- keeps: no false negative ----

/// A plan for so many times fewer elements, everything smaller in proportion.
filter_plan smaller(filter_plan plan, double times) {
  const auto scaled = [&](std::uint64_t number) {
    return static_cast<std::uint64_t>(std::ceil(static_cast<double>(number) / times));
  };
  plan.elements = scaled(plan.elements);
  plan.cells = scaled(plan.cells / plan.bits_set) * plan.bits_set;
  for (std::uint32_t i = 0; i < plan.levels; ++i)
    plan.level_buckets[i] = scaled(plan.level_buckets[i]);
  plan.overflow_reserve = scaled(plan.overflow_reserve);
  plan.overflow_slots = plan.overflow_slots == 0 ? 0 : scaled(plan.overflow_slots) + 1;
  return plan;
}

/// The schemes that place in the least loaded block have no model: a plan of the multilevel scheme
/// with its blocks shared out otherwise.
filter_plan least_loaded(filter_plan plan, scheme_kind scheme) {
  const std::uint64_t blocks = plan.blocks();
  plan.scheme = scheme;
  plan.choices = 3;
  plan.levels = scheme == scheme_kind::d_left ? 3 : 1;
  plan.level_buckets = {};
  for (std::uint64_t i = 0; i < plan.levels; ++i)
    plan.level_buckets[i] = blocks / plan.levels + (i < blocks % plan.levels ? 1 : 0);
  return plan;
}

/// 16 bits per element, and every kind, layout, rule and scheme.
std::vector<filter_plan> kept_plans(std::uint64_t elements) {
  constexpr int bits = 16;
  std::vector<filter_plan> list;
  for (const filter_kind kind :
       {filter_kind::standard, filter_kind::partitioned, filter_kind::counting})
    list.push_back(filters::plain_plan(kind, elements, bits));
  for (const std::uint32_t block_bits : {512u, 256u})
    for (const block_layout layout : {block_layout::independent, block_layout::lanes})
      list.push_back(filters::plain_plan(filter_kind::blocked, elements, bits, block_bits, layout));
  const auto balanced = [&](filter_needs needs) {
    needs.elements = elements;
    needs.bits_per_element = bits;
    needs.kind = filter_kind::balanced;
    list.push_back(filters::planned(needs));
  };
  balanced({});
  list.push_back(least_loaded(list.back(), scheme_kind::d_random));
  list.push_back(least_loaded(list.back(), scheme_kind::d_left));
  balanced({.block_bits = 256});
  balanced({.scheme = scheme_kind::single});
  balanced({.scheme = scheme_kind::sequential});
  for (const lookup_rule rule : {lookup_rule::counter, lookup_rule::coin, lookup_rule::flag,
                                 lookup_rule::coin_flag, lookup_rule::tracking})
    balanced({.accesses = 1.5, .rule = rule});
  // Remainders that are searched in lanes, and others.
  for (const int fingerprint_bits : {11, 12, 16, 20})
    list.push_back(filters::planned({.elements = elements,
                                     .bits_per_element = fingerprint_bits,
                                     .kind = filter_kind::fingerprint}));
  return list;
}

/// One way to fill a filter, to several loads.
struct kept_phase {
  trials::filling how;
  std::vector<double> overfills;
};

std::vector<kept_phase> phases_of(const filter_plan& plan) {
  using trials::filling;
  const auto all = [](const auto& list) { return std::vector<double>(list.begin(), list.end()); };
  if (plan.kind != filter_kind::fingerprint) return {{filling::once, all(trials::overfills)}};
  return {{filling::once, all(trials::fine_overfills)},
          {filling::many_times, {1, 1.2}},
          {filling::united, {1, 1.2}}};
}

json report(const trials::kept& found) {
  return {{"lookups", found.lookups},
          {"distinct_keys", found.keys},
          {"lost", found.lost},
          {"conditions", found.conditions},
          {"largest_overfill", found.largest_overfill}};
}

/// All fills of one filter: the sum, and each phase.
json keep(const filter_plan& plan, const settings& how, std::uint64_t seed) {
  const std::vector<kept_phase> phases = phases_of(plan);
  std::size_t fills = 0;
  for (const kept_phase& phase : phases) fills += phase.overfills.size() * every_key_pattern.size();
  const std::uint64_t passes =
      std::max<std::uint64_t>(1, (how.lookups + how.keys * fills - 1) / (how.keys * fills));
  trials::kept sum;
  json parts = json::array();
  for (const kept_phase& phase : phases) {
    trials::kept found;
    for (const double overfill : phase.overfills)
      for (const key_pattern pattern : every_key_pattern)
        found += trials::fill_and_look_up(smaller(plan, overfill), phase.how, how.keys, passes,
                                          overfill, pattern, seed);
    json part = report(found);
    part["phase"] = name_of(phase.how);
    part["overfills"] = phase.overfills;
    parts.push_back(std::move(part));
    sum += found;
  }
  json row = report(sum);
  row["filter"] = filters::name_of_plan(plan);
  row["phases"] = std::move(parts);
  return row;
}

int keeps(const settings& how) {
  const std::vector<filter_plan> plans = chosen(kept_plans(how.keys), how);
  std::vector<json> rows(plans.size());
  trials::in_parallel(plans.size(), how.threads, [&](std::size_t i) {
    rows[i] = keep(plans[i], how, 100 + i);
    std::fprintf(stderr, "%s\n", rows[i].dump().c_str());
  });
  json all = {{"trial", "keeps"}, {"keys", how.keys}, {"filters", rows}};
  all["concurrent"] = json::array();
  if (how.only.empty()) all["concurrent"] = trials::concurrent_trials(how.keys, how.lookups);
  std::uint64_t lost = 0;
  for (const char* list : {"filters", "concurrent"})
    for (const json& row : all[list]) lost += row["lost"].get<std::uint64_t>();
  all["lost"] = lost;
  std::printf("%s\n", all.dump(2).c_str());
  return lost == 0 ? 0 : 1;
}

// ---- errs: false positives ----

std::vector<filter_plan> measured_plans(std::uint64_t elements) {
  std::vector<filter_plan> plans;
  constexpr std::array bits_per_element{8, 12, 16, 20, 24, 32, 40};
  for (const filter_kind kind : {filter_kind::standard, filter_kind::partitioned,
                                 filter_kind::counting, filter_kind::blocked})
    for (const int bits : bits_per_element)
      plans.push_back(filters::plain_plan(kind, elements, bits));
  for (const int bits : bits_per_element)
    plans.push_back(
        filters::plain_plan(filter_kind::blocked, elements, bits, 512, block_layout::lanes));
  for (const int bits : bits_per_element)
    plans.push_back(filters::planned({.elements = elements,
                                      .bits_per_element = bits,
                                      .largest_choices = bits >= 40 ? 4u : 3u,
                                      .kind = filter_kind::balanced}));
  for (const int bits : filters::fingerprint_bits_per_element) {
    plans.push_back(filters::planned(
        {.elements = elements, .bits_per_element = bits, .kind = filter_kind::fingerprint}));
    // In the same run, for the comparison: those that the list above does not have.
    if (std::find(bits_per_element.begin(), bits_per_element.end(), bits) == bits_per_element.end())
      plans.push_back(filters::plain_plan(filter_kind::standard, elements, bits));
  }
  return plans;
}

json measure(const filter_plan& plan, std::uint64_t queries, std::uint64_t seed) {
  const double model = filters::model_fpr(plan);
  // Enough for 10^5 false positives is enough, and at least five filters share the questions.
  constexpr unsigned filters = 20;
  const double wanted = std::clamp(1e5 / model, 1e6, static_cast<double>(queries));
  const trials::errors found =
      trials::count_errors(plan, filters, static_cast<std::uint64_t>(wanted) / filters, seed);
  return {{"filter", filters::name_of_plan(plan)},
          {"bits_per_element", plan.bits_per_element()},
          {"elements", plan.elements},
          {"filters", filters},
          {"queries", found.queries},
          {"false_positives", found.false_positives},
          {"fpr", found.fpr()},
          {"fpr_stated", found.stated_mean},
          {"fpr_model", model},
          {"standard_error", found.standard_error(model)},
          {"sigmas", (found.fpr() - model) / found.standard_error(model)},
          {"miss_accesses", found.miss_accesses},
          {"miss_accesses_model", filters::model_miss_accesses(plan)},
          {"hit_accesses", found.hit_accesses},
          {"hit_accesses_model", filters::model_hit_accesses(plan)},
          {"memory_bytes", plan.memory().total()}};
}

int errs(const settings& how) {
  const std::vector<filter_plan> plans = chosen(measured_plans(how.elements), how);
  std::vector<json> rows(plans.size());
  trials::in_parallel(plans.size(), how.threads, [&](std::size_t i) {
    rows[i] = measure(plans[i], how.queries, 1000 * (i + 1));
    std::fprintf(stderr, "%s\n", rows[i].dump().c_str());
  });
  std::printf("%s\n", json{{"trial", "errs"}, {"filters", rows}}.dump(2).c_str());
  // Where so few are expected that they are not nearly normal, nothing is judged.
  const auto far = [](const json& row) {
    return row["fpr_model"].get<double>() * row["queries"].get<double>() >= 10 &&
           std::abs(row["sigmas"].get<double>()) > 6;
  };
  return std::ranges::none_of(rows, far) ? 0 : 1;
}

// ---- overfills: more elements than planned ----

/// Means over several filters.
struct overfilled {
  std::uint64_t queries = 0;
  std::uint64_t false_positives = 0;
  std::uint64_t degraded = 0;  // filters
  double accesses = 0;
  double overflow_fraction = 0;

  double fpr() const { return static_cast<double>(false_positives) / static_cast<double>(queries); }
};

overfilled fill_beyond(const filter_plan& plan, std::uint64_t elements, unsigned filters,
                       std::uint64_t queries_of_each, std::uint64_t seed) {
  constexpr std::uint64_t explained = 100'000;
  overfilled found;
  for (unsigned i = 0; i < filters; ++i) {
    held_filter filter(plan, seeded_hash(seed + i));
    insert_keys(filter, key_pattern::random, 0, elements);
    found.queries += queries_of_each;
    found.false_positives += count_yes(filter, key_pattern::random, elements, queries_of_each);
    found.accesses += trials::mean_accesses(filter, elements, 1, explained) / filters;
    found.overflow_fraction +=
        static_cast<double>(filter.counts().overflow) / static_cast<double>(elements) / filters;
    found.degraded += filter.condition() == filter_condition::degraded ? 1u : 0u;
  }
  return found;
}

int overfills(const settings& how) {
  constexpr std::array more{0.0, 0.01, 0.02, 0.05, 0.1, 0.2};
  constexpr unsigned filters_of_each = 5;
  // Planned for an error, with the slack of such plans; and for memory, with less.
  const std::array plans{
      filters::planned({.elements = how.elements, .fpr = 1e-4, .kind = filter_kind::fingerprint}),
      filters::planned(
          {.elements = how.elements, .bits_per_element = 16, .kind = filter_kind::fingerprint})};
  constexpr std::array planned_for{"an error of 1e-4", "16 bits per element"};
  std::vector<json> rows(plans.size() * more.size());
  trials::in_parallel(rows.size(), how.threads, [&](std::size_t i) {
    const filter_plan& plan = plans[i / more.size()];
    const double factor = 1 + more[i % more.size()];
    const auto elements =
        static_cast<std::uint64_t>(std::llround(factor * static_cast<double>(plan.elements)));
    const overfill_forecast expected = forecast(plan, elements);
    const overfilled found =
        fill_beyond(plan, elements, filters_of_each, how.queries / filters_of_each, 2000 * (i + 1));
    rows[i] = {{"planned_for", planned_for[i / more.size()]},
               {"filter", filters::name_of_plan(plan)},
               {"planned_elements", plan.elements},
               {"elements", elements},
               {"filters", filters_of_each},
               {"queries", found.queries},
               {"false_positives", found.false_positives},
               {"fpr", found.fpr()},
               {"fpr_forecast", expected.predicted.fpr},
               {"miss_accesses", found.accesses},
               {"miss_accesses_forecast", expected.predicted.miss_accesses},
               {"overflow_fraction", found.overflow_fraction},
               {"overflow_fraction_forecast", expected.predicted.overflow_fraction},
               {"degraded_filters", found.degraded}};
    std::fprintf(stderr, "%s\n", rows[i].dump().c_str());
  });
  // A tenth, and six standard deviations of what was counted.
  const auto far = [](const json& row) {
    const double expected = row["fpr_forecast"].get<double>() * row["queries"].get<double>();
    return std::abs(row["false_positives"].get<double>() - expected) >
           expected / 10 + 6 * std::sqrt(expected);
  };
  std::printf("%s\n", json{{"trial", "overfills"}, {"rows", rows}}.dump(2).c_str());
  return std::ranges::none_of(rows, far) ? 0 : 1;
}

// ---- mixes: a twin that knows ----

int mixes(const settings& how) {
  constexpr std::array bits_per_element{10, 11, 12, 16, 20};
  std::vector<json> rows(bits_per_element.size());
  std::vector<std::uint64_t> faults(rows.size());
  trials::in_parallel(rows.size(), how.threads, [&](std::size_t i) {
    const filter_plan plan = filters::planned({.elements = how.elements,
                                               .bits_per_element = bits_per_element[i],
                                               .kind = filter_kind::fingerprint});
    const trials::mixed found =
        trials::mix_operations<held_filter>(plan, how.operations / rows.size(), 500 + i);
    faults[i] = found.faults();
    rows[i] = {{"filter", filters::name_of_plan(plan)},
               {"operations", found.operations},
               {"lookups_of_kept", found.lookups_of_kept},
               {"lost", found.lost},
               {"wrong_outcomes", found.wrong_outcomes},
               {"unions", found.unions},
               {"fills", found.fills},
               {"built_otherwise", found.built_otherwise}};
    std::fprintf(stderr, "%s\n", rows[i].dump().c_str());
  });
  std::printf("%s\n", json{{"trial", "mixes"}, {"filters", rows}}.dump(2).c_str());
  return std::ranges::all_of(faults, [](std::uint64_t count) { return count == 0; }) ? 0 : 1;
}

int usage() {
  std::fputs(
      "usage: filter_trials keeps [--keys N] [--lookups N] [--only NAME] [--threads N]\n"
      "       filter_trials errs [--queries N] [--elements N] [--only NAME] [--threads N]\n"
      "       filter_trials overfills [--queries N] [--elements N] [--threads N]\n"
      "       filter_trials mixes [--operations N] [--elements N] [--threads N]\n",
      stderr);
  return 2;
}

}  // namespace

int main(int argc, char** argv) {
  settings how;
  if (!trials::read_counts(argc, argv,
                           {{"--keys", &how.keys},
                            {"--lookups", &how.lookups},
                            {"--queries", &how.queries},
                            {"--elements", &how.elements},
                            {"--operations", &how.operations},
                            {"--threads", &how.threads}},
                           {{"--only", &how.only}}))
    return usage();
  const std::string_view verb = argc > 1 ? argv[1] : "";
  if (verb == "keeps") return keeps(how);
  if (verb == "errs") return errs(how);
  if (verb == "overfills") return overfills(how);
  if (verb == "mixes") return mixes(how);
  return usage();
}
