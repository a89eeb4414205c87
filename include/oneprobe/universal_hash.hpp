// Families of hash functions of which something is proved (LEC, Section 7.2): draw one function at
// random, and whatever the keys are, chance treats them as stated here.
//
//   family                   of any distinct keys                         words     steps per key
//   matrix_hash              2 independent (value(): 0 aside)             64 + 1    64 xors
//   affine_hash              2 collide in n bins with at most 1/n (*)     2 x 9     1 product
//   polynomial_hash<k>       k independent                                k x 9     k - 1 products
//   tabulation_hash          3 independent                                8 x 256   8 lookups
//
//   polynomial_hash<4> hash(random_seed);       // every coefficient from the operating system
//   std::uint64_t v = hash.value(12345);        // the family's own value, in [0, 2^61 - 1)
//   key_hash h = hash(12345);                   // the same family as a hash policy
//
// (*) 1/n + n / (4 p^2) for two keys on different sides of a multiple of p; see there.
//
// As a policy a family takes integers and enums of up to 64 bits. The key goes through mix_bits
// first: that is a bijection, so every guarantee stands as it is, and keys in a row are no longer
// hashed to points in a row. The 64 bits of the result are the family's value; where it has 61 they
// are the highest, and the lowest three are made from them. Candidate 0 rests on the guarantee
// directly, the other streams of detail/hash/derive.hpp are functions of the same value. What is
// proved is proved for words that are random: those that a 64-bit seed is stretched into are so for
// all practical purposes, those that a source such as random_seed gives are without the
// restriction.
//
// Sizes are template parameters so that tests can go through all functions of a small family that
// is the same code. Immutable, thread-safe; explicit words that are out of range are refused at
// construction.
#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/detail/base/wide_product.hpp"
#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/hash.hpp"
#include "oneprobe/key_hash.hpp"

namespace oneprobe::inline v0_1 {

/// Gives 64 random bits at every call; random_seed is one.
template <class Source>
concept word_source =
    std::invocable<Source&> && std::same_as<std::invoke_result_t<Source&>, std::uint64_t>;

/// A seed stretched into as many words as it takes: SplitMix64.
class seed_words {
 public:
  /// The same seed gives the same words.
  explicit constexpr seed_words(std::uint64_t seed) noexcept : state_(mix_bits(seed)) {}
  /// The next word.
  constexpr std::uint64_t operator()() noexcept { return mix_bits(state_ += golden_ratio_64); }

