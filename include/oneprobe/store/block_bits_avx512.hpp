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
#include <bit>
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
    const __m512i ones = _mm512_popcnt_epi64(_mm512_load_si512(block));
    // Eight bytes, which one instruction adds up.
    const __m128i sum =
        _mm_sad_epu8(_mm512_maskz_cvtepi64_epi8(all_words, ones), _mm_setzero_si128());
    // Without the block's own bits, at the top of the last word: fewer than a word.
    const std::uint64_t last = plain_words::load(block + 7 * word_bytes);
    const std::uint64_t own = last >> 1 >> (word_bits - 1 - (512 - bloom_bits));
    return static_cast<std::uint32_t>(_mm_cvtsi128_si32(sum) - std::popcount(own));
  }
};

/// The products of two groups, one after the other, whose words are `words`.
ONEPROBE_TARGET_AVX512 inline __m512i ordered_products(std::uint64_t words) noexcept {
  constexpr __mmask16 upper_half = 0xff00;
  const __m512i halves = _mm512_mask_set1_epi32(_mm512_set1_epi32(static_cast<int>(words)),
                                                upper_half, static_cast<int>(words >> 32));
  const __m512i eight_twice = _mm512_maskz_broadcast_i64x4(
      all_words, _mm256_load_si256(reinterpret_cast<const __m256i*>(odd_multipliers.data())));
  return _mm512_mullo_epi32(halves, eight_twice);
}

/// The independent positions of such groups.
ONEPROBE_TARGET_AVX512 inline __m512i ordered_positions(std::uint64_t words,
                                                        std::uint32_t bloom_bits) noexcept {
  return _mm512_mulhi_epu16(_mm512_maskz_srli_epi32(all_lanes, ordered_products(words), 16),
                            _mm512_set1_epi32(static_cast<int>(bloom_bits)));
}

/// The mask of bits anywhere in the block.
struct independent_mask {
  ONEPROBE_TARGET_AVX512 static __m512i of(std::uint64_t pattern, block_shape shape) noexcept {
    constexpr unsigned pair = 2 * group_size;
    alignas(64) std::array<std::uint32_t, 2 * pair> begins;
    note(begins.data(), pattern, shape.bits_set, shape.bloom_bits);
    if (shape.bits_set > pair)
      note(begins.data() + pair,
           group_word(pattern, 2) | std::uint64_t{group_word(pattern, 3)} << 32,
           shape.bits_set - pair, shape.bloom_bits);
    keep_in_memory(begins);
    __m512i some = _mm512_setzero_si512();
    __m512i others = some;
    const std::uint32_t* next = begins.data();
    const std::uint32_t* const end = next + shape.bits_set;
    for (; end - next > 2; next += 4) {
      some = with_bits(some, next[0], next[1]);
      others = with_bits(others, next[2], next[3]);
    }
    if (next < end) some = with_bits(some, next[0], next[1]);
    return _mm512_or_si512(some, others);
  }

 private:
  ONEPROBE_TARGET_AVX512 static __m512i with_bits(__m512i mask, std::uint32_t begin,
                                                  std::uint32_t other) noexcept {
    return _mm512_or_si512(_mm512_or_si512(mask, _mm512_loadu_si512(one_bit_at(begin))),
                           _mm512_loadu_si512(one_bit_at(other)));
  }
  /// Where the windows of two groups begin, of which there are `count` bits; those beyond get one
  /// without a bit.
  ONEPROBE_TARGET_AVX512 static void note(std::uint32_t* begins, std::uint64_t words,
                                          unsigned count, std::uint32_t bloom_bits) noexcept {
    const __m512i at = ordered_positions(words, bloom_bits);
    const __m512i row =
        _mm512_and_si512(_mm512_maskz_slli_epi32(all_lanes, at, 7), _mm512_set1_epi32(7 << 7));
    const __m512i middle = _mm512_or_si512(row, _mm512_set1_epi32(bit_windows::row_bytes / 2));
    const auto there = static_cast<__mmask16>(_bzhi_u32(all_lanes, count));
    const __m512i all =
        _mm512_maskz_sub_epi32(there, middle, _mm512_maskz_srli_epi32(all_lanes, at, 3));
    // In halves: a store of 64 bytes is slow to reach loads of four in its second half.
    _mm256_store_si256(reinterpret_cast<__m256i*>(begins),
                       _mm512_maskz_extracti64x4_epi64(all_words, all, 0));
    _mm256_store_si256(reinterpret_cast<__m256i*>(begins + group_size),
                       _mm512_maskz_extracti64x4_epi64(all_words, all, 1));
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
    const __m512i at = _mm512_maskz_srli_epi32(all_lanes, ordered_products(pattern), 32 - 5);
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
    // Asked first, since it is the same every time: then there is no jump on the answer.
    if (shape.bits_set <= detail::two_group_multipliers::most)
      return two_groups_set(block, pattern, shape.bits_set, shape.bloom_bits);
    return two_groups_set(block, pattern, shape.bits_set, shape.bloom_bits) &&
           more_set(block, pattern, shape);
  }
  /// Without a jump on the outcome, which cannot be predicted where blocks are nearly full.
  template <class HasRoom>
  ONEPROBE_TARGET_AVX512 static bits_outcome put(std::byte* block, std::uint64_t pattern,
                                                 block_shape shape, HasRoom has_room) noexcept {
    const __m512i mask = detail::independent_mask::of(pattern, shape);
    const __m512i before = _mm512_load_si512(block);
    const std::uint64_t room = has_room() ? 1 : 0;
    const auto taken = static_cast<__mmask16>(0 - room);
    _mm512_store_si512(block, _mm512_mask_or_epi32(before, taken, before, mask));
    const std::uint64_t was_set = detail::has_all(before, mask) ? 1 : 0;
    return {.was_set = was_set, .refused = (was_set | room) ^ 1};
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
