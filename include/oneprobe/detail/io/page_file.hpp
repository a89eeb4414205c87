// A file that is read and written at any place: what a page store stands on.
//
//   page_file         the few operations, so that tests can fail any of them
//   system_page_file  a file of the operating system, locked as long as it is open
//
// Each operation answers 0 or an error number (errno). A write may be torn by a crash, and nothing
// that was written is sure to be there, or in which order it got there, before sync() has returned.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "oneprobe/detail/io/input_file.hpp"
#include "oneprobe/detail/io/locked_file.hpp"
#include "oneprobe/detail/io/mapped_file.hpp"
#include "oneprobe/files.hpp"
#include "oneprobe/memory.hpp"

namespace oneprobe::inline v0_1 {

class page_file {
 public:
  page_file() = default;
  page_file(const page_file&) = delete;
  page_file& operator=(const page_file&) = delete;
  virtual ~page_file() = default;

  /// Fills `out`. A file that ends before is an error. May be called by several threads together.
  virtual int read(std::uint64_t begin, std::span<std::byte> out) const noexcept = 0;
  /// The same bytes where they lie, as long as the file is open, if it is mapped; else null.
  virtual const std::byte* view(std::uint64_t begin) const noexcept {
    static_cast<void>(begin);
    return nullptr;
  }
  virtual int write(std::uint64_t begin, std::span<const std::byte> bytes) noexcept = 0;
  /// All that was written before is on the disk.
  virtual int sync() noexcept = 0;
  virtual std::uint64_t size() const noexcept = 0;
  /// What sentences call it.
  virtual const std::string& name() const noexcept = 0;
};

/// How pages are read.
enum class page_reading : std::uint8_t {
  cached,  // by pread, through the page cache of the system
  mapped,  // where they lie in the page cache: faster, but a disk that fails ends the process
  direct,  // from the device (O_DIRECT), where the file system can do that: pages of 4 KiB and up
};

class system_page_file final : public page_file {
 public:
  /// What is read directly begins and ends at multiples of so many bytes; all else is read through
  /// the page cache.
  static constexpr std::uint64_t direct_bytes = 4096;

  /// Locks it: for many readers, or for one writer.
  static loaded<std::unique_ptr<system_page_file>> open(const std::string& path, file_access access,
                                                        page_reading reading) {
    loaded<input_file> file = detail::open_locked(path, access);
    if (!file) return std::move(file).failure();
    std::unique_ptr<system_page_file> opened(new system_page_file(*std::move(file)));
    if (reading == page_reading::mapped) {
      loaded<detail::file_mapping> mapping =
          detail::file_mapping::of(opened->file_, file_access::read, page_touch::on_use);
      if (!mapping) return std::move(mapping).failure();
      opened->mapping_ = *std::move(mapping);
    }
    if (reading != page_reading::direct) return opened;
    if (auto error = opened->open_direct(path))
      return opened->file_.failed("no direct reading: " + detail::system_words(error));
    return opened;
  }

  int read(std::uint64_t begin, std::span<std::byte> out) const noexcept override {
    const bool direct = direct_.is_open() && is_aligned(begin) && is_aligned(out.size()) &&
                        is_aligned(reinterpret_cast<std::uintptr_t>(out.data()));
    const int descriptor = direct ? direct_.descriptor() : file_.descriptor();
    const int error = detail::read_all(descriptor, begin, out);
    return error == detail::file_is_shorter ? EIO : error;
  }
  const std::byte* view(std::uint64_t begin) const noexcept override {
    return mapping_ ? mapping_->bytes().data() + begin : nullptr;
  }
  int write(std::uint64_t begin, std::span<const std::byte> bytes) noexcept override {
    while (!bytes.empty()) {
      const ssize_t put =
          ::pwrite(file_.descriptor(), bytes.data(),
                   std::min(bytes.size(), detail::most_bytes_per_call), static_cast<off_t>(begin));
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return errno;
      bytes = bytes.subspan(static_cast<std::size_t>(put));
      begin += static_cast<std::uint64_t>(put);
    }
    return 0;
  }
  int sync() noexcept override { return ::fdatasync(file_.descriptor()) == 0 ? 0 : errno; }
  std::uint64_t size() const noexcept override { return file_.size(); }
  const std::string& name() const noexcept override { return file_.name(); }

 private:
  explicit system_page_file(input_file file) noexcept : file_(std::move(file)) {}

  static bool is_aligned(std::uint64_t number) noexcept { return number % direct_bytes == 0; }

  /// A second way to the same file; the lock stays with the first. 0, or errno.
  int open_direct(const std::string& path) {
#if defined(O_DIRECT)
    direct_ = detail::file_handle(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECT));
    if (!direct_.is_open()) return errno;
    return detail::is_name_of(path, file_) ? 0 : ESTALE;
#else
    static_cast<void>(path);
    return ENOTSUP;
#endif
  }

  input_file file_;
  detail::file_handle direct_;
  std::optional<detail::file_mapping> mapping_;
};

}  // namespace oneprobe::inline v0_1