 private:
  std::uint64_t state_;
};

/// The largest prime below 2^61; remainders by it need no division.
inline constexpr std::uint64_t mersenne_prime_61 = (std::uint64_t{1} << 61) - 1;
inline constexpr std::uint64_t largest_key_64 = std::numeric_limits<std::uint64_t>::max();

namespace detail {

/// Keys of a policy, where a family is one: small universes are for tests.
template <class Key, bool Offered>
concept key_if = Offered && integer_key<Key>;

/// 2^61 - 1, or any prime whose square fits into 64 bits.
constexpr bool is_supported_prime(std::uint64_t p) noexcept {
  if (p == mersenne_prime_61) return true;
  if (p < 2 || p >> 32 != 0) return false;
  for (std::uint64_t divisor = 2; divisor * divisor <= p; ++divisor)
    if (p % divisor == 0) return false;
  return true;
}

/// (a x + b) mod Prime; all three below it.
template <std::uint64_t Prime>
constexpr std::uint64_t multiply_add_modulo(std::uint64_t a, std::uint64_t x,
                                            std::uint64_t b) noexcept {
  if constexpr (Prime == mersenne_prime_61) {
    // 2^61 is 1: the bits from 61 up are added to those below. The sum of all is below 3 * 2^61.
    const auto [high, low] = multiply_wide(a, x);
    const std::uint64_t sum = (low & Prime) + (high << 3 | low >> 61) + b;
    const std::uint64_t folded = (sum & Prime) + (sum >> 61);
    return folded >= Prime ? folded - Prime : folded;
  } else {
    return (a * x + b) % Prime;
  }
}

template <word_source Source>
constexpr std::uint64_t draw_below(std::uint64_t bound, Source& source) {
  const std::uint64_t mask = std::bit_ceil(bound) - 1;
  std::uint64_t drawn = source() & mask;
  while (drawn >= bound) drawn = source() & mask;
  return drawn;
}

/// All of the lowest bits of a word.
constexpr std::uint64_t low_bits(unsigned count) noexcept {
  return count == 64 ? largest_key_64 : (std::uint64_t{1} << count) - 1;
}

/// A value below 2^61 - 1 moved to the top of 64 bits; a mixture of it fills the three bits that
/// become free. Different values stay different, and reduce() to n gives every result with a
/// probability within 2^-60 of 1/n.
constexpr key_hash spread_61(std::uint64_t value) noexcept {
  return {value << 3 | mix_bits(value) >> 61};
}

}  // namespace detail

/// Polynomials of degree k - 1 over the integers modulo Prime, all coefficients uniform: the values
/// of any k distinct keys are independent and uniform on [0, Prime).
///
/// A polynomial tells keys apart below Prime only. Larger keys have polynomials of their own, one
/// for each multiple of Prime up to LargestKey, so that the statement holds for all of them.
template <unsigned Independence, std::uint64_t Prime = mersenne_prime_61,
          std::uint64_t LargestKey = largest_key_64>
class polynomial_hash {
  static_assert(Independence >= 1);
  static_assert(detail::is_supported_prime(Prime), "2^61 - 1, or a prime below 2^32");
  static_assert(LargestKey / Prime < 64, "one polynomial per multiple of the prime: too many");

 public:
  /// Whether the family takes all keys of 64 bits, so that a function of it is a hash policy.
  static constexpr bool is_policy = Prime == mersenne_prime_61 && LargestKey == largest_key_64;
  static constexpr std::size_t polynomials = LargestKey / Prime + 1;
  /// For each polynomial its coefficients, the constant term first.
  using words = std::array<std::array<std::uint64_t, Independence>, polynomials>;

  constexpr polynomial_hash() noexcept : polynomial_hash(0) {}
  /// The function that a seed, a source of random words, or its coefficients themselves choose.
  explicit constexpr polynomial_hash(std::uint64_t seed) noexcept
      : polynomial_hash(seed_words(seed)) {}
  template <word_source Source>
  explicit constexpr polynomial_hash(Source&& source) {
    for (auto& polynomial : coefficients_)
      for (std::uint64_t& coefficient : polynomial) coefficient = detail::draw_below(Prime, source);
  }
  explicit constexpr polynomial_hash(const words& coefficients) : coefficients_(coefficients) {
    for (const auto& polynomial : coefficients_)
      for (const std::uint64_t coefficient : polynomial)
        if (coefficient >= Prime)
          refuse_parameter("coefficients must be below the prime " + std::to_string(Prime) +
                           "; found " + std::to_string(coefficient));
  }

  /// In [0, Prime). REQUIRES: key <= LargestKey.
  constexpr std::uint64_t value(std::uint64_t key) const noexcept {
    assert(key <= LargestKey);
    const auto& polynomial = coefficients_[key / Prime];
    const std::uint64_t x = key % Prime;
    std::uint64_t sum = polynomial[Independence - 1];
    for (std::size_t i = Independence - 1; i-- > 0;)
      sum = detail::multiply_add_modulo<Prime>(sum, x, polynomial[i]);
    return sum;
  }

  /// As a hash policy: of keys that are mixed before.
  template <detail::key_if<is_policy> Key>
  constexpr key_hash operator()(Key key) const noexcept {
    return detail::spread_61(value(mix_bits(integer_bits(key))));
  }

