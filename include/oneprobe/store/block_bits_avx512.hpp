// The kernels of store/block_bits.hpp with AVX-512: a whole line in one register, sixteen positions
// at once. Included by it.
//
// Only for blocks of 512 bits and one thread that changes them: blocks of 256 bits fit the
// registers of AVX2, and words that threads share are read one by one. `kernel_level` says so. The
// same answers and the same bytes as the plain ones; the tests hold them to each other.
#pragma once

#include "oneprobe/core/simd.hpp"
#if ONEPROBE_HAS_SIMD

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "oneprobe/core/word_access.hpp"
#include "oneprobe/store/block_bits.hpp"
#include "oneprobe/store/block_bits_avx2.hpp"

namespace oneprobe::inline v0_1 {
namespace detail {

// Written with a mask that leaves nothing out: without one, GCC 12 warns of the registers that its
// own header leaves undefined (its bug 105593). The instructions are the same.
inline constexpr __mmask16 all_lanes = 0xffff;
inline constexpr __mmask8 all_words = 0xff;

/// The multipliers of 1, ..., 16 positions of two groups, by turns: where both words of a pattern
/// lie side by side, one from each group. The numbers beyond repeat the first, so that all sixteen
/// are positions of the element and nothing has to be masked.
struct two_group_multipliers {
  static constexpr unsigned most = 2 * group_size;
  alignas(64) std::array<std::array<std::uint32_t, most>, most> of_count{};

  constexpr two_group_multipliers() noexcept {
    for (unsigned count = 1; count <= most; ++count)
      for (unsigned i = 0; i < most; ++i) {
        const unsigned number = i / 2 + (i % 2 == 0 ? 0 : group_size);
        of_count[count - 1][i] = odd_multipliers[number < count ? i / 2 : 0];
      }
  }
};
inline constexpr two_group_multipliers alternate_multipliers{};

/// The independent positions of two groups whose words are `words`; `count` from 1 to 16, of which
/// up to 8 belong to the first.
ONEPROBE_TARGET_AVX512 inline __m512i two_group_positions(std::uint64_t words, unsigned count,
                                                          std::uint32_t bloom_bits) noexcept {
  // Without a second group the words are the first, twice.
  const __m512i both = count <= group_size ? _mm512_set1_epi32(static_cast<int>(words))
                                           : _mm512_set1_epi64(static_cast<long long>(words));
  const auto& row =
      alternate_multipliers.of_count[std::min(count, two_group_multipliers::most) - 1];
  const __m512i products = _mm512_mullo_epi32(both, _mm512_load_si512(row.data()));
  if (bloom_bits == 512) return _mm512_maskz_srli_epi32(all_lanes, products, 32 - 9);
  return _mm512_mulhi_epu16(_mm512_maskz_srli_epi32(all_lanes, products, 16),
                            _mm512_set1_epi32(static_cast<int>(bloom_bits)));
}

ONEPROBE_TARGET_AVX512 inline bool has_all(__m512i block, __m512i mask) noexcept {
  const __m512i missing = _mm512_maskz_andnot_epi32(all_lanes, block, mask);
  return _mm512_test_epi32_mask(missing, missing) == 0;
}

/// Setting bits by the mask of an element, with `Mask` to make it.
template <class Mask>
struct set_by_mask {
  ONEPROBE_TARGET_AVX512 static bool set_all(std::byte* block, std::uint64_t pattern,
                                             block_shape shape) noexcept {
    const __m512i mask = Mask::of(pattern, shape);
    const __m512i before = _mm512_load_si512(block);
    _mm512_store_si512(block, _mm512_or_si512(before, mask));
    return has_all(before, mask);
  }
  ONEPROBE_TARGET_AVX512 static std::uint32_t count_ones(const std::byte* block,
                                                         std::uint32_t bloom_bits) noexcept {
    // Without the block's own bits, at the top of the last word.
    constexpr __mmask8 last_word = 0x80;
    const __m512i shift = _mm512_maskz_set1_epi64(last_word, 512 - bloom_bits);
    const __m512i ones =
        _mm512_popcnt_epi64(_mm512_maskz_sllv_epi64(all_words, _mm512_load_si512(block), shift));
    const __m256i four = _mm256_add_epi64(_mm512_maskz_extracti64x4_epi64(all_words, ones, 0),
                                          _mm512_maskz_extracti64x4_epi64(all_words, ones, 1));
    const __m128i two =
        _mm_add_epi64(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1));
    return static_cast<std::uint32_t>(_mm_cvtsi128_si32(two) + _mm_extract_epi32(two, 2));
  }
};

/// The mask of bits anywhere in the block.
struct independent_mask {
  ONEPROBE_TARGET_AVX512 static __m512i of(std::uint64_t pattern, block_shape shape) noexcept {
    __m512i mask = _mm512_setzero_si512();
    for (unsigned first = 0; first < shape.bits_set; first += group_size) {
      alignas(32) std::array<std::uint32_t, group_size> positions;
      const unsigned count = std::min(group_size, shape.bits_set - first);
      _mm256_store_si256(
          reinterpret_cast<__m256i*>(positions.data()),
          group_positions(group_word(pattern, first / group_size), count, shape.bloom_bits));
      // A shift by 32 or more, also by a negative number, gives zero: each position leaves its bit
      // in one of the 32-bit numbers.
      const __m512i begin = _mm512_setr_epi32(0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352,
                                              384, 416, 448, 480);
      const __m512i one = _mm512_set1_epi32(1);
      for (unsigned i = 0; i < count; ++i) {
        const __m512i at = _mm512_set1_epi32(static_cast<int>(positions[i]));
        mask = _mm512_or_si512(
            mask, _mm512_maskz_sllv_epi32(all_lanes, one, _mm512_sub_epi32(at, begin)));
      }
    }
    return mask;
  }
};

/// The mask of one bit in each lane.
struct lanes_mask {
  ONEPROBE_TARGET_AVX512 static __m512i of(std::uint64_t pattern, block_shape shape) noexcept {
    const std::uint32_t first = group_word(pattern, 0);
    if (shape.bits_set == group_size) {
      const __m256i at = _mm256_srli_epi32(group_products(first, group_size), 32 - 6);
      return _mm512_maskz_sllv_epi64(all_words, _mm512_set1_epi64(1),
                                     _mm512_maskz_cvtepu32_epi64(all_words, at));
    }
    constexpr __mmask16 upper_half = 0xff00;
    const __m512i words =
        _mm512_mask_set1_epi32(_mm512_set1_epi32(static_cast<int>(first)), upper_half,
                               static_cast<int>(group_word(pattern, 1)));
    const __m512i eight_twice = _mm512_maskz_broadcast_i64x4(
        all_words, _mm256_load_si256(reinterpret_cast<const __m256i*>(odd_multipliers.data())));
    const __m512i at =
        _mm512_maskz_srli_epi32(all_lanes, _mm512_mullo_epi32(words, eight_twice), 32 - 5);
    return _mm512_maskz_sllv_epi32(all_lanes, _mm512_set1_epi32(1), at);
  }
};

}  // namespace detail

