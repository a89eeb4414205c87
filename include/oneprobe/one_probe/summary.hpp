// The words of summaries, and the concept they meet.
//
// A *summary* is a small structure in fast memory that says which level of a multilevel table holds
// a key, so that a lookup reads one bucket of slow memory, and hardly ever one for an absent key.
// It sees hashes, never keys:
//
//   insert(hash, level)   the element is at that level now
//   erase(hash, level)    it is no longer
//   where(hash)           the one level to look at, or nothing: the key is in no level
//
// A *false positive* sends an absent key to a bucket needlessly. A *failure* would send a stored
// key to the wrong level; the table finds out when it inserts, not when it looks up.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "oneprobe/key_hash.hpp"

namespace oneprobe::inline v0_1 {

/// What a summary did with an element.
enum class summary_outcome : std::uint8_t {
  kept,        // where(hash) is its level from now on
  misleading,  // where(hash) could not be its level, or another's would be wrong; nothing changed
  full,        // there is no room; nothing changed
};

/// What tells which level holds an element: insert takes its hash and its level, where answers for
/// a hash with the level, if there may be one, memory_bytes is its size.
template <class Summary>
concept level_summary = requires(Summary& summary, const Summary& asked, key_hash hash,
                                 std::uint32_t level) {
  { summary.insert(hash, level) } -> std::same_as<summary_outcome>;
  { asked.where(hash) } -> std::same_as<std::optional<std::uint32_t>>;  // from 0
  { asked.memory_bytes() } -> std::convertible_to<std::size_t>;
};

/// A summary whose elements may leave again. REQUIRES of erase: insert(hash, level) kept it.
template <class Summary>
concept erasable_summary = level_summary<Summary> &&
    requires(Summary& summary, key_hash hash, std::uint32_t level) {
  summary.erase(hash, level);
};

}  // namespace oneprobe::inline v0_1
