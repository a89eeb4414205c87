// A Bloom filter of small counters instead of bits: elements can be taken out again. It is as many
// times larger as its counters have bits.
//
//   counting_filter present(1'000'000, 1e-3);
//   present.insert("a key");
//   present.erase("a key");                     // only what was inserted before
//   present.may_contain("a key");               // false, but for chance
//   present.stats().current_fpr;
//
// Counters of 2, 4, 8 or 16 bits saturate: one that has reached its largest value stays there, so
// that no element is ever lost, and a few that were erased seem to remain. An element may be
// inserted several times and must then be erased as often. `size` counts the elements that were
// surely not there before, less those that after an erase surely are not.
//
// k from 1 to 64, up to 2^40 bits. Bulk calls hash and fetch ahead. Threads: const functions may
// run together; anything else alone. filter/basic_filter.hpp has the whole interface.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <span>
#include <utility>

#include "oneprobe/detail/base/at_end.hpp"
#include "oneprobe/detail/filter/cells.hpp"
#include "oneprobe/filter/basic_filter.hpp"
#include "oneprobe/hash_feed.hpp"

namespace oneprobe::inline v0_1 {

/// The engine of counting filters: a filter_engine, mergeable_engine and erasing_engine.
class counting_engine {
 public:
  static constexpr filter_kind kind = filter_kind::counting;

  counting_engine(const filter_plan& plan, line_memory memory, const filter_counts& counts)
      : memory_(std::move(memory)), plan_(checked(plan)), geometry_(plan), counts_(counts) {}

  static filter_plan default_plan(std::uint64_t elements, double fpr) {
    return default_filter_plan(kind, elements, fpr);
  }

  insert_outcome insert(key_hash hash) noexcept {
    if (count_up(hash)) return insert_outcome::possibly_present;
    ++counts_.size;
    return insert_outcome::added;
  }
  std::uint64_t insert_all(const hash_feed& hashes) {
    const auto up = [this](key_hash hash) { return count_up(hash); };
    detail::cell_change<geometry, decltype(up)> walk(geometry_, memory_.data(), plan_.bits_set,
                                                     plan_.counter_bits, up);
    std::uint64_t added = 0;
    const at_end count([&] { counts_.size += added; });
    roll(walk, hashes.size(), hashes, std::identity(),
         [&](std::size_t, bool present) { added += present ? 0 : 1; });
    return added;
  }
  erase_outcome erase(key_hash hash) noexcept {
    if (!may_contain(hash)) return erase_outcome::absent;
    count_down(hash);
    if (counts_.size > 0 && !may_contain(hash)) --counts_.size;
    return erase_outcome::erased;
  }
  /// Adds counter by counter; sums beyond the largest value saturate.
  void merge(const counting_engine& other) noexcept;
  void clear() noexcept {
    std::memset(memory_.data(), 0, memory_.size());
    counts_ = {};
  }

  bool may_contain(key_hash hash) const noexcept {
    const query walk = make_query();
    return walk_to_end(walk, walk.start(hash)).end == walk_end::present;
  }
  void query_all(const hash_feed& hashes, bool* answers) const {
    detail::answer_all(make_query(), hashes, answers);
  }
  lookup_path explain(key_hash hash) const noexcept {
    return detail::explain_cells(geometry_, memory_.data(), hash, plan_.bits_set,
                                 plan_.counter_bits);
  }

  const filter_plan& plan() const noexcept { return plan_; }
  filter_counts counts() const noexcept { return counts_; }
  std::span<const std::byte> memory() const noexcept { return memory_.bytes(); }
  /// The probability that all k counters of a new element are above zero, from the counters as they
  /// are.
  double current_fpr() const noexcept {
    const double all = fill_fraction();
    double fpr = 1;
    for (std::uint32_t j = 0; j < plan_.bits_set; ++j) fpr *= all;
    return fpr;
  }
  /// Counters above zero, of all counters.
  double fill_fraction() const noexcept {
    return static_cast<double>(
               detail::count_nonzero(memory_.data(), 0, plan_.cells, plan_.counter_bits)) /
           static_cast<double>(plan_.cells);
  }

 private:
  using geometry = detail::cells_anywhere;
  using query = detail::cell_query<geometry>;

  static const filter_plan& checked(const filter_plan& plan) {
    check_plan(plan, kind);
    return plan;
  }
  query make_query() const noexcept {
    return query(geometry_, memory_.data(), plan_.bits_set, plan_.counter_bits);
  }
  std::uint64_t largest() const noexcept { return (std::uint64_t{1} << plan_.counter_bits) - 1; }

  /// Whether all were above zero before.
  bool count_up(key_hash hash) noexcept {
    const std::uint64_t most = largest();
    bool present = true;
    for_each_counter(hash, [&](std::uint64_t value) {
      present &= value != 0;
      return value + (value != most ? 1 : 0);
    });
    return present;
  }
  void count_down(key_hash hash) noexcept {
    const std::uint64_t most = largest();
    for_each_counter(
        hash, [&](std::uint64_t value) { return value - (value != 0 && value != most ? 1 : 0); });
  }
  template <class Change>
  void for_each_counter(key_hash hash, Change change) noexcept {
    const std::uint64_t most = largest();
    detail::for_each_cell(
        geometry_, hash, plan_.bits_set, plan_.counter_bits, [&](detail::cell_place at) {
          std::byte* const word = memory_.data() + at.byte;
          const std::uint64_t before = plain_words::load(word);
          const std::uint64_t value = before >> at.shift & most;
          // The difference, shifted into place: nothing is carried out of the counter.
          plain_words::store(word, before + ((change(value) - value) << at.shift));
        });
  }

  // First: a copy that finds no memory must leave everything as it was.
  line_memory memory_;
  filter_plan plan_;
  geometry geometry_;
  filter_counts counts_;
};

inline void counting_engine::merge(const counting_engine& other) noexcept {
  const std::uint64_t most = largest();
  const unsigned width = plan_.counter_bits;
  for (std::size_t i = 0; i < memory_.size(); i += word_bytes) {
    std::byte* const own = memory_.data() + i;
    const std::uint64_t a = plain_words::load(own);
    const std::uint64_t b = plain_words::load(other.memory_.data() + i);
    std::uint64_t sums = 0;
    for (unsigned shift = 0; shift < word_bits; shift += width)
      sums |= std::min((a >> shift & most) + (b >> shift & most), most) << shift;
    plain_words::store(own, sums);
  }
  detail::add_counts(counts_, other.counts_);
}

/// A counting filter with a hash of your own.
template <class Hash>
using basic_counting_filter = basic_filter<counting_engine, Hash>;
using counting_filter = basic_counting_filter<seeded_hash>;

}  // namespace oneprobe::inline v0_1