/// Bits anywhere in the block.
template <>
struct block_bits<512, block_layout::independent, simd_level::avx512, plain_words>
    : detail::set_by_mask<detail::independent_mask> {
  static constexpr simd_level level = simd_level::avx512;
  static constexpr block_layout layout = block_layout::independent;
  static constexpr unsigned words = 8;
  static constexpr std::size_t bytes = 64;

  ONEPROBE_TARGET_AVX512 static bool all_set(const std::byte* block, std::uint64_t pattern,
                                             block_shape shape) noexcept {
    return two_groups_set(block, pattern, shape.bits_set, shape.bloom_bits) &&
           (shape.bits_set <= detail::two_group_multipliers::most ||
            more_set(block, pattern, shape));
  }
  template <class HasRoom>
  ONEPROBE_TARGET_AVX512 static bits_outcome put(std::byte* block, std::uint64_t pattern,
                                                 block_shape shape, HasRoom has_room) noexcept {
    return detail::put_after_asking<block_bits>(block, pattern, shape, has_room);
  }

 private:
  ONEPROBE_TARGET_AVX512 static bool two_groups_set(const std::byte* block, std::uint64_t both,
                                                    unsigned count,
                                                    std::uint32_t bloom_bits) noexcept {
    const __m512i at = detail::two_group_positions(both, count, bloom_bits);
    // The 32 bits around each position, number position / 32, and in them the bit position % 32: a
    // rotation takes its count modulo 32.
    const __m512i number = _mm512_maskz_srli_epi32(detail::all_lanes, at, 5);
    const __m512i around =
        _mm512_maskz_permutexvar_epi32(detail::all_lanes, number, _mm512_load_si512(block));
    const __m512i bits = _mm512_maskz_rolv_epi32(detail::all_lanes, _mm512_set1_epi32(1), at);
    return _mm512_testn_epi32_mask(around, bits) == 0;
  }
  /// Positions 16, ..., 31. Most queries end before.
  [[gnu::noinline]] ONEPROBE_TARGET_AVX512 static bool more_set(const std::byte* block,
                                                                std::uint64_t pattern,
                                                                block_shape shape) noexcept {
    const std::uint64_t both =
        detail::group_word(pattern, 2) | std::uint64_t{detail::group_word(pattern, 3)} << 32;
    return two_groups_set(block, both, shape.bits_set - detail::two_group_multipliers::most,
                          shape.bloom_bits);
  }
};

/// One bit in each lane.
template <>
struct block_bits<512, block_layout::lanes, simd_level::avx512, plain_words>
    : detail::set_by_mask<detail::lanes_mask> {
  static constexpr simd_level level = simd_level::avx512;
  static constexpr block_layout layout = block_layout::lanes;
  static constexpr unsigned words = 8;
  static constexpr std::size_t bytes = 64;

  ONEPROBE_TARGET_AVX512 static bool all_set(const std::byte* block, std::uint64_t pattern,
                                             block_shape shape) noexcept {
    return detail::has_all(_mm512_load_si512(block), detail::lanes_mask::of(pattern, shape));
  }
};

}  // namespace oneprobe::inline v0_1

#endif