 private:
  words coefficients_;
};

/// ((a x + b) mod p) mod n with a from 1 to p - 1 and b from 0 to p - 1 (LEC, end of Section 7.2.3;
/// the ranges printed there are too small, erratum 2.5). Two keys below p collide in n bins with
/// probability at most 1/n, and each lands in any bin with about 1/n (erratum 2.6): universal, not
/// pairwise independent, since two keys never have the same value before the second remainder.
///
/// As with polynomial_hash, larger keys have an a and a b of their own for each multiple of p. Two
/// keys with different ones are independent and collide with probability at most 1/n + n / (4 p^2):
/// that is how far the squares of the bins' probabilities can sum up when n does not divide p.
template <std::uint64_t Prime = mersenne_prime_61, std::uint64_t LargestKey = largest_key_64>
class affine_hash {
  using lines = polynomial_hash<2, Prime, LargestKey>;

 public:
  /// Whether the family takes all keys of 64 bits, so that a function of it is a hash policy.
  static constexpr bool is_policy = lines::is_policy;
  /// {b, a} for each multiple of the prime.
  using words = typename lines::words;

  constexpr affine_hash() noexcept : affine_hash(0) {}
  /// The function that a seed, a source of random words, or its coefficients themselves choose.
  explicit constexpr affine_hash(std::uint64_t seed) noexcept : affine_hash(seed_words(seed)) {}
  template <word_source Source>
  explicit constexpr affine_hash(Source&& source) : lines_(drawn(source)) {}
  explicit constexpr affine_hash(const words& coefficients) : lines_(coefficients) {
    for (const auto& line : coefficients)
      if (line[1] == 0) refuse_parameter("the factor a must be from 1 to p - 1; found 0");
  }

  /// (a x + b) mod p. REQUIRES: key <= LargestKey.
  constexpr std::uint64_t value(std::uint64_t key) const noexcept { return lines_.value(key); }
  /// The family's function into n bins. REQUIRES: bins >= 1, and at most p to be of any use.
  constexpr std::uint64_t bin(std::uint64_t key, std::uint64_t bins) const noexcept {
    assert(bins >= 1);
    return value(key) % bins;
  }

  /// From (a x + b) mod p, before the second remainder.
  template <detail::key_if<is_policy> Key>
  constexpr key_hash operator()(Key key) const noexcept {
    return lines_(key);
  }

 private:
  template <word_source Source>
  static constexpr words drawn(Source& source) {
    words result{};
    for (auto& [b, a] : result) {
      a = 1 + detail::draw_below(Prime - 1, source);
      b = detail::draw_below(Prime, source);
    }
    return result;
  }

  lines lines_;
};

/// Vectors of KeyBits bits times a random 0-1 matrix (LEC, Theorem 7.2.1). Of keys other than 0 any
/// two are independent and uniform, so they collide with exactly 2^-OutputBits; three are not: the
/// value of x ^ y is that of x xor that of y. Key 0 has value 0 in every function, which is why the
/// theorem leaves it out; as a policy the family adds a random word, which brings it in.
template <unsigned KeyBits = 64, unsigned OutputBits = 64>
class matrix_hash {
  static_assert(1 <= KeyBits && KeyBits <= 64);
  static_assert(1 <= OutputBits && OutputBits <= 64);

 public:
  /// Whether the family takes all keys of 64 bits, so that a function of it is a hash policy.
  static constexpr bool is_policy = KeyBits == 64 && OutputBits == 64;
  /// What each bit of the key adds, the lowest bit first.
  using words = std::array<std::uint64_t, KeyBits>;

  constexpr matrix_hash() noexcept : matrix_hash(0) {}
  /// The function that a seed, a source of random words, or its columns themselves choose.
  explicit constexpr matrix_hash(std::uint64_t seed) noexcept : matrix_hash(seed_words(seed)) {}
  template <word_source Source>
  explicit constexpr matrix_hash(Source&& source) {
    for (std::uint64_t& column : columns_) column = source() & detail::low_bits(OutputBits);
    offset_ = source() & detail::low_bits(OutputBits);
  }
  explicit constexpr matrix_hash(const words& columns, std::uint64_t offset = 0)
      : columns_(columns), offset_(offset) {
    for (const std::uint64_t column : columns)
      if (column > detail::low_bits(OutputBits))
        refuse_parameter("columns must have at most " + std::to_string(OutputBits) +
                         " bits; found " + std::to_string(column));
    if (offset > detail::low_bits(OutputBits))
      refuse_parameter("offset must have at most " + std::to_string(OutputBits) + " bits; found " +
                       std::to_string(offset));
  }

