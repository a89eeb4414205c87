// Writing a file so that there is always a whole one: the old one until the new one is complete.
//
//   if (auto failure = write_atomically("seen.filter", {parts})) complain(failure->sentence);
//
// The bytes go to a temporary file in the same folder, `NAME.PID-COUNT.tmp`, which is forced to the
// disk and then renamed. Whatever fails before that, a full disk for example, leaves the old file
// as it was and removes the temporary one; a process that is killed leaves the old file or the new
// one, and perhaps the temporary file, which is never read and may be deleted.
//
// A symbolic link is followed: what it points to is replaced. An existing file keeps its permission
// bits; a name that is not a regular file (a device, a pipe) is refused, since a rename would
// replace it. Threads and processes may write the same name at a time: one of them wins.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "oneprobe/detail/io/input_file.hpp"
#include "oneprobe/files.hpp"

namespace oneprobe::inline v0_1 {
namespace detail {

/// A file that is removed again unless it is kept.
class temporary_file {
 public:
  /// Beside `target`. Not open if that failed; errno says why.
  explicit temporary_file(const std::string& target) {
    static std::atomic<std::uint64_t> count{0};
    // A name can be taken only by what a killed process of the same number left behind.
    constexpr int most_names = 1000;
    for (int tried = 0; tried < most_names && !handle_.is_open(); ++tried) {
      name_ = target + "." + std::to_string(::getpid()) + "-" +
              std::to_string(count.fetch_add(1, std::memory_order_relaxed)) + ".tmp";
      constexpr mode_t all_that_umask_allows = 0666;
      handle_ = file_handle(
          ::open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, all_that_umask_allows));
      if (!handle_.is_open() && errno != EEXIST) break;
    }
    present_ = handle_.is_open();
  }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  ~temporary_file() {
    if (present_) ::unlink(name_.c_str());
  }

  file_handle& handle() noexcept { return handle_; }
  const file_handle& handle() const noexcept { return handle_; }
  /// 0, or errno.
  int rename_to(const std::string& target) noexcept {
    if (std::rename(name_.c_str(), target.c_str()) != 0) return errno;
    present_ = false;
    return 0;
  }

 private:
  std::string name_;
  file_handle handle_;
  bool present_ = false;
};

/// 0, or errno.
inline int write_all(int descriptor, std::span<const std::byte> bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t put =
        ::write(descriptor, bytes.data(), std::min(bytes.size(), most_bytes_per_call));
    if (put < 0 && errno != EINTR) return errno;
    if (put > 0) bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return 0;
}

inline std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "./" : path.substr(0, slash + 1);
}

/// 0, or errno. The folder's entry for a file that was renamed is on the disk afterwards.
inline int sync_folder_of(const std::string& path) {
  file_handle handle(::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!handle.is_open()) return errno;
  if (::fsync(handle.descriptor()) == 0) return 0;
  // Some file systems cannot sync a folder; they have no better way to offer.
  return errno == EINVAL || errno == ENOTSUP ? 0 : errno;
}

/// Where a chain of symbolic links ends, whether or not there is a file.
inline std::string link_target(std::string path) {
  constexpr int most_links = 40;  // as many as Linux follows
  std::array<char, 4096> text;
  for (int i = 0; i < most_links; ++i) {
    const ssize_t length = ::readlink(path.c_str(), text.data(), text.size());
    if (length <= 0 || static_cast<std::size_t>(length) == text.size()) break;
    const std::string next(text.data(), static_cast<std::size_t>(length));
    path = next.front() == '/' ? next : folder_of(path).append(next);
  }
  return path;
}

}  // namespace detail

/// Replaces the file `path` by the parts, one after the other.
inline std::optional<save_failure> write_atomically(
    const std::string& path, std::span<const std::span<const std::byte>> parts) {
  const auto failed = [&](std::string_view why) {
    return save_failure{detail::quoted(path) + " cannot be written: " + std::string(why)};
  };
  const auto said = [&](int error) { return failed(detail::system_words(error)); };

  const std::string target = detail::link_target(path);
  struct stat old {};
  const bool replaces = ::stat(target.c_str(), &old) == 0;
  if (!replaces && errno != ENOENT) return said(errno);
  if (replaces && S_ISDIR(old.st_mode)) return said(EISDIR);
  if (replaces && !S_ISREG(old.st_mode)) return failed("it is not a regular file");

  detail::temporary_file file(target);
  detail::file_handle& handle = file.handle();
  if (!handle.is_open()) return said(errno);
  constexpr mode_t permission_bits = 0777;
  if (replaces && ::fchmod(handle.descriptor(), old.st_mode & permission_bits) != 0)
    return said(errno);
  for (const std::span<const std::byte> part : parts)
    if (const int error = detail::write_all(handle.descriptor(), part)) return said(error);
  if (::fsync(handle.descriptor()) != 0) return said(errno);
  if (const int error = handle.close()) return said(error);
  if (const int error = file.rename_to(target)) return said(error);
  if (const int error = detail::sync_folder_of(target))
    return save_failure{
        detail::quoted(path) +
        " is written, but a crash may bring the old file back: " + detail::system_words(error)};
  return std::nullopt;
}

inline std::optional<save_failure> write_atomically(
    const std::string& path, std::initializer_list<std::span<const std::byte>> parts) {
  return write_atomically(path, std::span(parts.begin(), parts.size()));
}

}  // namespace oneprobe::inline v0_1
