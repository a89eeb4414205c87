// The bits of a bucket of fingerprints, with and without vector instructions: for
// detail/filter/fingerprint_buckets.hpp; there is nothing here to call.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "oneprobe/detail/base/word_access.hpp"
#include "oneprobe/detail/simd/isa.hpp"

#if ONEPROBE_HAS_SIMD
#include <immintrin.h>
#endif

namespace oneprobe::inline v0_1::detail {

/// The bits of word `number` of a line that are bit `first` of the line or above.
constexpr std::uint64_t bits_from(unsigned first, unsigned number) noexcept {
  const unsigned begin = number * word_bits;
  if (first <= begin) return ~std::uint64_t{0};
  return first - begin >= word_bits ? 0 : ~std::uint64_t{0} << (first - begin);
}

/// The place of one number `rank` of a word, from 0. REQUIRES: that it has so many.
template <isa Level>
inline unsigned select_one(std::uint64_t ones, unsigned rank) noexcept {
  // By halves: how many are in the lower one, and in which of them it is.
  unsigned at = 0;
  for (unsigned width = word_bits / 2; width != 0; width /= 2) {
    const std::uint64_t lower = ones & ((std::uint64_t{1} << width) - 1);
    const auto here = static_cast<unsigned>(std::popcount(lower));
    const bool above = rank >= here;
    rank -= above ? here : 0;
    at += above ? width : 0;
    ones = above ? ones >> width : lower;
  }
  return at;
}

/// How many of the lowest `count` bits of a word are ones; all of them from 64 on. `count` up to
/// 255.
template <isa Level>
inline unsigned ones_below(std::uint64_t word, unsigned count) noexcept {
  const std::uint64_t whole = std::uint64_t{0} - std::uint64_t{count / word_bits != 0};
  const std::uint64_t below = (std::uint64_t{1} << (count % word_bits)) - 1;
  return static_cast<unsigned>(std::popcount(word & (below | whole)));
}

/// A fingerprint to be put into a bucket: everything behind its place moves up, and what falls off
/// the end of the line is gone.
struct fingerprint_bucket_change {
  unsigned header_bit = 0;
  unsigned header_end = 0;  // the bucket's mark lies here
  unsigned remainder_bit = 0;
  unsigned remainder_bits = 0;
  std::uint64_t remainder = 0;
  bool evicts = false;       // the bucket was full: its last one goes, and it is marked
  unsigned evicted_bit = 0;  // of the header
};

/// Moves the bits from `first` up to `end` of a line up by `by`, 1 to 63, and what falls beyond
/// `end` off; those that come free are zero. REQUIRES: first + by <= end.
inline void move_bits_up(std::byte* line, unsigned first, unsigned end, unsigned by) noexcept {
  const unsigned lowest = first / word_bits;
  const auto load = [&](unsigned number) { return plain_words::load(line + number * word_bytes); };
  const std::uint64_t moving = bits_from(first, lowest);  // of the lowest word
  unsigned number = (end - 1) / word_bits;
  std::uint64_t staying = end % word_bits == 0 ? 0 : ~std::uint64_t{0} << (end % word_bits);
  for (; number > lowest; --number) {
    const std::uint64_t below = number - 1 == lowest ? load(lowest) & moving : load(number - 1);
    const std::uint64_t word = load(number);
    const std::uint64_t moved = word << by | below >> (word_bits - by);
    plain_words::store(line + number * word_bytes, (word & staying) | (moved & ~staying));
    staying = 0;
  }
  const std::uint64_t word = load(lowest);
  staying |= ~moving;
  plain_words::store(line + lowest * word_bytes,
                     (word & staying) | ((word & moving) << by & ~staying));
}

template <isa Level>
inline void put_remainder(std::byte* bucket, const fingerprint_bucket_change& change) noexcept {
  const auto set = [&](unsigned bit, std::uint64_t ones) {
    std::byte* const word = bucket + bit / word_bits * word_bytes;
    plain_words::store(word, plain_words::load(word) | ones << (bit % word_bits));
  };
  if (change.evicts) {
    std::byte* const word = bucket + change.evicted_bit / word_bits * word_bytes;
    plain_words::store(
        word, plain_words::load(word) & ~(std::uint64_t{1} << (change.evicted_bit % word_bits)));
  }
  move_bits_up(bucket, change.header_bit, change.header_end, 1);
  set(change.header_bit, 1);
  if (change.evicts) set(change.header_end, 1);

  const unsigned width = change.remainder_bits;
  constexpr unsigned line_bits = 512;
  if (change.remainder_bit + width < line_bits)
    move_bits_up(bucket, change.remainder_bit, line_bits, width);
  // The last one has nothing behind it; if it was taken before, that goes.
  const unsigned at = change.remainder_bit % word_bits;
  std::byte* const place = bucket + change.remainder_bit / word_bits * word_bytes;
  const std::uint64_t ones = (std::uint64_t{1} << width) - 1;
  plain_words::store(place, (plain_words::load(place) & ~(ones << at)) | change.remainder << at);
  if (at + width > word_bits) {
    std::byte* const next = place + word_bytes;
    const unsigned done = word_bits - at;
    plain_words::store(next,
                       (plain_words::load(next) & ~(ones >> done)) | change.remainder >> done);
  }
}

/// How remainders of other widths become lanes of 16 or 32 bits: where in the line the eight bytes
/// are that hold a group of them, four or two, and by how much each byte of a lane is shifted.
struct lane_tables {
  static constexpr unsigned vectors = 2;
  using table = std::array<std::uint8_t, 64>;

