// The hashes of many keys, made a few at a time when a bulk call asks for them.
//
//   const auto make = [&](std::size_t first, std::span<key_hash> out) {
//     for (std::size_t i = 0; i < out.size(); ++i) out[i] = my_hash(keys[first + i]);
//   };
//   filter.bulk_insert(hash_feed(keys.size(), make));
//
// It stands between keys of any type and engines that see only hashes. A bulk call asks for hashes
// ahead of its requests to memory, mostly in order; any of them may be asked for again. A feed may
// throw: the call then ends, and what it has inserted stays. One call through a pointer for
// several hashes does not show; so the loops of an engine are compiled once, and not again for
// every type of keys, and code that makes hashes can do what pays only for several together.
//
// A view: what it was made from must outlive it. Threads: as what it was made from.
#pragma once

#include <concepts>
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>

#include "oneprobe/key_hash.hpp"

namespace oneprobe::inline v0_1 {

class hash_feed {
 public:
  using value_type = key_hash;
  /// Makes the hashes of keys first, first + 1, ...; `maker` is what the feed was made from.
  using function = void (*)(void* maker, std::size_t first, std::span<key_hash> out);

  /// `size` hashes that `make` makes from `maker`.
  hash_feed(std::size_t size, void* maker, function make) noexcept
      : size_(size), maker_(maker), make_(make) {}
  /// `size` hashes that `maker(first, out)` makes. REQUIRES: it outlives the feed.
  template <class Maker>
  requires std::invocable<Maker&, std::size_t, std::span<key_hash>> hash_feed(std::size_t size,
                                                                              Maker&& maker)
  noexcept
      : hash_feed(size, const_cast<void*>(static_cast<const void*>(std::addressof(maker))),
                  [](void* called, std::size_t first, std::span<key_hash> out) {
                    (*static_cast<std::remove_reference_t<Maker>*>(called))(first, out);
                  }) {}

  std::size_t size() const noexcept { return size_; }
  /// Makes the hashes of keys first, first + 1, ... REQUIRES: first + out.size() <= size().
  void fill(std::size_t first, std::span<key_hash> out) const { make_(maker_, first, out); }

 private:
  std::size_t size_;
  void* maker_;
  function make_;
};

}  // namespace oneprobe::inline v0_1
