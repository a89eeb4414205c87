// Characters of 32 bits as bytes, sixteen at a time. No Python in here.
//
// On x86-64 with the packing instructions that every such processor has: they saturate, which is
// all the same for ASCII. Compilers cannot know that of the plain loop, which takes twice as long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "oneprobe/detail/base/prefetch.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace oneprobe::python {

inline constexpr std::size_t character_bytes = 4;
inline constexpr std::size_t narrowed_at_once = 16;

/// Makes a byte of each character of `blocks` times sixteen, and asks memory for what lies `ahead`
/// bytes behind them. Returns all bits that are set in any character; only if that is ASCII the
/// bytes mean something.
inline std::uint32_t narrow_blocks(const char* from, std::size_t blocks, std::size_t ahead,
                                   char* to) noexcept {
#if defined(__SSE2__)
  __m128i seen = _mm_setzero_si128();
#else
  std::uint32_t seen = 0;
#endif
  for (; blocks != 0; --blocks) {
    prefetch_line_ahead(from + ahead);
#if defined(__SSE2__)
    const auto* const four = reinterpret_cast<const __m128i*>(from);
    const __m128i a = _mm_loadu_si128(four), b = _mm_loadu_si128(four + 1);
    const __m128i c = _mm_loadu_si128(four + 2), d = _mm_loadu_si128(four + 3);
    seen = _mm_or_si128(seen, _mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d)));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to),
                     _mm_packus_epi16(_mm_packs_epi32(a, b), _mm_packs_epi32(c, d)));
#else
    std::uint32_t characters[narrowed_at_once];
    std::memcpy(characters, from, sizeof characters);
    for (std::size_t i = 0; i < narrowed_at_once; ++i) {
      seen |= characters[i];
      to[i] = static_cast<char>(characters[i]);
    }
#endif
    from += narrowed_at_once * character_bytes;
    to += narrowed_at_once;
  }
#if defined(__SSE2__)
  std::uint32_t each[4];
  std::memcpy(each, &seen, sizeof each);
  return each[0] | each[1] | each[2] | each[3];
#else
  return seen;
#endif
}

}  // namespace oneprobe::python
