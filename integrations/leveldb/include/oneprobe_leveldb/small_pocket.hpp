// A filter for a handful of keys that never change: the fingerprints of a block of a database in as
// many bits as a Bloom filter would get, and not one more. No LevelDB in here.
//
//   std::string bytes;
//   append_pocket(hashes, pocket_budget(16), bytes);  // hashes: ascending, each once
//   if (pocket_may_contain(bytes, hash)) ...
//
//   bytes    | tag: 1 | payload: n keys times bits per key, in whole bytes |
//   payload  | header: Q + n bits | n remainders of f bits, ascending |
//
// A fingerprint is a number below U = Q 2^f: a quotient below Q and a remainder of f bits. The
// header has, for each quotient, a one for every fingerprint with it and then a zero, as in
// detail/planning/fingerprint_bucket_shape.hpp. Here the payload has the size that its keys
// deserve, so nothing has to be told apart from it: the tag is four times the bits per key, and n,
// f and Q follow from the tag and the length. f is the one with the largest U; then Q is above n
// and at most 2 n.
//
// The model is one line, `pocket_shape_of(...).fpr()`: a key that is not there has one of U
// fingerprints, and each of n keys has taken one at random.
//
// Little-endian bits on every machine: bit i of the payload is bit i % 8 of its byte i / 8. Bytes
// that append_pocket cannot have written may contain every key. A payload that was changed and
// still is one is not noticed: LevelDB has checksums for that. Pure functions, thread-safe; a
// lookup reads the header from end to end, which for the dozens of keys of a block is two words.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/detail/base/word_access.hpp"
#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/key_hash.hpp"

namespace oneprobe::leveldb_integration {

/// Bits per key, in quarters: what a tag can say.
class pocket_budget {
 public:
  /// Below 8 bits per key the number of keys would not follow from the length.
  static constexpr unsigned least_tag = 4 * 8;
  static constexpr unsigned most_tag = 4 * 40;

  /// Rounded down to a quarter of a bit.
  explicit pocket_budget(double bits_per_key) {
    if (!(bits_per_key >= 8 && bits_per_key <= 40))
      refuse_parameter("bits_per_key must be 8 to 40; found " + in_words(bits_per_key));
    tag_ = static_cast<unsigned>(4 * bits_per_key);
  }
  static std::optional<pocket_budget> of_tag(unsigned char tag) noexcept {
    if (tag < least_tag || tag > most_tag) return std::nullopt;
    return pocket_budget(tag, nullptr);
  }

  unsigned char tag() const noexcept { return static_cast<unsigned char>(tag_); }
  double bits_per_key() const noexcept { return tag_ / 4.0; }
  std::uint64_t payload_bytes(std::uint64_t keys) const noexcept { return (keys * tag_ + 31) / 32; }
  /// The number of keys that has a payload of so many bytes; none if no number has.
  std::optional<std::uint64_t> keys_of(std::uint64_t bytes) const noexcept {
    const std::uint64_t keys = 32 * bytes / tag_;
    if (keys == 0 || payload_bytes(keys) != bytes) return std::nullopt;
    return keys;
  }

 private:
  pocket_budget(unsigned tag, std::nullptr_t) noexcept : tag_(tag) {}

  unsigned tag_;
};

/// Written where there are too many keys for a pocket: every key may be there.
inline constexpr char tag_of_everything = 0;
/// Q 2^f stays below 2^64.
inline constexpr std::uint64_t most_pocket_keys = std::uint64_t{1} << 24;

/// How n fingerprints lie in a payload.
struct small_pocket_shape {
  std::uint64_t keys = 0;            // n
  std::uint64_t quotients = 0;       // Q
  std::uint32_t remainder_bits = 0;  // f

  std::uint64_t header_bits() const noexcept { return quotients + keys; }
  std::uint64_t fingerprints() const noexcept { return quotients << remainder_bits; }  // U
  std::uint64_t remainder_mask() const noexcept { return (std::uint64_t{1} << remainder_bits) - 1; }
  /// The probability that a key which is not there may be: 1 - (1 - 1/U)^n.
  double fpr() const noexcept {
    return -std::expm1(static_cast<double>(keys) *
                       std::log1p(-1 / static_cast<double>(fingerprints())));
  }
};

/// REQUIRES: 1 to most_pocket_keys keys.
inline small_pocket_shape pocket_shape_of(std::uint64_t keys, pocket_budget budget) noexcept {
  const std::uint64_t bits = 8 * budget.payload_bytes(keys);
  // One bit more for each remainder doubles U and takes n from Q: worth it as long as Q > 2 n.
  const std::uint64_t remainder_bits = (bits - 2 * keys - 1) / keys;
  return {.keys = keys,
          .quotients = bits - keys * (1 + remainder_bits),
          .remainder_bits = static_cast<std::uint32_t>(remainder_bits)};
}

namespace detail {

/// Bits of a payload, wherever they begin; nothing outside it is read.
class payload_bits {
 public:
  explicit payload_bits(std::string_view payload) noexcept : payload_(payload) {}

  /// From bit `begin` on: 57 bits at least, or as many as there are; 64 from multiples of 64.
  /// REQUIRES: a bit of the payload.
  std::uint64_t from(std::uint64_t begin) const noexcept {
    std::uint64_t word = 0;
    if (payload_.size() < word_bytes) {
      std::memcpy(&word, payload_.data(), payload_.size());
      return little_endian(word) >> begin;
    }
    const std::uint64_t byte = std::min<std::uint64_t>(begin / 8, payload_.size() - word_bytes);
    std::memcpy(&word, payload_.data() + byte, word_bytes);
    return little_endian(word) >> (begin - 8 * byte);
  }
  bool is_set(std::uint64_t bit) const noexcept {
    return (static_cast<unsigned char>(payload_[bit / 8]) >> (bit % 8) & 1) != 0;
  }

