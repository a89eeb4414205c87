// Maps with summaries, built and lived through many times, and what is seen of them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "oneprobe/detail/one_probe/watched_cells.hpp"
#include "oneprobe/detail/placement/admission.hpp"
#include "oneprobe/detail/placement/load_counters.hpp"
#include "oneprobe/detail/placement/schemes.hpp"
#include "oneprobe/detail/placement/walk.hpp"
#include "oneprobe/one_probe/multi_filter.hpp"
#include "oneprobe/one_probe/one_probe_map.hpp"
#include "oneprobe/one_probe/single_filter.hpp"
#include "support/sampled.hpp"
#include "support/summary_designs.hpp"

namespace summaries {

template <class Summary>
using number_map = one_probe_map<std::uint64_t, std::uint64_t, Summary>;

/// Keys of one build, different from those of any other.
constexpr std::uint64_t key_of(std::uint64_t build, std::uint64_t number) {
  return build << 32 | number;
}
/// Keys that no build has.
constexpr std::uint64_t absent_key(std::uint64_t number) { return ~number; }

/// What became of many builds.
struct built {
  std::uint64_t builds = 0;
  std::uint64_t failed_builds = 0;  // with any failure
  std::uint64_t failures = 0;
  std::uint64_t crises = 0;
  std::uint64_t lost = 0;      // elements that were not found again
  std::uint64_t accesses = 0;  // the most buckets that a lookup has read
  std::vector<double> levels = std::vector<double>(summary_plan::most_levels);  // elements, in all

  void merge(const built& other) {
    builds += other.builds;
    failed_builds += other.failed_builds;
    failures += other.failures;
    crises += other.crises;
    lost += other.lost;
    accesses = std::max(accesses, other.accesses);
    for (std::size_t i = 0; i < levels.size(); ++i) levels[i] += other.levels[i];
  }
};

/// Fills a map with the elements of its plan, again and again: builds first .. last - 1. Of each
/// build `checked` elements are looked up.
template <class Summary>
built build_many(const summary_plan& plan, std::uint64_t first, std::uint64_t last,
                 std::uint64_t checked) {
  number_map<Summary> map(plan, seeded_hash(1));
  built result;
  for (std::uint64_t build = first; build < last; ++build) {
    map.clear();
    for (std::uint64_t i = 0; i < plan.elements; ++i) map.insert(key_of(build, i), i);
    const one_probe_stats stats = map.stats();
    ++result.builds;
    result.failed_builds += stats.failures != 0 ? 1u : 0u;
    result.failures += stats.failures;
    result.crises += stats.crises;
    for (std::size_t i = 0; i < result.levels.size(); ++i)
      result.levels[i] += static_cast<double>(stats.counts.levels[i]);
    for (std::uint64_t i = 0; i < checked; ++i) {
      const std::uint64_t number = i * plan.elements / checked;
      const auto* const found = map.find(key_of(build, number));
      result.lost += found == nullptr || found->value != number ? 1u : 0u;
      result.accesses =
          std::max<std::uint64_t>(result.accesses, map.explain(key_of(build, number)).accesses);
    }
  }
  return result;
}

/// Builds without a map: elements placed by the walk of every table, and their levels told to the
/// summary, which nobody guards. Faster than build_many, for trials of a million.
///
/// A map fails in exactly the builds in which somebody is misdirected here in the end: the map
/// sends a newcomer to the overflow as soon as it would misdirect anybody, and here, where it comes
/// in all the same, cells are only ever raised, so that who is misdirected once stays so.
template <class Summary>
class bare_build {
 public:
  explicit bare_build(const summary_plan& plan)
      : plan_(plan),
        scheme_(std::span(plan_.level_buckets).first(plan_.levels)),
        loads_(plan_.buckets()),
        summary_(plan_),
        placed_(static_cast<std::size_t>(plan_.elements)) {}

  /// Calls `see` with the changes of every insertion.
  template <class See>
  void fill(std::uint64_t build, See see) {
    loads_.clear();
    summary_.clear();
    levels_ = {};
    crises_ = 0;
    refused_ = false;
    placing walk(scheme_, loads_, admission(plan_.bucket_capacity));
    const seeded_hash hash(1);
    for (std::uint64_t i = 0; i < plan_.elements; ++i) {
      element& one = placed_[static_cast<std::size_t>(i)];
      one.hash = hash(key_of(build, i));
      const auto ended = walk_to_end(walk, walk.start(one.hash));
      one.is_placed = ended.end == walk_end::placed;
      one.level = ended.at.level;
      if (!one.is_placed) {
        ++crises_;
        continue;
      }
      ++levels_[one.level];
      cell_changes changed;
      if (summary_.insert(one.hash, one.level, changed) != summary_outcome::kept) refused_ = true;
      see(changed);
    }
  }
  /// Whether the summary misdirects any element, or would not take one.
  bool fails() const {
    return refused_ || std::ranges::any_of(placed_, [&](const element& one) {
             return one.is_placed &&
                    summary_.watch(one.hash, one.level).what == watch_choice::need::too_late;
           });
  }
  /// Of every so many elements one that is not sent to its level.
  std::uint64_t misdirected(std::size_t every) const {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < placed_.size(); i += every)
      if (placed_[i].is_placed && summary_.where(placed_[i].hash) != placed_[i].level) ++count;
    return count;
  }
  std::uint64_t crises() const { return crises_; }
  const std::array<std::uint64_t, summary_plan::most_levels>& levels() const { return levels_; }

