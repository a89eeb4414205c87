// A map with a summary and its twin: every call also goes to a std::unordered_map, the answers must
// agree, and no lookup may read more than one bucket.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <unordered_map>
#include <utility>

#include "oneprobe/map/results.hpp"
#include "oneprobe/one_probe/one_probe_map.hpp"

template <class Map>
class checked_one_probe_map {
 public:
  using key_type = typename Map::key_type;
  using value_type = typename Map::mapped_type;

  explicit checked_one_probe_map(Map map) : map_(std::move(map)) {}

  Map& map() { return map_; }
  std::uint64_t size() const { return twin_.size(); }
  std::uint64_t refused() const { return refused_; }
  std::uint64_t overflowed() const { return overflowed_; }

  void insert(const key_type& key, const value_type& value) {
    using oneprobe::insertion;
    const auto made = map_.insert(key, value);
    const auto twin = twin_.find(key);
    ASSERT_EQ(made.outcome == insertion::present, twin != twin_.end());
    ASSERT_EQ(made.element == nullptr, made.outcome == insertion::full);
    if (made.element != nullptr) {
      ASSERT_EQ(made.element->key, key);
      ASSERT_EQ(made.element->value, twin != twin_.end() ? twin->second : value);
    }
    if (made.outcome == insertion::inserted || made.outcome == insertion::overflowed)
      twin_.emplace(key, value);
    refused_ += made.outcome == insertion::full ? 1u : 0u;
    overflowed_ += made.outcome == insertion::overflowed ? 1u : 0u;
    ASSERT_EQ(map_.size(), twin_.size());
  }
  void insert_or_assign(const key_type& key, const value_type& value) {
    const auto made = map_.insert_or_assign(key, value);
    if (made.element == nullptr) return;
    twin_[key] = value;
    ASSERT_EQ(made.element->value, value);
    ASSERT_EQ(map_.size(), twin_.size());
  }
  void erase(const key_type& key) {
    ASSERT_EQ(map_.erase(key) == oneprobe::erase_outcome::erased, twin_.erase(key) == 1);
    ASSERT_EQ(map_.size(), twin_.size());
  }
  void find(const key_type& key) {
    const Map& asked = map_;
    const auto* const found = asked.find(key);
    const auto twin = twin_.find(key);
    ASSERT_EQ(found != nullptr, twin != twin_.end());
    if (found != nullptr) {
      ASSERT_EQ(found->key, key);
      ASSERT_EQ(found->value, twin->second);
    }
    const oneprobe::table_path path = asked.explain(key);
    ASSERT_EQ(path.contains(), found != nullptr);
    ASSERT_LE(path.accesses, 1u);
    if (path.stopped == oneprobe::table_path::stop::found) {
      ASSERT_EQ(path.accesses, 1u);
    }
  }
  /// Everything there is.
  void check_all() {
    std::uint64_t seen = 0;
    map_.for_each([&](const auto& element) {
      const auto twin = twin_.find(element.key);
      ASSERT_NE(twin, twin_.end());
      ASSERT_EQ(element.value, twin->second);
      ++seen;
    });
    ASSERT_EQ(seen, twin_.size());
    std::uint64_t counted = map_.counts().overflow;
    for (const std::uint64_t level : map_.counts().levels) counted += level;
    ASSERT_EQ(counted, twin_.size());
    for (const auto& [key, value] : twin_) {
      const auto* const found = map_.find(key);
      ASSERT_NE(found, nullptr);
      ASSERT_EQ(found->value, value);
    }
  }
  void clear() {
    map_.clear();
    twin_.clear();
  }

 private:
  Map map_;
  std::unordered_map<key_type, value_type> twin_;
  std::uint64_t refused_ = 0;
  std::uint64_t overflowed_ = 0;
};

/// Operations on keys that `key_of` makes of 0 .. keys - 1, with at most so many elements there.
struct one_probe_work {
  std::uint64_t operations;
  std::uint64_t keys;
  std::uint64_t most_elements;
  std::uint64_t seed;
};

template <class Map, class KeyOf>
void random_operations(checked_one_probe_map<Map>& checked, const one_probe_work& work,
                       KeyOf key_of) {
  std::mt19937_64 random(work.seed);
  for (std::uint64_t i = 0; i < work.operations && !testing::Test::HasFailure(); ++i) {
    const auto key = key_of(random() % work.keys);
    const std::uint64_t kind = random() % 16;
    if (kind < 6 && checked.size() < work.most_elements)
      checked.insert(key, key_of(random() % 1'000));
    else if (kind < 7 && checked.size() < work.most_elements)
      checked.insert_or_assign(key, key_of(random() % 1'000));
    else if (kind < 11)
      checked.erase(key);
    else
      checked.find(key);
    if (i % (4 * work.keys + 10'000) == 0) checked.check_all();
  }
  checked.check_all();
}
