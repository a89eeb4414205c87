// What a page store keeps in memory: how full each page is, the summary, and which records are in
// the overflow. It says where a record goes and where it is; it never sees the pages themselves.
//
//   place(hash)     the walk over the loads, then the summary: a page, or `full`
//   page_of(hash)   the one page to read
//   leave(hash, p)  the record is no longer in page p
//
// A record goes to the overflow if all its pages are full, or if the summary would send it, or
// another record, to the wrong page; then every lookup of it finds it in memory.
//
// Const functions may be called together; nothing else may.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/detail/io/bytes.hpp"
#include "oneprobe/detail/placement/admission.hpp"
#include "oneprobe/detail/placement/concepts.hpp"
#include "oneprobe/detail/placement/load_counters.hpp"
#include "oneprobe/detail/placement/schemes.hpp"
#include "oneprobe/detail/placement/walk.hpp"
#include "oneprobe/hash.hpp"
#include "oneprobe/key_hash.hpp"
#include "oneprobe/memory.hpp"
#include "oneprobe/one_probe/interpolation_summary.hpp"
#include "oneprobe/one_probe/summary.hpp"
#include "oneprobe/page_store/plan.hpp"

namespace oneprobe::inline v0_1 {

/// What a page store counts.
struct page_store_counts {
  std::uint64_t size = 0;      // records, those in the overflow included
  std::uint64_t overflow = 0;  // of them in the overflow
  std::array<std::uint64_t, page_store_plan::most_levels> levels{};  // the others, by level

  friend constexpr bool operator==(const page_store_counts&, const page_store_counts&) = default;
};

class page_directory {
 public:
  /// Of an empty store. Refuses a plan that has a fault.
  page_directory(const page_store_plan& plan, std::uint64_t seed)
      : page_directory(plan, seed, interpolation_summary(checked(plan).summary)) {}
  /// Over a summary that is there; the loads follow by set_load().
  page_directory(const page_store_plan& plan, std::uint64_t seed, interpolation_summary summary)
      : plan_(checked(plan)),
        hash_(seed),
        scheme_(std::span(plan.level_pages).first(plan.levels)),
        loads_(plan.pages()),
        summary_(std::move(summary)),
        overflow_loads_(static_cast<std::size_t>(plan.overflow_pages)) {}

  key_hash hash_of(std::span<const std::byte> key) const noexcept { return hash_(key); }

  // ---- lookup ----

  /// The page that alone can hold the key, if any can; the overflow left out.
  std::optional<std::uint64_t> page_of(key_hash hash) const noexcept {
    const std::optional<std::uint32_t> level = summary_.where(hash);
    if (!level) return std::nullopt;
    return page_at(hash, *level);
  }
  /// Calls `visit` with every page of the overflow that holds a record with this hash, until it
  /// answers true; whether it did.
  template <class Visit>
  bool visit_overflow(key_hash hash, Visit visit) const {
    if (counts_.overflow == 0) return false;
    const auto [begin, end] = overflow_.equal_range(hash.value);
    for (auto at = begin; at != end; ++at)
      if (visit(at->second)) return true;
    return false;
  }
  void prefetch(key_hash hash) const noexcept { summary_.prefetch(hash); }

  // ---- modifiers ----

  enum class destination : std::uint8_t { page, overflow, none };
  struct placement {
    destination ended = destination::none;
    std::uint64_t page = 0;
  };
  /// Finds room for a record that is not there, and takes it.
  placement place(key_hash hash) {
    placing<multilevel, loads> walk(scheme_, loads_, admission(plan_.page_records()));
    const auto placed = walk_to_end(walk, walk.start(hash));
    if (placed.end == walk_end::placed) {
      const std::uint32_t level = placed.at.level;
      const summary_outcome told = summary_.insert(hash, level);
      if (told == summary_outcome::kept) {
        ++counts_.size;
        ++counts_.levels[level];
        return {destination::page, placed.at.bucket};
      }
      loads_.remove_one(placed.at);
      failures_ += told == summary_outcome::misleading ? 1u : 0u;
    }
    const std::optional<std::uint64_t> page = overflow_room();
    if (!page) return {destination::none, 0};
    add_to_overflow(hash, *page);
    return {destination::overflow, *page};
  }
  /// Records in a page, as they were counted.
  std::uint32_t load_of(std::uint64_t page) const noexcept {
    if (page >= plan_.pages()) return overflow_loads_[page - plan_.pages()];
    return loads_.load({page, plan_.level_of(page)}).value_or(0);
  }
  /// REQUIRES: a record with this hash is in the page, and counted.
  void leave(key_hash hash, std::uint64_t page) {
    --counts_.size;
    if (page >= plan_.pages()) {
      --counts_.overflow;
      --overflow_loads_[page - plan_.pages()];
      const auto [begin, end] = overflow_.equal_range(hash.value);
      for (auto at = begin; at != end; ++at)
        if (at->second == page) {
          overflow_.erase(at);
          return;
        }
      return;
    }
    const std::uint32_t level = plan_.level_of(page);
    loads_.remove_one({page, level});
    --counts_.levels[level];
    summary_.erase(hash, level);
  }

