// Makes the file of a page store from records that come one after the other.
//
//   page_store_plan plan = default_page_store_plan(10'000'000, 16, 100);
//   loaded<page_store_builder> builder = page_store_builder::create("users.store", plan);
//   if (!builder) return complain(builder.failure().sentence);
//   while (...) builder->put(key, value);
//   if (auto failure = builder->finish()) return complain(failure->sentence);
//
// The file grows under another name in the same folder and gets its own once it is complete and on
// the disk; what stops before leaves what was there. A store that is being written is not
// replaced. Nothing is logged on the way: records go straight to their pages, which the system
// keeps in memory as long as it likes and writes when it must. Own memory: the summary, and 2 bytes
// per page. In a file that is larger than the machine's memory nearly each record would cost a page
// read and written: detail/page_store/record_partitions.hpp brings them into an order in which they
// do not.
//
// For one thread at a time.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "oneprobe/detail/io/atomic_file.hpp"
#include "oneprobe/detail/io/checksum.hpp"
#include "oneprobe/detail/io/input_file.hpp"
#include "oneprobe/detail/io/locked_file.hpp"
#include "oneprobe/detail/page_store/directory.hpp"
#include "oneprobe/detail/page_store/parameters.hpp"
#include "oneprobe/detail/page_store/record_page.hpp"
#include "oneprobe/files.hpp"
#include "oneprobe/hash.hpp"
#include "oneprobe/page_store/page_store.hpp"
#include "oneprobe/page_store/plan.hpp"

namespace oneprobe::inline v0_1 {

class page_store_builder {
 public:
  /// Begins a file. Refuses a plan that has a fault. An existing file is replaced by finish(), and
  /// keeps its permissions.
  static loaded<page_store_builder> create(const std::string& path, const page_store_plan& plan,
                                           std::uint64_t seed = random_seed());

  /// Inserts the record, or gives the key its new value. `failed` if a size is not the plan's.
  put_outcome put(std::span<const std::byte> key, std::span<const std::byte> value);
  /// Lets go of the pages in memory; the system keeps them, or writes them, as it likes.
  void release_memory() noexcept {
    ::madvise(memory_.bytes().data(), memory_.bytes().size(), MADV_DONTNEED);
  }
  /// Completes the file and gives it its name. Nothing may be called afterwards.
  [[nodiscard]] std::optional<save_failure> finish();

  const page_store_plan& plan() const noexcept { return directory_->plan(); }
  /// What it has counted so far.
  const page_store_counts& counts() const noexcept { return directory_->counts(); }
  /// Records that are in the overflow because of their string.
  std::uint64_t failures() const noexcept { return directory_->failures(); }
  /// Memory beside the file: the summary, the loads of the pages, the index of the overflow.
  std::size_t memory_bytes() const noexcept { return directory_->memory_bytes(); }

 private:
  /// The whole file as memory.
  class mapping {
   public:
    mapping() = default;
    explicit mapping(std::span<std::byte> bytes) noexcept : bytes_(bytes) {}
    mapping(mapping&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
    mapping& operator=(mapping&& other) noexcept {
      std::swap(bytes_, other.bytes_);
      return *this;
    }
    ~mapping() {
      if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
    }
    std::span<std::byte> bytes() const noexcept { return bytes_; }

   private:
    std::span<std::byte> bytes_{};
  };

  page_store_builder(std::string path, std::string target,
                     std::unique_ptr<detail::temporary_file> file, mapping memory,
                     std::unique_ptr<page_directory> directory) noexcept
      : path_(std::move(path)),
        target_(std::move(target)),
        file_(std::move(file)),
        memory_(std::move(memory)),
        directory_(std::move(directory)),
        shape_(page_shape::of(directory_->plan())) {}

  std::byte* page_at(std::uint64_t page) const noexcept {
    return memory_.bytes().data() + plan().page_begin(page);
  }
  save_failure failed(int error) const {
    return {detail::quoted(path_) + " cannot be written: " + detail::system_words(error)};
  }