  unsigned lane_bits = 0;            // 0: these remainders do not fit
  std::uint32_t remainder_mask = 0;  // f ones in each lane
  std::uint64_t filled = 0;          // a one for each lane that has a remainder
  alignas(64) std::array<table, vectors> bytes{};
  alignas(64) std::array<table, vectors> shifts{};

  /// Below 9 bits too many are equal by chance, and the run of the quotient tells more.
  lane_tables(unsigned first_bit, unsigned remainder_bits, unsigned count) noexcept {
    constexpr unsigned group_bits = 64, byte_bits = 8;
    // Groups begin at any bit of their first byte.
    const auto fits = [&](unsigned wide) {
      return remainder_bits <= wide &&
             group_bits / wide * remainder_bits + byte_bits - 1 <= group_bits &&
             count <= vectors * 512 / wide;
    };
    if (remainder_bits < 9 || (!fits(16) && !fits(32))) return;
    const unsigned wide = fits(16) ? 16 : 32;
    const unsigned in_group = group_bits / wide;
    lane_bits = wide;
    remainder_mask = (std::uint32_t{1} << remainder_bits) - 1;
    if (wide == 16) remainder_mask |= remainder_mask << 16;
    filled = ~std::uint64_t{0} >> (64 - count);
    for (unsigned byte = 0; byte < vectors * 64; ++byte) {
      const unsigned group = byte / 8, in_vector = byte % 64;
      const unsigned begin = first_bit + group * in_group * remainder_bits;
      const unsigned lane = byte % 8 / (wide / byte_bits);
      const unsigned part = byte % (wide / byte_bits);
      bytes[byte / 64][in_vector] = static_cast<std::uint8_t>((begin / byte_bits + byte % 8) % 64);
      shifts[byte / 64][in_vector] = static_cast<std::uint8_t>(
          (begin % byte_bits + lane * remainder_bits + part * byte_bits) % group_bits);
    }
  }
};

/// How remainders compare with a wanted one: bit i for lane i.
struct lane_order {
  std::uint64_t equal = 0;
  std::uint64_t smaller = 0;
};

/// Of the `count` remainders, 8 or 16 bits wide each, that fill the line's end.
template <isa Level, unsigned Width>
lane_order compare_lanes(const std::byte* line, std::uint64_t wanted, unsigned count) noexcept;

/// The same for remainders of other widths, by the tables.
template <isa Level>
lane_order compare_lanes(const std::byte* line, std::uint64_t wanted,
                         const lane_tables& lanes) noexcept;

#if ONEPROBE_HAS_SIMD

template <>
ONEPROBE_TARGET_AVX2 inline unsigned select_one<isa::avx2>(std::uint64_t ones,
                                                           unsigned rank) noexcept {
  return static_cast<unsigned>(_tzcnt_u64(_pdep_u64(std::uint64_t{1} << rank, ones)));
}
template <>
ONEPROBE_TARGET_AVX512 inline unsigned select_one<isa::avx512>(std::uint64_t ones,
                                                               unsigned rank) noexcept {
  return static_cast<unsigned>(_tzcnt_u64(_pdep_u64(std::uint64_t{1} << rank, ones)));
}

template <>
ONEPROBE_TARGET_AVX2 inline unsigned ones_below<isa::avx2>(std::uint64_t word,
                                                           unsigned count) noexcept {
  return static_cast<unsigned>(_mm_popcnt_u64(_bzhi_u64(word, count)));
}
template <>
ONEPROBE_TARGET_AVX512 inline unsigned ones_below<isa::avx512>(std::uint64_t word,
                                                               unsigned count) noexcept {
  return static_cast<unsigned>(_mm_popcnt_u64(_bzhi_u64(word, count)));
}

/// The top bit of every byte.
ONEPROBE_TARGET_AVX2 inline std::uint64_t byte_mask(__m256i bytes) noexcept {
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(bytes));
}
template <>
ONEPROBE_TARGET_AVX2 inline lane_order compare_lanes<isa::avx2, 8>(const std::byte* line,
                                                                   std::uint64_t wanted,
                                                                   unsigned count) noexcept {
  const __m256i low = _mm256_load_si256(reinterpret_cast<const __m256i*>(line));
  const __m256i high = _mm256_load_si256(reinterpret_cast<const __m256i*>(line) + 1);
  const __m256i all = _mm256_set1_epi8(static_cast<char>(wanted));
  const std::uint64_t equal =
      byte_mask(_mm256_cmpeq_epi8(low, all)) | byte_mask(_mm256_cmpeq_epi8(high, all)) << 32;
  const std::uint64_t at_most = byte_mask(_mm256_cmpeq_epi8(_mm256_min_epu8(low, all), low)) |
                                byte_mask(_mm256_cmpeq_epi8(_mm256_min_epu8(high, all), high))
                                    << 32;
  return {equal >> (64 - count), (at_most & ~equal) >> (64 - count)};
}
template <>
ONEPROBE_TARGET_AVX2 inline lane_order compare_lanes<isa::avx2, 16>(const std::byte* line,
                                                                    std::uint64_t wanted,
                                                                    unsigned count) noexcept {
  const __m256i low = _mm256_load_si256(reinterpret_cast<const __m256i*>(line));
  const __m256i high = _mm256_load_si256(reinterpret_cast<const __m256i*>(line) + 1);
  const __m256i all = _mm256_set1_epi16(static_cast<short>(wanted));
  // Two bits for each lane of two bytes; of each pair the even one is kept.
  constexpr std::uint64_t even = 0x5555'5555'5555'5555;
  const std::uint64_t equal =
      byte_mask(_mm256_cmpeq_epi16(low, all)) | byte_mask(_mm256_cmpeq_epi16(high, all)) << 32;
  const std::uint64_t at_most = byte_mask(_mm256_cmpeq_epi16(_mm256_min_epu16(low, all), low)) |
                                byte_mask(_mm256_cmpeq_epi16(_mm256_min_epu16(high, all), high))
                                    << 32;
  return {_pext_u64(equal, even) >> (32 - count),
          _pext_u64(at_most & ~equal, even) >> (32 - count)};
}
template <>
ONEPROBE_TARGET_AVX512 inline lane_order compare_lanes<isa::avx512, 8>(const std::byte* line,
                                                                       std::uint64_t wanted,
                                                                       unsigned count) noexcept {
  const __m512i found = _mm512_load_si512(line);
  const __m512i all = _mm512_set1_epi8(static_cast<char>(wanted));
  return {std::uint64_t{_mm512_cmpeq_epi8_mask(found, all)} >> (64 - count),
          std::uint64_t{_mm512_cmplt_epu8_mask(found, all)} >> (64 - count)};
}
template <>
ONEPROBE_TARGET_AVX512 inline lane_order compare_lanes<isa::avx512, 16>(const std::byte* line,
                                                                        std::uint64_t wanted,
                                                                        unsigned count) noexcept {
  const __m512i found = _mm512_load_si512(line);
  const __m512i all = _mm512_set1_epi16(static_cast<short>(wanted));
  return {std::uint64_t{_mm512_cmpeq_epi16_mask(found, all)} >> (32 - count),
          std::uint64_t{_mm512_cmplt_epu16_mask(found, all)} >> (32 - count)};
}

