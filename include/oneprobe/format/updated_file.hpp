// A whole file as memory whose changes are the file's: for one writer at a time.
//
//   loaded<updated_file> file = updated_file::open("flows.table");
//   file->bytes()[1000] = std::byte{1};
//   if (auto failure = file->sync()) complain(failure->sentence);
//
// The writer holds a lock on the file until it ends, where the system has locks that belong to an
// open file (Linux); another that comes meanwhile is refused. Whoever cuts the file off while it is
// mapped ends this process at the next access (SIGBUS), as does a disk that is full, if the file
// has holes; `write_atomically` leaves none.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "oneprobe/core/line_memory.hpp"
#include "oneprobe/format/input_file.hpp"
#include "oneprobe/format/load_failure.hpp"
#include "oneprobe/format/mapped_file.hpp"

namespace oneprobe {
namespace detail {

/// 0, or errno. The lock ends with the last descriptor of this open file.
inline int lock_for_writing([[maybe_unused]] int descriptor) noexcept {
#if defined(F_OFD_SETLK)
  struct flock whole {};
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (::fcntl(descriptor, F_OFD_SETLK, &whole) != 0) {
    // File systems without locks: there is no better way to offer.
    return errno == ENOLCK || errno == EINVAL || errno == ENOTSUP ? 0 : errno;
  }
#endif
  return 0;
}

/// The file at `path`, locked for this process.
inline loaded<input_file> open_locked(const std::string& path) {
  loaded<input_file> file = input_file::open(path, file_access::update);
  if (!file) return file;
  const int error = lock_for_writing(file->descriptor());
  if (error == EAGAIN || error == EACCES)
    return load_failure{load_error::not_closed,
                        file->name() + " was not closed: it is open for writing elsewhere"};
  if (error != 0) return file->failed(system_words(error));
  return file;
}

}  // namespace detail

class updated_file {
 public:
  static loaded<updated_file> open(const std::string& path, page_touch touch = page_touch::on_use) {
    loaded<input_file> file = detail::open_locked(path);
    if (!file) return std::move(file).failure();
    if (file->size() > std::numeric_limits<std::size_t>::max())
      return file->failed("it is larger than this machine's memory can be");
    updated_file updated(*std::move(file));
    if (updated.size_ == 0) return updated;  // there is no mapping of nothing
    void* const memory = ::mmap(nullptr, updated.size_, PROT_READ | PROT_WRITE,
                                detail::shared_with(touch), updated.file_.descriptor(), 0);
    if (memory == MAP_FAILED) return updated.file_.failed(detail::system_words(errno));
    updated.data_ = static_cast<std::byte*>(memory);
    return updated;
  }

  updated_file(updated_file&& other) noexcept
      : file_(std::move(other.file_)),
        data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)) {}
  ~updated_file() {
    if (data_ != nullptr) ::munmap(data_, size_);
  }

  std::span<std::byte> bytes() const noexcept { return {data_, data_ == nullptr ? 0 : size_}; }
  /// What sentences call it.
  const std::string& name() const noexcept { return file_.name(); }

  /// Forces all changes to the disk.
  [[nodiscard]] std::optional<save_failure> sync() const {
    if (data_ == nullptr || ::msync(data_, size_, MS_SYNC) == 0) return std::nullopt;
    return failed(errno);
  }
  /// Replaces the first bytes by one write, and forces them to the disk: whoever ends this process
  /// leaves the old ones or the new ones.
  [[nodiscard]] std::optional<save_failure> write_head(std::span<const std::byte> head) const {
    const ssize_t put = ::pwrite(file_.descriptor(), head.data(), head.size(), 0);
    if (put < 0) return failed(errno);
    if (static_cast<std::size_t>(put) != head.size()) return failed(EIO);
    if (::fsync(file_.descriptor()) != 0) return failed(errno);
    return std::nullopt;
  }

 private:
  explicit updated_file(input_file file) noexcept
      : file_(std::move(file)), size_(static_cast<std::size_t>(file_.size())) {}
  save_failure failed(int error) const {
    return {name() + " cannot be written: " + detail::system_words(error)};
  }

  input_file file_;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace oneprobe