  std::string path_;
  std::string target_;
  std::unique_ptr<detail::temporary_file> file_;
  mapping memory_;
  std::unique_ptr<page_directory> directory_;
  page_shape shape_;
};

// ---- implementation ----

inline loaded<page_store_builder> page_store_builder::create(const std::string& path,
                                                             const page_store_plan& plan,
                                                             std::uint64_t seed) {
  auto directory = std::make_unique<page_directory>(plan, seed);
  const auto said = [&](int error) {
    return load_failure{load_error::io, detail::quoted(path) +
                                            " cannot be written: " + detail::system_words(error)};
  };
  if (plan.file_bytes() > static_cast<std::uint64_t>(std::numeric_limits<off_t>::max()) ||
      plan.file_bytes() > std::numeric_limits<std::size_t>::max())
    return said(EFBIG);
  const std::string target = detail::link_target(path);
  struct stat old {};
  const bool replaces = ::stat(target.c_str(), &old) == 0;
  if (!replaces && errno != ENOENT) return said(errno);
  if (replaces && !S_ISREG(old.st_mode)) return said(S_ISDIR(old.st_mode) ? EISDIR : EINVAL);
  auto file = std::make_unique<detail::temporary_file>(target);
  if (!file->handle().is_open()) return said(errno);
  const int descriptor = file->handle().descriptor();
  constexpr mode_t permission_bits = 0777;
  if (replaces && ::fchmod(descriptor, old.st_mode & permission_bits) != 0) return said(errno);
  // All of it now: a disk that is full would end the process at a write to the mapping.
  const auto bytes = static_cast<off_t>(plan.file_bytes());
  if (const int error = ::posix_fallocate(descriptor, 0, bytes)) return said(error);
  const auto size = static_cast<std::size_t>(plan.file_bytes());
  void* const memory = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) return said(errno);
  mapping whole(std::span(static_cast<std::byte*>(memory), size));
  return page_store_builder(path, target, std::move(file), std::move(whole), std::move(directory));
}

inline put_outcome page_store_builder::put(std::span<const std::byte> key,
                                           std::span<const std::byte> value) {
  if (key.size() != shape_.key_bytes || value.size() != plan().value_bytes)
    return put_outcome::failed;
  const key_hash hash = directory_->hash_of(key);
  const auto assign_in = [&](std::uint64_t number) {
    record_page page(shape_, page_at(number));
    const std::optional<std::uint32_t> slot = page.find(key);
    if (slot) page.assign(*slot, value);
    return slot.has_value();
  };
  if (directory_->visit_overflow(hash, assign_in)) return put_outcome::assigned;
  if (const auto page = directory_->page_of(hash); page && assign_in(*page))
    return put_outcome::assigned;
  const page_directory::placement placed = directory_->place(hash);
  if (placed.ended == page_directory::destination::none) return put_outcome::full;
  record_page(shape_, page_at(placed.page)).append(key, value);
  return placed.ended == page_directory::destination::page ? put_outcome::inserted
                                                           : put_outcome::overflowed;
}

inline std::optional<save_failure> page_store_builder::finish() {
  const auto put = [&](std::uint64_t at, std::span<const std::byte> bytes) {
    std::memcpy(memory_.bytes().data() + at, bytes.data(), bytes.size());
  };
  const std::uint64_t at_a_time = (std::uint64_t{1} << 26) / shape_.page_bytes;
  for (std::uint64_t page = 0; page < plan().all_pages(); ++page) {
    record_page(shape_, page_at(page)).seal(page);
    if (page % at_a_time == at_a_time - 1) release_memory();
  }
  const std::vector<std::byte> snapshot = directory_->snapshot();
  put(page_store_plan::snapshot_begin(), snapshot);
  store_state_record first{
      .epoch = 1, .has_snapshot = true, .snapshot_checksum = checksum_of(snapshot)};
  put(page_store_plan::state_begin(1), encode(first));
  put(0, encode_store_head({plan(), directory_->seed()}));
  const std::span<std::byte> all = memory_.bytes();
  if (::msync(all.data(), all.size(), MS_SYNC) != 0) return failed(errno);
  memory_ = mapping();
  if (::fsync(file_->handle().descriptor()) != 0) return failed(errno);
  if (const int error = file_->handle().close()) return failed(error);
  // Not from under a writer, whose changes would go to a file without a name. Readers keep theirs.
  const loaded<input_file> replaced = input_file::open(target_);
  const int locked = replaced ? detail::set_lock(replaced->descriptor(), file_access::read) : 0;
  if (locked == EAGAIN || locked == EACCES)
    return save_failure{detail::quoted(path_) +
                        " cannot be written: it is open for writing elsewhere"};
  if (const int error = file_->rename_to(target_)) return failed(error);
  if (const int error = detail::sync_folder_of(target_))
    return save_failure{
        detail::quoted(path_) +
        " is written, but a crash may bring the old file back: " + detail::system_words(error)};
  return std::nullopt;
}

}  // namespace oneprobe::inline v0_1
