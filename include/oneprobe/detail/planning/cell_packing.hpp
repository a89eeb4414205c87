// How small cells share bytes. For plans and stores; there is nothing here to
// call.
//
//   six values:    a + 6 b + 36 c, three cells in a byte         (SSH, Section VIII-A)
//   seven values:  three bits each, one after the other, across bytes
#pragma once

#include <bit>
#include <cstdint>

namespace oneprobe::inline v0_1 {

/// Whichever takes less memory: whole cells in a byte as digits, or bits. Of equals the bits.
struct cell_packing {
  std::uint32_t values = 2;  // a cell holds 0 .. values - 1

  constexpr std::uint32_t bits() const noexcept {
    return static_cast<std::uint32_t>(std::bit_width(values - 1));
  }
  constexpr std::uint32_t digits_in_byte() const noexcept {
    std::uint32_t digits = 0;
    for (std::uint32_t combinations = values; combinations <= 256; combinations *= values) ++digits;
    return digits;
  }
  constexpr bool in_digits() const noexcept { return digits_in_byte() * bits() > 8; }
  constexpr std::uint64_t bytes(std::uint64_t cells) const noexcept {
    return in_digits() ? (cells + digits_in_byte() - 1) / digits_in_byte()
                       : (cells * bits() + 7) / 8;
  }
};

}  // namespace oneprobe::inline v0_1
