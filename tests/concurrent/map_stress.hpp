// Readers and writers on one small map, with more threads than cores: what every reader may rely on
// is checked at each read.
//
// A value carries a number, and many times a check of its key and that number: a torn one gives
// itself away. Keys are of three kinds. *Lasting* ones are there from the beginning to the end, and
// their values change: they are never missing, and their numbers never fall for one reader.
// *Announced* ones are inserted by one writer, which then raises a counter: whoever sees the
// counter must find them until the writer announces that it will erase them. *Coming and going*
// ones are inserted and erased by all writers, far too many for the map: it is often full.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "oneprobe/map/concurrent_map.hpp"

namespace map_stress {

struct settings {
  std::uint64_t operations = 100'000;  // of each writer
  unsigned readers = 2;
  unsigned writers = 3;
  std::uint64_t seed = 1;
};

struct result {
  std::uint64_t reads = 0;
  std::uint64_t retries = 0;
  std::uint64_t torn = 0;
  std::uint64_t lost = 0;
  std::uint64_t unexpected = 0;  // answers to writers that cannot be
  std::uint64_t refused = 0;     // insertions into the full map

  result& operator+=(const result& other) {
    reads += other.reads;
    retries += other.retries;
    torn += other.torn;
    lost += other.lost;
    unexpected += other.unexpected;
    refused += other.refused;
    return *this;
  }
};

struct checked_value {
  std::uint64_t number;
  std::array<std::uint64_t, 14> checks;  // long, so that there is time to see half of it

