// Random operations of every kind on a table and its twin.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>
#include <span>
#include <vector>

#include "unit/map/checked_map.hpp"

struct workload {
  std::uint64_t operations = 0;
  /// Keys are made of 0 .. `keys`. About six in ten are there in the long run, or as many as find
  /// room: twelve operations of 32 insert, eight erase.
  std::uint64_t keys = 1;
  std::uint64_t seed = 1;
  /// With so many elements there, something is erased instead of inserted.
  std::uint64_t most_elements = std::numeric_limits<std::uint64_t>::max();
};

/// `key_of` makes a key of a number; `watch` is called after each operation.
template <class Checked, class KeyOf, class Watch>
void random_operations(Checked& checked, const workload& work, KeyOf key_of, Watch watch) {
  std::mt19937_64 random(work.seed);
  const auto any_key = [&] { return key_of(random() % work.keys); };
  const auto any_value = [&] { return typename Checked::twin_type(key_of(random() % 1000)); };
  using element = typename Checked::element;
  const auto any_or_none = [&](std::span<element* const> candidates) -> element* {
    return random() % 4 == 0 ? nullptr : candidates[random() % candidates.size()];
  };
  for (std::uint64_t i = 0; i < work.operations && !testing::Test::HasFailure(); ++i) {
    std::uint64_t kind = random() % 32;
    if (kind < 12 && checked.size() >= work.most_elements) kind = 12;
    const bool rare = i % 32 == 0;
    if (kind < 6) {
      checked.insert(any_key(), any_value());
    } else if (kind < 9) {
      checked.try_emplace(any_key(), any_value());
    } else if (kind < 11) {
      checked.insert_or_assign(any_key(), any_value());
    } else if (kind < 12) {
      checked.try_emplace_evicting(any_key(), any_value(), any_or_none);
    } else if (kind < 20) {
      checked.erase(any_key());
    } else if (kind < 22) {
      checked.explain(any_key());
    } else if (kind < 24) {
      checked.visit(any_key());
    } else if (kind == 24 && rare) {
      std::vector<typename Checked::key_type> some;
      for (std::uint64_t j = random() % 100; j > 0; --j) some.push_back(any_key());
      checked.bulk_find(some);
    } else if (kind == 25 && rare) {
      checked.sweep(random() % 8, [&](const auto&) { return random() % 8 == 0; });
    } else if (kind == 26 && rare) {
      checked.drain(random() % 4);
    } else {
      checked.find(any_key());
    }
    watch();
    if (i % (work.keys + 4096) == 0) checked.check_all();
  }
  checked.check_all();
}

template <class Checked, class KeyOf>
void random_operations(Checked& checked, const workload& work, KeyOf key_of) {
  random_operations(checked, work, key_of, [] {});
}
