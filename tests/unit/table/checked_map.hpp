// A table with a twin: every call also goes to a std::unordered_map, and the answers must agree.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "oneprobe/core/table_answers.hpp"

template <class Map>
class checked_map {
 public:
  using key_type = typename Map::key_type;
  using mapped_type = typename Map::mapped_type;
  using element = typename Map::value_type;

  explicit checked_map(Map map) : map_(std::move(map)) {}

  Map& map() { return map_; }
  std::size_t size() const { return twin_.size(); }
  std::uint64_t refused() const { return refused_; }
  std::uint64_t overflowed() const { return overflowed_; }

  oneprobe::insertion insert(const key_type& key, const mapped_type& value) {
    return check_insertion(map_.insert(key, value), key, value);
  }
  oneprobe::insertion insert_or_assign(const key_type& key, const mapped_type& value) {
    const auto found = map_.insert_or_assign(key, value);
    if (found.outcome == oneprobe::insertion::present) twin_.at(key) = value;
    return check_insertion(found, key, value);
  }
  void erase(const key_type& key) {
    const bool there = twin_.erase(key) == 1;
    ASSERT_EQ(map_.erase(key) == oneprobe::erase_outcome::erased, there);
  }
  void find(const key_type& key) {
    const auto twin = twin_.find(key);
    const element* const found = map_.find(key);
    ASSERT_EQ(found != nullptr, twin != twin_.end());
    ASSERT_EQ(map_.contains(key), found != nullptr);
    if (found == nullptr) return;
    ASSERT_EQ(found->key, key);
    ASSERT_EQ(found->value, twin->second);
  }
  /// The same by `explain`, which must not cost more than it may.
  oneprobe::table_path explain(const key_type& key) {
    const oneprobe::table_path path = map_.explain(key);
    EXPECT_EQ(path.contains(), twin_.contains(key));
    EXPECT_GE(path.accesses, 1u);
    EXPECT_LE(path.accesses, map_.plan().choices);
    EXPECT_LE(path.overflow_accesses, oneprobe::table_plan::overflow_choices);
    return path;
  }
  void bulk_find(const std::vector<key_type>& keys) {
    std::vector<const element*> found(keys.size());
    std::uint64_t there = 0;
    const std::uint64_t counted =
        std::as_const(map_).bulk_find(keys, std::span<const element*>(found));
    for (std::size_t i = 0; i < keys.size(); ++i) {
      const auto twin = twin_.find(keys[i]);
      ASSERT_EQ(found[i] != nullptr, twin != twin_.end());
      if (found[i] == nullptr) continue;
      ++there;
      ASSERT_EQ(found[i]->key, keys[i]);
      ASSERT_EQ(found[i]->value, twin->second);
    }
    ASSERT_EQ(counted, there);
  }
  template <class Expired>
  void sweep(std::uint64_t buckets, Expired expired) {
    std::vector<key_type> swept;
    const std::uint64_t erased = map_.sweep(buckets, [&](const element& one) {
      if (!expired(one)) return false;
      swept.push_back(one.key);
      return true;
    });
    ASSERT_EQ(erased, swept.size());
    for (const key_type& key : swept) ASSERT_EQ(twin_.erase(key), 1u);
  }
  /// Everything there is, by iteration, and what the table counts of it.
  void check_all() {
    ASSERT_EQ(map_.size(), twin_.size());
    std::size_t seen = 0;
    for (const element& one : map_) {
      const auto twin = twin_.find(one.key);
      ASSERT_NE(twin, twin_.end());
      ASSERT_EQ(one.value, twin->second);
      ++seen;
    }
    ASSERT_EQ(seen, twin_.size());
    std::uint64_t counted = map_.counts().overflow;
    for (const std::uint64_t level : map_.counts().levels) counted += level;
    ASSERT_EQ(counted, twin_.size());
  }
  void clear() {
    map_.clear();
    twin_.clear();
  }

 private:
  oneprobe::insertion check_insertion(const typename Map::result& found, const key_type& key,
                                      const mapped_type& value) {
    using oneprobe::insertion;
    const auto twin = twin_.find(key);
    EXPECT_EQ(found.outcome == insertion::present, twin != twin_.end());
    EXPECT_EQ(found.element == nullptr, found.outcome == insertion::full);
    if (found.element != nullptr) {
      EXPECT_EQ(found.element->key, key);
      EXPECT_EQ(found.element->value, twin != twin_.end() ? twin->second : value);
    }
    if (found.outcome == insertion::inserted || found.outcome == insertion::overflowed)
      twin_.emplace(key, value);
    refused_ += found.outcome == insertion::full ? 1u : 0u;
    overflowed_ += found.outcome == insertion::overflowed ? 1u : 0u;
    EXPECT_EQ(map_.size(), twin_.size());
    return found.outcome;
  }

  Map map_;
  std::unordered_map<key_type, mapped_type> twin_;
  std::uint64_t refused_ = 0;
  std::uint64_t overflowed_ = 0;
};
