// The simplest filter there is, for tests of what is built from filters: k bits anywhere, one after
// the other, and an error that follows from the fill.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numbers>
#include <span>
#include <utility>

#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/filter/basic_filter.hpp"
#include "oneprobe/filter/plan.hpp"
#include "oneprobe/filter/results.hpp"
#include "oneprobe/hash_feed.hpp"
#include "oneprobe/memory.hpp"
#include "oneprobe/model/bloom.hpp"

namespace oneprobe::testing {

class plain_engine {
 public:
  static constexpr filter_kind kind = filter_kind::standard;

  plain_engine(const filter_plan& plan, line_memory memory, const filter_counts& counts)
      : plan_(plan), memory_(std::move(memory)), counts_(counts) {}

  /// The least memory for this error by the usual formula.
  static filter_plan default_plan(std::uint64_t elements, double fpr) {
    filter_plan plan{.kind = kind, .elements = elements};
    const auto n = static_cast<double>(elements);
    plan.bits_set = static_cast<std::uint32_t>(std::ceil(std::log2(1 / fpr)));
    plan.cells = static_cast<std::uint64_t>(n * std::log2(1 / fpr) / std::numbers::ln2);
    do {
      plan.cells += 64;
      plan.predicted.fpr =
          model::standard_error_finite(static_cast<double>(plan.cells), n, plan.bits_set);
    } while (plan.predicted.fpr > fpr);
    return plan;
  }

  insert_outcome insert(key_hash hash) noexcept {
    bool present = true;
    for (std::uint32_t j = 0; j < plan_.bits_set; ++j) {
      const std::uint64_t cell = cell_of(hash, j);
      present = present && bit(cell);
      memory_.data()[cell / 8] |= std::byte{1} << (cell % 8);
    }
    if (present) return insert_outcome::possibly_present;
    ++counts_.size;
    return insert_outcome::added;
  }
  std::uint64_t insert_all(const hash_feed& hashes) {
    std::uint64_t added = 0;
    for (std::size_t i = 0; i < hashes.size(); ++i)
      if (insert(hash_number(hashes, i)) == insert_outcome::added) ++added;
    return added;
  }
  bool may_contain(key_hash hash) const noexcept { return explain(hash).may_contain(); }
  void query_all(const hash_feed& hashes, bool* answers) const {
    // From the last to the first: the order of the answers is free.
    for (std::size_t i = hashes.size(); i-- > 0;) answers[i] = may_contain(hash_number(hashes, i));
  }
  lookup_path explain(key_hash hash) const noexcept {
    for (std::uint32_t j = 0; j < plan_.bits_set; ++j)
      if (!bit(cell_of(hash, j)))
        return {.stopped = lookup_path::stop::ruled_out, .accesses = j + 1, .lines = j + 1};
    return {
        .stopped = lookup_path::stop::matched, .accesses = plan_.bits_set, .lines = plan_.bits_set};
  }

  const filter_plan& plan() const noexcept { return plan_; }
  filter_counts counts() const noexcept { return counts_; }
  double fill_fraction() const {
    std::uint64_t set = 0;
    for (const std::byte byte : memory_.bytes())
      set += static_cast<unsigned>(std::popcount(std::to_integer<unsigned>(byte)));
    return static_cast<double>(set) / static_cast<double>(plan_.cells);
  }
  double current_fpr() const { return std::pow(fill_fraction(), plan_.bits_set); }
  std::span<const std::byte> memory() const noexcept { return memory_.bytes(); }
  void clear() noexcept {
    std::memset(memory_.data(), 0, memory_.size());
    counts_ = {};
  }

 private:
  static key_hash hash_number(const hash_feed& hashes, std::size_t i) {
    key_hash hash{};
    hashes.fill(i, {&hash, 1});
    return hash;
  }
  std::uint64_t cell_of(key_hash hash, std::uint32_t j) const noexcept {
    return reduce(hash_stream(hash, overflow_stream + 1000 + j), plan_.cells);
  }
  bool bit(std::uint64_t cell) const noexcept {
    return (memory_.data()[cell / 8] >> (cell % 8) & std::byte{1}) != std::byte{0};
  }

  filter_plan plan_;
  line_memory memory_;
  filter_counts counts_;
};

using plain_filter = basic_filter<plain_engine, seeded_hash>;

}  // namespace oneprobe::testing
