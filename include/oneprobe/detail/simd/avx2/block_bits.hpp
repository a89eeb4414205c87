// The kernels of detail/simd/plain/block_bits.hpp with AVX2: eight positions at once.
//
// The same answers and the same bytes as the plain ones; the tests hold them to each other.
#pragma once

#include "oneprobe/detail/base/word_access.hpp"
#include "oneprobe/detail/simd/isa.hpp"
#include "oneprobe/detail/simd/plain/block_bits.hpp"

#if ONEPROBE_HAS_SIMD

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace oneprobe::inline v0_1 {
namespace detail {

/// Four words of a block in one register.
template <class Words>
ONEPROBE_TARGET_AVX2 inline __m256i load_four_words(const std::byte* from) noexcept {
  if constexpr (!Words::shared) {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(from));
  } else {
    // Atomic word by word; a 256-bit load promises nothing.
    const auto word = [from](unsigned i) {
      return static_cast<long long>(Words::load(from + i * word_bytes));
    };
    return _mm256_set_epi64x(word(3), word(2), word(1), word(0));
  }
}

/// 256 bits of which bit `position` is set, counted from `Begin` on; none if it is elsewhere.
template <int Begin>
ONEPROBE_TARGET_AVX2 inline __m256i one_bit(__m256i position) noexcept {
  const __m256i begins = _mm256_setr_epi32(Begin, Begin + 32, Begin + 64, Begin + 96, Begin + 128,
                                           Begin + 160, Begin + 192, Begin + 224);
  // A shift by 32 or more, or by a negative number, leaves nothing.
  return _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_sub_epi32(position, begins));
}

/// Sets the bits of a mask in four words; says whether they all were set before.
template <class Words>
ONEPROBE_TARGET_AVX2 inline bool set_four_words(std::byte* block, __m256i mask) noexcept {
  const __m256i before = load_four_words<Words>(block);
  const bool present = _mm256_testc_si256(before, mask) != 0;
  if constexpr (!Words::shared) {
    _mm256_store_si256(reinterpret_cast<__m256i*>(block), _mm256_or_si256(before, mask));
    return present;
  } else {
    if (present) return true;
    alignas(32) std::array<std::uint64_t, 4> masks;
    _mm256_store_si256(reinterpret_cast<__m256i*>(masks.data()), mask);
    std::uint64_t missing = 0;
    for (unsigned i = 0; i < masks.size(); ++i)
      missing |= masks[i] & ~Words::set_bits(block + i * word_bytes, masks[i]);
    return missing == 0;
  }
}

/// The same as in plain code, with the instruction that counts.
template <class Words>
ONEPROBE_TARGET_AVX2 inline std::uint32_t count_block_ones(const std::byte* block, unsigned words,
                                                           unsigned own_bits) noexcept {
  unsigned ones = 0;
  for (unsigned i = 0; i + 1 < words; ++i)
    ones += static_cast<unsigned>(std::popcount(Words::load(block + i * word_bytes)));
  const std::uint64_t last = Words::load(block + (words - 1) * word_bytes) << own_bits;
  return ones + static_cast<unsigned>(std::popcount(last));
}

}  // namespace detail

/// Bits anywhere in the block.
template <unsigned BlockBits, class Words>
struct block_bits<BlockBits, block_layout::independent, isa::avx2, Words> {
  using plain = block_bits<BlockBits, block_layout::independent, isa::plain, Words>;
  static constexpr isa level = isa::avx2;
  static constexpr block_layout layout = block_layout::independent;
  static constexpr unsigned words = plain::words;
  static constexpr std::size_t bytes = plain::bytes;

  ONEPROBE_TARGET_AVX2 static bool all_set(const std::byte* block, std::uint64_t pattern,
                                           block_shape shape) noexcept {
    if (!group_set(block, pattern, 0, shape)) return false;
    return shape.bits_set <= detail::group_size ||
           more_set(block, pattern, shape.bits_set, shape.bloom_bits);
  }
  /// Whether the first of the bits are set, without a call or a loop.
  static constexpr unsigned first_bits = 2 * detail::group_size;
  ONEPROBE_TARGET_AVX2 static bool first_set(const std::byte* block, std::uint64_t pattern,
                                             block_shape shape) noexcept {
    return group_set(block, pattern, 0, shape) &&
           (shape.bits_set <= detail::group_size || group_set(block, pattern, 1, shape));
  }

  ONEPROBE_TARGET_AVX2 static bool set_all(std::byte* block, std::uint64_t pattern,
                                           block_shape shape) noexcept {
    __m256i low = _mm256_setzero_si256();
    __m256i high = low;
    for (unsigned group = 0; group * detail::group_size < shape.bits_set; ++group)
      add_group(low, high, pattern, group, shape);
    if constexpr (BlockBits == 512) {
      const bool present = detail::set_four_words<Words>(block + 32, high);
      return detail::set_four_words<Words>(block, low) && present;
    }
    return detail::set_four_words<Words>(block, low);
  }

  template <class HasRoom>
  ONEPROBE_TARGET_AVX2 static bits_outcome put(std::byte* block, std::uint64_t pattern,
                                               block_shape shape, HasRoom has_room) noexcept {
    return detail::put_after_asking<block_bits>(block, pattern, shape, has_room);
  }

  ONEPROBE_TARGET_AVX2 static std::uint32_t count_ones(const std::byte* block,
                                                       std::uint32_t bloom_bits) noexcept {
    return detail::count_block_ones<Words>(block, words, BlockBits - bloom_bits);
  }

