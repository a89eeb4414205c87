// The masks of several elements at once: detail/simd/avx512/block_masks.hpp says what a mask is and
// how it is made. For detail/simd/avx512/block_bits.hpp.
//
// What is worked out of the positions of a group takes eight bytes of a register, and a register
// has room for eight groups: those of eight elements, of four or of two. So they share that work.
#pragma once

#include "oneprobe/detail/simd/avx512/block_masks.hpp"
#include "oneprobe/detail/simd/isa.hpp"
#include "oneprobe/detail/simd/plain/block_positions.hpp"

#if ONEPROBE_HAS_SIMD

#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace oneprobe::inline v0_1::detail {

/// The bits that an element sets anywhere in its block, as a block.
struct alignas(64) block_mask {
  std::array<std::byte, 64> bytes;
};

/// The upper halves of lanes, one after the other.
alignas(64) inline constexpr auto upper_halves_in_order =
    table_of<std::uint16_t, 32>([](unsigned i) { return 2 * i + 1; });
/// Of lanes of 16 bits the lower bytes.
alignas(64) inline constexpr auto lower_bytes = table_of<std::uint8_t, 64>([](unsigned i) {
  return 2 * i;
});
/// The bit of a position in its byte, and that byte in its word, by the position modulo 64.
alignas(64) inline constexpr auto bit_of_position = table_of<std::uint8_t, 64>([](unsigned i) {
  return 1u << i % 8;
});
alignas(64) inline constexpr auto byte_of_position = table_of<std::uint8_t, 64>([](unsigned i) {
  return 1u << i / 8;
});

/// `Groups` is how many an element has, 1 to 4.
template <unsigned Groups>
class masks_of_groups {
  static constexpr unsigned room = Groups == 3 ? 4 : Groups;  // of an element, in groups
  static constexpr unsigned together = 8 / room;

 public:
  /// REQUIRES: a multiple of eight.
  ONEPROBE_TARGET_AVX512 static void make(std::span<const std::uint64_t> patterns,
                                          block_shape shape, block_mask* masks) noexcept {
    // All of the first half before the second, which reads parts of what the first has written:
    // when it comes to that, it has arrived.
    constexpr std::size_t most_batches = 8;
    std::array<batch, most_batches> made;
    for (std::size_t first = 0; first < patterns.size();) {
      const std::size_t batches = std::min(most_batches, (patterns.size() - first) / together);
      for (std::size_t i = 0; i < batches; ++i) {
        const std::uint64_t* const some = patterns.data() + first + i * together;
        make_batch(half_of_batch<0>(some, shape.bits_set), half_of_batch<1>(some, shape.bits_set),
                   shape.bloom_bits, made[i]);
      }
      keep_in_memory(made);
      for (std::size_t i = 0; i < batches; ++i)
        write_sums(made[i], masks + first + i * together, std::make_index_sequence<together>());
      first += batches * together;
    }
  }

 private:
  /// Of eight groups, eight bytes for each: byte x has bit 7 - t where x are three bits of position
  /// t.
  struct alignas(64) batch {
    std::array<long long, 8> bits;   // position % 8, from the last byte down; not of repeated ones
    std::array<long long, 8> bytes;  // position / 8 % 8
    std::array<long long, 8> words;  // position / 64
  };

