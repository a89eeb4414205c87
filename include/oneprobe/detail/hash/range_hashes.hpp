// The hashes of a range of keys, as bulk calls take them: what of a bulk call depends on the type
// of the keys.
//
//   const range_hashes hashes(hash, keys);
//   filter.engine().query_all(hashes.feed(), answers);
//
// A view of both. Keys may be hashes already. Thread-safe; throws what the hash throws.
#pragma once

#include <concepts>
#include <cstddef>
#include <iterator>
#include <memory>
#include <ranges>
#include <span>
#include <type_traits>

#include "oneprobe/detail/base/prefetch.hpp"
#include "oneprobe/detail/simd/isa.hpp"
#include "oneprobe/hash.hpp"
#include "oneprobe/hash_feed.hpp"
#include "oneprobe/key_hash.hpp"

namespace oneprobe::inline v0_1 {

template <class Hash, class Key>
concept hashes_or_is_hash =
    std::same_as<std::remove_cvref_t<Key>, key_hash> || hash_policy<Hash, Key>;

template <class Hash, class Key>
inline constexpr bool hashes_without_throwing =
    std::same_as<std::remove_cvref_t<Key>, key_hash> ||
    std::is_nothrow_invocable_v<const Hash&, const Key&>;

/// Keys in bulk: their number is known, and any of them can be asked for.
template <class Keys, class Hash>
concept bulk_keys =
    std::ranges::random_access_range<const Keys> && std::ranges::sized_range<const Keys> &&
    hashes_or_is_hash<Hash, std::ranges::range_value_t<const Keys>>;

/// The hash of a key that may be one already.
template <class Hash, class Key>
requires hashes_or_is_hash<Hash, Key>
constexpr key_hash hash_with(const Hash& hash,
                             const Key& key) noexcept(hashes_without_throwing<Hash, Key>) {
  if constexpr (std::same_as<Key, key_hash>)
    return key;
  else
    return hash(key);
}

template <class Hash, class Keys>
requires bulk_keys<Keys, Hash>
class range_hashes {
 public:
  range_hashes(const Hash& hash, const Keys& keys)
      : hash_(&hash),
        first_(std::ranges::begin(keys)),
        size_(static_cast<std::size_t>(std::ranges::size(keys))) {}

  /// REQUIRES: this lives as long.
  hash_feed feed() const noexcept {
    return {size_, const_cast<range_hashes*>(this), fastest_make()};
  }

 private:
  using iterator = std::ranges::iterator_t<const Keys>;
  using key_type = std::iter_value_t<iterator>;

  static hash_feed::function fastest_make() noexcept {
    // Integers are hashed several at once, in the widest registers there are.
    if constexpr (integer_key<key_type>) {
      if (simd_in_use() == isa::avx512) return make_with<isa::avx512>;
      if (simd_in_use() == isa::avx2) return make_with<isa::avx2>;
    }
    return make;
  }
  static void make(void* self, std::size_t first, std::span<key_hash> out) {
    const range_hashes& made = *static_cast<const range_hashes*>(self);
    const auto from = made.first_ + static_cast<std::iter_difference_t<iterator>>(first);
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = hash_with(*made.hash_, from[static_cast<std::iter_difference_t<iterator>>(i)]);
    // Keys that will be asked for soon; not for calls that ask for more than there is to wait for.
    constexpr std::size_t most_ahead = 64;
    if constexpr (std::contiguous_iterator<iterator>)
      if (out.size() <= most_ahead && made.size_ - first >= 3 * out.size())
        prefetch_bytes_ahead(std::to_address(from) + 2 * out.size(), out.size() * sizeof(key_type));
  }
  template <isa Level>
  static constexpr hash_feed::function make_with =
      compiled_for<Level, make, void*, std::size_t, std::span<key_hash>>::call;

  const Hash* hash_;
  iterator first_;
  std::size_t size_;
};

}  // namespace oneprobe::inline v0_1
