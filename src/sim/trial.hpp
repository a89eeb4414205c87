// One trial: a table of counters filled, or filled and churned, by the walk that the products use.
// Private to src/sim.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <vector>

#include "oneprobe/detail/base/prefetch.hpp"
#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/detail/placement/concepts.hpp"
#include "oneprobe/detail/placement/load_counters.hpp"
#include "oneprobe/detail/placement/ring.hpp"
#include "oneprobe/detail/placement/schemes.hpp"
#include "oneprobe/detail/placement/walk.hpp"
#include "oneprobe/sim/simulate.hpp"

namespace oneprobe::inline v0_1::sim::detail {

/// One sample of what a `look` estimates.
struct sample {
  double overflow_fraction = 0;
  double cumulative_overflow_fraction = 0;
  double mean_accesses = 0;
  double largest_load = 0;
  double load_mean = 0;
  double load_variance = 0;
  std::vector<double> occupancy;
  std::vector<std::vector<double>> levels;
};

struct trial_findings {
  std::vector<sample> samples;                // per look; under churn per batch
  std::vector<std::vector<double>> accesses;  // the same for the shares with 0, 1, ..., d accesses
  double budget_end = 1;
  std::uint64_t placements = 0;
};

/// Key hashes, and other random numbers, by their number: the walks need them ahead of time.
class hash_sequence {
 public:
  hash_sequence(std::uint64_t seed, std::uint64_t trial, std::uint64_t purpose)
      : base_(mix_bits(mix_bits(mix_bits(seed) + trial * golden_ratio_64) + purpose)) {}
  std::uint64_t operator()(std::uint64_t number) const noexcept {
    return mix_bits(base_ + number * golden_ratio_64);
  }

 private:
  std::uint64_t base_;
};

/// What the arrivals counted so far came to.
struct tally {
  std::array<std::uint64_t, largest_choices + 1> arrivals_by_accesses{};
  std::uint64_t placed = 0;

  template <class State>
  void add(const State& walk) noexcept {
    ++arrivals_by_accesses[walk.accesses];
    placed += walk.end == walk_end::placed ? 1 : 0;
  }
  std::uint64_t arrivals() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t count : arrivals_by_accesses) sum += count;
    return sum;
  }
  double accesses() const {
    double sum = 0;
    for (std::size_t i = 1; i < arrivals_by_accesses.size(); ++i)
      sum += static_cast<double>(i) * static_cast<double>(arrivals_by_accesses[i]);
    return sum;
  }
  std::vector<double> shares(std::uint32_t choices) const {
    std::vector<double> result;
    for (std::uint32_t i = 0; i <= choices; ++i)
      result.push_back(static_cast<double>(arrivals_by_accesses[i]) /
                       static_cast<double>(std::max<std::uint64_t>(arrivals(), 1)));
    return result;
  }
};

inline admission rule_of(const scenario& what) {
  return what.bucket_capacity ? admission(*what.bucket_capacity, what.admit_probability)
                              : admission::always();
}

/// The smallest counter that can hold every load suffices: more of them fit into the cache.
inline bool bytes_suffice(const scenario& what) { return rule_of(what).largest_load() <= 255; }

/// Loads of buckets [begin, begin + size), counted.
template <class Counter>
std::vector<std::uint64_t> load_counts(const load_counters<Counter>& store, std::uint64_t begin,
                                       std::uint64_t size) {
  const auto loads = store.loads().subspan(begin, size);
  // Neighbours mostly have the same load. Counting them in turn in several lists spares each
  // increment the wait for the one before.
  constexpr std::size_t lists = 4;  // of at most a million loads each: check() sees to that
  std::array<std::vector<std::uint64_t>, lists> counts;
  const std::size_t largest = *std::max_element(loads.begin(), loads.end());
  for (auto& list : counts) list.resize(largest + 1);
  for (std::size_t i = 0; i < loads.size(); ++i) ++counts[i % lists][loads[i]];
  for (std::size_t list = 1; list < lists; ++list)
    for (std::size_t load = 0; load <= largest; ++load) counts[0][load] += counts[list][load];
  return counts[0];
}

