// The only thing a scheme ever sees of a key: 64 well-mixed bits.
#pragma once

#include <cstdint>

namespace oneprobe::inline v0_1 {

/// A type of its own, so that a key, a bucket number or an unmixed integer cannot be taken for one.
/// Code that makes one guarantees that all its bits are as good as random (hash.hpp does).
struct key_hash {
  std::uint64_t value = 0;  // all 64 bits

  friend constexpr bool operator==(key_hash, key_hash) = default;
};

/// 2^64 / golden ratio, odd: multiples of it are spread evenly over the 64-bit integers.
inline constexpr std::uint64_t golden_ratio_64 = 0x9e37'79b9'7f4a'7c15;

/// The finalizer of SplitMix64 (Steele, Lea, Flood 2014; constants by Stafford, variant 13): a
/// bijection in which every input bit changes every output bit with probability close to a half.
constexpr std::uint64_t mix_bits(std::uint64_t x) noexcept {
  x = (x ^ (x >> 30)) * 0xbf58'476d'1ce4'e5b9;
  x = (x ^ (x >> 27)) * 0x94d0'49bb'1331'11eb;
  return x ^ (x >> 31);
}

}  // namespace oneprobe::inline v0_1