 private:
  std::string_view payload_;
};

/// How many ones bytes 0 to i of a word have, in byte i: all of them in the last. Counting and
/// selecting share it, and need no instruction that not every machine has.
constexpr std::uint64_t ones_up_to_bytes(std::uint64_t word) noexcept {
  word -= word >> 1 & 0x5555'5555'5555'5555;
  word = (word & 0x3333'3333'3333'3333) + (word >> 2 & 0x3333'3333'3333'3333);
  return ((word + (word >> 4)) & 0x0f0f'0f0f'0f0f'0f0f) * 0x0101'0101'0101'0101;
}
constexpr unsigned all_ones(std::uint64_t ones_up_to) noexcept {
  return static_cast<unsigned>(ones_up_to >> 56);
}
/// The place of one number `rank` of a word, from 0. REQUIRES: that it has so many.
constexpr unsigned select_one(std::uint64_t word, std::uint64_t ones_up_to,
                              unsigned rank) noexcept {
  // It is in the byte before which as many bytes end with no more than `rank` ones.
  constexpr std::uint64_t in_each_byte = 0x0101'0101'0101'0101;
  const std::uint64_t below =
      ((rank * in_each_byte | 0x80 * in_each_byte) - ones_up_to) >> 7 & in_each_byte;
  const unsigned begin = 8 * all_ones(below * in_each_byte);
  unsigned left = rank - static_cast<unsigned>((ones_up_to << 8) >> begin & 0xff);
  std::uint64_t byte = word >> begin;
  for (; left != 0; --left) byte &= byte - 1;
  return begin + static_cast<unsigned>(std::countr_zero(byte));
}

inline void set_bits(std::string& bytes, std::uint64_t begin, std::uint64_t value) {
  for (std::uint64_t bit = begin; value != 0; ++bit, value >>= 1)
    if ((value & 1) != 0)
      bytes[bit / 8] =
          static_cast<char>(static_cast<unsigned char>(bytes[bit / 8]) | 1u << bit % 8);
}

}  // namespace detail

/// Appends a filter of these keys. REQUIRES: hashes that ascend, each once.
inline void append_pocket(std::span<const std::uint64_t> hashes, pocket_budget budget,
                          std::string& out) {
  if (hashes.empty() || hashes.size() > most_pocket_keys) {
    out.push_back(tag_of_everything);
    return;
  }
  const small_pocket_shape shape = pocket_shape_of(hashes.size(), budget);
  std::string payload(budget.payload_bytes(shape.keys), '\0');
  for (std::uint64_t i = 0; i < shape.keys; ++i) {
    // Larger hashes have larger fingerprints: they come in the order in which they lie.
    const std::uint64_t fingerprint = reduce(hashes[i], shape.fingerprints());
    detail::set_bits(payload, (fingerprint >> shape.remainder_bits) + i, 1);
    detail::set_bits(payload, shape.header_bits() + i * shape.remainder_bits,
                     fingerprint & shape.remainder_mask());
  }
  out.push_back(static_cast<char>(budget.tag()));
  out += payload;
}

/// Never false for a key of the filter; true for all keys if the bytes are no filter.
inline bool pocket_may_contain(std::string_view bytes, key_hash hash) noexcept {
  if (bytes.empty()) return true;
  const auto budget = pocket_budget::of_tag(static_cast<unsigned char>(bytes[0]));
  if (!budget) return true;
  const auto keys = budget->keys_of(bytes.size() - 1);
  if (!keys || *keys > most_pocket_keys) return true;
  const small_pocket_shape shape = pocket_shape_of(*keys, *budget);
  const detail::payload_bits payload(bytes.substr(1));
  const std::uint64_t fingerprint = reduce(hash.value, shape.fingerprints());
  const std::uint64_t quotient = fingerprint >> shape.remainder_bits;

  // The ones of a quotient begin after as many zeros. All are counted, to see that it is a header.
  std::uint64_t zeros = 0;
  std::uint64_t run_begin = 0;
  const std::uint64_t header_bits = shape.header_bits();
  for (std::uint64_t begin = 0; begin < header_bits; begin += word_bits) {
    std::uint64_t clear = ~payload.from(begin);
    if (header_bits - begin < word_bits) clear &= (std::uint64_t{1} << (header_bits - begin)) - 1;
    const std::uint64_t counted = detail::ones_up_to_bytes(clear);
    const std::uint64_t after = zeros + detail::all_ones(counted);
    if (quotient > zeros && quotient <= after)
      run_begin = begin + 1 +
                  detail::select_one(clear, counted, static_cast<unsigned>(quotient - zeros - 1));
    zeros = after;
  }
  if (zeros != shape.quotients || payload.is_set(header_bits - 1)) return true;

  const std::uint64_t wanted = fingerprint & shape.remainder_mask();
  for (std::uint64_t bit = run_begin; payload.is_set(bit); ++bit) {
    const std::uint64_t remainder =
        payload.from(header_bits + (bit - quotient) * shape.remainder_bits) &
        shape.remainder_mask();
    if (remainder >= wanted) return remainder == wanted;
  }
  return false;
}

}  // namespace oneprobe::leveldb_integration
