// An allocator for large arrays that are read at random: it asks for huge pages.
//
// A random access to gigabytes in 4 KiB pages pays for the page table as well as for the line.
// Arrays of two huge pages or more are aligned to one and marked with madvise; where the system has
// no huge pages, or refuses, the memory is ordinary memory.
#pragma once

#include <cstddef>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace oneprobe::inline v0_1 {

inline constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

template <class T>
struct huge_page_allocator {
  using value_type = T;

  huge_page_allocator() = default;
  template <class U>
  constexpr huge_page_allocator(const huge_page_allocator<U>&) noexcept {}

  T* allocate(std::size_t count) {
    // Too many: no allocation can satisfy it, and operator new says so in its own way.
    const bool too_many = count > static_cast<std::size_t>(-1) / sizeof(T);
    const std::size_t bytes = too_many ? static_cast<std::size_t>(-1) : count * sizeof(T);
    void* memory = ::operator new(bytes, alignment(count));
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    // Only a wish: the answer does not matter.
    if (bytes >= 2 * huge_page_bytes)
      static_cast<void>(
          ::madvise(memory, bytes / huge_page_bytes * huge_page_bytes, MADV_HUGEPAGE));
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t count) noexcept {
    ::operator delete(memory, alignment(count));
  }

  friend constexpr bool operator==(const huge_page_allocator&,
                                   const huge_page_allocator&) = default;

 private:
  /// A cache line at least, so that no bucket of that size straddles two.
  static constexpr std::align_val_t alignment(std::size_t count) noexcept {
    constexpr std::size_t line = 64;
    const std::size_t least = alignof(T) > line ? alignof(T) : line;
    return std::align_val_t{count * sizeof(T) >= 2 * huge_page_bytes ? huge_page_bytes : least};
  }
};

}  // namespace oneprobe::inline v0_1
