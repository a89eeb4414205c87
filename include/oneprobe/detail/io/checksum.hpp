// The checksum of every section of every file: XXH3 of 64 bits without a seed. It finds damage, not
// malice: an attacker that can write a file can also write its checksum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

// As in hash.hpp: compiled into its user, so that there is nothing to link.
#ifdef XXH_INLINE_ALL
#include <xxhash.h>
#else
#define XXH_INLINE_ALL
#include <xxhash.h>
#undef XXH_INLINE_ALL
#endif

namespace oneprobe::inline v0_1 {

inline std::uint64_t checksum_of(std::span<const std::byte> bytes) noexcept {
  return XXH3_64bits(bytes.data(), bytes.size());
}

}  // namespace oneprobe::inline v0_1