// With a mask that leaves nothing out, as in detail/simd/avx512/block_bits.hpp: GCC 12 would warn
// of its header.
inline constexpr __mmask8 whole_line = 0xff;

template <>
ONEPROBE_TARGET_AVX512 inline lane_order compare_lanes<isa::avx512>(
    const std::byte* line, std::uint64_t wanted, const lane_tables& lanes) noexcept {
  constexpr __mmask64 all_bytes = ~std::uint64_t{0};
  const __m512i whole = _mm512_load_si512(line);
  const bool narrow = lanes.lane_bits == 16;
  const __m512i of_remainder = _mm512_set1_epi32(static_cast<int>(lanes.remainder_mask));
  const __m512i all = narrow ? _mm512_set1_epi16(static_cast<short>(wanted))
                             : _mm512_set1_epi32(static_cast<int>(wanted));
  const auto compare = [&](unsigned i) ONEPROBE_TARGET_AVX512 -> lane_order {
    const __m512i groups =
        _mm512_maskz_permutexvar_epi8(all_bytes, _mm512_load_si512(lanes.bytes[i].data()), whole);
    const __m512i spread = _mm512_maskz_multishift_epi64_epi8(
        all_bytes, _mm512_load_si512(lanes.shifts[i].data()), groups);
    const __m512i found = _mm512_and_si512(spread, of_remainder);
    if (narrow) return {_mm512_cmpeq_epi16_mask(found, all), _mm512_cmplt_epu16_mask(found, all)};
    return {_mm512_cmpeq_epi32_mask(found, all), _mm512_cmplt_epu32_mask(found, all)};
  };
  const unsigned in_vector = narrow ? 32 : 16;
  lane_order order = compare(0);
  if (lanes.filled >> in_vector != 0) {
    const lane_order second = compare(1);
    order.equal |= second.equal << in_vector;
    order.smaller |= second.smaller << in_vector;
  }
  return {order.equal & lanes.filled, order.smaller & lanes.filled};
}

