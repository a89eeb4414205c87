// What a table says of itself, read from its buckets. For the maps.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

#include "oneprobe/detail/map/tagged_buckets.hpp"
#include "oneprobe/detail/placement/concepts.hpp"
#include "oneprobe/detail/placement/walk.hpp"
#include "oneprobe/key_hash.hpp"
#include "oneprobe/map/plan.hpp"
#include "oneprobe/map/results.hpp"
#include "oneprobe/memory.hpp"

namespace oneprobe::inline v0_1::detail {

/// The lines of slots that one step of a lookup brings into the cache.
struct slot_lines {
  std::uint32_t compared = 0;
  std::uint32_t unread = 0;  // asked for before the tags were read, and not compared
};
template <class Buckets, class State>
slot_lines lines_of_slots(const Buckets& buckets, position at, key_hash hash,
                          const State& walked) noexcept {
  slot_lines lines;
  std::uintptr_t home = 0;
  if constexpr (requires { buckets.home_line(at, hash); }) {
    home = reinterpret_cast<std::uintptr_t>(buckets.home_line(at, hash)) / line_memory::line_bytes;
    lines.unread = 1;
  }
  std::uintptr_t counted_to = 0;  // slots are compared in the order of their addresses
  for (std::uint32_t left = buckets.equal_tags(at, hash); left != 0; left &= left - 1) {
    const auto which = static_cast<std::uint32_t>(std::countr_zero(left));
    const auto first = reinterpret_cast<std::uintptr_t>(buckets.element(at, which));
    const std::uintptr_t from = std::max(counted_to, first / line_memory::line_bytes);
    counted_to = (first + sizeof(*buckets.element(at, which)) - 1) / line_memory::line_bytes + 1;
    lines.compared += static_cast<std::uint32_t>(counted_to - std::min(from, counted_to));
    if (home >= from && home < counted_to) lines.unread = 0;
    if (walked.end == walk_end::present && walked.at == at && walked.slot == which) break;
  }
  return lines;
}

/// How a table with this plan and these counts stands. Reads the notes of all buckets.
template <class Buckets>
table_stats stats_of(const table_plan& plan, const table_counts& counts, const Buckets& buckets,
                     std::uint64_t slot_bytes) {
  table_stats stats{.counts = counts,
                    .memory = plan.memory(slot_bytes),
                    .planned_elements = plan.elements,
                    .overflow_reserve = plan.overflow_reserve,
                    .bytes_per_element = plan.bytes_per_element(slot_bytes)};
  const auto ratio = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
  };
  const std::uint64_t in_buckets = counts.size - counts.overflow;
  stats.load_factor = ratio(in_buckets, plan.buckets() * plan.bucket_capacity);
  stats.pressure = ratio(counts.size, plan.elements);
  stats.overflow_pressure = ratio(counts.overflow, plan.overflow_reserve);
  std::uint64_t read = counts.overflow * plan.choices;
  for (std::uint32_t i = 0; i < plan.choices; ++i) read += counts.levels[i] * (i + 1);
  stats.hit_accesses = ratio(read, counts.size);

  // A key that is not there goes on from a bucket if its note is raised: candidates are
  // independent, so the probabilities multiply.
  constexpr std::uint32_t kinds = bucket_entry::note_kinds;
  std::uint64_t bucket = 0;
  double reaching = 1;
  for (std::uint32_t level = 0; level < plan.choices; ++level) {
    // Schemes without levels draw every candidate from all buckets.
    const bool levelled = plan.is_levelled();
    const std::uint64_t size = levelled ? plan.level_buckets[level] : plan.buckets();
    if (!levelled) bucket = 0;
    std::uint64_t raised = 0;
    std::uint64_t stuck = 0;
    for (const std::uint64_t end = bucket + size; bucket < end; ++bucket)
      for (std::uint32_t kind = 0; kind < kinds; ++kind) {
        const std::uint32_t note = buckets.note({bucket, 0}, kind);
        raised += note != 0 ? 1u : 0u;
        stuck += note == bucket_entry::stuck_note ? 1u : 0u;
      }
    stats.miss_accesses += reaching;
    reaching *= ratio(raised, size * kinds);
    if (levelled || level == 0) stats.stuck_notes += stuck;
    if (levelled)
      stats.level_load_factors[level] = ratio(counts.levels[level], size * plan.bucket_capacity);
  }
  stats.stuck_note_fraction = ratio(stats.stuck_notes, plan.buckets() * kinds);
  return stats;
}

}  // namespace oneprobe::inline v0_1::detail
