// 64 x 64 -> 128 bit multiplication, on every machine.
#pragma once

#include <cstdint>

namespace oneprobe::inline v0_1 {

struct wide_product {
  std::uint64_t high;
  std::uint64_t low;
};

namespace detail {

/// From 32-bit halves: the portable form, and what the tests hold the other to.
constexpr wide_product multiply_by_halves(std::uint64_t a, std::uint64_t b) noexcept {
  constexpr std::uint64_t half = 0xffff'ffff;
  const std::uint64_t low = (a & half) * (b & half);
  const std::uint64_t middle = (a >> 32) * (b & half) + (low >> 32);
  const std::uint64_t other = (a & half) * (b >> 32) + (middle & half);
  return {(a >> 32) * (b >> 32) + (middle >> 32) + (other >> 32), (other << 32) | (low & half)};
}

}  // namespace detail

constexpr wide_product multiply_wide(std::uint64_t a, std::uint64_t b) noexcept {
#ifdef __SIZEOF_INT128__
  __extension__ using wide = unsigned __int128;
  const wide product = static_cast<wide>(a) * b;
  return {static_cast<std::uint64_t>(product >> 64), static_cast<std::uint64_t>(product)};
#else
  return detail::multiply_by_halves(a, b);
#endif
}

}  // namespace oneprobe::inline v0_1
