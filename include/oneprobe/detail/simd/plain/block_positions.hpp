// Where the bits of an element are in a block: what all kernels of detail/filter/block_bits.hpp
// start from. Files depend on it.
#pragma once

#include <array>
#include <cstdint>

#include "oneprobe/detail/simd/isa.hpp"
#if ONEPROBE_HAS_SIMD
#include <immintrin.h>

#include <algorithm>
#endif

namespace oneprobe::inline v0_1 {

/// What of a block is known at run time only.
struct block_shape {
  std::uint32_t bits_set = 1;      // k
  std::uint32_t bloom_bits = 512;  // all bits of the block, or all but its own
};

namespace detail {

inline constexpr unsigned group_size = 8;

/// Multipliers of a group, and of a word for its second group. Positions that two, three or four of
/// the 16 multipliers odd[i], odd[i] * K give must not lie on few lines or planes: of 2^21 draws
/// from SplitMix64 (s = 0, 1, ...; the high halves of mix_bits(16 s + 1), ..., mix_bits(16 s + 9),
/// made odd) this one, s = 1,212,835, has the best spectral test over all such pairs, triples and
/// quadruples: no dual vector is shorter than 0.168 of the longest possible.
alignas(32) inline constexpr std::array<std::uint32_t, group_size> odd_multipliers{
    0xcee1'704d, 0x9fac'9449, 0xc2ee'35f7, 0x756f'78ef,
    0x65c1'54a7, 0x1399'9d49, 0x01df'b52f, 0x4518'db3d};
inline constexpr std::uint32_t second_group_multiplier = 0x6c1d'eee7;

/// The 32 bits from which positions 8 g .. 8 g + 7 come.
constexpr std::uint32_t group_word(std::uint64_t pattern, unsigned group) noexcept {
  const auto word = static_cast<std::uint32_t>(group % 2 == 0 ? pattern : pattern >> 32);
  return group < 2 ? word : word * second_group_multiplier;
}

#if ONEPROBE_HAS_SIMD

/// The multipliers of a group of 1, ..., 8 positions. The numbers beyond repeat the first, so that
/// all eight are positions of the element and nothing has to be masked.
struct group_multipliers {
  alignas(32) std::array<std::array<std::uint32_t, group_size>, group_size> of_count{};

  constexpr group_multipliers() noexcept {
    for (unsigned count = 1; count <= group_size; ++count)
      for (unsigned i = 0; i < group_size; ++i)
        of_count[count - 1][i] = odd_multipliers[i < count ? i : 0];
  }
};
inline constexpr group_multipliers multipliers{};

/// The products of a group of `count` positions.
ONEPROBE_TARGET_AVX2 inline __m256i group_products(std::uint32_t word, unsigned count) noexcept {
  const auto& row = multipliers.of_count[std::min(count, group_size) - 1];
  return _mm256_mullo_epi32(_mm256_set1_epi32(static_cast<int>(word)),
                            _mm256_load_si256(reinterpret_cast<const __m256i*>(row.data())));
}

/// The independent positions of a group.
ONEPROBE_TARGET_AVX2 inline __m256i group_positions(std::uint32_t word, unsigned count,
                                                    std::uint32_t bloom_bits) noexcept {
  const __m256i products = group_products(word, count);
  if (bloom_bits == 512) return _mm256_srli_epi32(products, 32 - 9);
  const __m256i high_halves = _mm256_srli_epi32(products, 16);
  // The upper 16 bits of 16-bit products; the upper halves of the lanes are zero.
  return _mm256_mulhi_epu16(high_halves, _mm256_set1_epi32(static_cast<int>(bloom_bits)));
}

/// Compilers know what was stored there, and would take it out of the register by shuffles, which
/// take longer than loading it.
template <class Numbers>
void keep_in_memory(Numbers& numbers) noexcept {
  asm("" : "+m"(numbers));
}

#endif

}  // namespace detail
}  // namespace oneprobe::inline v0_1
