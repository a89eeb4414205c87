// The bytes of a filter or table: zeroed, aligned to a cache line, its own or the caller's.
//
//   line_memory own(bytes);                          // huge pages where it is large enough
//   line_memory lent = line_memory::lend(span);      // the caller's; never freed
//   line_memory now(bytes, {.touch = page_touch::at_once});
//
// A copy is always memory of its own, with the default options. Large memory comes straight from
// the system, which zeroes a page when it is first touched: 2^40 bits cost nothing until they are
// used.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <span>
#include <string>
#include <utility>

#include "oneprobe/detail/base/error.hpp"
#include "oneprobe/detail/base/huge_pages.hpp"

namespace oneprobe::inline v0_1 {

/// The pages of large memory. Advice: a system without huge pages gives ordinary ones.
enum class page_kind : std::uint8_t { huge, ordinary };

/// When a page of large memory is there.
enum class page_touch : std::uint8_t {
  on_use,   // at its first use, which then takes longer
  at_once,  // from the start: no operation ever waits for a page
};

/// For memory that is requested from the system. What is smaller than two huge pages is ordinary
/// memory that is there from the start.
struct memory_options {
  page_kind pages = page_kind::huge;
  page_touch touch = page_touch::on_use;
};

namespace detail {

/// Has the system bring all pages, ready to be written; what is in them stays as it is.
/// REQUIRES: whole pages from the first on, which no other thread writes meanwhile.
inline void touch_for_writing(std::span<std::byte> memory) noexcept {
#if defined(MADV_POPULATE_WRITE)
  // A system that knows the advice and cannot follow it, on a full disk for example, would end the
  // process at a write.
  if (::madvise(memory.data(), memory.size(), MADV_POPULATE_WRITE) == 0 || errno != EINVAL) return;
#endif
  constexpr std::size_t page_bytes = 4096;  // the smallest page there is
  for (std::size_t at = 0; at < memory.size(); at += page_bytes) {
    volatile std::byte* const first = memory.data() + at;
    *first = *first;
  }
}

}  // namespace detail

/// Zeroed memory that begins on a cache line: its own, in huge pages where it is large, or memory
/// of the caller. A copy is memory of its own.
class line_memory {
 public:
  static constexpr std::size_t line_bytes = 64;  // of a cache line

  line_memory() noexcept = default;
  /// Zeroed memory. Throws std::bad_alloc if there is not so much.
  explicit line_memory(std::uint64_t bytes, memory_options options = {});
  ~line_memory() { release(); }

  line_memory(const line_memory& other) : line_memory(other.bytes_) {
    if (bytes_ != 0) std::memcpy(data_, other.data_, bytes_);
  }
  line_memory(line_memory&& other) noexcept { swap(other); }
  // Two of them, so that what has memory inside knows that a copy may throw and a move does not.
  line_memory& operator=(const line_memory& other) {
    line_memory(other).swap(*this);
    return *this;
  }
  line_memory& operator=(line_memory&& other) noexcept {
    line_memory(std::move(other)).swap(*this);
    return *this;
  }
  void swap(line_memory& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(lead_, other.lead_);
    std::swap(owner_, other.owner_);
  }

  /// The caller's memory, used as it is. It must outlive this object.
  static line_memory lend(std::span<std::byte> memory) {
    return line_memory(memory.data(), memory.size());
  }
  /// Memory that must not be written: only const functions of this object may be called.
  static line_memory lend_read_only(std::span<const std::byte> memory) {
    return line_memory(const_cast<std::byte*>(memory.data()), memory.size());
  }

  /// The first byte; null if there is none.
  std::byte* data() noexcept { return data_; }
  const std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return bytes_; }
  /// All of the memory.
  std::span<const std::byte> bytes() const noexcept { return {data_, bytes_}; }
  std::span<std::byte> bytes() noexcept { return {data_, bytes_}; }

 private:
  enum class owner : std::uint8_t { nobody, caller, heap, system };

  line_memory(std::byte* lent, std::size_t bytes)
      : data_(lent), bytes_(bytes), owner_(owner::caller) {
    if (reinterpret_cast<std::uintptr_t>(lent) % line_bytes != 0)
      refuse_parameter("memory must be aligned to 64 bytes");
  }
  void release() noexcept;

  [[noreturn]] static void throw_bad_alloc() {
#if defined(__cpp_exceptions)
    throw std::bad_alloc();
#else
    std::abort();
#endif
  }

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t lead_ = 0;  // bytes mapped before data_
  owner owner_ = owner::nobody;
};

inline line_memory::line_memory(std::uint64_t bytes, [[maybe_unused]] memory_options options) {
  if (bytes > static_cast<std::size_t>(-1) - huge_page_bytes) throw_bad_alloc();
  bytes_ = static_cast<std::size_t>(bytes);
  if (bytes_ == 0) return;
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (bytes_ >= 2 * huge_page_bytes) {
    // One huge page more than needed, so that there is an aligned place for the first. What is left
    // over is never touched, hence never there.
    const std::size_t asked = bytes_ + huge_page_bytes;
    void* memory =
        ::mmap(nullptr, asked, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw_bad_alloc();
    lead_ = (huge_page_bytes - reinterpret_cast<std::uintptr_t>(memory) % huge_page_bytes) %
            huge_page_bytes;
    data_ = static_cast<std::byte*>(memory) + lead_;
    // Only a wish: the answer does not matter. Some systems have huge pages unless told otherwise.
    static_cast<void>(::madvise(
        data_, bytes_, options.pages == page_kind::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE));
    owner_ = owner::system;
    if (options.touch == page_touch::at_once) detail::touch_for_writing({data_, bytes_});
    return;
  }
#endif
  data_ = static_cast<std::byte*>(::operator new (bytes_, std::align_val_t{line_bytes}));
  std::memset(data_, 0, bytes_);
  owner_ = owner::heap;
}

inline void line_memory::release() noexcept {
  if (owner_ == owner::heap) ::operator delete (data_, std::align_val_t{line_bytes});
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  if (owner_ == owner::system) ::munmap(data_ - lead_, bytes_ + huge_page_bytes);
#endif
}

}  // namespace oneprobe::inline v0_1
