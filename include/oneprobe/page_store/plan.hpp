// The plan of a page store: how its file is laid out, and what was predicted for it.
//
//   page_store_plan plan = default_page_store_plan(10'000'000, 16, 100);
//
//   | head 4 KiB | state A, B 4 KiB each | snapshot | pages | overflow pages | log |
//
// Four levels of pages, each of a size that turns away one in ten of those that come to it, under
// erase and insert at constant size (the Erlang loss of model/churn.hpp): one element in ten
// thousand overflows when there are 2 % more elements than planned. Fewer pages would need more
// levels. Summary and overflow are in memory and on disk; what the overflow is made for is the mean
// of both causes, elements without room and elements whose string leads elsewhere, twice over.
//
// Limits: 1 to 2^32 elements, records of 1 to 65,512 bytes that fit a page, pages of 512 to 65,536
// bytes. Pure and thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/detail/planning/plan_check.hpp"
#include "oneprobe/one_probe/interpolation_plan.hpp"

namespace oneprobe::inline v0_1 {

/// What was computed when the store was planned, for exactly `elements` elements that come and go.
struct page_store_prediction {
  double overflow_mean = 0;               // elements in the overflow, for either cause
  double failures_mean = 0;               // of them whose string leads elsewhere
  double false_positive_probability = 0;  // page reads of an absent key

  friend constexpr bool operator==(const page_store_prediction&,
                                   const page_store_prediction&) = default;
};

/// All that decides where records go in the file, except the seed.
struct page_store_plan {
  /// What a plan may ask for, and what all plans have in common.
  static constexpr std::uint32_t most_levels = interpolation_plan::most_levels;
  static constexpr std::uint32_t block_bytes = 4096;  // what direct I/O reads and writes
  static constexpr std::uint32_t page_head_bytes = 24;
  static constexpr std::uint32_t least_page_bytes = 512;
  static constexpr std::uint32_t most_page_bytes = 65'536;
  static constexpr std::uint64_t most_elements = std::uint64_t{1} << 32;
  static constexpr std::uint64_t most_pages = std::uint64_t{1} << 40;
  static constexpr std::uint64_t most_log_bytes = std::uint64_t{1} << 32;
  /// What a log entry adds to the page or record in it.
  static constexpr std::uint32_t log_entry_bytes = 40;

  std::uint64_t elements = 0;                            // n
  std::uint32_t key_bytes = 0;                           // of every key
  std::uint32_t value_bytes = 0;                         // 0: keys only
  std::uint32_t page_bytes = 4096;                       // what a lookup reads
  std::uint32_t levels = 4;                              // d
  std::array<std::uint64_t, most_levels> level_pages{};  // pages of each level
  std::uint64_t overflow_pages = 1;                      // where the records of the overflow are
  interpolation_plan summary{};                          // which tells the level of a key
  std::uint64_t log_bytes = 0;                           // of the log, reserved in the file

  page_store_prediction predicted{};  // of a store with this plan

  /// Bytes of a record.
  constexpr std::uint32_t record_bytes() const noexcept { return key_bytes + value_bytes; }
  /// h: records of a page.
  constexpr std::uint32_t page_records() const noexcept {
    return (page_bytes - page_head_bytes) / record_bytes();
  }
  /// m: those of the levels.
  constexpr std::uint64_t pages() const noexcept {
    std::uint64_t sum = 0;
    for (std::uint32_t i = 0; i < levels && i < most_levels; ++i) sum += level_pages[i];
    return sum;
  }
  /// Pages of the levels and of the overflow.
  constexpr std::uint64_t all_pages() const noexcept { return pages() + overflow_pages; }
  /// The level of a page; `levels` for a page of the overflow.
  constexpr std::uint32_t level_of(std::uint64_t page) const noexcept {
    std::uint32_t level = 0;
    for (; level < levels && page >= level_pages[level]; ++level) page -= level_pages[level];
    return level;
  }
  /// c: elements over the records that the levels have room for.
  constexpr double load_factor() const noexcept {
    return static_cast<double>(elements) / (static_cast<double>(pages()) * page_records());
  }

