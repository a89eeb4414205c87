// Which bits of a line an element sets, in registers of AVX-512: up to 32 positions at once, and
// the mask that has a bit for each of them. For detail/simd/avx512/block_bits.hpp. The masks of
// several elements together are in detail/simd/avx512/block_mask_batches.hpp.
#pragma once

#include "oneprobe/detail/simd/isa.hpp"
#include "oneprobe/detail/simd/plain/block_positions.hpp"

#if ONEPROBE_HAS_SIMD

#include <immintrin.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace oneprobe::inline v0_1::detail {

// Written with a mask that leaves nothing out: without one, GCC 12 warns of the registers that its
// own header leaves undefined (its bug 105593). The instructions are the same.
inline constexpr __mmask16 all_lanes = 0xffff;
inline constexpr __mmask8 all_words = 0xff;

/// Two groups, the first and the second or the third and the fourth: sixteen positions.
inline constexpr unsigned pair_size = 2 * group_size;

/// The multipliers of such a pair for elements of so many bits, one of each group by turns: both
/// words of the pattern lie side by side as often. What is beyond the bits of an element repeats
/// its first position of the same word, so that nothing has to be masked. (The word of the third
/// group is the first times a constant, so the constant is in its multipliers.)
struct pair_multipliers {
  alignas(64)
      std::array<std::array<std::uint32_t, pair_size>, std::size_t{2} * pair_size> of_bits_set{};

  constexpr explicit pair_multipliers(unsigned pair) noexcept {
    for (unsigned bits_set = group_size + 1; bits_set <= 2 * pair_size; ++bits_set)
      for (unsigned i = 0; i < pair_size; ++i) {
        const unsigned number = pair * pair_size + i % 2 * group_size + i / 2;
        const std::uint32_t factor = pair == 0 ? 1 : second_group_multiplier;
        of_bits_set[bits_set - 1][i] =
            number < bits_set ? factor * odd_multipliers[i / 2] : odd_multipliers[0];
      }
  }
};
template <unsigned Pair>
inline constexpr pair_multipliers multipliers_of_pair{Pair};

/// The products of a pair. REQUIRES: more than eight bits.
template <unsigned Pair>
ONEPROBE_TARGET_AVX512 inline __m512i pair_products(std::uint64_t pattern,
                                                    std::uint32_t bits_set) noexcept {
  const auto& row = multipliers_of_pair<Pair>.of_bits_set[bits_set - 1];
  return _mm512_mullo_epi32(_mm512_set1_epi64(static_cast<long long>(pattern)),
                            _mm512_load_si512(row.data()));
}
/// Their independent positions.
template <unsigned Pair>
ONEPROBE_TARGET_AVX512 inline __m512i pair_positions(std::uint64_t pattern,
                                                     block_shape shape) noexcept {
  const __m512i products = pair_products<Pair>(pattern, shape.bits_set);
  if (shape.bloom_bits == 512) return _mm512_maskz_srli_epi32(all_lanes, products, 32 - 9);
  return _mm512_mulhi_epu16(_mm512_maskz_srli_epi32(all_lanes, products, 16),
                            _mm512_set1_epi32(static_cast<int>(shape.bloom_bits)));
}

/// Tables of bytes or of halves of lanes.
template <class Number, std::size_t Size, class At>
constexpr std::array<Number, Size> table_of(At at) noexcept {
  std::array<Number, Size> made{};
  for (unsigned i = 0; i < Size; ++i) made[i] = static_cast<Number>(at(i));
  return made;
}

inline constexpr __mmask32 all_line_halves = ~__mmask32{0};
inline constexpr __mmask64 all_line_bytes = ~__mmask64{0};

/// The upper halves of the products of two pairs, group after group.
alignas(64) inline constexpr auto upper_halves_of_pairs =
    table_of<std::uint16_t, 2 * pair_size>([](unsigned i) {
      const unsigned group = i / group_size;
      return 2 * (group / 2 * pair_size + i % group_size * 2 + group % 2) + 1;
    });
ONEPROBE_TARGET_AVX512 inline __m512i upper_halves(__m512i pair, __m512i other) noexcept {
  return _mm512_maskz_permutex2var_epi16(all_line_halves, pair,
                                         _mm512_load_si512(upper_halves_of_pairs.data()), other);
}

