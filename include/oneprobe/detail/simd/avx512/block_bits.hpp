// The kernels of detail/simd/plain/block_bits.hpp with AVX-512: a whole line in one register. They
// build on those with AVX2.
//
// Only for blocks of 512 bits and one thread that changes them: blocks of 256 bits fit the
// registers of AVX2, and words that threads share are read one by one. `kernel_level` says so. The
// same answers and the same bytes as the plain ones; the tests hold them to each other.
#pragma once

#include "oneprobe/detail/base/word_access.hpp"
#include "oneprobe/detail/simd/avx2/block_bits.hpp"
#include "oneprobe/detail/simd/avx512/block_mask_batches.hpp"
#include "oneprobe/detail/simd/avx512/block_masks.hpp"
#include "oneprobe/detail/simd/isa.hpp"

#if ONEPROBE_HAS_SIMD

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace oneprobe::inline v0_1 {
namespace detail {

ONEPROBE_TARGET_AVX512 inline bool same_bits(__m512i a, __m512i b) noexcept {
  return _mm512_cmpneq_epi32_mask(a, b) == 0;
}

/// Sets the bits of a mask; says whether they all were set before.
ONEPROBE_TARGET_AVX512 inline bool set_mask(std::byte* block, __m512i mask) noexcept {
  const __m512i before = _mm512_load_si512(block);
  const __m512i after = _mm512_or_si512(before, mask);
  _mm512_store_si512(block, after);
  return same_bits(before, after);
}

ONEPROBE_TARGET_AVX512 inline std::uint32_t count_line_ones(const std::byte* block,
                                                            std::uint32_t bloom_bits) noexcept {
  // Without the block's own bits, at the top of the last word: fewer than a word.
  constexpr __mmask8 last_word = 0x80;
  const std::uint64_t bloom = ~std::uint64_t{0} >> (512 - bloom_bits);
  const __m512i ones = _mm512_set1_epi64(-1);
  const __m512i counted = _mm512_mask_set1_epi64(ones, last_word, static_cast<long long>(bloom));
  const __m512i counts = _mm512_popcnt_epi64(_mm512_and_si512(_mm512_load_si512(block), counted));
  // Eight bytes, which one instruction adds up.
  return static_cast<std::uint32_t>(_mm_cvtsi128_si32(
      _mm_sad_epu8(_mm512_maskz_cvtepi64_epi8(all_words, counts), _mm_setzero_si128())));
}

}  // namespace detail

/// Bits anywhere in the block.
template <>
struct block_bits<512, block_layout::independent, isa::avx512, plain_words> {
  static constexpr isa level = isa::avx512;
  static constexpr block_layout layout = block_layout::independent;
  static constexpr unsigned words = 8;
  static constexpr std::size_t bytes = 64;

  ONEPROBE_TARGET_AVX512 static bool all_set(const std::byte* block, std::uint64_t pattern,
                                             block_shape shape) noexcept {
    if (shape.bits_set <= detail::group_size)
      return group_set(block, static_cast<std::uint32_t>(pattern), shape.bits_set,
                       shape.bloom_bits);
    // Asked first, since it is the same every time: then there is no jump on the answer.
    if (shape.bits_set <= detail::pair_size) return pair_set<0>(block, pattern, shape);
    return pair_set<0>(block, pattern, shape) &&
           more_set(block, pattern, shape.bits_set, shape.bloom_bits);
  }
  ONEPROBE_TARGET_AVX512 static bool set_all(std::byte* block, std::uint64_t pattern,
                                             block_shape shape) noexcept {
    return detail::set_mask(block, detail::independent_mask::of(pattern, shape));
  }
  template <class HasRoom>
  ONEPROBE_TARGET_AVX512 static bits_outcome put(std::byte* block, std::uint64_t pattern,
                                                 block_shape shape, HasRoom has_room) noexcept {
    return put_mask(block, detail::independent_mask::of(pattern, shape), has_room);
  }
  ONEPROBE_TARGET_AVX512 static std::uint32_t count_ones(const std::byte* block,
                                                         std::uint32_t bloom_bits) noexcept {
    return detail::count_line_ones(block, bloom_bits);
  }

  /// All bits of an element, which are made faster of several together.
  using prepared = detail::block_mask;
  /// REQUIRES: a multiple of eight.
  ONEPROBE_TARGET_AVX512 static void prepare(std::span<const std::uint64_t> patterns,
                                             block_shape shape, prepared* out) noexcept {
    detail::make_masks(patterns, shape, out);
  }
  ONEPROBE_TARGET_AVX512 static bool set_all(std::byte* block, const prepared& element,
                                             block_shape) noexcept {
    return detail::set_mask(block, _mm512_load_si512(element.bytes.data()));
  }
  template <class HasRoom>
  ONEPROBE_TARGET_AVX512 static bits_outcome put(std::byte* block, const prepared& element,
                                                 block_shape, HasRoom has_room) noexcept {
    return put_mask(block, _mm512_load_si512(element.bytes.data()), has_room);
  }

 private:
  /// Without a jump on the outcome, which cannot be predicted where blocks are nearly full.
  template <class HasRoom>
  ONEPROBE_TARGET_AVX512 static bits_outcome put_mask(std::byte* block, __m512i mask,
                                                      HasRoom has_room) noexcept {
    const __m512i before = _mm512_load_si512(block);
    const __m512i after = _mm512_or_si512(before, mask);
    const std::uint64_t room = has_room() ? 1 : 0;
    const auto taken = static_cast<__mmask16>(0 - room);
    _mm512_store_si512(block, _mm512_mask_mov_epi32(before, taken, after));
    const std::uint64_t was_set = detail::same_bits(before, after) ? 1 : 0;
    return {.was_set = was_set, .refused = (was_set | room) ^ 1};
  }
  ONEPROBE_TARGET_AVX512 static bool group_set(const std::byte* block, std::uint32_t word,
                                               unsigned count, std::uint32_t bloom_bits) noexcept {
    const __m256i at = detail::group_positions(word, count, bloom_bits);
    const __m256i around = _mm256_permutex2var_epi32(
        _mm256_load_si256(reinterpret_cast<const __m256i*>(block)), _mm256_srli_epi32(at, 5),
        _mm256_load_si256(reinterpret_cast<const __m256i*>(block + 32)));
    const __m256i bits = _mm256_rolv_epi32(_mm256_set1_epi32(1), at);
    return _mm256_testn_epi32_mask(around, bits) == 0;
  }
  template <unsigned Pair>
  ONEPROBE_TARGET_AVX512 static bool pair_set(const std::byte* block, std::uint64_t pattern,
                                              block_shape shape) noexcept {
    const __m512i at = detail::pair_positions<Pair>(pattern, shape);
    // The 32 bits around each position, number position / 32, and in them the bit position % 32: a
    // rotation takes its count modulo 32.
    const __m512i number = _mm512_maskz_srli_epi32(detail::all_lanes, at, 5);
    const __m512i around =
        _mm512_maskz_permutexvar_epi32(detail::all_lanes, number, _mm512_load_si512(block));
    const __m512i bits = _mm512_maskz_rolv_epi32(detail::all_lanes, _mm512_set1_epi32(1), at);
    return _mm512_testn_epi32_mask(around, bits) == 0;
  }
  /// Positions 16, ..., 31. Most queries end before. The numbers of a shape come one by one: as one
  /// argument g++ 12 writes them to memory apart and reads them together, and waits for that.
  [[gnu::noinline]] ONEPROBE_TARGET_AVX512 static bool more_set(const std::byte* block,
                                                                std::uint64_t pattern,
                                                                std::uint32_t bits_set,
                                                                std::uint32_t bloom_bits) noexcept {
    return pair_set<1>(block, pattern, {.bits_set = bits_set, .bloom_bits = bloom_bits});
  }
};

/// One bit in each lane.
template <>
struct block_bits<512, block_layout::lanes, isa::avx512, plain_words> {
  static constexpr isa level = isa::avx512;
  static constexpr block_layout layout = block_layout::lanes;
  static constexpr unsigned words = 8;
  static constexpr std::size_t bytes = 64;

  ONEPROBE_TARGET_AVX512 static bool all_set(const std::byte* block, std::uint64_t pattern,
                                             block_shape shape) noexcept {
    const __m512i before = _mm512_load_si512(block);
    return detail::same_bits(before,
                             _mm512_or_si512(before, detail::lanes_mask::of(pattern, shape)));
  }
  ONEPROBE_TARGET_AVX512 static bool set_all(std::byte* block, std::uint64_t pattern,
                                             block_shape shape) noexcept {
    return detail::set_mask(block, detail::lanes_mask::of(pattern, shape));
  }
  ONEPROBE_TARGET_AVX512 static std::uint32_t count_ones(const std::byte* block,
                                                         std::uint32_t bloom_bits) noexcept {
    return detail::count_line_ones(block, bloom_bits);
  }
};

}  // namespace oneprobe::inline v0_1

#endif
