// The hashes of many keys, made when they are asked for. No Python in here.
//
//   keys      | - - - - - - - - | k k k k k k k k | . . . .
//   hashes_                     | h h h h h h h h |          of the keys around the one asked for
//
// The bulk calls of a filter ask for hashes in order, some of them ahead of their requests to
// memory. Making a few at a time lets a kind of keys do what pays only for several together, and
// leaves the processor free to read keys while the filter's memory is on its way.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <iterator>
#include <span>
#include <utility>

#include "oneprobe/core/key_hash.hpp"

namespace oneprobe::python {

class hashes_ahead {
 public:
  virtual ~hashes_ahead() = default;
  hashes_ahead(const hashes_ahead&) = delete;
  hashes_ahead& operator=(const hashes_ahead&) = delete;

  std::size_t size() const noexcept { return size_; }
  /// A range for the bulk calls, for as long as this lives. For one thread.
  class range;
  range all() noexcept;

 protected:
  hashes_ahead() = default;

  /// Makes the hashes of so many keys from `first` on.
  virtual void hash_into(std::size_t first, std::span<key_hash> out) = 0;

  std::size_t size_ = 0;

 private:
  class iterator;

  /// Half a ring of walks: with more of them, texts are read in bursts that leave the filter's
  /// memory waiting. Measured: 32 cost other keys up to 5 % more, 128 cost texts a quarter.
  static constexpr std::size_t together = 16;

  key_hash at(std::size_t i) {
    if (i - first_ >= together) make(i);
    return hashes_[i - first_];
  }
  [[gnu::noinline]] void make(std::size_t i) {
    first_ = i / together * together;
    hash_into(first_, std::span(hashes_).first(std::min(together, size_ - first_)));
  }

  std::size_t first_ = std::size_t{0} - together;  // of none: every i is further behind it
  std::array<key_hash, together> hashes_{};
};

/// The standard's views would do, but clang 14 does not take those of libstdc++.
class hashes_ahead::iterator {
 public:
  using iterator_concept = std::random_access_iterator_tag;
  using value_type = key_hash;
  using difference_type = std::ptrdiff_t;

  iterator() = default;
  iterator(hashes_ahead& hashes, std::size_t i) noexcept
      : hashes_(&hashes), i_(static_cast<difference_type>(i)) {}

  key_hash operator*() const { return hashes_->at(static_cast<std::size_t>(i_)); }
  key_hash operator[](difference_type further) const { return *(*this + further); }

  iterator& operator+=(difference_type further) noexcept {
    i_ += further;
    return *this;
  }
  iterator& operator-=(difference_type back) noexcept { return *this += -back; }
  iterator& operator++() noexcept { return *this += 1; }
  iterator& operator--() noexcept { return *this -= 1; }
  iterator operator++(int) noexcept { return std::exchange(*this, *this + 1); }
  iterator operator--(int) noexcept { return std::exchange(*this, *this - 1); }
  friend iterator operator+(iterator at, difference_type further) noexcept { return at += further; }
  friend iterator operator+(difference_type further, iterator at) noexcept { return at += further; }
  friend iterator operator-(iterator at, difference_type back) noexcept { return at -= back; }
  friend difference_type operator-(iterator a, iterator b) noexcept { return a.i_ - b.i_; }
  friend bool operator==(iterator a, iterator b) noexcept { return a.i_ == b.i_; }
  friend auto operator<=>(iterator a, iterator b) noexcept { return a.i_ <=> b.i_; }

 private:
  hashes_ahead* hashes_ = nullptr;
  difference_type i_ = 0;
};

class hashes_ahead::range {
 public:
  explicit range(hashes_ahead& hashes) noexcept : hashes_(hashes) {}
  iterator begin() const noexcept { return {hashes_, 0}; }
  iterator end() const noexcept { return {hashes_, hashes_.size()}; }

 private:
  hashes_ahead& hashes_;
};
inline hashes_ahead::range hashes_ahead::all() noexcept { return range(*this); }

}  // namespace oneprobe::python