  // Where the parts begin in the file.
  /// Bytes up to a whole number of units.
  static constexpr std::uint64_t whole(std::uint64_t bytes, std::uint64_t unit) noexcept {
    return (bytes + unit - 1) / unit * unit;
  }
  /// The first byte of the state, of which there are two copies.
  static constexpr std::uint64_t state_begin(std::uint32_t copy) noexcept {
    return std::uint64_t{block_bytes} * (1 + copy);
  }
  /// The first byte of the snapshot.
  static constexpr std::uint64_t snapshot_begin() noexcept { return state_begin(2); }
  /// The summary, and the records of each page in 16 bits.
  constexpr std::uint64_t snapshot_bytes() const noexcept {
    return summary.memory_bytes() + 2 * pages();
  }
  /// The first byte of the first page.
  constexpr std::uint64_t pages_begin() const noexcept {
    return whole(snapshot_begin() + snapshot_bytes(), std::max(page_bytes, block_bytes));
  }
  /// The first byte of a page.
  constexpr std::uint64_t page_begin(std::uint64_t page) const noexcept {
    return pages_begin() + page * page_bytes;
  }
  /// The first byte of the log.
  constexpr std::uint64_t log_begin() const noexcept {
    return whole(page_begin(all_pages()), block_bytes);
  }
  /// The whole file.
  constexpr std::uint64_t file_bytes() const noexcept { return log_begin() + log_bytes; }
};

/// The first parameter that is not as it must be, in words. Also limits what a plan from outside
/// can ask for before anything is allocated.
inline std::optional<std::string> find_fault(const page_store_plan& plan) {
  detail::plan_check check;
  check(plan.elements >= 1 && plan.elements <= page_store_plan::most_elements, "elements",
        "1 to 2^32", plan.elements);
  check(std::has_single_bit(plan.page_bytes) &&
            plan.page_bytes >= page_store_plan::least_page_bytes &&
            plan.page_bytes <= page_store_plan::most_page_bytes,
        "page_bytes", "a power of two from 512 to 65536", plan.page_bytes);
  if (check.fault) return check.fault;
  const std::uint32_t room = plan.page_bytes - page_store_plan::page_head_bytes;
  check(plan.key_bytes >= 1 && plan.key_bytes <= room, "key_bytes",
        "1 to " + std::to_string(room) + " in pages of " + std::to_string(plan.page_bytes),
        plan.key_bytes);
  if (check.fault) return check.fault;
  check(plan.value_bytes <= room - plan.key_bytes, "value_bytes",
        "at most " + std::to_string(room - plan.key_bytes) + " in pages of " +
            std::to_string(plan.page_bytes),
        plan.value_bytes);
  check(plan.levels >= 1 && plan.levels <= page_store_plan::most_levels, "levels", "1 to 8",
        plan.levels);
  if (check.fault) return check.fault;
  detail::check_levels(check, std::span(plan.level_pages).first(plan.levels), "level_pages",
                       page_store_plan::most_pages, "1 and up, 2^40 in all");
  check(plan.overflow_pages >= 1 && plan.overflow_pages <= page_store_plan::most_pages,
        "overflow_pages", "1 to 2^40", plan.overflow_pages);
  const std::uint64_t least_log =
      std::uint64_t{4} * (plan.page_bytes + page_store_plan::log_entry_bytes);
  check(plan.log_bytes % page_store_plan::block_bytes == 0 && plan.log_bytes >= least_log &&
            plan.log_bytes <= page_store_plan::most_log_bytes,
        "log_bytes", "a multiple of 4096 with room for four pages, up to 2^32", plan.log_bytes);
  if (check.fault) return check.fault;
  if (auto fault = find_fault(plan.summary)) return fault;
  check(plan.summary.levels == plan.levels, "levels of the summary", "those of the store",
        plan.summary.levels);
  for (const double value : {plan.predicted.overflow_mean, plan.predicted.failures_mean,
                             plan.predicted.false_positive_probability})
    check(value >= 0 && value < 1e15, "a prediction", "from 0 to 1e15", value);
  return check.fault;
}

namespace detail {

/// The fraction that a full bucket turns away where `offered` elements would be in it at a time, on
/// the average (Erlang's loss formula).
inline double erlang_loss(std::uint32_t slots, double offered) noexcept {
  double inverse = 1;
  for (std::uint32_t k = 1; k <= slots; ++k) inverse = 1 + inverse * k / offered;
  return 1 / inverse;
}

/// What must be offered for that fraction to be turned away.
inline double erlang_offer(std::uint32_t slots, double loss) noexcept {
  double low = 0;
  double high = slots;
  while (erlang_loss(slots, high) < loss) high *= 2;
  constexpr int halvings = 50;
  for (int i = 0; i < halvings; ++i) {
    const double middle = (low + high) / 2;
    (erlang_loss(slots, middle) < loss ? low : high) = middle;
  }
  return low;
}

/// What becomes of elements that come and go at constant size.
struct level_odds {
  double without_room = 1;      // the fraction that no level takes
  double different_levels = 0;  // the chance that two of those in pages are at different levels
};
inline level_odds level_odds_of(const page_store_plan& plan, double elements) noexcept {
  level_odds odds;
  double same = 0;
  for (std::uint32_t i = 0; i < plan.levels; ++i) {
    const double offered = elements * odds.without_room / static_cast<double>(plan.level_pages[i]);
    const double refused = erlang_loss(plan.page_records(), offered);
    const double here = odds.without_room * (1 - refused);
    same += here * here;
    odds.without_room *= refused;
  }
  odds.different_levels = 1 - same;
  return odds;
}

}  // namespace detail

/// The plan of a store for so many records of these sizes that come and go. Refuses, naming the
/// parameter, what is outside the limits above.
inline page_store_plan default_page_store_plan(std::uint64_t elements, std::uint32_t key_bytes,
                                               std::uint32_t value_bytes,
                                               std::uint32_t page_bytes = 4096) {
  page_store_plan plan;
  plan.elements = elements;
  plan.key_bytes = key_bytes;
  plan.value_bytes = value_bytes;
  plan.page_bytes = page_bytes;
  plan.level_pages.fill(1);
  constexpr std::uint64_t most_log = std::uint64_t{1} << 26;
  const std::uint64_t least_log =
      16 * (std::uint64_t{page_bytes} + page_store_plan::log_entry_bytes);
  plan.log_bytes = page_store_plan::whole(least_log, page_store_plan::block_bytes);
  plan.summary = plan_interpolation(std::max<std::uint64_t>(elements, 1), plan.levels);
  if (const auto fault = find_fault(plan)) refuse_parameter(*fault);

  constexpr double made_for = 1.02;
  constexpr double overflow_fraction = 1e-4;
  const double loss = std::pow(overflow_fraction, 1.0 / plan.levels);
  const auto n = static_cast<double>(elements);
  const double offered = detail::erlang_offer(plan.page_records(), loss);
  double arriving = n * made_for;
  for (std::uint32_t i = 0; i < plan.levels; ++i, arriving *= loss)
    plan.level_pages[i] = static_cast<std::uint64_t>(std::ceil(arriving / offered));

  // Each element that comes meets one with its string among those that are there.
  const auto failures_of = [&](double stored) {
    return stored * plan.summary.false_positive_probability(stored) *
           detail::level_odds_of(plan, stored).different_levels;
  };
  plan.predicted.false_positive_probability = plan.summary.false_positive_probability(n);
  plan.predicted.failures_mean = failures_of(n);
  plan.predicted.overflow_mean =
      n * detail::level_odds_of(plan, n).without_room + plan.predicted.failures_mean;
  const double mean = failures_of(n * made_for) + n * overflow_fraction;
  // Twice the mean, and what a small one may be exceeded by: eight deviations of a Poisson count.
  const double reserve = 2 * mean + 8 * std::sqrt(mean) + 16;
  plan.overflow_pages = static_cast<std::uint64_t>(std::ceil(reserve / plan.page_records()));
  // An eighth of the pages, so that the log of a small store is not larger than what it protects.
  plan.log_bytes = page_store_plan::whole(
      std::clamp(plan.all_pages() * plan.page_bytes / 8, least_log, std::max(least_log, most_log)),
      page_store_plan::block_bytes);
  return plan;
}

}  // namespace oneprobe::inline v0_1
