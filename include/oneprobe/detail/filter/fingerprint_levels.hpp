// A multilevel scheme for buckets that keep nothing of an element but a fingerprint.
//
//   hash --------------------------> bucket and fingerprint in level 0
//   bucket and fingerprint, mixed -> bucket and fingerprint in the next level, and so on
//
// What a bucket passes on can be any of its elements, and all that is left of it is where it was
// and its fingerprint there: so that is all the next candidate may follow from, for elements that
// are placed as for those that are looked for. In every level an element has another fingerprint:
// passed on are the largest, and if they kept it, the next buckets would tell them apart badly.
//
//   fingerprint_levels scheme(level_sizes, shape.fingerprints());
//   fingerprint_probe element = scheme.start(hash);
//   position at = scheme.first(element);
//   scheme.go_on(element, at);             // its candidate, and its fingerprint, in level 1
//
// A small value, immutable, thread-safe. Files depend on every line of this.
#pragma once

#include <cstdint>
#include <span>

#include "oneprobe/detail/base/wide_product.hpp"
#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/detail/placement/concepts.hpp"
#include "oneprobe/detail/placement/schemes.hpp"
#include "oneprobe/detail/planning/fingerprint_bucket_shape.hpp"
#include "oneprobe/key_hash.hpp"

namespace oneprobe::inline v0_1 {

class fingerprint_levels {
 public:
  using probe = fingerprint_probe;
  static constexpr order choice = order::first_fit;
  static constexpr bool levels_are_disjoint = true;

  /// Fingerprints are numbers below `fingerprints`.
  fingerprint_levels(std::span<const std::uint64_t> level_sizes, std::uint64_t fingerprints)
      : levels_(level_sizes), fingerprints_(fingerprints) {}

  std::uint32_t choices() const noexcept { return levels_.choices(); }
  std::uint64_t buckets() const noexcept { return levels_.buckets(); }
  std::uint64_t level_begin(std::uint32_t level) const noexcept {
    return levels_.level_begin(level);
  }
  std::uint64_t level_size(std::uint32_t level) const noexcept { return levels_.level_size(level); }
  std::uint64_t fingerprints() const noexcept { return fingerprints_; }

  probe start(key_hash hash) const noexcept { return draw(hash.value, 0, levels_.level_size(0)); }
  position first(const probe& element) const noexcept { return {element.bucket, 0}; }
  position next(probe element, position at) const noexcept {
    go_on(element, at);
    return at;
  }
  void go_on(probe& element, position& at) const noexcept {
    const std::uint32_t level = at.level + 1;
    element =
        draw(left_of(element, at).value, levels_.level_begin(level), levels_.level_size(level));
    at = {element.bucket, level};
  }
  /// What is left of an element once the bucket `at` has handed it on.
  key_hash left_of(const probe& element, position at) const noexcept {
    return key_hash{mix_bits(at.bucket * fingerprints_ + element.fingerprint)};
  }
  /// Capacity is hard: no coin is thrown.
  static constexpr std::uint64_t coin(const probe&, std::uint32_t) noexcept { return 0; }

 private:
  /// One multiplication after the other: what the choice of the bucket leaves of the bits chooses
  /// the fingerprint.
  probe draw(std::uint64_t bits, std::uint64_t begin, std::uint64_t size) const noexcept {
    const wide_product chosen = multiply_wide(bits, size);
    return {.fingerprint = reduce(chosen.low, fingerprints_), .bucket = begin + chosen.high};
  }

  multilevel levels_;
  std::uint64_t fingerprints_;
};

static_assert(placement_scheme<fingerprint_levels> && renaming_scheme<fingerprint_levels>);

}  // namespace oneprobe::inline v0_1
