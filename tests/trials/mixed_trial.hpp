// Mixed operations on a filter beside an exact twin: inserts with many repetitions, lookups, bulk
// calls and unions, again and again up to 1.2 times the planned elements.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/filter/plan.hpp"
#include "oneprobe/filter/results.hpp"
#include "oneprobe/hash.hpp"

namespace trials {

using namespace oneprobe;

struct mixed {
  std::uint64_t operations = 0;
  std::uint64_t lookups_of_kept = 0;
  std::uint64_t lost = 0;            // answers that were no for what had been inserted
  std::uint64_t wrong_outcomes = 0;  // inserts that said other than the lookup before
  std::uint64_t unions = 0;
  std::uint64_t fills = 0;            // how often it was filled, and emptied again
  std::uint64_t built_otherwise = 0;  // fills whose set, inserted in another order, has other bytes

  std::uint64_t faults() const { return lost + wrong_outcomes + built_otherwise; }
};

/// REQUIRES: a filter whose bytes depend on its set of elements only, unless it is degraded.
template <class Filter>
mixed mix_operations(const filter_plan& plan, std::uint64_t operations, std::uint64_t seed) {
  constexpr double largest_overfill = 1.2;
  const auto most =
      static_cast<std::uint64_t>(largest_overfill * static_cast<double>(plan.elements));
  const auto key_of = [](std::uint64_t number) { return mix_bits(number + 1); };
  std::mt19937_64 random(seed);
  mixed found;
  Filter filter(plan, seeded_hash(seed));
  std::vector<bool> kept(2 * most);
  std::uint64_t count = 0;
  const auto keep = [&](std::uint64_t number) {
    count += kept[number] ? 0u : 1u;
    kept[number] = true;
  };
  // The smaller of two draws: low numbers come again and again.
  const auto draw = [&] { return std::min(random() % kept.size(), random() % kept.size()); };
  const auto start_again = [&] {
    Filter other(plan, seeded_hash(seed));
    for (std::uint64_t number = kept.size(); number-- > 0;)
      if (kept[number]) other.insert(key_of(number));
    if (filter.condition() != filter_condition::degraded &&
        !std::ranges::equal(filter.memory(), other.memory()))
      ++found.built_otherwise;
    ++found.fills;
    filter.clear();
    std::fill(kept.begin(), kept.end(), false);
    count = 0;
  };
  while (found.operations < operations) {
    // Every second time only as far as planned: then the bytes follow from the set.
    if (count >= (found.fills % 2 == 0 ? plan.elements : most)) start_again();
    const std::uint64_t dice = random() % 10'000;
    if (dice < 5000) {
      const std::uint64_t number = draw();
      const bool before = filter.may_contain(key_of(number));
      const bool said = filter.insert(key_of(number)) == insert_outcome::possibly_present;
      if (before != said) ++found.wrong_outcomes;
      keep(number);
      found.operations += 2;
    } else if (dice < 9900) {
      const std::uint64_t number = draw();
      if (kept[number]) {
        ++found.lookups_of_kept;
        if (!filter.may_contain(key_of(number))) ++found.lost;
      }
      ++found.operations;
    } else if (dice < 9999 || random() % 10 != 0) {
      std::array<std::uint64_t, 100> numbers{}, keys{};
      std::array<bool, 100> answers{};
      for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = key_of(numbers[i] = draw());
      filter.bulk_insert(std::span<const std::uint64_t>(keys));
      for (const std::uint64_t number : numbers) keep(number);
      filter.bulk_may_contain(std::span<const std::uint64_t>(keys), std::span(answers));
      found.lost += static_cast<std::uint64_t>(std::ranges::count(answers, false));
      found.lookups_of_kept += keys.size();
      found.operations += 2 * keys.size();
    } else {
      Filter other(plan, seeded_hash(seed));
      for (int i = 0; i < 1000; ++i) {
        const std::uint64_t number = draw();
        other.insert(key_of(number));
        keep(number);
      }
      if (filter.merge(other) != merge_outcome::merged) ++found.lost;
      ++found.unions;
      found.operations += 1001;
    }
  }
  for (std::uint64_t number = 0; number < kept.size(); ++number)
    if (kept[number] && !filter.may_contain(key_of(number))) ++found.lost;
  start_again();
  return found;
}

}  // namespace trials
