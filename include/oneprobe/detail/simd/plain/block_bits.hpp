// The bits of an element in a block: where they are, whether they are set, setting them.
//
//   using bits = block_bits<512, block_layout::independent>;
//   bits::set_all(block, pattern_bits(hash), {.bits_set = 8, .bloom_bits = 512});
//   bits::all_set(block, pattern_bits(hash), {.bits_set = 8, .bloom_bits = 512});
//
//   block    | Bloom bits 0 .. bloom_bits-1                      | the block's own bits |
//            | word 0 | word 1 |               ...        | word 7, or word 3         |
//
//   pattern  | b: 32 bits | a: 32 bits |
//
//   bits 0-7 of the element come from a, 8-15 from b, 16-23 from a * K, 24-31 from b * K, all
//   modulo 2^32: bit 8g+i from x = (word of group g) * odd[i].
//   independent: position = (x >> 16) * bloom_bits >> 16
//   lanes:       lane j = bits j*L .. j*L + L-1 of the block; in it, the top log2(L) bits of x
//
// Eight products of one word by eight constants are one vector instruction, or eight that do not
// wait for each other. All eight are tested before the first branch, so that a query for an absent
// key takes it the same way nearly always.
//
// Files depend on every line of this. Pure functions of the block's bytes; with `atomic_words`
// threads may set and test together. Limits: bits_set up to 32, for lanes BlockBits / 64 or
// BlockBits / 32; the block's own bits lie in its last word. Blocks are aligned to their size.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

#include "oneprobe/detail/base/word_access.hpp"
#include "oneprobe/detail/simd/isa.hpp"
#include "oneprobe/detail/simd/plain/block_positions.hpp"
#include "oneprobe/filter/block_rules.hpp"

namespace oneprobe::inline v0_1 {

namespace detail {

constexpr std::uint32_t lane_bits(unsigned block_bits, std::uint32_t bits_set) noexcept {
  return bits_set * word_bits == block_bits ? word_bits : word_bits / 2;
}

/// Position number `number` of a group, from its word.
template <block_layout Layout>
constexpr std::uint32_t position_in_block(std::uint32_t word, unsigned number,
                                          std::uint32_t bloom_bits,
                                          [[maybe_unused]] std::uint32_t lane) noexcept {
  const std::uint32_t x = word * odd_multipliers[number % group_size];
  if constexpr (Layout == block_layout::lanes)
    return number * lane + (x >> (32 - static_cast<unsigned>(std::countr_zero(lane))));
  else
    return (x >> 16) * bloom_bits >> 16;
}

}  // namespace detail

/// How many bits the elements of a filter set, as far as a loop over them knows when it is
/// compiled: what is for others is left out.
template <std::uint32_t Least, std::uint32_t Most>
struct bits_set_range {
  /// REQUIRES: a number of bits in the range.
  static constexpr block_shape known(block_shape shape) noexcept {
#if defined(__GNUC__)
    if (shape.bits_set < Least || shape.bits_set > Most) __builtin_unreachable();
#endif
    return shape;
  }
};
using any_bits_set = bits_set_range<1, 4 * detail::group_size>;

/// Calls `use` with the range of as many groups as the bits are.
template <class Use>
constexpr decltype(auto) with_bits_set_range(std::uint32_t bits_set, Use&& use) {
  constexpr std::uint32_t group = detail::group_size;
  if (bits_set <= group) return use(bits_set_range<1, group>{});
  if (bits_set <= 2 * group) return use(bits_set_range<group + 1, 2 * group>{});
  if (bits_set <= 3 * group) return use(bits_set_range<2 * group + 1, 3 * group>{});
  return use(bits_set_range<3 * group + 1, 4 * group>{});
}

/// Position number 0, 1, ..., bits_set - 1 of an element: what all kernels compute.
template <unsigned BlockBits, block_layout Layout>
constexpr std::uint32_t bit_position(std::uint64_t pattern, unsigned number,
                                     block_shape shape) noexcept {
  return detail::position_in_block<Layout>(detail::group_word(pattern, number / detail::group_size),
                                           number, shape.bloom_bits,
                                           detail::lane_bits(BlockBits, shape.bits_set));
}

/// How a block takes an element it is offered: at most one of the two; if neither, the bits are
/// set now. Numbers, 1 or 0, so that callers need no branch that cannot be predicted.
struct bits_outcome {
  std::uint64_t was_set = 0;
  std::uint64_t refused = 0;
};

namespace detail {

template <class Bits, class HasRoom>
bits_outcome put_after_asking(std::byte* block, std::uint64_t pattern, block_shape shape,
                              HasRoom has_room) noexcept {
  // Which bits to set takes longer to work out than whether they are set, and is of no use to those
  // that are refused.
  if (!has_room()) {
    const std::uint64_t was_set = Bits::all_set(block, pattern, shape) ? 1 : 0;
    return {.was_set = was_set, .refused = was_set ^ 1};
  }
  return {.was_set = Bits::set_all(block, pattern, shape) ? 1u : 0u};
}

}  // namespace detail

/// What a kernel makes of the patterns of many elements before it sees their blocks, to be given to
/// set_all and put in place of them; void if it makes nothing.
template <class Bits>
struct prepared_by {
  using type = void;
};
template <class Bits>
requires requires { typename Bits::prepared; }
struct prepared_by<Bits> {
  using type = typename Bits::prepared;
};

/// Makes it: `pattern_at(i)` is the pattern of number i = 0, 1, ... REQUIRES: up to 64; and room
/// for a multiple of eight.
template <class Bits, class PatternAt>
void prepare_patterns(std::size_t count, PatternAt&& pattern_at, block_shape shape,
                      typename Bits::prepared* out) {
  alignas(64) std::array<std::uint64_t, 64> patterns;
  for (std::size_t i = 0; i < count; ++i) patterns[i] = pattern_at(i);
  // Beyond the last anything: what is made of it is not used.
  for (; count % 8 != 0; ++count) patterns[count] = 0;
  Bits::prepare(std::span(patterns).first(count), shape, out);
}

/// The level whose kernel serves such blocks on a machine with `level`.
template <class Words>
constexpr isa kernel_level(isa level, unsigned block_bits) noexcept {
  return Words::shared || block_bits != 512 ? std::min(level, isa::avx2) : level;
}

/// The kernels. `Words` says whether other threads may set bits meanwhile.
template <unsigned BlockBits, block_layout Layout, isa Level = isa::plain,
          class Words = plain_words>
struct block_bits {
  static_assert(BlockBits == 256 || BlockBits == 512, "a block is a cache line or half of one");
  static_assert(Layout == block_layout::independent || Layout == block_layout::lanes);
  static_assert(Level == isa::plain, "kernel_level says which levels have a kernel");

