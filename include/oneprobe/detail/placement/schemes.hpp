// The five schemes: where an element's d candidates are.
//
//   single       one bucket of all
//   sequential   d buckets, each drawn from all; the first that admits takes the element
//   multilevel   one bucket of each of d sub-tables; the first that admits
//   d_random     d buckets, each drawn from all; the least loaded takes it
//   d_left       one bucket of each of d equal sub-tables; the least loaded, leftmost of equals
//
//   multilevel table({589, 254, 110, 47});
//   position at = table.first(hash);
//   at = table.next(hash, at);             // the candidate in level 1
//
// Small values, immutable, thread-safe. Construction throws std::invalid_argument that names the
// parameter; nothing else throws.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/detail/placement/concepts.hpp"
#include "oneprobe/scheme_kind.hpp"

namespace oneprobe::inline v0_1 {
namespace detail {

inline constexpr std::uint64_t most_buckets = std::uint64_t{1} << 48;

inline std::uint64_t checked_buckets(std::uint64_t buckets) {
  if (buckets == 0 || buckets > most_buckets)
    refuse_parameter("buckets must be from 1 to 2^48; found " + std::to_string(buckets));
  return buckets;
}

inline std::uint32_t checked_choices(std::size_t choices) {
  if (choices == 0 || choices > largest_choices)
    refuse_parameter("choices must be from 1 to " + std::to_string(largest_choices) + "; found " +
                     std::to_string(choices));
  return static_cast<std::uint32_t>(choices);
}

/// What all of them have in common: the probe is the hash itself.
struct hash_probe {
  using probe = key_hash;

  static constexpr std::uint64_t coin(key_hash hash, std::uint32_t level) noexcept {
    return coin_bits(hash, level);
  }
};

/// Every candidate is drawn from all buckets.
template <order Choice>
class uniform_candidates : public hash_probe {
 public:
  static constexpr order choice = Choice;
  static constexpr bool levels_are_disjoint = false;

  uniform_candidates(std::uint64_t buckets, unsigned choices)
      : buckets_(checked_buckets(buckets)), choices_(checked_choices(choices)) {}

  std::uint32_t choices() const noexcept { return choices_; }
  std::uint64_t buckets() const noexcept { return buckets_; }

  position first(key_hash hash) const noexcept { return {reduce(hash.value, buckets_), 0}; }
  position next(key_hash hash, position at) const noexcept {
    const std::uint32_t level = at.level + 1;
    return {reduce(candidate_bits(hash, level), buckets_), level};
  }

 private:
  std::uint64_t buckets_;
  std::uint32_t choices_;
};

/// Candidate i is drawn from sub-table i.
template <order Choice>
class levelled_candidates : public hash_probe {
 public:
  static constexpr order choice = Choice;
  static constexpr bool levels_are_disjoint = true;

  explicit levelled_candidates(std::span<const std::uint64_t> level_sizes)
      : choices_(checked_choices(level_sizes.size())) {
    for (std::uint32_t i = 0; i < choices_; ++i) {
      levels_[i] = {buckets_, checked_buckets(level_sizes[i])};
      buckets_ = checked_buckets(buckets_ + level_sizes[i]);
    }
  }

  std::uint32_t choices() const noexcept { return choices_; }
  std::uint64_t buckets() const noexcept { return buckets_; }
  std::uint64_t level_begin(std::uint32_t level) const noexcept { return levels_[level].begin; }
  std::uint64_t level_size(std::uint32_t level) const noexcept { return levels_[level].size; }

  position first(key_hash hash) const noexcept { return {reduce(hash.value, levels_[0].size), 0}; }
  position next(key_hash hash, position at) const noexcept {
    const std::uint32_t level = at.level + 1;
    const auto [begin, size] = levels_[level];
    return {begin + reduce(candidate_bits(hash, level), size), level};
  }

 private:
  struct range {
    std::uint64_t begin;
    std::uint64_t size;
  };
  std::uint32_t choices_;
  std::uint64_t buckets_ = 0;
  std::array<range, largest_choices> levels_{};
};

}  // namespace detail

class single : public detail::hash_probe {
 public:
  static constexpr order choice = order::first_fit;
  static constexpr bool levels_are_disjoint = true;

  explicit single(std::uint64_t buckets) : buckets_(detail::checked_buckets(buckets)) {}

  static constexpr std::uint32_t choices() noexcept { return 1; }
  std::uint64_t buckets() const noexcept { return buckets_; }

  position first(key_hash hash) const noexcept { return {reduce(hash.value, buckets_), 0}; }
  /// Never reached by a walk: there is one candidate.
  position next(key_hash, position at) const noexcept { return at; }

 private:
  std::uint64_t buckets_;
};

class sequential : public detail::uniform_candidates<order::first_fit> {
 public:
  using uniform_candidates::uniform_candidates;
};

class d_random : public detail::uniform_candidates<order::parallel> {
 public:
  using uniform_candidates::uniform_candidates;
};

class multilevel : public detail::levelled_candidates<order::first_fit> {
 public:
  using levelled_candidates::levelled_candidates;
  multilevel(std::initializer_list<std::uint64_t> level_sizes)
      : levelled_candidates(std::span(level_sizes.begin(), level_sizes.size())) {}
};

class d_left : public detail::levelled_candidates<order::parallel> {
 public:
  /// Sub-tables of equal size; where `choices` does not divide `buckets`, the first ones have one
  /// more.
  d_left(std::uint64_t buckets, unsigned choices)
      : levelled_candidates(equal_parts(buckets, detail::checked_choices(choices))) {}

 private:
  static std::vector<std::uint64_t> equal_parts(std::uint64_t buckets, std::uint32_t choices) {
    if (buckets < choices)
      refuse_parameter("buckets must be at least one for each of the " + std::to_string(choices) +
                       " choices; found " + std::to_string(buckets));
    std::vector<std::uint64_t> sizes(choices, buckets / choices);
    for (std::uint64_t i = 0; i < buckets % choices; ++i) ++sizes[i];
    return sizes;
  }
};

static_assert(placement_scheme<single> && placement_scheme<sequential> &&
              placement_scheme<multilevel> && placement_scheme<d_random> &&
              placement_scheme<d_left>);

}  // namespace oneprobe::inline v0_1
