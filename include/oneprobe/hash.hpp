// From keys to hashes: the policy that all tables and filters use unless told otherwise, and the
// way in for a hash of your own.
//
//   seeded_hash hash(random_seed());
//   key_hash a = hash(std::uint64_t{42});
//   key_hash b = hash("a string");           // the same as hash(std::string_view("a string"))
//   remixed<std::hash<my_key>> mine(seed);   // any hash with an integer result
//
//                       integers and enums, up to 64 bits:  mix_bits((key ^ secret) * odd secret)
//   key -- seeded_hash -+
//                       text, bytes, plain structs:         XXH3 with a secret for a seed
//
// Both secrets are drawn from the seed. The mixer is a bijection, so different integers never have
// the same hash. Hash values depend on the seed and on the key's bytes: structs hash differently on
// machines of another byte order, integers and text do not. What is promised against keys that an
// attacker chose is in docs/hashing.md.
//
// Immutable values, thread-safe, no memory; nothing throws but random_seed().
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/key_hash.hpp"

// xxHash is compiled into its user, so that there is nothing to link. xxhash.h allows that also
// after it was included without the macro: what is inlined gets names of its own.
#ifdef XXH_INLINE_ALL
#include <xxhash.h>
#else
#define XXH_INLINE_ALL
#include <xxhash.h>
#undef XXH_INLINE_ALL
#endif

#if __has_include(<sys/random.h>)
#include <sys/random.h>
#else
#include <random>
#include <ranges>
#endif

namespace oneprobe::inline v0_1 {

/// A callable from keys to key_hash.
template <class Hash, class Key>
concept hash_policy = std::copy_constructible<Hash> && requires(const Hash& hash, const Key& key) {
  { hash(key) } -> std::same_as<key_hash>;
};

/// A key that is an integer or an enumerator of at most 64 bits.
template <class Key>
concept integer_key = sizeof(Key) <= 8 && (std::integral<Key> || std::is_enum_v<Key>);

/// Equal keys have equal bytes, and the bytes are the key: no padding, no floating point. Pointers
/// and views are left out, because what counts is hardly ever where something lies; so is what
/// converts to text or bytes, which is hashed as such.
template <class Key>
concept plain_key =
    std::is_trivially_copyable_v<Key> && std::has_unique_object_representations_v<Key> &&
    !integer_key<Key> &&
    !std::is_pointer_v<Key> && !std::is_member_pointer_v<Key> && !std::is_array_v<Key> &&
    !std::ranges::enable_view<Key> && !std::convertible_to<const Key&, std::string_view> &&
    !std::convertible_to<const Key&, std::span<const std::byte>>;

/// The key as 64 bits; negative numbers keep their value modulo 2^64, so that a key has the same
/// hash in every integer type that can hold it.
template <integer_key Key>
constexpr std::uint64_t integer_bits(Key key) noexcept {
  if constexpr (std::is_enum_v<Key>)
    return static_cast<std::uint64_t>(static_cast<std::underlying_type_t<Key>>(key));
  else
    return static_cast<std::uint64_t>(key);
}

/// The hash policy of the library: integers, text, bytes and plain structs to 64 well-mixed bits,
/// by a seed. What it returns never changes, as files rest on it.
class seeded_hash {
 public:
  using is_transparent = void;  // "a", std::string("a") and std::string_view("a") are one key

  /// Seed 0, for results that can be repeated. With untrusted keys, draw a seed.
  constexpr seeded_hash() noexcept : seeded_hash(0) {}
  explicit constexpr seeded_hash(std::uint64_t seed) noexcept
      : seed_(seed),
        secret_(mix_bits(seed + golden_ratio_64)),
        odd_secret_(mix_bits(seed + 2 * golden_ratio_64) | 1) {}

