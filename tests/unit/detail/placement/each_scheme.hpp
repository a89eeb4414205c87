// What the tests of schemes share: all five of them, and keys by number.
#pragma once

#include <cstdint>

#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/detail/placement/schemes.hpp"
#include "oneprobe/key_hash.hpp"

/// The hash of key 0, 1, ...
inline oneprobe::key_hash hash_of(std::uint64_t key) {
  return {oneprobe::mix_bits((key + 1) * oneprobe::golden_ratio_64)};
}

/// Calls `use` with each of the five schemes over `buckets` buckets (at least 8).
template <class Use>
void with_each_scheme(std::uint64_t buckets, Use use) {
  use(oneprobe::single(buckets));
  use(oneprobe::sequential(buckets, 3));
  const std::uint64_t second = buckets / 4, third = buckets / 8;
  use(oneprobe::multilevel({buckets - second - third, second, third}));
  use(oneprobe::d_random(buckets, 2));
  use(oneprobe::d_left(buckets, 4));
}
