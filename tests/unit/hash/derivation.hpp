// Everything that is derived from one hash, cell by cell, and all comparisons among it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "chi_squared.hpp"
#include "key_sets.hpp"
#include "oneprobe/detail/hash/derive.hpp"

namespace statistics {

/// The library's own derivation. Tests put bad ones in its place.
struct library_derivation {
  static std::uint64_t candidate(oneprobe::key_hash hash, std::uint32_t i) {
    return oneprobe::candidate_bits(hash, i);
  }
  static std::uint64_t coin(oneprobe::key_hash hash, std::uint32_t level) {
    return oneprobe::coin_bits(hash, level);
  }
  static std::uint64_t fingerprint(oneprobe::key_hash hash) {
    return oneprobe::fingerprint_bits(hash);
  }
};

/// The first few of each kind and the last one; cells are not always a power of two.
inline constexpr std::uint32_t candidates[] = {0, 1, 2, 3, 63};
inline constexpr std::uint32_t coins[] = {0, 1, 2, 63};
inline constexpr std::uint32_t single_cells = 1021;
inline constexpr std::uint32_t single_tag_cells = 1024;
inline constexpr std::uint32_t pair_cells = 15;
inline constexpr std::uint32_t pair_tag_cells = 16;
inline constexpr std::uint32_t triple_cells = 8;

struct part {
  std::string name;
  cells alone;
  cells of_pairs;
  cells of_triples;
};

template <class Derivation>
std::vector<part> parts_of(const std::vector<oneprobe::key_hash>& hashes,
                           const Derivation& derive) {
  std::vector<part> parts;
  const auto add_high = [&](std::string name, auto&& bits) {
    const auto of_key = [&](std::size_t i) { return bits(hashes[i]); };
    parts.push_back({std::move(name), cells::high(hashes.size(), single_cells, of_key),
                     cells::high(hashes.size(), pair_cells, of_key),
                     cells::high(hashes.size(), triple_cells, of_key)});
  };
  const auto add_low = [&](std::string name, auto&& bits) {
    const auto of_key = [&](std::size_t i) { return bits(hashes[i]); };
    parts.push_back({std::move(name), cells::low(hashes.size(), single_tag_cells, of_key),
                     cells::low(hashes.size(), pair_tag_cells, of_key),
                     cells::low(hashes.size(), triple_cells, of_key)});
  };
  for (const std::uint32_t c : candidates)
    add_high("candidate " + std::to_string(c),
             [&](oneprobe::key_hash hash) { return derive.candidate(hash, c); });
  for (const std::uint32_t c : coins)
    add_high("coin " + std::to_string(c),
             [&](oneprobe::key_hash hash) { return derive.coin(hash, c); });
  add_high("fingerprint", [&](oneprobe::key_hash hash) { return derive.fingerprint(hash); });
  add_low("tag", [&](oneprobe::key_hash hash) { return derive.fingerprint(hash); });
  add_low("low bits of the hash", [&](oneprobe::key_hash hash) { return hash.value; });
  return parts;
}

inline constexpr std::size_t parts = std::size(candidates) + std::size(coins) + 3;
inline constexpr std::size_t pairs = parts * (parts - 1) / 2;
inline constexpr std::size_t triples = parts * (parts - 1) * (parts - 2) / 6;
inline constexpr std::size_t comparisons_per_set = parts + pairs + triples;

/// Each part alone, in many cells: keys in a row that become points in a row are far too even there
/// and cannot be told from random ones in few. Calls report(p_value, what).
template <class Report>
void compare_singles(const std::string& set, const std::vector<part>& all, Report&& report) {
  for (const part& one : all) report(uniformity_p_value(one.alone), set + ": " + one.name);
}

/// Every pair: candidates with each other, with coins, with the fingerprint and its tag; coins with
/// each other.
template <class Report>
void compare_pairs(const std::string& set, const std::vector<part>& all, Report&& report) {
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = i + 1; j < all.size(); ++j)
      report(joint_p_value(all[i].of_pairs, all[j].of_pairs),
             set + ": " + all[i].name + ", " + all[j].name);
}

/// Every triple, likewise.
template <class Report>
void compare_triples(const std::string& set, const std::vector<part>& all, Report&& report) {
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = i + 1; j < all.size(); ++j) {
      const cells two = cells::product(all[i].of_triples, all[j].of_triples);
      for (std::size_t k = j + 1; k < all.size(); ++k)
        report(joint_p_value(two, all[k].of_triples),
               set + ": " + all[i].name + ", " + all[j].name + ", " + all[k].name);
    }
}

template <class Derivation, class Report>
void compare_all(const key_sets::hashed& set, const Derivation& derive, Report&& report) {
  const std::vector<part> all = parts_of(set.hashes, derive);
  compare_singles(set.name, all, report);
  compare_pairs(set.name, all, report);
  compare_triples(set.name, all, report);
}

}  // namespace statistics
