// What all benchmarks measure with: the time of this thread, and keys.
#pragma once

#include <time.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "oneprobe/detail/hash/derive.hpp"

namespace oneprobe::cli {

/// CPU time of this thread: on a machine that does other things as well, waiting for the processor
/// is not counted; waiting for memory is.
inline double cpu_ns() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e9 * static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec);
}

/// Keys number `first`, `first` + 1, ...: a bijection of the numbers, so that no key comes twice.
inline void make_keys(std::span<std::uint64_t> keys, std::uint64_t first, std::uint64_t seed) {
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i] = mix_bits(mix_bits(seed) + (first + i) * golden_ratio_64);
}

}  // namespace oneprobe::cli
