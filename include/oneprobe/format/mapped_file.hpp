// A whole file as memory that is read from the disk when it is touched, and never written.
//
//   loaded<mapped_file> file = mapped_file::map("seen.filter");
//   std::span<const std::byte> bytes = file->bytes();
//
// The bytes begin on a page, so that sections that are aligned in the file are aligned in memory.
// Whoever cuts the file off while it is mapped ends this process at the next access (SIGBUS);
// files that are replaced by a rename, as `save` does, keep their old bytes here.
// Const functions may be called together.
#pragma once

#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>

#include "oneprobe/core/line_memory.hpp"
#include "oneprobe/format/input_file.hpp"
#include "oneprobe/format/load_failure.hpp"

namespace oneprobe {

namespace detail {

/// The flags of a mapping that others see, read at once where the system can do that.
constexpr int shared_with([[maybe_unused]] page_touch touch) noexcept {
#if defined(MAP_POPULATE)
  if (touch == page_touch::at_once) return MAP_SHARED | MAP_POPULATE;
#endif
  return MAP_SHARED;
}

}  // namespace detail

class mapped_file {
 public:
  static loaded<mapped_file> map(const std::string& path, page_touch touch = page_touch::on_use) {
    loaded<input_file> file = input_file::open(path);
    if (!file) return std::move(file).failure();
    mapped_file mapped;
    mapped.name_ = file->name();
    if (file->size() == 0) return mapped;  // there is no mapping of nothing
    if (file->size() > std::numeric_limits<std::size_t>::max())
      return file->failed("it is larger than this machine's memory can be");
    mapped.size_ = static_cast<std::size_t>(file->size());
    void* const memory =
        ::mmap(nullptr, mapped.size_, PROT_READ, detail::shared_with(touch), file->descriptor(), 0);
    if (memory == MAP_FAILED) {
      mapped.size_ = 0;
      return file->failed(detail::system_words(errno));
    }
    mapped.data_ = static_cast<const std::byte*>(memory);
    return mapped;
  }

  mapped_file(mapped_file&& other) noexcept { swap(other); }
  mapped_file& operator=(mapped_file&& other) noexcept {
    swap(other);
    return *this;
  }
  ~mapped_file() {
    if (data_ != nullptr) ::munmap(const_cast<std::byte*>(data_), size_);
  }

  std::span<const std::byte> bytes() const noexcept { return {data_, size_}; }
  /// What sentences call it.
  const std::string& name() const noexcept { return name_; }

 private:
  mapped_file() noexcept = default;
  void swap(mapped_file& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(name_, other.name_);
  }

  const std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  std::string name_;
};

}  // namespace oneprobe