inline std::vector<double> shares_of(const std::vector<std::uint64_t>& counts, double buckets) {
  std::vector<double> result;
  result.reserve(counts.size());
  for (const std::uint64_t count : counts) result.push_back(static_cast<double>(count) / buckets);
  return result;
}

template <class Scheme, class Counter>
sample look_at(const Scheme& scheme, const load_counters<Counter>& store) {
  sample result;
  std::vector<std::uint64_t> all;
  if constexpr (requires { scheme.level_begin(0); }) {
    for (std::uint32_t level = 0; level < scheme.choices(); ++level) {
      const std::uint64_t size = scheme.level_size(level);
      const auto counts = load_counts(store, scheme.level_begin(level), size);
      result.levels.push_back(shares_of(counts, static_cast<double>(size)));
      all.resize(std::max(all.size(), counts.size()));
      for (std::size_t load = 0; load < counts.size(); ++load) all[load] += counts[load];
    }
  } else {
    all = load_counts(store, 0, scheme.buckets());
  }
  result.occupancy = shares_of(all, static_cast<double>(scheme.buckets()));
  result.largest_load = static_cast<double>(all.size() - 1);
  double squares = 0;
  for (std::size_t load = 0; load < all.size(); ++load) {
    const double value = static_cast<double>(load);
    result.load_mean += value * result.occupancy[load];
    squares += value * value * result.occupancy[load];
  }
  result.load_variance = squares - result.load_mean * result.load_mean;
  return result;
}

// Between two reports of progress.
inline constexpr std::uint64_t report_every = std::uint64_t{1} << 20;

/// Calls `run(begin, count)` for pieces of [begin, end), telling how many are done.
template <class Run>
void in_pieces(std::uint64_t begin, std::uint64_t end, std::atomic<std::uint64_t>& done, Run run) {
  while (begin < end) {
    const std::uint64_t count = std::min(end - begin, report_every);
    run(begin, static_cast<std::size_t>(count));
    begin += count;
    done.fetch_add(count, std::memory_order_relaxed);
  }
}

template <class Scheme, class Counter, class Budget>
trial_findings fill(const Scheme& scheme, const scenario& what, std::uint64_t trial, Budget budget,
                    std::atomic<std::uint64_t>& done) {
  load_counters<Counter> store(scheme.buckets());
  placing walk(scheme, store, rule_of(what), budget);
  const hash_sequence keys(what.seed, trial, 0);
  const double elements = static_cast<double>(what.elements);

  trial_findings result;
  tally counted;
  std::uint64_t arrived = 0;
  std::uint64_t handled = 0;  // before the budget ended
  for (const double share : what.looks) {
    const auto until = static_cast<std::uint64_t>(std::llround(share * elements));
    in_pieces(arrived, until, done, [&](std::uint64_t begin, std::size_t count) {
      roll(
          walk, count, [&](std::size_t i) { return key_hash{keys(begin + i)}; },
          [&](key_hash hash) { return walk.start(hash); },
          [&](std::size_t, const auto& ended) { counted.add(ended); });
    });
    arrived = std::max(arrived, until);
    handled = arrived - counted.arrivals_by_accesses[0];

    sample found = look_at(scheme, store);
    found.overflow_fraction = 1 - static_cast<double>(counted.placed) / elements;
    found.cumulative_overflow_fraction =
        handled == 0 ? 0
                     : static_cast<double>(handled - counted.placed) / static_cast<double>(handled);
    found.mean_accesses = counted.accesses() / elements;
    result.samples.push_back(std::move(found));
  }
  result.accesses.push_back(counted.shares(scheme.choices()));
  result.budget_end =
      arrived == 0 ? 1 : static_cast<double>(handled) / static_cast<double>(arrived);
  result.placements = arrived;
  return result;
}

/// Where each element of a churning table is, and which one leaves next.
class residents {
 public:
  residents(std::uint64_t elements, const churn_settings& how, const hash_sequence& draws)
      : how_(how), draws_(draws), where_(static_cast<std::size_t>(elements)) {}

  static constexpr std::uint64_t overflow = ~std::uint64_t{0};