 private:
  /// The groups after the first. Most queries end before, and a loop of queries has more registers
  /// if this is not part of it. The numbers of a shape come one by one: as one argument g++ 12
  /// writes them to memory apart and reads them together, and waits for that.
  [[gnu::noinline]] ONEPROBE_TARGET_AVX2 static bool more_set(const std::byte* block,
                                                              std::uint64_t pattern,
                                                              std::uint32_t bits_set,
                                                              std::uint32_t bloom_bits) noexcept {
    const block_shape shape{.bits_set = bits_set, .bloom_bits = bloom_bits};
    for (unsigned group = 1; group * detail::group_size < shape.bits_set; ++group)
      if (!group_set(block, pattern, group, shape)) return false;
    return true;
  }

  /// Whether the positions of a group are all set.
  ONEPROBE_TARGET_AVX2 static bool group_set(const std::byte* block, std::uint64_t pattern,
                                             unsigned group, block_shape shape) noexcept {
    const __m256i low = detail::load_four_words<Words>(block);
    const __m256i at =
        detail::group_positions(detail::group_word(pattern, group),
                                shape.bits_set - group * detail::group_size, shape.bloom_bits);
    // The 32 bits around each position: number position / 32, of which the permutation takes the
    // lower three bits; the fourth chooses the half.
    const __m256i number = _mm256_srli_epi32(at, 5);
    __m256i around = _mm256_permutevar8x32_epi32(low, number);
    if constexpr (BlockBits == 512) {
      const __m256i in_high =
          _mm256_permutevar8x32_epi32(detail::load_four_words<Words>(block + 32), number);
      const __m256i upper = _mm256_slli_epi32(at, 31 - 8);  // bit 8 of the position to the sign
      around = _mm256_castps_si256(_mm256_blendv_ps(
          _mm256_castsi256_ps(around), _mm256_castsi256_ps(in_high), _mm256_castsi256_ps(upper)));
    }
    const __m256i bits =
        _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_and_si256(at, _mm256_set1_epi32(31)));
    return _mm256_testc_si256(around, bits) != 0;
  }

  /// Adds the bits of a group to the mask of the block.
  ONEPROBE_TARGET_AVX2 static void add_group(__m256i& low, __m256i& high, std::uint64_t pattern,
                                             unsigned group, block_shape shape) noexcept {
    const unsigned count =
        std::min(detail::group_size, shape.bits_set - group * detail::group_size);
    alignas(32) std::array<int, detail::group_size> positions;
    _mm256_store_si256(
        reinterpret_cast<__m256i*>(positions.data()),
        detail::group_positions(detail::group_word(pattern, group), count, shape.bloom_bits));
    detail::keep_in_memory(positions);
    for (unsigned i = 0; i < count; ++i) {
      const __m256i position = _mm256_set1_epi32(positions[i]);
      low = _mm256_or_si256(low, detail::one_bit<0>(position));
      if constexpr (BlockBits == 512) high = _mm256_or_si256(high, detail::one_bit<256>(position));
    }
  }
};

/// One bit in each lane: the mask of the whole block at once.
template <unsigned BlockBits, class Words>
struct block_bits<BlockBits, block_layout::lanes, isa::avx2, Words> {
  using plain = block_bits<BlockBits, block_layout::lanes, isa::plain, Words>;
  static constexpr isa level = isa::avx2;
  static constexpr block_layout layout = block_layout::lanes;
  static constexpr unsigned words = plain::words;
  static constexpr std::size_t bytes = plain::bytes;

  ONEPROBE_TARGET_AVX2 static bool all_set(const std::byte* block, std::uint64_t pattern,
                                           block_shape shape) noexcept {
    bool present = _mm256_testc_si256(detail::load_four_words<Words>(block),
                                      half_mask<0>(pattern, shape)) != 0;
    if constexpr (BlockBits == 512)
      present &= _mm256_testc_si256(detail::load_four_words<Words>(block + 32),
                                    half_mask<1>(pattern, shape)) != 0;
    return present;
  }

  ONEPROBE_TARGET_AVX2 static bool set_all(std::byte* block, std::uint64_t pattern,
                                           block_shape shape) noexcept {
    const bool present = detail::set_four_words<Words>(block, half_mask<0>(pattern, shape));
    if constexpr (BlockBits == 512)
      return detail::set_four_words<Words>(block + 32, half_mask<1>(pattern, shape)) && present;
    return present;
  }

  ONEPROBE_TARGET_AVX2 static std::uint32_t count_ones(const std::byte* block,
                                                       std::uint32_t bloom_bits) noexcept {
    return detail::count_block_ones<Words>(block, words, BlockBits - bloom_bits);
  }

 private:
  /// The bits of an element in 256 bits of the block.
  template <unsigned Half>
  ONEPROBE_TARGET_AVX2 static __m256i half_mask(std::uint64_t pattern, block_shape shape) noexcept {
    const __m256i one = _mm256_set1_epi64x(1);
    if (detail::lane_bits(BlockBits, shape.bits_set) == word_bits / 2) {
      // Eight lanes of 32 bits: a group for each half.
      const __m256i at = _mm256_srli_epi32(
          detail::group_products(detail::group_word(pattern, Half), detail::group_size), 32 - 5);
      return _mm256_sllv_epi32(_mm256_set1_epi32(1), at);
    }
    // Four lanes of 64 bits: half a group for each half.
    const __m256i at = _mm256_srli_epi32(
        detail::group_products(detail::group_word(pattern, 0), detail::group_size), 32 - 6);
    return _mm256_sllv_epi64(one, _mm256_cvtepu32_epi64(_mm256_extracti128_si256(at, Half)));
  }
};

}  // namespace oneprobe::inline v0_1

#endif
