// Random operations of every kind on a table and its twin.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "unit/table/checked_map.hpp"

/// Draws from keys 0 .. `keys`, so that about half of them are there at any moment, or as many as
/// find room. `key_of` makes a key of a number.
template <class Map, class KeyOf>
void random_operations(checked_map<Map>& checked, std::uint64_t operations, std::uint64_t keys,
                       std::uint64_t seed, KeyOf key_of) {
  std::mt19937_64 random(seed);
  const auto any_key = [&] { return key_of(random() % keys); };
  const auto any_value = [&] { return typename Map::mapped_type(key_of(random() % 1000)); };
  for (std::uint64_t i = 0; i < operations && !testing::Test::HasFailure(); ++i) {
    const std::uint64_t kind = random() % 16;
    if (kind < 5) {
      checked.insert(any_key(), any_value());
    } else if (kind < 6) {
      checked.insert_or_assign(any_key(), any_value());
    } else if (kind < 10) {
      checked.erase(any_key());
    } else if (kind < 11) {
      checked.explain(any_key());
    } else if (kind < 12 && i % 64 == 0) {
      std::vector<typename Map::key_type> some;
      for (std::uint64_t j = random() % 100; j > 0; --j) some.push_back(any_key());
      checked.bulk_find(some);
    } else if (kind < 13 && i % 64 == 0) {
      checked.sweep(random() % 8, [&](const auto&) { return random() % 8 == 0; });
    } else {
      checked.find(any_key());
    }
    if (i % (keys + 4096) == 0) checked.check_all();
  }
  checked.check_all();
}
