// A whole file as memory that is read from the disk when it is touched, and never written.
//
//   loaded<mapped_file> file = mapped_file::map("seen.filter");
//   std::span<const std::byte> bytes = file->bytes();
//
// The bytes begin on a page, so that sections that are aligned in the file are aligned in memory.
// If the file is truncated while it is mapped, the next access ends this process (SIGBUS);
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

#include "oneprobe/detail/io/input_file.hpp"
#include "oneprobe/files.hpp"
#include "oneprobe/memory.hpp"

namespace oneprobe::inline v0_1 {

namespace detail {

/// The flags of a mapping that others see, read at once where the system can do that.
constexpr int shared_with([[maybe_unused]] page_touch touch) noexcept {
#if defined(MAP_POPULATE)
  if (touch == page_touch::at_once) return MAP_SHARED | MAP_POPULATE;
#endif
  return MAP_SHARED;
}

/// The mapping of a whole file, which ends with its owner. The file itself may be closed before.
class file_mapping {
 public:
  static loaded<file_mapping> of(const input_file& file, file_access access, page_touch touch) {
    file_mapping mapping;
    if (file.size() == 0) return mapping;  // there is no mapping of nothing
    if (file.size() > std::numeric_limits<std::size_t>::max())
      return file.failed("it is larger than this machine's memory can be");
    const auto size = static_cast<std::size_t>(file.size());
    const int allowed = access == file_access::update ? PROT_READ | PROT_WRITE : PROT_READ;
    void* const memory = ::mmap(nullptr, size, allowed, shared_with(touch), file.descriptor(), 0);
    if (memory == MAP_FAILED) return file.failed(system_words(errno));
    mapping.bytes_ = {static_cast<std::byte*>(memory), size};
    return mapping;
  }

  file_mapping(file_mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
  file_mapping& operator=(file_mapping&& other) noexcept {
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~file_mapping() {
    if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
  }

  /// Not to be written where the access is to read.
  std::span<std::byte> bytes() const noexcept { return bytes_; }

 private:
  file_mapping() noexcept = default;

  std::span<std::byte> bytes_;
};

}  // namespace detail

class mapped_file {
 public:
  static loaded<mapped_file> map(const std::string& path, page_touch touch = page_touch::on_use) {
    const loaded<input_file> file = input_file::open(path);
    if (!file) return file.failure();
    loaded<detail::file_mapping> mapping =
        detail::file_mapping::of(*file, file_access::read, touch);
    if (!mapping) return std::move(mapping).failure();
    return mapped_file(file->name(), *std::move(mapping));
  }

  std::span<const std::byte> bytes() const noexcept { return mapping_.bytes(); }
  /// What sentences call it.
  const std::string& name() const noexcept { return name_; }

 private:
  mapped_file(std::string name, detail::file_mapping mapping) noexcept
      : name_(std::move(name)), mapping_(std::move(mapping)) {}

  std::string name_;
  detail::file_mapping mapping_;
};

}  // namespace oneprobe::inline v0_1
