#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "explorer/curves.hpp"
#include "oneprobe/model/churn.hpp"
#include "oneprobe/model/fluid.hpp"
#include "oneprobe/model/overflow_bound.hpp"
#include "oneprobe/model/partition.hpp"
#include "plan/table_needs.hpp"

namespace oneprobe::explorer {
namespace {

using json = nlohmann::ordered_json;
using cli::option;
using cli::usage_error;

constexpr option capacity{"--bucket-capacity", "H", "slots per bucket"};
constexpr option workload{"--workload", "NAME", "churn or fill-only"};
constexpr std::array<cli::word<table_workload>, 2> workloads{{
    {"churn", table_workload::churn},
    {"fill-only", table_workload::fill_only},
}};

/// What the charts show: load factors from 0.3 to 1.1, and no overflow that is too small to differ
/// visibly from none.
constexpr int loads = 41;
constexpr double first_load = 0.3, load_step = 0.02;
constexpr double least_overflow = 1e-15;

double load_at(int i) { return first_load + load_step * i; }

std::vector<double> all_loads() {
  std::vector<double> all;
  all.reserve(loads);
  // Two decimals, as they are meant.
  for (int i = 0; i < loads; ++i) all.push_back(std::round(100 * load_at(i)) / 100);
  return all;
}

/// Less than that is that, so that a curve that falls off a cliff is drawn to its foot.
double shown(double overflow) { return std::max(overflow, least_overflow); }

/// The least overflow of levels, for every number of choices.
json least_overflow_curves(table_workload work, unsigned h) {
  json curves = json::array();
  for (unsigned d = 1; d <= table_plan::most_levels; ++d) {
    json overflow = json::array();
    for (const double load : all_loads())
      overflow.push_back(shown((work == table_workload::churn
                                    ? model::least_overflow_partition_under_churn(load, h, d)
                                    : model::least_overflow_partition(load, h, d))
                                   .overflow_fraction));
    curves.push_back({{"choices", d}, {"overflow_fraction", std::move(overflow)}});
  }
  return curves;
}

/// Each is computed once, and no request waits for the curves of another.
const json& remembered_curves(table_workload work, unsigned h) {
  struct remembered {
    std::once_flag once;
    json curves;
  };
  static std::array<std::array<remembered, table_plan::most_bucket_capacity + 1>, workloads.size()>
      known;
  remembered& place = known.at(work == table_workload::churn ? 0 : 1).at(h);
  std::call_once(place.once, [&] { place.curves = least_overflow_curves(work, h); });
  return place.curves;
}

std::vector<double> fractions_of(const table_plan& plan) {
  std::vector<double> fractions;
  for (std::uint32_t level = 0; level < plan.levels; ++level)
    fractions.push_back(static_cast<double>(plan.level_buckets[level]) /
                        static_cast<double>(plan.buckets()));
  return fractions;
}

/// The fraction of buckets with 0, 1, ... elements, level by level.
std::vector<std::vector<double>> loads_of(const table_plan& plan) {
  const std::vector<double> fractions = fractions_of(plan);
  if (plan.workload == table_workload::churn)
    return model::churn_limit({.scheme = scheme_kind::multilevel,
                               .load_factor = plan.load_factor(),
                               .bucket_capacity = plan.bucket_capacity,
                               .level_fractions = fractions})
        .levels;
  return model::fluid_limit({.scheme = scheme_kind::multilevel,
                             .load_factor = plan.load_factor(),
                             .bucket_capacity = plan.bucket_capacity,
                             .level_fractions = fractions})
      .levels;
}

json levels_of(const table_plan& plan) {
  json levels = json::array();
  const std::vector<std::vector<double>> all = loads_of(plan);
  for (std::uint32_t level = 0; level < plan.levels; ++level) {
    json one{{"buckets", plan.level_buckets[level]}, {"loads", json::array()}};
    for (const double fraction : all.at(level)) one["loads"].push_back(fraction);
    levels.push_back(std::move(one));
  }
  return levels;
}

/// The table with other numbers of elements, and the bound for as many accesses as it makes then.
json over_loads(const table_plan& plan, std::uint32_t slot_bytes) {
  json overflow = json::array(), bound = json::array(), hit = json::array(), miss = json::array(),
       insert = json::array();
  for (const double load : all_loads()) {
    const double elements =
        std::round(load * static_cast<double>(plan.buckets()) * plan.bucket_capacity);
    const auto n = static_cast<std::uint64_t>(std::max(1.0, elements));
    if (n / most_forecast_factor > plan.elements) {
      for (json* each : {&overflow, &bound, &hit, &miss, &insert}) each->push_back(nullptr);
      continue;
    }
    const table_prediction seen = forecast(plan, n, slot_bytes).predicted;
    overflow.push_back(shown(seen.overflow_fraction));
    bound.push_back(shown(model::overflow_bound(seen.insert_accesses, load, plan.bucket_capacity)));
    hit.push_back(seen.hit_accesses);
    miss.push_back(seen.miss_accesses);
    insert.push_back(seen.insert_accesses);
  }
  return {{"load_factor", all_loads()},         {"overflow_fraction", std::move(overflow)},
          {"overflow_bound", std::move(bound)}, {"hit_accesses", std::move(hit)},
          {"miss_accesses", std::move(miss)},   {"insert_accesses", std::move(insert)}};
}

}  // namespace

const std::vector<cli::option>& table_frontier_options() {
  static const std::vector<cli::option> options{capacity, workload};
  return options;
}

json table_frontier(const cli::arguments& in) {
  const table_needs defaults;
  const table_workload work = in.maybe_choice(workload, workloads).value_or(defaults.workload);
  const unsigned h = in.maybe_whole(capacity).value_or(defaults.bucket_capacity);
  if (h < 1 || h > table_plan::most_bucket_capacity)
    throw usage_error("--bucket-capacity must be 1 to 16; found " + std::to_string(h));
  in.refuse_unread();
  return {{"load_factor", all_loads()}, {"curves", remembered_curves(work, h)}};
}

json table_picture(const cli::arguments& in) {
  table_needs needs = cli::read_table_needs(in);
  in.refuse_unread();
  if (needs.scheme && *needs.scheme != scheme_kind::multilevel)
    throw usage_error("--scheme must be multilevel for a picture of the levels");
  needs.detail = plan_detail::plan_only;
  const std::optional<table_plan> plan = cli::plan_needs(needs).plan;
  if (!plan) return nullptr;
  const table_prediction& seen = plan->predicted;
  return {{"load_factor", plan->load_factor()},
          {"overflow_fraction", seen.overflow_fraction},
          {"hit_accesses", seen.hit_accesses},
          {"miss_accesses", seen.miss_accesses},
          {"insert_accesses", seen.insert_accesses},
          {"levels", levels_of(*plan)},
          {"over_loads", over_loads(*plan, slot_bytes_of(needs))}};
}

}  // namespace oneprobe::explorer
