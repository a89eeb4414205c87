// 2^40 bits of which hardly any is touched: address space, not memory.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <span>

namespace oneprobe::testing {

class vast_memory {
 public:
  explicit vast_memory(std::size_t bytes)
      : bytes_(bytes),
        data_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~vast_memory() {
    if (there()) ::munmap(data_, bytes_);
  }
  vast_memory(const vast_memory&) = delete;
  vast_memory& operator=(const vast_memory&) = delete;

  bool there() const { return data_ != MAP_FAILED; }
  std::span<std::byte> bytes() const { return {static_cast<std::byte*>(data_), bytes_}; }

 private:
  std::size_t bytes_;
  void* data_;
};

/// Whether so many bytes cannot be had where they are really meant.
inline bool system_refuses(std::size_t bytes) {
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return true;
  ::munmap(memory, bytes);
  return false;
}

}  // namespace oneprobe::testing

/// Leaves the test if the system does not lend so much address space.
#define SKIP_WITHOUT(memory) \
  if (!(memory).there())     \
  GTEST_SKIP() << "the system refuses a mapping of " << (memory).bytes().size() << " bytes"
