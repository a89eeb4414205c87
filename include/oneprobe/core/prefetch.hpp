// Asking memory for a line before it is needed.
#pragma once

#include <cstddef>

namespace oneprobe::inline v0_1 {

/// Fetches the line of `address`; any address will do, and nothing happens if it cannot be read.
inline void prefetch_line(const void* address) noexcept {
#if defined(__GNUC__)
  __builtin_prefetch(address);
  // g++ takes a function that does nothing but prefetch for one without effect, and drops calls of
  // it that it does not inline early. An empty volatile statement is an effect, and costs nothing.
  __asm__ volatile("" : : "r"(address));
#else
  static_cast<void>(address);
#endif
}

/// Fetches all lines of some bytes, which may begin anywhere in a line.
inline void prefetch_bytes(const void* first, std::size_t bytes) noexcept {
  constexpr std::size_t line_bytes = 64;
  for (std::size_t at = 0; at <= bytes; at += line_bytes)
    prefetch_line(static_cast<const std::byte*>(first) + at);
}

}  // namespace oneprobe::inline v0_1