  /// The place of the element that leaves in turn `turn`, to be overwritten by `arrive`.
  std::size_t leaving(std::uint64_t turn) {
    if (how_.leaves == departure::one_level && !members_.empty()) {
      const std::size_t at = static_cast<std::size_t>(reduce(draws_(turn), members_.size()));
      const std::size_t place = members_[at];
      members_[at] = members_.back();
      members_.pop_back();
      return place;
    }
    return expected(turn);
  }
  /// The same as far as it is known in advance.
  std::size_t expected(std::uint64_t turn) const noexcept {
    return static_cast<std::size_t>(how_.leaves == departure::oldest
                                        ? turn % where_.size()
                                        : reduce(draws_(turn), where_.size()));
  }
  std::uint64_t bucket(std::size_t place) const noexcept { return where_[place]; }

  template <class State>
  void arrive(std::size_t place, const State& walk) {
    const bool placed = walk.end == walk_end::placed;
    where_[place] = placed ? walk.at.bucket : overflow;
    if (how_.leaves == departure::one_level && placed && walk.at.level == how_.level)
      members_.push_back(place);
  }

  void prefetch(std::size_t place) const noexcept { prefetch_line_ahead(&where_[place]); }

 private:
  churn_settings how_;
  hash_sequence draws_;
  std::vector<std::uint64_t> where_;
  std::vector<std::size_t> members_;  // one_level: the places of those that shall leave
};

template <class Scheme, class Counter>
trial_findings churn(const Scheme& scheme, const scenario& what, std::uint64_t trial,
                     std::atomic<std::uint64_t>& done) {
  constexpr std::size_t ahead = default_ring_width / 2;
  const churn_settings& how = *what.churn;
  load_counters<Counter> store(scheme.buckets());
  placing walk(scheme, store, rule_of(what));
  const hash_sequence keys(what.seed, trial, 0);
  residents present(what.elements, how, hash_sequence(what.seed, trial, 1));

  std::uint64_t turn = what.elements;
  in_pieces(0, turn, done, [&](std::uint64_t begin, std::size_t count) {
    roll_in_order(
        walk, count, [&](std::size_t i) { return key_hash{keys(begin + i)}; },
        [&](key_hash hash) { return walk.start(hash); },
        [&](std::size_t i, const auto& ended) {
          present.arrive(static_cast<std::size_t>(begin) + i, ended);
        });
  });

  const auto take_turns = [&](double turnovers) {
    tally counted;
    const double wanted = turnovers * static_cast<double>(what.elements);
    const std::uint64_t end = turn + static_cast<std::uint64_t>(std::llround(wanted));
    in_pieces(turn, end, done, [&](std::uint64_t begin, std::size_t count) {
      std::size_t place = 0;
      // One leaves before the next arrives, as it would one at a time.
      const auto leave = [&](std::uint64_t number) {
        place = present.leaving(number);
        const std::uint64_t bucket = present.bucket(place);
        if (bucket != residents::overflow) store.remove_one({bucket, 0});
      };
      leave(begin);
      roll_in_order(
          walk, count,
          [&](std::size_t i) {
            present.prefetch(present.expected(begin + i));
            return key_hash{keys(begin + i)};
          },
          [&](key_hash hash) { return walk.start(hash); },
          [&](std::size_t i, const auto& ended) {
            counted.add(ended);
            present.arrive(place, ended);
            if (i + 1 < count) leave(begin + i + 1);
            const std::uint64_t soon = present.bucket(present.expected(begin + i + ahead));
            if (soon != residents::overflow) store.prefetch({soon, 0});
          });
    });
    turn = end;
    return counted;
  };

  trial_findings result;
  take_turns(how.warm_up_turnovers);
  for (unsigned batch = 0; batch < how.batches; ++batch) {
    const tally counted = take_turns(how.batch_turnovers);
    const double arrivals = static_cast<double>(counted.arrivals());
    sample found = look_at(scheme, store);
    found.overflow_fraction = 1 - static_cast<double>(counted.placed) / arrivals;
    found.cumulative_overflow_fraction = found.overflow_fraction;
    found.mean_accesses = counted.accesses() / arrivals;
    result.samples.push_back(std::move(found));
    result.accesses.push_back(counted.shares(scheme.choices()));
  }
  result.placements = turn;
  return result;
}

}  // namespace oneprobe::inline v0_1::sim::detail