  /// The product, in [0, 2^OutputBits). REQUIRES: the key has at most KeyBits bits.
  constexpr std::uint64_t value(std::uint64_t key) const noexcept {
    assert(key <= detail::low_bits(KeyBits));
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < KeyBits; ++i) sum ^= columns_[i] & (0 - (key >> i & 1));
    return sum;
  }

  /// As a hash policy: of keys that are mixed before, with a random word added.
  template <detail::key_if<is_policy> Key>
  constexpr key_hash operator()(Key key) const noexcept {
    return {value(mix_bits(integer_bits(key))) ^ offset_};
  }

 private:
  words columns_{};
  std::uint64_t offset_ = 0;
};

/// The key cut into characters, a table of random words for each, and the words they point at
/// xored. Any three keys are independent and uniform: one of them has, somewhere, a character that
/// the other two do not have there. Four need not be: the values of 00, 01, 10 and 11 always xor to
/// zero. Loads of buckets are concentrated nonetheless almost as those of a truly random function
/// (Patrascu and Thorup, The Power of Simple Tabulation Hashing, 2012). 16 KiB of tables, in the
/// object itself.
template <unsigned Characters = 8, unsigned CharacterBits = 8, unsigned OutputBits = 64>
class tabulation_hash {
  static_assert(1 <= CharacterBits && CharacterBits <= 16, "tables of at most 65536 words");
  static_assert(1 <= Characters && Characters * CharacterBits <= 64);
  static_assert(1 <= OutputBits && OutputBits <= 64);

 public:
  /// Whether the family takes all keys of 64 bits, so that a function of it is a hash policy.
  static constexpr bool is_policy = Characters * CharacterBits == 64 && OutputBits == 64;
  /// A table per character, that of the lowest bits first.
  using words = std::array<std::array<std::uint64_t, std::size_t{1} << CharacterBits>, Characters>;

  constexpr tabulation_hash() noexcept : tabulation_hash(0) {}
  /// The function that a seed, a source of random words, or its tables themselves choose.
  explicit constexpr tabulation_hash(std::uint64_t seed) noexcept
      : tabulation_hash(seed_words(seed)) {}
  template <word_source Source>
  explicit constexpr tabulation_hash(Source&& source) {
    for (auto& table : tables_)
      for (std::uint64_t& word : table) word = source() & detail::low_bits(OutputBits);
  }
  explicit constexpr tabulation_hash(const words& tables) : tables_(tables) {
    for (const auto& table : tables_)
      for (const std::uint64_t word : table)
        if (word > detail::low_bits(OutputBits))
          refuse_parameter("words must have at most " + std::to_string(OutputBits) +
                           " bits; found " + std::to_string(word));
  }

  /// In [0, 2^OutputBits). REQUIRES: the key has at most Characters * CharacterBits bits.
  constexpr std::uint64_t value(std::uint64_t key) const noexcept {
    assert(key <= detail::low_bits(Characters * CharacterBits));
    std::uint64_t sum = 0;
    for (unsigned i = 0; i < Characters; ++i)
      sum ^= tables_[i][key >> (i * CharacterBits) & detail::low_bits(CharacterBits)];
    return sum;
  }

  /// As a hash policy: of keys that are mixed before.
  template <detail::key_if<is_policy> Key>
  constexpr key_hash operator()(Key key) const noexcept {
    return {value(mix_bits(integer_bits(key)))};
  }

 private:
  words tables_{};
};

}  // namespace oneprobe::inline v0_1