  static checked_value of(std::uint64_t key, std::uint64_t number) {
    checked_value value{number, {}};
    value.checks.fill(oneprobe::mix_bits(key * 3 + number));
    return value;
  }
  bool whole(std::uint64_t key) const {
    const std::uint64_t wanted = oneprobe::mix_bits(key * 3 + number);
    return std::all_of(checks.begin(), checks.end(), [&](auto check) { return check == wanted; });
  }
};

inline constexpr std::uint64_t lasting_keys = 60;
inline constexpr std::uint64_t hot_keys = 2;  // of them
inline constexpr std::uint64_t first_announced = 1'000'000;
inline constexpr std::uint64_t announced_at_once = 20;
inline constexpr std::uint64_t first_passing = 2'000'000;
inline constexpr std::uint64_t passing_keys = 500;

inline oneprobe::table_plan plan() {
  oneprobe::table_plan plan;
  plan.elements = 220;
  plan.levels = plan.choices = 3;
  plan.level_buckets = {12, 4, 2};
  plan.overflow_buckets = 3;
  plan.overflow_reserve = 16;
  return plan;
}

/// Runs all threads until the writers are done.
inline result run(const settings& how) {
  using namespace oneprobe;
  using map = concurrent_map<std::uint64_t, checked_value>;
  map shared(plan(), seeded_hash(how.seed));
  result sum;
  for (std::uint64_t key = 0; key < lasting_keys; ++key)
    if (shared.insert(key, checked_value::of(key, 0)) == insertion::full) ++sum.unexpected;

  // Announced keys are numbered on and on; those from `erased` up to `inserted` are there.
  std::atomic<std::uint64_t> inserted{0};
  std::atomic<std::uint64_t> erased{0};
  std::atomic<unsigned> busy{how.writers};
  std::vector<result> found(how.readers + how.writers);

  const auto read = [&](result& own, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    map::reader reader(shared);
    std::array<std::uint64_t, lasting_keys> newest{};
    while (busy.load(std::memory_order_relaxed) != 0) {
      ++own.reads;
      const std::uint64_t kind = random() % 4;
      const auto check_lasting = [&](std::uint64_t key, const std::optional<checked_value>& value) {
        if (!value) {
          ++own.lost;
        } else if (!value->whole(key)) {
          ++own.torn;
        } else {
          own.lost += value->number < newest[key] ? 1u : 0u;
          newest[key] = value->number;
        }
      };
      if (kind == 0) {
        // Some of them much more often than others, by readers and writers alike.
        const std::uint64_t key = random() % (random() % 4 == 0 ? lasting_keys : hot_keys);
        check_lasting(key, reader.find(key));
      } else if (kind == 1) {
        const std::uint64_t last = inserted.load(std::memory_order_acquire);
        if (last == 0) continue;
        const std::uint64_t number = last - 1 - random() % std::min(last, announced_at_once);
        const auto value = reader.find(first_announced + number);
        // Whether it might have been erased meanwhile is asked afterwards.
        if (!value)
          own.lost += number >= erased.load(std::memory_order_acquire) ? 1u : 0u;
        else if (!value->whole(first_announced + number))
          ++own.torn;
      } else if (kind == 2) {
        const std::uint64_t key = first_passing + random() % passing_keys;
        const auto value = reader.find(key);
        if (value && !value->whole(key)) ++own.torn;
      } else {
        // Many at once, none of them twice: half of them lasting, half coming and going.
        std::array<std::uint64_t, 16> keys;
        std::array<std::optional<checked_value>, 16> values;
        const std::uint64_t first = random() % 4 == 0 ? random() % lasting_keys : 0;
        for (std::uint64_t i = 0; i < 8; ++i) {
          keys[i] = (first + i) % lasting_keys;
          keys[8 + i] = first_passing + (first * 8 + i) % passing_keys;
        }
        reader.bulk_find(keys, values);
        for (std::size_t i = 0; i < 8; ++i) {
          check_lasting(keys[i], values[i]);
          if (values[8 + i] && !values[8 + i]->whole(keys[8 + i])) ++own.torn;
        }
      }
    }
    own.retries = reader.retries();
  };

  const auto write = [&](result& own, std::uint64_t seed, bool announces) {
    std::mt19937_64 random(seed);
    for (std::uint64_t i = 0; i < how.operations; ++i) {
      const std::uint64_t key = first_passing + random() % passing_keys;
      if (const std::uint64_t what = random() % 4; what < 2) {
        const checked_value value = checked_value::of(key, random());
        const insertion outcome =
            what == 0 ? shared.insert(key, value) : shared.insert_or_assign(key, value);
        own.refused += outcome == insertion::full ? 1u : 0u;
      } else {
        shared.erase(key);
      }
      for (int again = 0; again < 4; ++again) {
        const std::uint64_t lasting = random() % (random() % 4 == 0 ? lasting_keys : hot_keys);
        const bool there = shared.modify(lasting, [&](checked_value& value) {
          value = checked_value::of(lasting, value.number + 1);
        });
        own.unexpected += there ? 0u : 1u;
      }
      if (!announces || i % 8 != 0) continue;
      const std::uint64_t number = inserted.load(std::memory_order_relaxed);
      if (number >= announced_at_once) {
        const std::uint64_t oldest = number - announced_at_once;
        erased.store(oldest + 1, std::memory_order_release);
        own.unexpected += shared.erase(first_announced + oldest) == erase_outcome::erased ? 0u : 1u;
      }
      const std::uint64_t announced = first_announced + number;
      insertion outcome = insertion::full;
      while (outcome == insertion::full) {
        outcome = shared.insert(announced, checked_value::of(announced, number));
        // Make room as any user of a full map would.
        if (outcome == insertion::full) shared.erase(first_passing + random() % passing_keys);
      }
      own.unexpected += outcome == insertion::present ? 1u : 0u;
      inserted.store(number + 1, std::memory_order_release);
    }
    busy.fetch_sub(1, std::memory_order_relaxed);
  };

  {
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < how.readers; ++i)
      threads.emplace_back([&, i] { read(found[i], how.seed * 100 + i); });
    for (unsigned i = 0; i < how.writers; ++i)
      threads.emplace_back([&, i] { write(found[how.readers + i], how.seed * 200 + i, i == 0); });
  }
  for (const result& part : found) sum += part;

  // What is left must be what the map counts, and be there once.
  std::uint64_t left = 0;
  shared.for_each([&](std::uint64_t key, const checked_value& value) {
    ++left;
    sum.torn += value.whole(key) ? 0u : 1u;
    sum.lost += shared.find(key) ? 0u : 1u;
  });
  sum.unexpected += left == shared.size() ? 0u : 1u;
  return sum;
}

}  // namespace map_stress