/// For a group of eight, where `words` has eight bytes for each of eight groups and those of number
/// `Group` are meant, `bytes` and `bits` are its own in every word: the product of matrices that
/// independent_mask explains.
template <unsigned Group>
ONEPROBE_TARGET_AVX512 inline __m512i matrix_product(__m512i words, __m512i bytes,
                                                     __m512i bits) noexcept {
  constexpr auto eight_times = [](unsigned word) {
    return static_cast<long long>((Group * 8 + word) * 0x0101'0101'0101'0101);
  };
  const __m512i numbers =
      _mm512_set_epi64(eight_times(7), eight_times(6), eight_times(5), eight_times(4),
                       eight_times(3), eight_times(2), eight_times(1), eight_times(0));
  const __m512i word = _mm512_maskz_permutexvar_epi8(all_line_bytes, numbers, words);
#ifdef __clang__
  // clang 14 spreads a word of the memory within the next instruction, and encodes the wrong
  // address of it. So it is spread before.
  asm("" : "+v"(bits));
#endif
  return _mm512_gf2p8affine_epi64_epi8(_mm512_and_si512(word, bytes), bits, 0);
}

/// The mask of bits anywhere in the block, by products of matrices of bits.
///
/// Position t of a group of eight is bit j of byte i of word q: it is 64 q + 8 i + j. So bit j of
/// byte (q, i) of the mask is the or over t of [q = q_t] [i = i_t] [j = j_t]. That is a product of
/// matrices: of one that has a row for each byte and a column for each t, and one that has a row
/// for each t and a column for each bit. There is an instruction for such products of 8 x 8 bits;
/// its sums are exclusive ors, so of equal positions all but the first are left out, and which are
/// equal is a product of the same kind.
struct independent_mask {
  ONEPROBE_TARGET_AVX512 static __m512i of(std::uint64_t pattern, block_shape shape) noexcept {
    if (shape.bits_set <= group_size) return of_one(pattern, shape);
    if (shape.bits_set <= pair_size) return of_two(pattern, shape);
    return of_three_or_four(pattern, shape);
  }

 private:
  /// Of up to four groups, eight bytes for each: byte x has bit 7 - t where x are three bits of
  /// position t.
  struct groups {
    __m256i bits;   // position % 8, from the last byte down; not of positions that are repeated
    __m256i bytes;  // position / 8 % 8
    __m256i words;  // position / 64
  };

  ONEPROBE_TARGET_AVX512 static __m512i of_one(std::uint64_t pattern, block_shape shape) noexcept {
    const __m256i at =
        group_positions(static_cast<std::uint32_t>(pattern), shape.bits_set, shape.bloom_bits);
    const __m128i low = _mm256_maskz_cvtepi32_epi8(all_words, at);
    const __m128i high = _mm256_maskz_cvtepi32_epi8(all_words, _mm256_srli_epi32(at, 6));
    const groups all = groups_of(_mm256_zextsi128_si256(low), _mm256_zextsi128_si256(high));
    return matrix_product<0>(_mm512_castsi256_si512(all.words), first_everywhere(all.bytes),
                             first_everywhere(all.bits));
  }
  ONEPROBE_TARGET_AVX512 static __m512i first_everywhere(__m256i words) noexcept {
    return _mm512_maskz_broadcastq_epi64(all_words, _mm256_castsi256_si128(words));
  }
  ONEPROBE_TARGET_AVX512 static __m512i of_two(std::uint64_t pattern, block_shape shape) noexcept {
    const __m512i at = pair_positions<0>(pattern, shape);
    const __m128i low = _mm512_maskz_cvtepi32_epi8(all_lanes, at);
    const __m128i high =
        _mm512_maskz_cvtepi32_epi8(all_lanes, _mm512_maskz_srli_epi32(all_lanes, at, 6));
    return sum<2>(groups_of(_mm256_zextsi128_si256(low), _mm256_zextsi128_si256(high)));
  }
  ONEPROBE_TARGET_AVX512 static __m512i of_three_or_four(std::uint64_t pattern,
                                                         block_shape shape) noexcept {
    // In lanes of 16 bits, of which the positions come.
    const __m512i halves = upper_halves(pair_products<0>(pattern, shape.bits_set),
                                        pair_products<1>(pattern, shape.bits_set));
    const __m512i at =
        _mm512_mulhi_epu16(halves, _mm512_set1_epi16(static_cast<short>(shape.bloom_bits)));
    const __m256i low = _mm512_maskz_cvtepi16_epi8(all_line_halves, at);
    const __m256i high = _mm512_maskz_cvtepi16_epi8(
        all_line_halves, _mm512_maskz_srli_epi16(all_line_halves, at, 6));
    const groups all = groups_of(low, high);
    if (shape.bits_set <= 3 * group_size) return sum<3>(all);
    return sum<4>(all);
  }

  /// From bits 0 to 7 of the positions, and from bits 6 to 8.
  ONEPROBE_TARGET_AVX512 static groups groups_of(__m256i low, __m256i high) noexcept {
    const __m256i powers = _mm256_set1_epi64x(static_cast<long long>(0x8040'2010'0804'0201));
    const __m256i powers_down = _mm256_set1_epi64x(0x0102'0408'1020'4080);
    const __m256i seven = _mm256_set1_epi8(7);
    // Byte t has bit x.
    const __m256i bits = _mm256_shuffle_epi8(powers, _mm256_and_si256(low, seven));
    const __m256i bytes =
        _mm256_shuffle_epi8(powers, _mm256_and_si256(_mm256_srli_epi16(low, 3), seven));
    const __m256i words = _mm256_shuffle_epi8(powers, high);
    // Byte t has bit 7 - s where positions t and s are equal.
    constexpr int all_three = 0x80;
    const __m256i equal =
        _mm256_ternarylogic_epi64(_mm256_gf2p8affine_epi64_epi8(bits, bits, 0),
                                  _mm256_gf2p8affine_epi64_epi8(bytes, bytes, 0),
                                  _mm256_gf2p8affine_epi64_epi8(words, words, 0), all_three);
    const __m256i before = _mm256_set1_epi64x(static_cast<long long>(0xfefc'f8f0'e0c0'8000));
    const __m256i firsts = _mm256_maskz_mov_epi8(_mm256_testn_epi8_mask(equal, before), bits);
    return {.bits = _mm256_gf2p8affine_epi64_epi8(powers_down, firsts, 0),
            .bytes = _mm256_gf2p8affine_epi64_epi8(powers, bytes, 0),
            .words = _mm256_gf2p8affine_epi64_epi8(powers, words, 0)};
  }

  template <unsigned Count>
  ONEPROBE_TARGET_AVX512 static __m512i sum(const groups& all) noexcept {
    // By way of the memory: spreading a word over a register is then part of loading it.
    alignas(32) std::array<long long, 4> bytes, bits;
    _mm256_store_si256(reinterpret_cast<__m256i*>(bytes.data()), all.bytes);
    _mm256_store_si256(reinterpret_cast<__m256i*>(bits.data()), all.bits);
    keep_in_memory(bytes);
    keep_in_memory(bits);
    const auto of_group = [&]<unsigned Group>() ONEPROBE_TARGET_AVX512 {
      return matrix_product<Group>(_mm512_castsi256_si512(all.words),
                                   _mm512_set1_epi64(bytes[Group]), _mm512_set1_epi64(bits[Group]));
    };
    const __m512i two =
        _mm512_or_si512(of_group.template operator()<0>(), of_group.template operator()<1>());
    if constexpr (Count == 2) return two;
    const __m512i three = _mm512_or_si512(two, of_group.template operator()<2>());
    if constexpr (Count == 3) return three;
    return _mm512_or_si512(three, of_group.template operator()<3>());
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

 private:
  /// The products of both groups, one after the other.
  ONEPROBE_TARGET_AVX512 static __m512i ordered_products(std::uint64_t words) noexcept {
    constexpr __mmask16 upper_half = 0xff00;
    const __m512i halves = _mm512_mask_set1_epi32(_mm512_set1_epi32(static_cast<int>(words)),
                                                  upper_half, static_cast<int>(words >> 32));
    const __m512i eight_twice = _mm512_maskz_broadcast_i64x4(
        all_words, _mm256_load_si256(reinterpret_cast<const __m256i*>(odd_multipliers.data())));
    return _mm512_mullo_epi32(halves, eight_twice);
  }
};

}  // namespace oneprobe::inline v0_1::detail

#endif
