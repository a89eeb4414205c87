// What is known of RedisBloom's filters: how they are described, and where an item's bits are.
//
//   loaded<old_chain> chain = decode_redisbloom_header(bytes);    // what its BF.SCANDUMP begins
//   with for (const old_link& link : chain->links)
//     if (has_bits_of(link, bits, old_hash_of(*chain, "item"))) ...
//
// Its filter is a chain of links, the oldest first, each a Bloom filter of its own. Bit i of an
// item is at (a + i b) mod m, in 64 bits that wrap around, where m is the number of bits, a power
// of two in older ones, and a and b are two hashes: MurmurHash64A, or MurmurHash2 of 32 bits in the
// oldest. Its header, all little-endian and without gaps:
//
//   0   8   items in all links             then, for each link, 53 bytes:
//   8   4   links                          0   8   bytes         32  8   bits per element
//   12  4   options, below                 8   8   bits          40  4   bits of an item
//   16  4   expansion                      16  8   items         44  8   elements planned for
//                                          24  8   error         52  1   log2 of the bits, or 0
//
// Pure functions on values. What is read is taken to be hostile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oneprobe/files.hpp"
#include "oneprobe/filter/plan.hpp"
#include "reservation.hpp"

namespace oneprobe::redis {

/// One of the Bloom filters in a chain.
struct old_link {
  std::uint64_t bytes = 0;
  std::uint64_t bits = 0;  // the oldest say 0 where log2_bits is given
  std::uint64_t items = 0;
  double error = 0;
  double bits_per_element = 0;
  std::uint64_t elements = 0;   // planned for
  std::uint32_t item_bits = 0;  // that each item sets
  std::uint32_t log2_bits = 0;  // 0: the number of bits is not a power of two

  /// What positions are taken modulo.
  std::uint64_t modulus() const noexcept {
    return log2_bits > 0 ? std::uint64_t{1} << log2_bits : bits;
  }
  friend bool operator==(const old_link&, const old_link&) = default;
};

struct old_chain {
  // The options that it knows.
  static constexpr std::uint32_t not_rounded = 1;
  static constexpr std::uint32_t elements_are_bits = 2;
  static constexpr std::uint32_t hashes_of_64_bits = 4;
  static constexpr std::uint32_t does_not_scale = 8;
  static constexpr std::uint32_t all_options = 15;
  /// An error that is halved with each link is 0 before there are so many.
  static constexpr std::size_t most_links = 4096;

  std::uint64_t items = 0;
  std::uint32_t options = 0;
  std::uint32_t expansion = 0;  // 0 where it means nothing, so that equal chains have equal bytes
  std::vector<old_link> links{};

  void set_expansion(std::uint32_t as_it_says) noexcept {
    expansion = (options & does_not_scale) != 0 ? 0 : as_it_says;
  }
  /// How a filter grows that goes on from this one.
  growth_settings settings() const noexcept;
  std::uint64_t bytes() const noexcept;
  friend bool operator==(const old_chain&, const old_chain&) = default;
};

/// What no filter of RedisBloom can be, as a sentence; or none. Of a link and of a whole one.
std::optional<std::string> find_fault(const old_link& link);
std::optional<std::string> find_fault(const old_chain& chain);

/// An empty chain as it makes one, and the link that it puts behind a full one. None where it would
/// not either, or where it is not known how it would.
std::optional<old_chain> new_chain(const reservation& asked);
std::optional<old_link> next_link(const old_chain& chain);

/// Whether bytes are as long as such a header says that it is.
bool is_redisbloom_header(std::span<const std::byte> bytes) noexcept;
loaded<old_chain> decode_redisbloom_header(std::span<const std::byte> bytes);

/// The hashes that it uses, with a seed: MurmurHash64A, and MurmurHash2 of 32 bits.
std::uint64_t murmur64(std::string_view text, std::uint64_t seed) noexcept;
std::uint32_t murmur32(std::string_view text, std::uint32_t seed) noexcept;

struct old_hash {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
};
old_hash old_hash_of(const old_chain& chain, std::string_view item) noexcept;

/// Whether all bits of an item are set. REQUIRES: as many bytes as the link says, without a fault.
bool has_bits_of(const old_link& link, const std::byte* bits, old_hash item) noexcept;

/// Sets them.
void set_bits_of(const old_link& link, std::byte* bits, old_hash item) noexcept;

/// The probability that a link says yes to an item that it has not, if so many of its bits are set.
double error_of(const old_chain& chain, const old_link& link, std::uint64_t bits_set) noexcept;

}  // namespace oneprobe::redis
