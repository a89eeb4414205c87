// A table with a twin: every call also goes to a std::unordered_map, and the answers must agree.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "oneprobe/map/results.hpp"

/// The twin holds a Value where the table holds what is made of it: another type where the table's
/// cannot be copied, or throws when it is. The two can be compared.
template <class Map, class Value = typename Map::mapped_type>
class checked_map {
 public:
  using key_type = typename Map::key_type;
  using mapped_type = typename Map::mapped_type;
  using twin_type = Value;
  using element = typename Map::value_type;

  explicit checked_map(Map map) : map_(std::move(map)) {}

  Map& map() { return map_; }
  std::size_t size() const { return twin_.size(); }
  std::uint64_t refused() const { return refused_; }
  std::uint64_t overflowed() const { return overflowed_; }
  std::uint64_t gave_way() const { return gave_way_; }
  std::uint64_t drained() const { return drained_; }
  std::uint64_t thrown() const { return thrown_; }

  void insert(const key_type& key, const Value& value) {
    check_insertion(key, value, [&] {
      return by_hash() ? map_.insert(key, made(value), hash_of(key))
                       : map_.insert(key, made(value));
    });
  }
  void try_emplace(const key_type& key, const Value& value) {
    check_insertion(key, value, [&] {
      return by_hash() ? map_.try_emplace_hashed(hash_of(key), key, value)
                       : map_.try_emplace(key, value);
    });
  }
  void insert_or_assign(const key_type& key, const Value& value) {
    check_insertion(key, value, [&] {
      const auto found = by_hash() ? map_.insert_or_assign(key, made(value), hash_of(key))
                                   : map_.insert_or_assign(key, made(value));
      if (found.outcome == oneprobe::insertion::present) twin_.at(key) = value;
      return found;
    });
  }
  /// `choose` is given the elements that could give way and returns one of them, or null.
  template <class Choose>
  void try_emplace_evicting(const key_type& key, const Value& value, Choose choose) {
    const auto evict = [&](std::span<element* const> candidates) {
      element* const chosen = choose(candidates);
      if (chosen != nullptr) {
        // It is gone even if the new one's constructor throws.
        EXPECT_EQ(twin_.erase(chosen->key), 1u);
        ++gave_way_;
      }
      return chosen;
    };
    check_insertion(key, value, [&] {
      return by_hash() ? map_.try_emplace_evicting_hashed(hash_of(key), key, evict, made(value))
                       : map_.try_emplace_evicting(key, evict, made(value));
    });
  }
  void erase(const key_type& key) {
    const bool there = twin_.erase(key) == 1;
    const auto outcome = by_hash() ? map_.erase(key, hash_of(key)) : map_.erase(key);
    ASSERT_EQ(outcome == oneprobe::erase_outcome::erased, there);
  }
  void find(const key_type& key) {
    const element* const found = by_hash() ? map_.find(key, hash_of(key)) : map_.find(key);
    expect_as_in_twin(key, found);
    ASSERT_EQ(by_hash() ? map_.contains(key, hash_of(key)) : map_.contains(key), found != nullptr);
  }
  void visit(const key_type& key) {
    const element* visited = nullptr;
    const auto keep = [&](const element& one) { visited = &one; };
    const bool there = by_hash() ? map_.visit(key, hash_of(key), keep) : map_.visit(key, keep);
    ASSERT_EQ(there, visited != nullptr);
    expect_as_in_twin(key, visited);
  }
  /// The same by `explain`, which must not cost more than it may.
  oneprobe::table_path explain(const key_type& key) {
    const oneprobe::table_path path =
        by_hash() ? map_.explain(key, hash_of(key)) : map_.explain(key);
    EXPECT_EQ(path.contains(), twin_.contains(key));
    EXPECT_GE(path.accesses, 1u);
    EXPECT_LE(path.accesses, map_.plan().choices);
    EXPECT_LE(path.overflow_accesses, oneprobe::table_plan::overflow_choices);
    return path;
  }
  void bulk_find(const std::vector<key_type>& keys) {
    std::vector<const element*> answers(keys.size());
    const std::span<const element*> found(answers);
    const Map& asked = map_;
    std::uint64_t counted = 0;
    if (by_hash()) {
      std::vector<oneprobe::key_hash> hashes;
      for (const key_type& key : keys) hashes.push_back(hash_of(key));
      counted = asked.bulk_find(keys, hashes, found);
    } else {
      counted = asked.bulk_find(keys, found);
    }
    std::uint64_t there = 0;
    for (std::size_t i = 0; i < keys.size(); ++i) {
      expect_as_in_twin(keys[i], found[i]);
      there += found[i] != nullptr ? 1u : 0u;
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
  void drain(std::uint64_t buckets) {
    const std::uint64_t before = map_.counts().overflow;
    std::optional<std::uint64_t> moved;
    unless_it_throws([&] { moved = map_.drain(buckets); });
    const std::uint64_t after = map_.counts().overflow;
    ASSERT_LE(after, before);
    if (moved) {
      ASSERT_EQ(*moved, before - after);
    }
    drained_ += before - after;
    ASSERT_EQ(map_.size(), twin_.size());
  }
  /// All of it in another table, in which there must be room.
  void copy_into(Map& other) {
    ASSERT_EQ(map_.copy_into(other), 0u);
    ASSERT_EQ(other.size(), twin_.size());
    for (const auto& [key, value] : twin_) {
      const element* const copied = other.find(key);
      ASSERT_NE(copied, nullptr);
      ASSERT_EQ(copied->value, value);
    }
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
  /// Every third call goes by a hash that was made before; three, since tests call in pairs.
  bool by_hash() { return ++calls_ % 3 == 0; }
  oneprobe::key_hash hash_of(const key_type& key) const { return map_.hash()(key); }

  /// What the table is given for a value of the twin.
  static decltype(auto) made(const Value& value) {
    if constexpr (std::is_same_v<Value, mapped_type>)
      return (value);
    else
      return mapped_type(value);
  }

  void expect_as_in_twin(const key_type& key, const element* found) {
    const auto twin = twin_.find(key);
    ASSERT_EQ(found != nullptr, twin != twin_.end());
    if (found == nullptr) return;
    ASSERT_EQ(found->key, key);
    ASSERT_EQ(found->value, twin->second);
  }

  /// Elements of some tests throw: then the table must be as the twin, which knows nothing of it.
  template <class Call>
  void unless_it_throws(Call call) {
    try {
      call();
    } catch (const std::runtime_error&) {
      ++thrown_;
    }
  }

  template <class Insert>
  void check_insertion(const key_type& key, const Value& value, Insert insert) {
    using oneprobe::insertion;
    unless_it_throws([&] {
      const typename Map::result found = insert();
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
    });
    EXPECT_EQ(map_.size(), twin_.size());
  }

  Map map_;
  std::unordered_map<key_type, Value> twin_;
  std::uint64_t calls_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t overflowed_ = 0;
  std::uint64_t gave_way_ = 0;
  std::uint64_t drained_ = 0;
  std::uint64_t thrown_ = 0;
};
