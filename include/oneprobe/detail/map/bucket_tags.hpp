// What a bucket's tags say: which slots are taken, which may hold an element, which may take one.
//
//   tag_reading found = ...;                    // of 16 slots
//   std::uint32_t slots = found.equal(tag);     // bit i for slot i
//
// Pure functions of 24 bytes. The stores decide how these come from memory and which threads may
// change them: tagged_buckets.hpp, shared_buckets.hpp.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "oneprobe/key_hash.hpp"
#include "oneprobe/map/plan.hpp"

// Part of every x86-64 processor: nothing to ask at run time.
#if defined(__SSE2__) && !defined(ONEPROBE_NO_SIMD)
#define ONEPROBE_HAS_SSE2 1
#include <emmintrin.h>
#else
#define ONEPROBE_HAS_SSE2 0
#endif

namespace oneprobe::inline v0_1::detail {

/// 12 bits of a hash, none of those that candidate 0 is drawn from.
struct bucket_tag {
  std::uint32_t low;   // 1 to 255; 0 is a free slot
  std::uint32_t high;  // below 16

  static constexpr bucket_tag of(key_hash hash) noexcept {
    const auto low = static_cast<std::uint32_t>(hash.value & 255);
    return {low == 0 ? 1 : low, static_cast<std::uint32_t>(hash.value >> 8 & 15)};
  }
};

/// Four bits in a word of 16 such, number 0 the lowest.
struct nibbles {
  static constexpr std::uint32_t shift_of(std::uint32_t i) noexcept { return 4 * i; }
  static constexpr std::uint32_t at(std::uint64_t word, std::uint32_t i) noexcept {
    return static_cast<std::uint32_t>(word >> shift_of(i) & 15);
  }
  static constexpr std::uint64_t with(std::uint64_t word, std::uint32_t i,
                                      std::uint64_t value) noexcept {
    return (word & ~(std::uint64_t{15} << shift_of(i))) | value << shift_of(i);
  }
};

/// The tags of 16 slots.
class tag_reading {
 public:
#if ONEPROBE_HAS_SSE2
  tag_reading(__m128i low, std::uint64_t high) noexcept : low_(low), high_(high) {}
  tag_reading(std::uint64_t low_first, std::uint64_t low_last, std::uint64_t high) noexcept
      : low_(_mm_unpacklo_epi64(word(low_first), word(low_last))), high_(high) {}

  std::uint32_t occupied() const noexcept {
    return ~mask_of(_mm_cmpeq_epi8(low_, _mm_setzero_si128())) & 0xffff;
  }
  std::uint32_t equal(bucket_tag wanted) const noexcept {
    const __m128i pairs = word(high_);
    const __m128i even = _mm_and_si128(pairs, every_byte(15));
    const __m128i odd = _mm_and_si128(_mm_srli_epi16(pairs, 4), every_byte(15));
    const __m128i high = _mm_unpacklo_epi8(even, odd);
    return mask_of(_mm_and_si128(_mm_cmpeq_epi8(low_, every_byte(wanted.low)),
                                 _mm_cmpeq_epi8(high, every_byte(wanted.high))));
  }