  static constexpr isa level = Level;
  static constexpr block_layout layout = Layout;
  static constexpr unsigned words = BlockBits / word_bits;
  static constexpr std::size_t bytes = BlockBits / 8;

  /// Whether all bits of an element are set.
  static bool all_set(const std::byte* block, std::uint64_t pattern, block_shape shape) noexcept {
    const std::uint32_t lane = detail::lane_bits(BlockBits, shape.bits_set);
    for (unsigned first = 0; first < shape.bits_set; first += detail::group_size) {
      const std::uint32_t word = detail::group_word(pattern, first / detail::group_size);
      const unsigned end = std::min(shape.bits_set, first + detail::group_size);
      std::uint64_t present = 1;  // only bit 0 counts
      for (unsigned j = first; j < end; ++j) {
        const std::uint32_t at = detail::position_in_block<Layout>(word, j, shape.bloom_bits, lane);
        present &= Words::load(block + at / word_bits * word_bytes) >> (at % word_bits);
      }
      if ((present & 1) == 0) return false;
    }
    return true;
  }

  /// Sets all bits of an element; says whether they all were set before.
  static bool set_all(std::byte* block, std::uint64_t pattern, block_shape shape) noexcept {
    if constexpr (Words::shared) return set_by_words(block, pattern, shape);
    std::uint64_t present = 1;
    for_each_position(pattern, shape, [&](std::uint32_t at) {
      const std::uint64_t bit = std::uint64_t{1} << (at % word_bits);
      present &= Words::set_bits(block + at / word_bits * word_bytes, bit) >> (at % word_bits);
    });
    return (present & 1) != 0;
  }

  /// Sets all bits of an element unless they are set already, or the block has room for no more:
  /// `has_room()` is asked once.
  template <class HasRoom>
  static bits_outcome put(std::byte* block, std::uint64_t pattern, block_shape shape,
                          HasRoom has_room) noexcept {
    return detail::put_after_asking<block_bits>(block, pattern, shape, has_room);
  }

  /// How many Bloom bits are set.
  static std::uint32_t count_ones(const std::byte* block, std::uint32_t bloom_bits) noexcept {
    unsigned ones = 0;
    for (unsigned i = 0; i + 1 < words; ++i)
      ones += static_cast<unsigned>(std::popcount(Words::load(block + i * word_bytes)));
    const unsigned own_bits = BlockBits - bloom_bits;  // fewer than a word
    const std::uint64_t last = Words::load(block + (words - 1) * word_bytes) << own_bits;
    return ones + static_cast<unsigned>(std::popcount(last));
  }

 private:
  template <class Visit>
  static void for_each_position(std::uint64_t pattern, block_shape shape, Visit visit) noexcept {
    const std::uint32_t lane = detail::lane_bits(BlockBits, shape.bits_set);
    for (unsigned first = 0; first < shape.bits_set; first += detail::group_size) {
      const std::uint32_t word = detail::group_word(pattern, first / detail::group_size);
      const unsigned end = std::min(shape.bits_set, first + detail::group_size);
      for (unsigned j = first; j < end; ++j)
        visit(detail::position_in_block<Layout>(word, j, shape.bloom_bits, lane));
    }
  }

  /// At most one atomic operation for each word.
  static bool set_by_words(std::byte* block, std::uint64_t pattern, block_shape shape) noexcept {
    std::array<std::uint64_t, words> masks{};
    for_each_position(pattern, shape, [&](std::uint32_t at) {
      masks[at / word_bits] |= std::uint64_t{1} << (at % word_bits);
    });
    std::uint64_t missing = 0;
    for (unsigned i = 0; i < words; ++i)
      if (masks[i] != 0) missing |= masks[i] & ~Words::set_bits(block + i * word_bytes, masks[i]);
    return missing == 0;
  }
};

}  // namespace oneprobe::inline v0_1