  /// From the upper halves of the products of its groups, of four and of four.
  ONEPROBE_TARGET_AVX512 static void make_batch(__m512i some, __m512i others,
                                                std::uint32_t bloom_bits, batch& made) noexcept {
    const __m512i every = _mm512_set1_epi16(static_cast<short>(bloom_bits));
    const __m512i at = _mm512_mulhi_epu16(some, every);
    const __m512i also = _mm512_mulhi_epu16(others, every);
    const __m512i low = lower_bytes_of(at, also);
    const __m512i high = lower_bytes_of(_mm512_maskz_srli_epi16(all_line_halves, at, 6),
                                        _mm512_maskz_srli_epi16(all_line_halves, also, 6));
    const __m512i powers = _mm512_set1_epi64(static_cast<long long>(0x8040'2010'0804'0201));
    const __m512i powers_down = _mm512_set1_epi64(0x0102'0408'1020'4080);
    // Byte t has bit x. (A permutation takes its number modulo 64.)
    const __m512i bits = bytes_at(low, bit_of_position);
    const __m512i bytes = bytes_at(low, byte_of_position);
    const __m512i words = _mm512_shuffle_epi8(powers, high);
    // Byte t has bit 7 - s where positions t and s are equal.
    constexpr int all_three = 0x80;
    const __m512i equal =
        _mm512_maskz_ternarylogic_epi64(all_words, _mm512_gf2p8affine_epi64_epi8(bits, bits, 0),
                                        _mm512_gf2p8affine_epi64_epi8(bytes, bytes, 0),
                                        _mm512_gf2p8affine_epi64_epi8(words, words, 0), all_three);
    const __m512i before = _mm512_set1_epi64(static_cast<long long>(0xfefc'f8f0'e0c0'8000));
    const __m512i firsts = _mm512_maskz_mov_epi8(_mm512_testn_epi8_mask(equal, before), bits);
    _mm512_store_si512(made.bits.data(), _mm512_gf2p8affine_epi64_epi8(powers_down, firsts, 0));
    _mm512_store_si512(made.bytes.data(), _mm512_gf2p8affine_epi64_epi8(powers, bytes, 0));
    _mm512_store_si512(made.words.data(), _mm512_gf2p8affine_epi64_epi8(powers, words, 0));
  }

  /// The upper halves of the products of groups 0 to 3 or 4 to 7 of a batch, group after group.
  template <unsigned Half>
  ONEPROBE_TARGET_AVX512 static __m512i half_of_batch(const std::uint64_t* patterns,
                                                      std::uint32_t bits_set) noexcept {
    constexpr unsigned first = Half * together / 2;
    if constexpr (Groups == 1) {
      const __m512i row = _mm512_maskz_broadcast_i64x4(
          all_words, _mm256_load_si256(reinterpret_cast<const __m256i*>(
                         multipliers.of_count[bits_set - 1].data())));
      const __m512i all = _mm512_loadu_si512(patterns);
      return _mm512_maskz_permutex2var_epi16(all_line_halves,
                                             _mm512_mullo_epi32(two_words<first>(all), row),
                                             _mm512_load_si512(upper_halves_in_order.data()),
                                             _mm512_mullo_epi32(two_words<first + 2>(all), row));
    } else if constexpr (Groups == 2) {
      return upper_halves(pair_products<0>(patterns[first], bits_set),
                          pair_products<0>(patterns[first + 1], bits_set));
    } else {
      return upper_halves(pair_products<0>(patterns[first], bits_set),
                          pair_products<1>(patterns[first], bits_set));
    }
  }
  /// The lower half of one pattern eight times, and that of the next.
  template <unsigned First>
  ONEPROBE_TARGET_AVX512 static __m512i two_words(__m512i patterns) noexcept {
    constexpr long long one = 0x0000'0002'0000'0002 * First;
    constexpr long long next = one + 0x0000'0002'0000'0002;
    return _mm512_maskz_permutexvar_epi32(
        all_lanes, _mm512_set_epi64(next, next, next, next, one, one, one, one), patterns);
  }

  ONEPROBE_TARGET_AVX512 static __m512i lower_bytes_of(__m512i some, __m512i others) noexcept {
    return _mm512_maskz_permutex2var_epi8(all_line_bytes, some,
                                          _mm512_load_si512(lower_bytes.data()), others);
  }
  ONEPROBE_TARGET_AVX512 static __m512i bytes_at(
      __m512i numbers, const std::array<std::uint8_t, 64>& table) noexcept {
    return _mm512_maskz_permutexvar_epi8(all_line_bytes, numbers, _mm512_load_si512(table.data()));
  }

  template <unsigned Group>
  ONEPROBE_TARGET_AVX512 static __m512i product(const batch& made) noexcept {
    // From the memory: spreading a word over a register is then part of loading it.
    return matrix_product<Group>(_mm512_load_si512(made.words.data()),
                                 _mm512_set1_epi64(made.bytes[Group]),
                                 _mm512_set1_epi64(made.bits[Group]));
  }
  /// The mask of element number `Element` of a batch.
  template <unsigned Element>
  ONEPROBE_TARGET_AVX512 static __m512i sum(const batch& made) noexcept {
    constexpr unsigned first = Element * room;
    __m512i all = product<first>(made);
    if constexpr (Groups > 1) all = _mm512_or_si512(all, product<first + 1>(made));
    if constexpr (Groups > 2) all = _mm512_or_si512(all, product<first + 2>(made));
    if constexpr (Groups > 3) all = _mm512_or_si512(all, product<first + 3>(made));
    return all;
  }
  template <std::size_t... Element>
  ONEPROBE_TARGET_AVX512 static void write_sums(const batch& made, block_mask* masks,
                                                std::index_sequence<Element...>) noexcept {
    (_mm512_store_si512(masks[Element].bytes.data(), sum<Element>(made)), ...);
  }
};

/// The masks of elements whose bits lie anywhere. REQUIRES: a multiple of eight.
ONEPROBE_TARGET_AVX512 inline void make_masks(std::span<const std::uint64_t> patterns,
                                              block_shape shape, block_mask* masks) noexcept {
  if (shape.bits_set <= group_size) return masks_of_groups<1>::make(patterns, shape, masks);
  if (shape.bits_set <= 2 * group_size) return masks_of_groups<2>::make(patterns, shape, masks);
  if (shape.bits_set <= 3 * group_size) return masks_of_groups<3>::make(patterns, shape, masks);
  return masks_of_groups<4>::make(patterns, shape, masks);
}

}  // namespace oneprobe::inline v0_1::detail

#endif
