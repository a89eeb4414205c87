// Looks up, in a filter into which others insert, what they have inserted so far.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "oneprobe/filter/concurrent.hpp"
#include "statistical/filter_points.hpp"
#include "support/with_filter.hpp"

namespace trials {

using namespace oneprobe;

/// Two writers share the keys, each one by one and in bulk by turns; two readers ask for keys whose
/// insert has returned, and go on when the writers have ended, until there were enough lookups.
template <class Filter>
nlohmann::json concurrent_trial(const filter_plan& plan, std::uint64_t keys, std::uint64_t lookups,
                                std::uint64_t seed) {
  constexpr unsigned writers = 2, readers = 2;
  constexpr std::uint64_t batch = 64;
  constexpr auto pattern = key_pattern::random;
  Filter filter(plan, seeded_hash(seed));
  const std::uint64_t share = keys / writers;
  struct alignas(64) progress {
    std::atomic<std::uint64_t> inserted{0};
  };
  std::array<progress, writers> done;
  std::array<std::uint64_t, readers> lost{}, meanwhile{};
  {
    std::vector<std::jthread> threads;
    for (unsigned w = 0; w < writers; ++w)
      threads.emplace_back([&, w] {
        for (std::uint64_t at = 0; at < share; at += batch) {
          const std::uint64_t count = std::min(batch, share - at);
          const std::uint64_t first = w * share + at;
          if (at / batch % 2 == 0) {
            insert_keys(filter, pattern, first, count);
          } else {
            for (std::uint64_t i = 0; i < count; ++i)
              filter.insert(patterned_key<pattern>(first + i));
          }
          done[w].inserted.store(at + count, std::memory_order_release);
        }
      });
    for (unsigned r = 0; r < readers; ++r)
      threads.emplace_back([&, r] {
        std::mt19937_64 random(seed + r);
        for (std::uint64_t asked = 0; asked < lookups / readers;) {
          const std::uint64_t w = random() % writers;
          const std::uint64_t inserted = done[w].inserted.load(std::memory_order_acquire);
          if (inserted == 0) {
            std::this_thread::yield();
            continue;
          }
          // The newest ones are where a fault would show; the others may be lost by later inserts.
          const std::uint64_t key =
              w * share + (asked % 2 == 0 ? inserted - 1 - random() % std::min(inserted, batch)
                                          : random() % inserted);
          if (!filter.may_contain(patterned_key<pattern>(key))) ++lost[r];
          if (inserted < share) ++meanwhile[r];
          ++asked;
        }
      });
  }
  std::uint64_t lost_in_the_end = 0;
  for (std::uint64_t i = 0; i < writers * share; ++i)
    if (!filter.may_contain(patterned_key<pattern>(i))) ++lost_in_the_end;
  return {{"filter", "concurrent " + filters::name_of_plan(plan)},
          {"lookups", lookups / readers * readers + writers * share},
          {"lookups_during_inserts", meanwhile[0] + meanwhile[1]},
          {"distinct_keys", writers * share},
          {"planned", plan.elements},
          {"lost", lost[0] + lost[1] + lost_in_the_end}};
}

/// Every concurrent filter, as full as planned and three times as full.
inline std::vector<nlohmann::json> concurrent_trials(std::uint64_t keys, std::uint64_t lookups) {
  std::vector<nlohmann::json> rows;
  std::uint64_t seed = 500;
  for (const std::uint64_t elements : {keys, std::max<std::uint64_t>(1, keys / 3)}) {
    rows.push_back(concurrent_trial<concurrent_blocked_filter>(
        filters::planned(
            {.elements = elements, .bits_per_element = 16, .kind = filter_kind::blocked}),
        keys, lookups / 2, seed++));
    rows.push_back(concurrent_trial<concurrent_balanced_filter>(
        filters::planned(
            {.elements = elements, .bits_per_element = 16, .kind = filter_kind::balanced}),
        keys, lookups / 2, seed++));
  }
  return rows;
}

}  // namespace trials