  // ---- what is read from a file ----

  /// A record that is in a page already. False if no store can have it there.
  bool restore(key_hash hash, std::uint64_t page) {
    if (page >= plan_.pages()) {
      if (overflow_loads_[page - plan_.pages()] == plan_.page_records()) return false;
      add_to_overflow(hash, page);
      return true;
    }
    const std::uint32_t level = plan_.level_of(page);
    if (page_at(hash, level) != page) return false;
    loads::item one;
    if (loads_.try_put({page, level}, one, plan_.page_records()) != put_result::placed)
      return false;
    if (summary_.insert(hash, level) != summary_outcome::kept) return false;
    ++counts_.size;
    ++counts_.levels[level];
    return true;
  }
  /// The reverse, of an entry in a log. False if there can be no such record.
  bool remove(key_hash hash, std::uint64_t page) {
    const std::uint32_t level = plan_.level_of(page);
    if (level == plan_.levels || loads_[page] == 0 || summary_.where(hash) != level) return false;
    leave(hash, page);
    return true;
  }
  /// REQUIRES: the page is one of a level, and had none.
  bool set_load(std::uint64_t page, std::uint32_t records) {
    const std::uint32_t level = plan_.level_of(page);
    loads::item one;
    for (std::uint32_t i = 0; i < records; ++i)
      if (loads_.try_put({page, level}, one, plan_.page_records()) != put_result::placed)
        return false;
    counts_.size += records;
    counts_.levels[level] += records;
    return true;
  }

  // ---- observers ----

  const page_store_plan& plan() const noexcept { return plan_; }
  std::uint64_t seed() const noexcept { return hash_.seed(); }
  const page_store_counts& counts() const noexcept { return counts_; }
  /// Elements that were sent to the overflow since this was made because of their string.
  std::uint64_t failures() const noexcept { return failures_; }
  const interpolation_summary& summary() const noexcept { return summary_; }
  std::uint32_t load(std::uint64_t page) const noexcept {
    return page < plan_.pages() ? loads_[page]
                                : overflow_loads_[static_cast<std::size_t>(page - plan_.pages())];
  }
  std::size_t memory_bytes() const noexcept {
    // An entry of the index: two words, its link and its share of the buckets.
    constexpr std::size_t index_entry_bytes = 40;
    return summary_.memory_bytes() + loads_.loads().size_bytes() +
           static_cast<std::size_t>(counts_.overflow) * index_entry_bytes +
           overflow_loads_.size() * sizeof(std::uint32_t);
  }
  /// The snapshot: the summary, and the load of each page in 16 bits.
  std::vector<std::byte> snapshot() const {
    std::vector<std::byte> bytes(static_cast<std::size_t>(plan_.snapshot_bytes()));
    byte_writer out(bytes);
    out.put(summary_.bytes());
    for (const std::uint16_t load : loads_.loads()) out.put(load);
    return bytes;
  }

 private:
  using loads = load_counters<std::uint16_t>;

  static const page_store_plan& checked(const page_store_plan& plan) {
    if (const auto fault = find_fault(plan)) refuse_parameter(*fault);
    return plan;
  }
  std::uint64_t page_at(key_hash hash, std::uint32_t level) const noexcept {
    return candidate_at(scheme_, hash, level).bucket;
  }
  std::optional<std::uint64_t> overflow_room() const noexcept {
    for (std::size_t i = 0; i < overflow_loads_.size(); ++i)
      if (overflow_loads_[i] < plan_.page_records()) return plan_.pages() + i;
    return std::nullopt;
  }
  void add_to_overflow(key_hash hash, std::uint64_t page) {
    overflow_.emplace(hash.value, page);
    ++overflow_loads_[static_cast<std::size_t>(page - plan_.pages())];
    ++counts_.size;
    ++counts_.overflow;
  }

  page_store_plan plan_;
  seeded_hash hash_;
  multilevel scheme_;
  loads loads_;
  interpolation_summary summary_;
  std::unordered_multimap<std::uint64_t, std::uint64_t> overflow_;  // hash to page
  std::vector<std::uint32_t> overflow_loads_;
  page_store_counts counts_{};
  std::uint64_t failures_ = 0;
};

}  // namespace oneprobe::inline v0_1
