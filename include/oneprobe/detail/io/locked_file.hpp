// A whole file as memory, locked as long as it is there: for many readers, or for one writer.
//
//   loaded<locked_file> file = locked_file::open("flows.table", file_access::read);
//   std::span<const std::byte> bytes = file->bytes();
//
// The lock belongs to an open file (Linux), so that two in one process exclude each other as two
// processes do. A reader needs no right to write. Where there are no such locks, on some network
// file systems for example, there is none.
//
// What is locked is a file, not its name: a rename, as `save` does it, gives the name to another
// file that has no lock. Hence the name is looked up again once the lock is held.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "oneprobe/detail/io/input_file.hpp"
#include "oneprobe/detail/io/mapped_file.hpp"
#include "oneprobe/files.hpp"
#include "oneprobe/memory.hpp"

namespace oneprobe::inline v0_1 {
namespace detail {

/// What keeps a lock from being taken.
enum class lock_holder : std::uint8_t { nobody, readers, writer };

#if defined(F_OFD_SETLK)
inline struct flock lock_of_whole_file(file_access access) noexcept {
  struct flock whole {};
  whole.l_type = access == file_access::update ? F_WRLCK : F_RDLCK;
  whole.l_whence = SEEK_SET;
  return whole;
}
/// 0, or errno. The lock ends with the last descriptor of this open file.
inline int set_lock(int descriptor, file_access access) noexcept {
  struct flock whole = lock_of_whole_file(access);
  return ::fcntl(descriptor, F_OFD_SETLK, &whole) == 0 ? 0 : errno;
}
inline lock_holder find_lock_holder(int descriptor, file_access access) noexcept {
  struct flock found = lock_of_whole_file(access);
  if (::fcntl(descriptor, F_OFD_GETLK, &found) != 0 || found.l_type == F_WRLCK)
    return lock_holder::writer;
  return found.l_type == F_RDLCK ? lock_holder::readers : lock_holder::nobody;
}
#else
inline int set_lock(int, file_access) noexcept { return 0; }
inline lock_holder find_lock_holder(int, file_access) noexcept { return lock_holder::writer; }
#endif

/// The file if it may be used after an attempt to lock it that ended with `error`, or why not. None
/// if the lock has been released since: another attempt may succeed.
inline std::optional<loaded<input_file>> after_locking(input_file file, file_access access,
                                                       int error) {
  if (error == EAGAIN || error == EACCES) {
    const lock_holder holder = find_lock_holder(file.descriptor(), access);
    if (holder == lock_holder::nobody) return std::nullopt;
    if (holder == lock_holder::readers)
      return file.failed("it is to be changed, and is being read elsewhere");
    return load_failure{load_error::not_closed,
                        file.name() + " was not closed: it is open for writing elsewhere"};
  }
  // File systems without locks have no better way to offer, and a reader does no harm.
  if (error == 0 || error == ENOLCK || error == EINVAL || error == ENOTSUP ||
      access == file_access::read)
    return file;
  return file.failed(system_words(error));
}

inline bool is_name_of(const std::string& path, const input_file& file) noexcept {
  struct stat named {};
  struct stat opened {};
  return ::stat(path.c_str(), &named) == 0 && ::fstat(file.descriptor(), &opened) == 0 &&
         named.st_dev == opened.st_dev && named.st_ino == opened.st_ino;
}

/// The file under a lock, or why not. None if `path`, by which it was opened, names another by now,
/// or if the lock is free again.
inline std::optional<loaded<input_file>> lock_named(input_file file, const std::string& path,
                                                    file_access access) {
  const int error = set_lock(file.descriptor(), access);
  if (!is_name_of(path, file)) return std::nullopt;
  return after_locking(std::move(file), access, error);
}

/// The file that `path` names while the lock is held.
inline loaded<input_file> open_locked(const std::string& path, file_access access) {
  // Others replace it, or let go of it, between two system calls: once, or they do nothing else.
  constexpr int most_tries = 100;
  for (int i = 0; i < most_tries; ++i) {
    loaded<input_file> file = input_file::open(path, access);
    if (!file) return file;
    if (auto locked = lock_named(*std::move(file), path, access)) return *std::move(locked);
  }
  return load_failure{
      load_error::io,
      detail::quoted(path) + " cannot be read: it is replaced or locked again and again"};
}

}  // namespace detail

class locked_file {
 public:
  static loaded<locked_file> open(const std::string& path, file_access access,
                                  page_touch touch = page_touch::on_use) {
    loaded<input_file> file = detail::open_locked(path, access);
    if (!file) return std::move(file).failure();
    loaded<detail::file_mapping> mapping = detail::file_mapping::of(*file, access, touch);
    if (!mapping) return std::move(mapping).failure();
    return locked_file(*std::move(file), *std::move(mapping));
  }

  /// Not to be written where it was opened to be read.
  std::span<std::byte> bytes() const noexcept { return mapping_.bytes(); }
  const input_file& file() const noexcept { return file_; }
  /// What sentences call it.
  const std::string& name() const noexcept { return file_.name(); }

 private:
  locked_file(input_file file, detail::file_mapping mapping) noexcept
      : file_(std::move(file)), mapping_(std::move(mapping)) {}

  input_file file_;  // and its lock, which outlives the mapping
  detail::file_mapping mapping_;
};

}  // namespace oneprobe::inline v0_1
