// The only thing a scheme ever sees of a key: 64 well-mixed bits.
#pragma once

#include <cstdint>

namespace oneprobe::inline v0_1 {

/// A type of its own, so that a key, a bucket number or an unmixed integer cannot be taken for one.
/// Whoever makes one vouches that all its bits are as good as random (hash.hpp does).
struct key_hash {
  std::uint64_t value = 0;

  friend constexpr bool operator==(key_hash, key_hash) = default;
};

}  // namespace oneprobe::inline v0_1
