// An open file that is closed when its owner goes, and the system's words for what went wrong.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "oneprobe/files.hpp"

namespace oneprobe::inline v0_1 {
namespace detail {

inline std::string system_words(int error) { return std::generic_category().message(error); }

class file_handle {
 public:
  file_handle() noexcept = default;
  explicit file_handle(int descriptor) noexcept : descriptor_(descriptor) {}
  file_handle(file_handle&& other) noexcept : descriptor_(std::exchange(other.descriptor_, none)) {}
  file_handle& operator=(file_handle&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~file_handle() {
    if (is_open()) ::close(descriptor_);
  }

  bool is_open() const noexcept { return descriptor_ != none; }
  int descriptor() const noexcept { return descriptor_; }
  /// Closes it now, for callers that check whether closing succeeded: 0, or errno.
  int close() noexcept { return ::close(std::exchange(descriptor_, none)) == 0 ? 0 : errno; }

 private:
  static constexpr int none = -1;
  int descriptor_ = none;
};

/// One call moves at most this much: Linux stops at 2 GiB, others fail above it.
inline constexpr std::size_t most_bytes_per_call = std::size_t{1} << 30;

/// 0, or errno. A file that ends before is an error of its own.
inline constexpr int file_is_shorter = -1;
inline int read_all(int descriptor, std::uint64_t begin, std::span<std::byte> out) noexcept {
  while (!out.empty()) {
    const ssize_t got = ::pread(descriptor, out.data(), std::min(out.size(), most_bytes_per_call),
                                static_cast<off_t>(begin));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) return file_is_shorter;
    out = out.subspan(static_cast<std::size_t>(got));
    begin += static_cast<std::uint64_t>(got);
  }
  return 0;
}

}  // namespace detail

/// What a file is opened for: to `read` only, or to `update` it.
enum class file_access : std::uint8_t { read, update };

/// A file to be read: a regular one, whose length is known.
class input_file {
 public:
  static loaded<input_file> open(const std::string& path, file_access access = file_access::read) {
    input_file file;
    file.name_ = detail::quoted(path);
    // Not to wait: a pipe without a writer would, and is refused below.
    file.handle_ = detail::file_handle(
        ::open(path.c_str(),
               (access == file_access::update ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK));
    if (!file.handle_.is_open()) return file.failed(detail::system_words(errno));
    struct stat status {};
    if (::fstat(file.handle_.descriptor(), &status) != 0)
      return file.failed(detail::system_words(errno));
    if (S_ISDIR(status.st_mode)) return file.failed(detail::system_words(EISDIR));
    if (!S_ISREG(status.st_mode)) return file.failed("it is not a regular file");
    file.bytes_ = static_cast<std::uint64_t>(status.st_size);
    return file;
  }

  /// What sentences call it.
  const std::string& name() const noexcept { return name_; }
  std::uint64_t size() const noexcept { return bytes_; }
  int descriptor() const noexcept { return handle_.descriptor(); }

  /// Fills `out` with the bytes from `begin` on. A file that was cut off meanwhile is truncated.
  std::optional<load_failure> read(std::uint64_t begin, std::span<std::byte> out) const {
    const int error = detail::read_all(handle_.descriptor(), begin, out);
    if (error == detail::file_is_shorter)
      return load_failure{load_error::truncated,
                          name_ + " is truncated: it became shorter while it was read"};
    if (error != 0) return failed(detail::system_words(error));
    return std::nullopt;
  }

  load_failure failed(std::string_view why) const {
    return {load_error::io, name_ + " cannot be read: " + std::string(why)};
  }

 private:
  detail::file_handle handle_;
  std::string name_;
  std::uint64_t bytes_ = 0;
};

}  // namespace oneprobe::inline v0_1
