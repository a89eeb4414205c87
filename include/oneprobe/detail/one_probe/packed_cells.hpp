// Small numbers packed into bytes, to the byte: bit fields of any width, cells of few values, and
// one bit for each slot of a table.
//
//   packed_cells cells({6}, 120'000);        // 40,000 bytes: three cells of six values in each
//   cells.set(7, 5);
//   bucket_bits taken(60'000, 1);            // 7,500 bytes
//   taken.set(12);
//
// Zeroed at first. Copies have memory of their own. For one thread at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "oneprobe/detail/base/prefetch.hpp"
#include "oneprobe/detail/planning/cell_packing.hpp"
#include "oneprobe/memory.hpp"

namespace oneprobe::inline v0_1 {

/// Fields of 1 to 56 bits anywhere in memory that has not one byte more than they need.
class bit_fields {
 public:
  explicit bit_fields(std::uint64_t bits) : memory_((bits + 7) / 8) {}

  std::uint64_t read(std::uint64_t first_bit, std::uint32_t width) const noexcept {
    return window(first_bit, width) >> (first_bit % 8) & mask(width);
  }
  void write(std::uint64_t first_bit, std::uint32_t width, std::uint64_t value) noexcept {
    const auto shift = static_cast<std::uint32_t>(first_bit % 8);
    std::uint64_t bytes = (window(first_bit, width) & ~(mask(width) << shift)) | value << shift;
    if (shift + width <= 8) [[likely]] {
      memory_.data()[first_bit / 8] = static_cast<std::byte>(bytes);
      return;
    }
    for (std::uint64_t at = first_bit / 8; at <= (first_bit + width - 1) / 8; ++at, bytes >>= 8)
      memory_.data()[at] = static_cast<std::byte>(bytes & 0xff);
  }
  void prefetch(std::uint64_t bit) const noexcept { prefetch_line_ahead(memory_.data() + bit / 8); }

  std::size_t memory_bytes() const noexcept { return memory_.size(); }
  void clear() noexcept { clear_bytes(0, memory_.size()); }
  /// A part of it; what lies beyond the end is left out.
  void clear_bytes(std::uint64_t first, std::uint64_t count) noexcept {
    if (first >= memory_.size()) return;
    const std::uint64_t left = memory_.size() - first;
    std::memset(memory_.data() + first, 0, static_cast<std::size_t>(count < left ? count : left));
  }

 private:
  static constexpr std::uint64_t mask(std::uint32_t width) noexcept {
    return (std::uint64_t{1} << width) - 1;
  }
  /// The bytes that a field touches, as one number.
  std::uint64_t window(std::uint64_t first_bit, std::uint32_t width) const noexcept {
    const std::uint64_t first = first_bit / 8;
    // Most fields lie within a byte.
    if (first_bit % 8 + width <= 8) [[likely]]
      return std::to_integer<std::uint64_t>(memory_.data()[first]);
    std::uint64_t bytes = 0;
    for (std::uint64_t at = (first_bit + width - 1) / 8 + 1; at > first; --at)
      bytes = bytes << 8 | std::to_integer<std::uint64_t>(memory_.data()[at - 1]);
    return bytes;
  }

  line_memory memory_;
};

namespace detail {

/// Digits of a byte to a base: a + Base b + Base^2 c + ...
template <std::uint32_t Base>
struct byte_digits {
  static constexpr std::uint32_t in_byte = cell_packing{Base}.digits_in_byte();

  static constexpr std::array<std::uint32_t, in_byte> powers = [] {
    std::array<std::uint32_t, in_byte> result{};
    for (std::uint32_t i = 0, power = 1; i < in_byte; ++i, power *= Base) result[i] = power;
    return result;
  }();
  static constexpr std::array<std::array<std::uint8_t, 256>, in_byte> digits = [] {
    std::array<std::array<std::uint8_t, 256>, in_byte> result{};
    for (std::uint32_t i = 0; i < in_byte; ++i)
      for (std::uint32_t byte = 0; byte < 256; ++byte)
        result[i][byte] = static_cast<std::uint8_t>(byte / powers[i] % Base);
    return result;
  }();

  static std::uint32_t get(const bit_fields& memory, std::uint64_t cell) noexcept {
    return digits[cell % in_byte][memory.read(cell / in_byte * 8, 8)];
  }
  static void set(bit_fields& memory, std::uint64_t cell, std::uint32_t value) noexcept {
    const std::uint64_t first_bit = cell / in_byte * 8;
    const std::uint64_t byte = memory.read(first_bit, 8);
    const std::uint32_t power = powers[cell % in_byte];
    memory.write(
        first_bit, 8,
        byte - std::uint64_t{digits[cell % in_byte][byte]} * power + std::uint64_t{value} * power);
  }
};

}  // namespace detail

/// Cells of 2 to 16 values, as many in a byte as fit.
class packed_cells {
 public:
  packed_cells(cell_packing packing, std::uint64_t cells)
      : memory_(packing.bytes(cells) * 8),
        base_(packing.in_digits() ? packing.values : 0),
        bits_(packing.bits()) {}

  std::uint32_t get(std::uint64_t cell) const noexcept {
    // The bases that take less memory than bits.
    switch (base_) {
      case 3:
        return detail::byte_digits<3>::get(memory_, cell);
      case 5:
        return detail::byte_digits<5>::get(memory_, cell);
      case 6:
        return detail::byte_digits<6>::get(memory_, cell);
      default:
        return static_cast<std::uint32_t>(memory_.read(cell * bits_, bits_));
    }
  }
  void set(std::uint64_t cell, std::uint32_t value) noexcept {
    switch (base_) {
      case 3:
        return detail::byte_digits<3>::set(memory_, cell, value);
      case 5:
        return detail::byte_digits<5>::set(memory_, cell, value);
      case 6:
        return detail::byte_digits<6>::set(memory_, cell, value);
      default:
        return memory_.write(cell * bits_, bits_, value);
    }
  }

  std::size_t memory_bytes() const noexcept { return memory_.memory_bytes(); }
  void clear_bytes(std::uint64_t first, std::uint64_t count) noexcept {
    memory_.clear_bytes(first, count);
  }

 private:
  bit_fields memory_;
  std::uint32_t base_;  // 0: bits
  std::uint32_t bits_;
};

/// A bit for each slot of each bucket. With buckets of one slot it is the exact table of occupied
/// buckets of SSH, Section V.
class bucket_bits {
 public:
  bucket_bits(std::uint64_t buckets, std::uint32_t bucket_capacity)
      : bits_(buckets * bucket_capacity), capacity_(bucket_capacity) {}

  /// Bit i for slot i.
  std::uint32_t mask(std::uint64_t bucket) const noexcept {
    return static_cast<std::uint32_t>(bits_.read(bucket * capacity_, capacity_));
  }
  bool test(std::uint64_t slot) const noexcept { return bits_.read(slot, 1) != 0; }
  void set(std::uint64_t slot) noexcept { bits_.write(slot, 1, 1); }
  void reset(std::uint64_t slot) noexcept { bits_.write(slot, 1, 0); }

  std::uint32_t bucket_capacity() const noexcept { return capacity_; }
  std::size_t memory_bytes() const noexcept { return bits_.memory_bytes(); }
  void clear() noexcept { bits_.clear(); }

 private:
  bit_fields bits_;
  std::uint32_t capacity_;
};

}  // namespace oneprobe::inline v0_1