/// The line in one register. A shift by 64 or more, or by less than 0, gives nothing.
template <>
ONEPROBE_TARGET_AVX512 inline void put_remainder<isa::avx512>(
    std::byte* bucket, const fingerprint_bucket_change& change) noexcept {
  const __m512i begin = _mm512_set_epi64(448, 384, 320, 256, 192, 128, 64, 0);
  const __m512i one = _mm512_set1_epi64(1), ones = _mm512_set1_epi64(-1);
  const __m512i none = _mm512_setzero_si512();
  const __m512i header_bit = _mm512_sub_epi64(_mm512_set1_epi64(change.header_bit), begin);
  const __m512i header_end = _mm512_sub_epi64(_mm512_set1_epi64(change.header_end), begin);
  const __m512i at = _mm512_sub_epi64(_mm512_set1_epi64(change.remainder_bit), begin);
  const __m512i after = _mm512_add_epi64(at, _mm512_set1_epi64(change.remainder_bits));
  const __m512i header_up = _mm512_maskz_sllv_epi64(
      whole_line, ones, _mm512_maskz_max_epi64(whole_line, header_bit, none));
  const __m512i beyond_header = _mm512_maskz_sllv_epi64(
      whole_line, ones, _mm512_maskz_max_epi64(whole_line, header_end, none));
  const __m512i header = _mm512_maskz_andnot_epi64(whole_line, beyond_header, header_up);
  const __m512i from =
      _mm512_maskz_sllv_epi64(whole_line, ones, _mm512_maskz_max_epi64(whole_line, at, none));
  const __m512i moved =
      _mm512_maskz_sllv_epi64(whole_line, ones, _mm512_maskz_max_epi64(whole_line, after, none));

  __m512i line = _mm512_load_si512(bucket);
  __m512i set = _mm512_maskz_sllv_epi64(whole_line, one, header_bit);
  if (change.evicts) {
    const __m512i evicted = _mm512_sub_epi64(_mm512_set1_epi64(change.evicted_bit), begin);
    line = _mm512_maskz_andnot_epi64(whole_line, _mm512_maskz_sllv_epi64(whole_line, one, evicted),
                                     line);
    set = _mm512_or_si512(set, _mm512_maskz_sllv_epi64(whole_line, one, header_end));
  }
  const __m512i below = _mm512_maskz_alignr_epi64(0xfe, line, line, 7);
  const __m512i by_one = _mm512_or_si512(_mm512_maskz_slli_epi64(whole_line, line, 1),
                                         _mm512_maskz_srli_epi64(whole_line, below, 63));
  const __m128i width = _mm_cvtsi32_si128(static_cast<int>(change.remainder_bits));
  const __m128i rest = _mm_cvtsi32_si128(static_cast<int>(word_bits - change.remainder_bits));
  const __m512i by_width = _mm512_or_si512(_mm512_maskz_sll_epi64(whole_line, line, width),
                                           _mm512_maskz_srl_epi64(whole_line, below, rest));
  const __m512i remainder = _mm512_set1_epi64(static_cast<long long>(change.remainder));
  set = _mm512_or_si512(set, _mm512_maskz_sllv_epi64(whole_line, remainder, at));
  set = _mm512_or_si512(set,
                        _mm512_maskz_srlv_epi64(whole_line, remainder, _mm512_sub_epi64(none, at)));
  constexpr int select = 0xca;  // where the first has a one the second, else the third
  const __m512i kept = _mm512_ternarylogic_epi64(header, by_one, line, select);
  const __m512i shifted = _mm512_and_si512(by_width, moved);
  _mm512_store_si512(bucket,
                     _mm512_or_si512(_mm512_ternarylogic_epi64(from, shifted, kept, select), set));
}

#endif

}  // namespace oneprobe::inline v0_1::detail