  /// The hash of an integer, of text, of bytes or of a plain struct.
  template <integer_key Key>
  constexpr key_hash operator()(Key key) const noexcept {
    return {mix_bits((integer_bits(key) ^ secret_) * odd_secret_)};
  }
  key_hash operator()(std::string_view text) const noexcept {
    return of_bytes(text.data(), text.size());
  }
  key_hash operator()(std::span<const std::byte> bytes) const noexcept {
    return of_bytes(bytes.data(), bytes.size());
  }
  template <plain_key Key>
  key_hash operator()(const Key& key) const noexcept {
    return of_bytes(std::addressof(key), sizeof(Key));
  }

  /// The seed it was made from.
  constexpr std::uint64_t seed() const noexcept { return seed_; }

  friend constexpr bool operator==(const seeded_hash&, const seeded_hash&) = default;

 private:
  key_hash of_bytes(const void* bytes, std::size_t size) const noexcept {
    // Not the seed itself: for short keys XXH3 turns neighbouring seeds into neighbouring keys.
    return {XXH3_64bits_withSeed(bytes, size, secret_)};
  }

  std::uint64_t seed_;
  std::uint64_t secret_;
  std::uint64_t odd_secret_;
};

namespace detail {

/// Boost's convention: the type is there, and if it has a value, that is true.
template <class Hash>
constexpr bool declares_avalanching() noexcept {
  if constexpr (requires { Hash::is_avalanching::value; })
    return Hash::is_avalanching::value;
  else
    return requires { typename Hash::is_avalanching; };
}

template <class Hash>
struct same_transparency {};
template <class Hash>
requires requires { typename Hash::is_transparent; }
struct same_transparency<Hash> {
  using is_transparent = void;
};

}  // namespace detail

/// Makes a policy of any hash that returns an integer of at most 64 bits, or a key_hash. The result
/// is mixed with the seed, since many hashes, std::hash<int> among them, return the key. It is
/// passed on as it is, and the seed has no effect, if it is a key_hash, or if it has 64 bits and
/// the hash says by a member type `is_avalanching` that they are all good. Keys for which the hash
/// itself gives equal results stay equal: no seed parts them.
template <class Hash>
class remixed : public detail::same_transparency<Hash> {
 public:
  constexpr remixed() = default;
  /// With a seed, and a hash where it has a state.
  explicit constexpr remixed(std::uint64_t seed, Hash hash = Hash())
      : hash_(std::move(hash)), mixer_(seed) {}

  /// The hash of a key, mixed or passed on.
  template <class Key>
  requires std::invocable<const Hash&, const Key&>
  constexpr key_hash operator()(const Key& key) const
      noexcept(std::is_nothrow_invocable_v<const Hash&, const Key&>) {
    using result = std::remove_cvref_t<std::invoke_result_t<const Hash&, const Key&>>;
    if constexpr (std::same_as<result, key_hash>) {
      return hash_(key);
    } else {
      static_assert(integer_key<result>, "the hash must return an integer of at most 64 bits");
      if constexpr (detail::declares_avalanching<Hash>() && sizeof(result) == 8)
        return {integer_bits(hash_(key))};
      else
        return mixer_(hash_(key));
    }
  }

  /// The seed it was made from.
  constexpr std::uint64_t seed() const noexcept { return mixer_.seed(); }

 private:
  [[no_unique_address]] Hash hash_{};
  seeded_hash mixer_;
};

/// 64 bits from the operating system that cannot be guessed. Refuses, as for a bad parameter, if
/// the system has none to give.
inline std::uint64_t random_seed() {
#if __has_include(<sys/random.h>)
  std::uint64_t seed = 0;
  if (getentropy(&seed, sizeof seed) != 0)
    refuse_parameter("seed must be given: getentropy() found no random bytes");
  return seed;
#else
  std::random_device device;
  static_assert(std::random_device::max() == 0xffff'ffff);
  return std::uint64_t{device()} << 32 | device();
#endif
}

}  // namespace oneprobe::inline v0_1