 private:
  struct element {
    key_hash hash{};
    std::uint32_t level = 0;
    bool is_placed = false;
  };

  summary_plan plan_;
  multilevel scheme_;
  load_counters<std::uint8_t> loads_;
  Summary summary_;
  std::vector<element> placed_;
  std::array<std::uint64_t, summary_plan::most_levels> levels_{};
  std::uint64_t crises_ = 0;
  bool refused_ = false;
};

/// The same as build_many of the same builds, but for `lost` and `accesses`: of each build
/// `checked` elements are looked for in the summary, and those are lost that it sends elsewhere
/// though no build failed.
template <class Summary>
built build_bare(const summary_plan& plan, std::uint64_t first, std::uint64_t last,
                 std::uint64_t checked) {
  bare_build<Summary> bare(plan);
  built result;
  for (std::uint64_t build = first; build < last; ++build) {
    bare.fill(build, [](const cell_changes&) {});
    const bool fails = bare.fails();
    ++result.builds;
    result.failed_builds += fails ? 1u : 0u;
    result.crises += bare.crises();
    for (std::size_t i = 0; i < result.levels.size(); ++i)
      result.levels[i] += static_cast<double>(bare.levels()[i]);
    const std::uint64_t misdirected = bare.misdirected(
        static_cast<std::size_t>(std::max<std::uint64_t>(1, plan.elements / checked)));
    if (!fails) result.lost += misdirected;
  }
  return result;
}

/// How many absent keys were sent to a level, and read a bucket.
struct in_vain {
  double false_positives = 0;
  double reads = 0;
  std::uint64_t most_accesses = 0;
};

template <class Map>
in_vain ask_absent(const Map& map, std::uint64_t queries, std::uint64_t seed) {
  in_vain result;
  std::mt19937_64 random(seed);
  for (std::uint64_t i = 0; i < queries; ++i) {
    const std::uint64_t key = absent_key(random() >> 20);
    const key_hash hash = map.hash()(key);
    const std::uint32_t accesses = map.explain(key, hash).accesses;
    result.false_positives += map.summary().where(hash) ? 1 : 0;
    result.reads += accesses;
    result.most_accesses = std::max<std::uint64_t>(result.most_accesses, accesses);
  }
  result.false_positives /= static_cast<double>(queries);
  result.reads /= static_cast<double>(queries);
  return result;
}

/// Who leaves.
enum class departures { uniform, fifo, first_level };
inline constexpr std::array all_departures{departures::uniform, departures::fifo,
                                           departures::first_level};
constexpr std::string_view name_of(departures order) {
  switch (order) {
    case departures::uniform:
      return "uniform";
    case departures::fifo:
      return "FIFO";
    case departures::first_level:
      return "first level only";
  }
  return "unknown";
}

/// A map whose elements come and go at constant size.
template <class Map>
class life {
 public:
  life(Map& map, std::uint64_t seed) : map_(&map), random_(seed) {}

  void fill(std::uint64_t elements) {
    while (keys_.size() < elements && add()) {
    }
  }
  /// So many leave, and as many come. False if somebody found no room.
  bool churn(std::uint64_t departing, departures order) {
    for (std::uint64_t i = 0; i < departing; ++i) {
      remove(order);
      if (!add()) return false;
    }
    return true;
  }
  void remove(departures order) {
    std::size_t which = 0;
    if (order != departures::fifo) which = random_() % keys_.size();
    for (int tries = 0;
         order == departures::first_level && !is_first(keys_[which]) && tries < 1'000; ++tries)
      which = random_() % keys_.size();
    map_->erase(keys_[which]);
    if (order == departures::fifo) {
      keys_.pop_front();
    } else {
      keys_[which] = keys_.back();
      keys_.pop_back();
    }
  }
  const std::deque<std::uint64_t>& keys() const { return keys_; }

 private:
  bool add() {
    const std::uint64_t key = next_++;
    if (map_->insert(key, key).outcome == insertion::full) return false;
    keys_.push_back(key);
    return true;
  }
  bool is_first(std::uint64_t key) const {
    const table_path path = map_->explain(key);
    return path.stopped == table_path::stop::found && path.level == 0;
  }

  Map* map_;
  std::mt19937_64 random_;
  std::deque<std::uint64_t> keys_;
  std::uint64_t next_ = 0;
};

/// SSH, Section XI-A: fills with 9,999, deletes 909, reconstructs. Returns the elements moved.
inline std::uint64_t moves_of_reconstruction(departures order, std::uint64_t seed) {
  constexpr std::uint64_t staying = 9'090, deleted = 909;
  summary_plan plan = paper_summaries().front().plan;
  plan.deletion = summary_deletion::lazy;
  plan.deleted_limit = 2 * deleted;  // we say when
  plan.overflow_reserve = 400;
  number_map<single_filter_summary> map(plan, seeded_hash(seed));
  life lived(map, seed);
  lived.fill(staying + deleted);
  for (std::uint64_t i = 0; i < deleted; ++i) lived.remove(order);
  return map.reconstruct();
}

}  // namespace summaries
