// An allocator for peers: it counts what they hold, and puts large arrays on huge pages like ours.
//
// Counted is what the heap gives, not what is asked for: of small pieces malloc's usable size and
// the word before it. One table lives at a time, so that one number does for all.
#pragma once

#include <malloc.h>

#include <cstddef>
#include <cstdint>
#include <new>

#include "oneprobe/detail/base/huge_pages.hpp"

namespace oneprobe::cli::peers {

inline std::uint64_t held_bytes = 0;

template <class T>
struct counted_allocator {
  using value_type = T;

  counted_allocator() = default;
  template <class U>
  constexpr counted_allocator(const counted_allocator<U>&) noexcept {}

  T* allocate(std::size_t count) {
    if (is_large(count)) {
      T* const memory = huge_page_allocator<T>().allocate(count);
      held_bytes += count * sizeof(T);
      return memory;
    }
    void* const memory = ::operator new(count * sizeof(T), alignment);
    held_bytes += heap_bytes(memory);
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    if (is_large(count)) {
      huge_page_allocator<T>().deallocate(memory, count);
      held_bytes -= count * sizeof(T);
      return;
    }
    held_bytes -= heap_bytes(memory);
    ::operator delete(memory, alignment);
  }

  friend constexpr bool operator==(const counted_allocator&, const counted_allocator&) = default;

 private:
  static constexpr std::align_val_t alignment{alignof(T)};

  static constexpr bool is_large(std::size_t count) noexcept {
    return count >= 2 * huge_page_bytes / sizeof(T);
  }
  static std::uint64_t heap_bytes(void* memory) noexcept {
    return malloc_usable_size(memory) + sizeof(std::size_t);
  }
};

}  // namespace oneprobe::cli::peers
