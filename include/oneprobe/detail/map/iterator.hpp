// Iteration over the elements of a table. For the maps; a program that uses a map
// writes `for (auto& element : map)`.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <type_traits>

#include "oneprobe/detail/placement/concepts.hpp"

namespace oneprobe::inline v0_1::detail {

/// The elements of two stores, one after the other.
template <class Element, class Buckets>
class table_iterator {
 public:
  using value_type = std::remove_const_t<Element>;
  using reference = Element&;
  using pointer = Element*;
  using difference_type = std::ptrdiff_t;
  using iterator_category = std::forward_iterator_tag;

  table_iterator() = default;
  table_iterator(const Buckets& first, const Buckets& second, std::uint64_t bucket)
      : first_(&first), second_(&second), bucket_(bucket) {
    find_occupied();
  }

  reference operator*() const noexcept {
    return *store().element(at(), static_cast<std::uint32_t>(std::countr_zero(left_)));
  }
  pointer operator->() const noexcept { return std::addressof(**this); }
  table_iterator& operator++() noexcept {
    left_ &= left_ - 1;
    if (left_ == 0) {
      ++bucket_;
      find_occupied();
    }
    return *this;
  }
  table_iterator operator++(int) noexcept {
    table_iterator before = *this;
    ++*this;
    return before;
  }
  friend bool operator==(const table_iterator& a, const table_iterator& b) noexcept {
    return a.bucket_ == b.bucket_ && a.left_ == b.left_;
  }

 private:
  const Buckets& store() const noexcept { return bucket_ < first_->buckets() ? *first_ : *second_; }
  position at() const noexcept {
    return {bucket_ < first_->buckets() ? bucket_ : bucket_ - first_->buckets(), 0};
  }
  void find_occupied() noexcept {
    const std::uint64_t end = first_->buckets() + second_->buckets();
    for (; bucket_ < end; ++bucket_)
      if ((left_ = store().occupied(at())) != 0) return;
  }

  const Buckets* first_ = nullptr;
  const Buckets* second_ = nullptr;
  std::uint64_t bucket_ = 0;
  std::uint32_t left_ = 0;  // occupied slots from the present one on
};

}  // namespace oneprobe::inline v0_1::detail
