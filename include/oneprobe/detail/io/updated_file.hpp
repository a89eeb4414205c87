// A whole file as memory whose changes are the file's: for one writer at a time.
//
//   loaded<updated_file> file = updated_file::open("flows.table");
//   file->bytes()[1000] = std::byte{1};
//   if (auto failure = file->sync()) complain(failure->sentence);
//
// The writer holds a lock on the file until it ends (locked_file.hpp): another that comes meanwhile
// is refused, and so is the writer itself while a reader has the file locked. If the file is
// truncated while it is mapped, the next access ends this process (SIGBUS), as does a
// disk that is full, if the file has holes; `write_atomically` leaves none.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "oneprobe/detail/io/input_file.hpp"
#include "oneprobe/detail/io/locked_file.hpp"
#include "oneprobe/files.hpp"
#include "oneprobe/memory.hpp"

namespace oneprobe::inline v0_1 {
namespace detail {

/// The same path, whatever folder this process works in later.
inline std::string absolute_path(const std::string& path) {
  std::array<char, 4096> folder;
  if (path.starts_with('/') || ::getcwd(folder.data(), folder.size()) == nullptr) return path;
  return std::string(folder.data()) + "/" + path;
}

}  // namespace detail

class updated_file {
 public:
  static loaded<updated_file> open(const std::string& path, page_touch touch = page_touch::on_use) {
    loaded<locked_file> file = locked_file::open(path, file_access::update, touch);
    if (!file) return std::move(file).failure();
    return updated_file(*std::move(file), detail::absolute_path(path));
  }

  std::span<std::byte> bytes() const noexcept { return locked_.bytes(); }
  /// What sentences call it.
  const std::string& name() const noexcept { return locked_.name(); }

  /// Has all pages ready to be written; `page_touch::at_once` alone has them ready to be read. They
  /// count as changed: `sync` and `write_head` write them all. Once a page was written to the disk,
  /// by them or by the system itself, its next change waits for the system again, which has to note
  /// it; only files in memory (tmpfs) need no such notes.
  void touch_for_writing() const noexcept { detail::touch_for_writing(bytes()); }

  /// Forces all changes to the disk.
  [[nodiscard]] std::optional<save_failure> sync() const {
    if (bytes().empty() || ::msync(bytes().data(), bytes().size(), MS_SYNC) == 0)
      return std::nullopt;
    return failed(detail::system_words(errno));
  }
  /// Replaces the first bytes by one write, and forces them to the disk: if this process is killed,
  /// the old ones or the new ones are left. If it fails, some may be new, or all of them.
  [[nodiscard]] std::optional<save_failure> write_head(std::span<const std::byte> head) const {
    const ssize_t put = ::pwrite(descriptor(), head.data(), head.size(), 0);
    if (put < 0) return failed(detail::system_words(errno));
    if (static_cast<std::size_t>(put) != head.size()) return failed(detail::system_words(EIO));
    if (::fsync(descriptor()) != 0) return failed(detail::system_words(errno));
    return std::nullopt;
  }
  /// None if opening the path finds this file.
  [[nodiscard]] std::optional<save_failure> find_other_name() const {
    if (detail::is_name_of(path_, locked_.file())) return std::nullopt;
    return failed(
        "it was replaced, renamed or removed while it was open; "
        "the changes are in the file that was opened");
  }

 private:
  updated_file(locked_file locked, std::string path) noexcept
      : locked_(std::move(locked)), path_(std::move(path)) {}
  int descriptor() const noexcept { return locked_.file().descriptor(); }
  save_failure failed(std::string_view why) const {
    return {name() + " cannot be written: " + std::string(why)};
  }

  locked_file locked_;
  std::string path_;  // absolute
};

}  // namespace oneprobe::inline v0_1