 private:
  static __m128i word(std::uint64_t value) noexcept {
    return _mm_cvtsi64_si128(static_cast<long long>(value));
  }
  static __m128i every_byte(std::uint32_t value) noexcept {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
    return _mm_set1_epi8(static_cast<char>(value));  // one instruction
#else
    // Spread by a multiplication: g++ 12 spreads a byte through memory, and waits for it.
    return _mm_set1_epi32(static_cast<int>(value * 0x0101'0101u));
#endif
  }
  static std::uint32_t mask_of(__m128i bytes) noexcept {
    return static_cast<std::uint32_t>(_mm_movemask_epi8(bytes));
  }

  __m128i low_;
  std::uint64_t high_;
#else
  tag_reading(std::uint64_t low_first, std::uint64_t low_last, std::uint64_t high) noexcept
      : low_first_(low_first), low_last_(low_last), high_(high) {}

  std::uint32_t occupied() const noexcept { return ~low_equal(0) & 0xffff; }
  std::uint32_t equal(bucket_tag wanted) const noexcept {
    std::uint32_t found = low_equal(wanted.low);
    for (std::uint32_t left = found; left != 0; left &= left - 1) {
      const auto slot = static_cast<std::uint32_t>(std::countr_zero(left));
      if (nibbles::at(high_, slot) != wanted.high) found &= ~(1u << slot);
    }
    return found;
  }

 private:
  std::uint32_t low_equal(std::uint64_t low) const noexcept {
    constexpr std::uint64_t every_byte = 0x0101'0101'0101'0101;
    return zero_bytes(low_first_ ^ low * every_byte) | zero_bytes(low_last_ ^ low * every_byte)
                                                           << 8;
  }
  /// Bit i if byte i is 0.
  static constexpr std::uint32_t zero_bytes(std::uint64_t word) noexcept {
    constexpr std::uint64_t sevens = 0x7f7f'7f7f'7f7f'7f7f;
    const std::uint64_t high_bits = ~(((word & sevens) + sevens) | word | sevens);
    // Collects the bits 7, 15, ..., 63 in the top byte.
    return static_cast<std::uint32_t>((high_bits >> 7) * 0x0102'0408'1020'4080 >> 56);
  }

  std::uint64_t low_first_;
  std::uint64_t low_last_;
  std::uint64_t high_;
#endif
};

/// Which slots of a bucket an element may have. Where there is only one group of slots, a lookup
/// may read every line of a bucket.
template <std::size_t SlotBytes, std::uint32_t Capacity>
struct slot_choice {
  static constexpr std::uint32_t group_slots = group_slots_of(SlotBytes, Capacity);
  static constexpr std::uint32_t groups = Capacity / group_slots;
  static constexpr std::uint32_t all_slots = (1u << Capacity) - 1;
  static constexpr std::size_t line_bytes = 64;
  /// Whether a tag says which line of slots an element most likely has. Not where the whole bucket
  /// is one group of several lines: any of them is as likely.
  static constexpr bool has_home_line = group_slots * SlotBytes <= line_bytes;

  /// The group is drawn from the tag, so that elements of one tag have the same.
  static constexpr std::uint32_t home_group(bucket_tag tag) noexcept {
    return tag.high * groups >> 4;
  }
  static constexpr std::uint32_t group_mask(std::uint32_t group) noexcept {
    return ((1u << group_slots) - 1) << group * group_slots;
  }
  /// The group that the slots of a mask are in.
  static constexpr std::uint32_t group_of(std::uint32_t slots) noexcept {
    return group_mask(static_cast<std::uint32_t>(std::countr_zero(slots)) / group_slots);
  }

  static std::uint32_t occupied(const tag_reading& tags) noexcept {
    return tags.occupied() & all_slots;
  }
  /// The free slots that may take an element with this tag: none if the load has reached the limit,
  /// and only those of one group where the tag is there already.
  static std::uint32_t free_for(const tag_reading& tags, bucket_tag tag,
                                std::uint32_t limit) noexcept {
    const std::uint32_t taken = occupied(tags);
    // A table's limit is its capacity, and needs no count.
    if (limit < Capacity && static_cast<std::uint32_t>(std::popcount(taken)) >= limit) [[unlikely]]
      return 0;
    const std::uint32_t free = ~taken & all_slots;
    const std::uint32_t equal = tags.equal(tag);
    return equal == 0 ? free : free & group_of(equal);
  }
  /// One of them: at home, if there is room. REQUIRES: there is one.
  static std::uint32_t best_of(std::uint32_t free, bucket_tag tag) noexcept {
    const std::uint32_t home = free & group_mask(home_group(tag));
    return static_cast<std::uint32_t>(std::countr_zero(home != 0 ? home : free));
  }
  /// The elements of a full bucket of which each, if it were erased, would make room for this tag.
  static std::uint32_t in_the_way(const tag_reading& tags, bucket_tag tag) noexcept {
    const std::uint32_t equal = tags.equal(tag);
    return occupied(tags) & (equal == 0 ? all_slots : group_of(equal));
  }
};

}  // namespace oneprobe::inline v0_1::detail
