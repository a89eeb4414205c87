// A count that many threads raise at once without waiting for each other.
//
//   shared_count size;
//   size.add(1);                 // any thread
//   size.value();                // all that was added by calls this thread knows to have returned
//
// Each thread adds to one of 16 cells, each on a cache line of its own; more threads share them.
// 1 KiB. Copies take the value.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace oneprobe::inline v0_1 {

class shared_count {
 public:
  shared_count() = default;
  explicit shared_count(std::uint64_t value) noexcept { add(value); }
  shared_count(const shared_count& other) noexcept : shared_count(other.value()) {}
  shared_count& operator=(const shared_count& other) noexcept {
    const std::uint64_t value = other.value();
    clear();
    add(value);
    return *this;
  }

  void add(std::uint64_t more) noexcept {
    cells_[own_cell()].value.fetch_add(more, std::memory_order_relaxed);
  }
  std::uint64_t value() const noexcept {
    std::uint64_t sum = 0;
    for (const cell& part : cells_) sum += part.value.load(std::memory_order_relaxed);
    return sum;
  }
  /// REQUIRES: no other thread uses it.
  void clear() noexcept {
    for (cell& part : cells_) part.value.store(0, std::memory_order_relaxed);
  }

 private:
  static constexpr std::size_t cells = 16;
  struct alignas(64) cell {
    std::atomic<std::uint64_t> value{0};
  };

  /// Threads take the cells in turn.
  static std::size_t own_cell() noexcept {
    static std::atomic<std::size_t> next{0};
    static thread_local const std::size_t own =
        next.fetch_add(1, std::memory_order_relaxed) % cells;
    return own;
  }

  std::array<cell, cells> cells_;
};

}  // namespace oneprobe::inline v0_1
