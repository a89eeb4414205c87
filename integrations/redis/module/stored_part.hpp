// A filter whose memory Redis has given, so that Redis counts it: `maxmemory`, `INFO memory` and
// `MEMORY USAGE` see it. What growing_filter is made of here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

#include "oneprobe/filter/basic_filter.hpp"
#include "oneprobe/filter/plan.hpp"
#include "oneprobe/filter/results.hpp"
#include "oneprobe/hash.hpp"
#include "oneprobe/memory.hpp"
#include "redis_api.hpp"

namespace oneprobe::redis {

/// Memory from Redis that begins on a cache line, unless it was taken over.
class counted_memory {
 public:
  enum class contents { zeros, anything };

  counted_memory() noexcept = default;
  /// Throws std::bad_alloc if Redis has not so much.
  counted_memory(std::uint64_t bytes, contents filled_with) : size_(bytes) {
    constexpr std::size_t line = line_memory::line_bytes;
    if (bytes > std::uint64_t{1} << 62) throw std::bad_alloc();
    given_ = TryAlloc(size_ + line - 1);
    if (given_ == nullptr) throw std::bad_alloc();
    const auto begin = reinterpret_cast<std::uintptr_t>(given_);
    first_ = static_cast<std::byte*>(given_) + (line - begin % line) % line;
    if (filled_with == contents::zeros) set_to_zero({first_, size_});
  }
  /// Takes over what Redis gave, wherever it begins.
  counted_memory(void* given, std::size_t bytes) noexcept
      : given_(given), first_(static_cast<std::byte*>(given)), size_(bytes) {}
  counted_memory(counted_memory&& other) noexcept { swap(other); }
  counted_memory& operator=(counted_memory&& other) noexcept {
    counted_memory(std::move(other)).swap(*this);
    return *this;
  }
  ~counted_memory() {
    if (given_ != nullptr) Free(given_);
  }

  std::span<std::byte> bytes() noexcept { return {first_, size_}; }
  std::span<const std::byte> bytes() const noexcept { return {first_, size_}; }
  /// What Redis counts for it: its allocator rounds up.
  std::size_t counted_bytes() const noexcept { return given_ == nullptr ? 0 : MallocSize(given_); }

 private:
  /// Redis's allocator gives memory as it is. Whole pages are given back to the system, which has
  /// zeros when they are touched again: nothing is written before it is used.
  static void set_to_zero(std::span<std::byte> all) noexcept {
#if defined(__linux__)
    constexpr std::size_t worth_a_call = std::size_t{1} << 17;
    constexpr std::size_t page = 1 << 16;  // the largest of any machine, or a multiple of it
    const std::size_t before = (page - reinterpret_cast<std::uintptr_t>(all.data()) % page) % page;
    if (all.size() >= worth_a_call + before) {
      const std::size_t whole = (all.size() - before) / page * page;
      if (::madvise(all.data() + before, whole, MADV_DONTNEED) == 0) {
        std::memset(all.data(), 0, before);
        all = all.subspan(before + whole);
      }
    }
#endif
    std::memset(all.data(), 0, all.size());
  }
  void swap(counted_memory& other) noexcept {
    std::swap(given_, other.given_);
    std::swap(first_, other.first_);
    std::swap(size_, other.size_);
  }

  void* given_ = nullptr;
  std::byte* first_ = nullptr;
  std::size_t size_ = 0;
};

/// `Filter` in such memory. The memory is the first base, hence there before the filter and after.
template <class Filter>
class stored_part : private counted_memory,
                    public basic_filter<typename Filter::engine_type, seeded_hash> {
  using filter = basic_filter<typename Filter::engine_type, seeded_hash>;

 public:
  /// Empty. REQUIRES: a plan without a fault.
  stored_part(const filter_plan& plan, seeded_hash hash)
      : counted_memory(plan.memory().total(), contents::zeros),
        filter(plan, counted_memory::bytes(), hash) {}
  /// With the bytes of a filter of this plan, verified by the caller.
  stored_part(const filter_plan& plan, counted_memory memory, const filter_counts& counts,
              seeded_hash hash)
      : counted_memory(std::move(memory)), filter(plan, counted_memory::bytes(), hash, counts) {}

  /// A filter with the same bytes.
  stored_part duplicate() const {
    counted_memory copy(this->memory().size(), contents::anything);
    std::memcpy(copy.bytes().data(), this->memory().data(), copy.bytes().size());
    return stored_part(this->plan(), std::move(copy), this->counts(), this->hash());
  }

  using counted_memory::counted_bytes;
};

}  // namespace oneprobe::redis
