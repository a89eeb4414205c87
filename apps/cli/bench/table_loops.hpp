// The loops of a benchmark of tables, written once for all of them.
//
// A Table has
//   bool insert(std::uint64_t key, std::uint64_t value);        // false: refused
//   bool find(std::uint64_t key, std::uint64_t& value);
//   bool erase(std::uint64_t key);
//   std::uint64_t size() const; double load_factor() const; std::uint64_t memory_bytes() const;
// and is made anew by a function for each round.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "bench/table_contender.hpp"
#include "bench/tick_clock.hpp"

namespace oneprobe::cli {

template <class Table>
class looped_table : public table_contender {
 public:
  looped_table(table_facts facts, std::function<std::unique_ptr<Table>()> make)
      : facts_(std::move(facts)), make_(std::move(make)) {}

  const table_facts& facts() const final { return facts_; }

  void build() final { table_ = make_(); }
  void drop() final { table_.reset(); }

  void insert(table_keys keys, std::vector<std::size_t>& refused) final {
    Table& table = *table_;
    for (std::size_t i = 0; i < keys.size(); ++i)
      if (!table.insert(keys[i], value_of(keys[i]))) [[unlikely]]
        refused.push_back(i);
  }
  void insert_watched(table_keys keys, latency_watch& watch,
                      std::vector<std::size_t>& refused) final {
    watch.begin_part();
    for (std::size_t i = 0; i < keys.size(); ++i)
      if (!watched_insert(keys[i], watch)) [[unlikely]]
        refused.push_back(i);
  }
  std::uint64_t churn(table_keys leaving, table_keys coming, latency_watch& watch,
                      std::vector<std::size_t>& refused) final {
    std::uint64_t left = 0;
    watch.begin_part();
    for (std::size_t i = 0; i < leaving.size(); ++i) {
      left += table_->erase(leaving[i]) ? 1u : 0u;
      if (!watched_insert(coming[i], watch)) [[unlikely]]
        refused.push_back(i);
    }
    return left;
  }
  std::uint64_t erase(table_keys keys) final {
    Table& table = *table_;
    std::uint64_t erased = 0;
    for (const std::uint64_t key : keys) erased += table.erase(key) ? 1u : 0u;
    return erased;
  }

  std::uint64_t count_right(table_keys keys) final {
    Table& table = *table_;
    std::uint64_t right = 0;
    for (const std::uint64_t key : keys) {
      std::uint64_t value = 0;
      if (table.find(key, value)) right += value == value_of(key) ? 1u : 0u;
    }
    return right;
  }
  std::uint64_t count_right_chained(table_keys keys) final {
    Table& table = *table_;
    std::uint64_t right = 0;
    std::uint64_t carry = 0;  // always 0, which the processor learns from the value found
    for (const std::uint64_t each : keys) {
      const std::uint64_t key = each + carry;
      std::uint64_t value = 0;
      if (table.find(key, value)) right += value == value_of(each) ? 1u : 0u;
      carry = value - value_of(key);
      // Not to be derived from the comparison above, which a processor would guess.
      __asm__ volatile("" : "+r"(carry));
    }
    return right;
  }
  std::uint64_t count_present(table_keys keys) final {
    Table& table = *table_;
    std::uint64_t present = 0;
    for (const std::uint64_t key : keys) {
      std::uint64_t value = 0;
      present += table.find(key, value) ? 1u : 0u;
    }
    return present;
  }

  std::uint64_t size() const final { return table_->size(); }
  double load_factor() const final { return table_->load_factor(); }
  std::uint64_t memory_bytes() const final { return table_->memory_bytes(); }

 protected:
  Table& table() { return *table_; }
  const Table& table() const { return *table_; }

 private:
  bool watched_insert(std::uint64_t key, latency_watch& watch) {
    const std::uint64_t begin = begin_ticks();
    const bool taken = table_->insert(key, value_of(key));
    watch.record(begin, end_ticks());
    return taken;
  }

  table_facts facts_;
  std::function<std::unique_ptr<Table>()> make_;
  std::unique_ptr<Table> table_;
};

}  // namespace oneprobe::cli
