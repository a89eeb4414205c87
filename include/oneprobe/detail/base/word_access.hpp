// 64-bit words in a filter's bytes: little-endian on every machine, for one thread or for many.
//
//   plain_words    ordinary loads and stores
//   atomic_words   relaxed atomic loads, and bits set by fetch_or: threads may insert together
//
// A word begins at a multiple of 8 bytes from an aligned start. Bit i of a filter is bit i % 64 of
// its word i / 64, hence bit i % 8 of its byte i / 8.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace oneprobe::inline v0_1 {

inline constexpr unsigned word_bits = 64;
inline constexpr std::size_t word_bytes = 8;

/// A word as it lies in memory, and back. Costs nothing where the machine is little-endian.
constexpr std::uint64_t little_endian(std::uint64_t word) noexcept {
  if constexpr (std::endian::native == std::endian::little) return word;
  word = (word & 0x00ff'00ff'00ff'00ff) << 8 | (word >> 8 & 0x00ff'00ff'00ff'00ff);
  word = (word & 0x0000'ffff'0000'ffff) << 16 | (word >> 16 & 0x0000'ffff'0000'ffff);
  return word << 32 | word >> 32;
}

/// Words of memory that one thread changes at a time.
struct plain_words {
  /// Whether threads may change words together.
  static constexpr bool shared = false;

  /// The word that begins at this byte.
  static std::uint64_t load(const std::byte* word) noexcept {
    std::uint64_t value = 0;
    std::memcpy(&value, word, sizeof value);
    return little_endian(value);
  }
  /// Writes a word that begins at this byte.
  static void store(std::byte* word, std::uint64_t value) noexcept {
    value = little_endian(value);
    std::memcpy(word, &value, sizeof value);
  }
  /// Sets the bits of `mask`; returns the word as it was.
  static std::uint64_t set_bits(std::byte* word, std::uint64_t mask) noexcept {
    const std::uint64_t before = load(word);
    store(word, before | mask);
    return before;
  }
};

/// Words of memory that threads change together. Relaxed is enough: bits are only ever set, and a
/// thread that learns of an insert by any synchronisation also sees its bits.
struct atomic_words {
  /// Whether threads may change words together.
  static constexpr bool shared = true;

  /// The word that begins at this byte, a multiple of eight.
  static std::uint64_t load(const std::byte* word) noexcept {
    // atomic_ref takes no const object in C++20; a load writes nothing.
    return little_endian(at(const_cast<std::byte*>(word)).load(std::memory_order_relaxed));
  }
  /// Writes only if a bit is missing, so that inserting what is there keeps lines shared.
  static std::uint64_t set_bits(std::byte* word, std::uint64_t mask) noexcept {
    const std::uint64_t before = load(word);
    if ((before & mask) == mask) return before;
    return little_endian(at(word).fetch_or(little_endian(mask), std::memory_order_relaxed));
  }

 private:
  static std::atomic_ref<std::uint64_t> at(std::byte* word) noexcept {
    return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(word));
  }
};

}  // namespace oneprobe::inline v0_1
