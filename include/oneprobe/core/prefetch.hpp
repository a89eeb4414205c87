// Asking memory for a line before it is needed.
#pragma once

namespace oneprobe {

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

}  // namespace oneprobe
