// Asking memory for a line before it is needed.
#pragma once

#include <cstddef>

namespace oneprobe::inline v0_1 {

namespace detail {

// g++ takes a function that does nothing but prefetch for one without effect, and drops calls of it
// that it does not inline early. An empty volatile statement is an effect, and costs nothing.
inline void keep_prefetch([[maybe_unused]] const void* address) noexcept {
#if defined(__GNUC__)
  __asm__ volatile("" : : "r"(address));
#endif
}

}  // namespace detail

/// Fetches the line of `address`, which is read in a moment. Any address will do, and nothing
/// happens if it cannot be read.
inline void prefetch_line(const void* address) noexcept {
#if defined(__GNUC__)
  __builtin_prefetch(address);
#endif
  detail::keep_prefetch(address);
}

/// The same for what is read later, when dozens of others have been asked for.
///
/// To the second cache, not the first: only so many lines can be on their way to the first (two
/// dozen on Zen 4), and a request for another one waits. Those that the second waits for are not
/// among them, and what it takes from there to the first, processors hide by themselves.
inline void prefetch_line_ahead(const void* address) noexcept {
#if defined(__GNUC__)
  __builtin_prefetch(address, 0, 2);
#endif
  detail::keep_prefetch(address);
}

/// All lines of some bytes that are read later, which may begin anywhere in a line.
inline void prefetch_bytes_ahead(const void* first, std::size_t bytes) noexcept {
  constexpr std::size_t line_bytes = 64;
  for (std::size_t at = 0; at <= bytes; at += line_bytes)
    prefetch_line_ahead(static_cast<const std::byte*>(first) + at);
}

}  // namespace oneprobe::inline v0_1
