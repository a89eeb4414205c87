// Tables and their files in use by a program without exceptions and run-time type information. What
// a template does is compiled where it is used, not where its header is included.
#include <cstdint>
#include <string>
#include <utility>

#include "oneprobe/map/bounded_map.hpp"
#include "oneprobe/map/bounded_set.hpp"
#include "oneprobe/map/chain_plan.hpp"
#include "oneprobe/map/chained_map.hpp"
#include "oneprobe/map/concurrent_map.hpp"
#include "oneprobe/map/file.hpp"
#include "oneprobe/one_probe/multi_filter.hpp"
#include "oneprobe/one_probe/one_probe_map.hpp"
#include "oneprobe/one_probe/plan.hpp"
#include "oneprobe/scheme_kind.hpp"

namespace without_exceptions {

using number = std::uint64_t;
using numbers = oneprobe::bounded_map<number, number>;

number use_bounded_map() {
  numbers map(1000);
  map.insert(1, 2);
  map.insert_or_assign(1, number{3});
  map.try_emplace_evicting(
      2, [](auto candidates) { return candidates.front(); }, number{4});
  map.sweep(1, [](const auto& one) { return one.value == 0; });
  map.drain_on_erase(1);
  map.erase(2);
  numbers copy = map;
  copy.copy_into(map);
  map = std::move(copy);
  return map.contains(1) ? map.explain(1).accesses : map.stats().counts.size;
}

// Elements whose copies could fail.
number use_bounded_set() {
  oneprobe::bounded_set<std::string> set(1000);
  set.insert("one");
  set.insert(std::string("two"));
  set.insert_evicting("three", [](auto candidates) { return candidates.front(); });
  const oneprobe::bounded_set<std::string> copy = set;
  set.erase("one");
  set.clear();
  return copy.contains("one") ? copy.size() : 0;
}

number use_concurrent_map() {
  oneprobe::concurrent_map<number, number> map(1000);
  map.insert(1, 2);
  map.insert_or_assign(1, 3);
  map.modify(1, [](number& value) { ++value; });
  map.erase(2);
  number sum = 0;
  map.for_each([&](number, number value) { sum += value; });
  return map.find(1).value_or(sum);
}

number use_chained_map() {
  oneprobe::chain_plan plan;
  plan.elements = 100;
  plan.scheme = oneprobe::scheme_kind::multilevel;
  plan.level_buckets = {64};
  oneprobe::chained_map<std::string, number> map(plan);
  map.try_emplace("one", number{1});
  map.insert_or_assign("one", number{2});
  map.erase("two");
  return map.contains("one") ? map.stats().size : 0;
}

number use_files(const std::string& path) {
  if (save(numbers(1000), path)) return 0;
  if (auto table = oneprobe::writable_table<numbers>::open(path)) (*table)->insert(1, 2);
  const auto recovery = oneprobe::recover<numbers>(path);
  const auto mapped = oneprobe::mapped_table<numbers>::map(path);
  const auto own = oneprobe::load<numbers>(path, {.check = oneprobe::table_check::elements});
  return recovery && mapped && own ? (*mapped)->size() + own->size() : 0;
}

number use_one_probe_map() {
  oneprobe::summary_plan plan;
  plan.deletion = oneprobe::summary_deletion::incremental;
  plan.elements = 10;
  plan.levels = 2;
  plan.level_buckets = {40, 20};
  plan.filter_cells = {100, 50};
  plan.filter_hashes = {7, 20};
  plan.deleted_limit = 4;
  plan.work_per_change = 50;
  oneprobe::one_probe_map<number, std::string, oneprobe::multi_filter_summary> map(plan);
  map.try_emplace(1, "one");
  map.insert_or_assign(1, "two");
  map.erase(2);
  map.reconstruct();
  return map.contains(1) ? map.explain(1).accesses : map.stats().failures;
}

}  // namespace without_exceptions
