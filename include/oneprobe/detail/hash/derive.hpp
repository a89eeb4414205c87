// What one hash is turned into: candidate buckets, admission coins, a fingerprint.
//
//   key_hash ---- itself --------------> candidate 0      (the one most lookups end with: no work)
//            \--- stream 1, 2, ... ----> candidate 1, 2, ...
//            \--- stream 64, 65, ... --> coin of level 0, 1, ...
//            \--- stream 128 ----------> fingerprint
//            \--- times an odd number -> pattern: which bits an element sets
//            \--- stream 130 ----------> its place in an overflow
//            \--- stream 131 ----------> its string in a summary by interpolation
//            \--- streams 140, 141 ----> where a summary's sequence of cells begins, and its step
//
// A stream is a bijection of the 64 bits, another one for each number: hash + number * golden
// ratio, then the finalizer of SplitMix64. The tests hold all of them to independence, by
// chi-squared, also for keys that are anything but random. All functions are pure, noexcept and
// usable at compile time.
#pragma once

#include <cstdint>

#include "oneprobe/detail/base/wide_product.hpp"
#include "oneprobe/key_hash.hpp"

namespace oneprobe::inline v0_1 {

/// 64 further bits from a hash, for each number others.
constexpr std::uint64_t hash_stream(key_hash hash, std::uint64_t number) noexcept {
  return mix_bits(hash.value + number * golden_ratio_64);
}

inline constexpr std::uint64_t first_coin_stream = 64;
inline constexpr std::uint64_t fingerprint_stream = 128;
inline constexpr std::uint64_t overflow_stream = 130;
inline constexpr std::uint64_t string_stream = 131;
inline constexpr std::uint64_t cell_start_stream = 140;
inline constexpr std::uint64_t cell_step_stream = 141;

/// The bits from which candidate 0, 1, ..., 63 is drawn.
constexpr std::uint64_t candidate_bits(key_hash hash, std::uint32_t candidate) noexcept {
  return candidate == 0 ? hash.value : hash_stream(hash, candidate);
}

/// The admission coin of level 0, 1, ..., 63: uniform on [0, 2^64), the same whenever it is thrown,
/// independent from level to level (erratum 0.23: one coin for all levels overflows more).
constexpr std::uint64_t coin_bits(key_hash hash, std::uint32_t level) noexcept {
  return hash_stream(hash, first_coin_stream + level);
}

constexpr std::uint64_t fingerprint_bits(key_hash hash) noexcept {
  return hash_stream(hash, fingerprint_stream);
}

/// Multiplies a hash into its pattern: odd, and good in the spectral test of a generator modulo
/// 2^64 (Steele and Vigna, "Computationally easy, spectrally good multipliers", 2021).
inline constexpr std::uint64_t pattern_multiplier = 0xd134'2543'de82'ef95;

/// The bits from which the positions of a Bloom filter follow. Not a stream: the caller
/// multiplies again and takes high bits, and filters are asked so often that ten instructions are
/// felt. Elements of one block, whose hashes differ in their low bits only, still set bits that are
/// independent: the tests of the filters measure it.
constexpr std::uint64_t pattern_bits(key_hash hash) noexcept {
  return hash.value * pattern_multiplier;
}

/// The bits that place an element in an overflow list, and tell it from others there.
constexpr std::uint64_t overflow_bits(key_hash hash) noexcept {
  return hash_stream(hash, overflow_stream);
}

/// Uniform bits to [0, n), n from 1 up, by one multiplication: the high half of bits * n. No result
/// is more likely than another by more than n / 2^64 of its probability; it depends on the high
/// bits first, so that equal high bits mean neighbouring results.
constexpr std::uint64_t reduce(std::uint64_t bits, std::uint64_t n) noexcept {
  return multiply_wide(bits, n).high;
}

}  // namespace oneprobe::inline v0_1
