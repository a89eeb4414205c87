// A bucket of fingerprints in one cache line: what its bits mean, and what is known of an element
// on its way from bucket to bucket. Names that plans, schemes and stores share.
//
//   bits     | header: Q + h | passed on: 1 | h remainders of f bits, ascending, free ones zero |
//
// A fingerprint is a quotient below Q and a remainder of f bits. The header has, for each quotient,
// a one for every fingerprint with it and then a zero: the count is the number of ones, zeroed
// memory is an empty bucket, and a remainder's quotient follows from its place.
#pragma once

#include <cstdint>

namespace oneprobe::inline v0_1 {

/// How the bits of a bucket of fingerprints are shared out.
struct fingerprint_bucket_shape {
  static constexpr std::uint32_t bits = 512;  // of a bucket
  /// What a bucket may have at most, and at least.
  static constexpr std::uint32_t most_capacity = 102;
  static constexpr std::uint32_t least_remainder_bits = 4;
  static constexpr std::uint32_t most_remainder_bits = 40;
  static constexpr std::uint32_t most_header_bits = 256;

  std::uint32_t bucket_capacity = 0;  // h
  std::uint32_t remainder_bits = 0;   // f

  /// What the remainders and the mark leave. REQUIRES: that they fit.
  constexpr std::uint32_t header_bits() const noexcept {
    return bits - 1 - bucket_capacity * remainder_bits;
  }
  /// Q.
  constexpr std::uint32_t quotients() const noexcept { return header_bits() - bucket_capacity; }
  /// Q 2^f: fingerprints are numbers below this, quotient first.
  constexpr std::uint64_t fingerprints() const noexcept {
    return std::uint64_t{quotients()} << remainder_bits;
  }
  /// Whether there is such a bucket.
  constexpr bool fits() const noexcept {
    return bucket_capacity >= 1 && bucket_capacity <= most_capacity &&
           remainder_bits >= least_remainder_bits && remainder_bits <= most_remainder_bits &&
           bucket_capacity * (remainder_bits + 1) + 2 <= bits && header_bits() <= most_header_bits;
  }

  friend constexpr bool operator==(const fingerprint_bucket_shape&,
                                   const fingerprint_bucket_shape&) = default;
};

/// All that is known of an element on its way: the bucket it comes to and its fingerprint there.
struct fingerprint_probe {
  std::uint64_t fingerprint = 0;
  std::uint64_t bucket = 0;

  explicit constexpr operator std::uint64_t() const noexcept { return fingerprint; }
};

}  // namespace oneprobe::inline v0_1
