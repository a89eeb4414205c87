// A disk in memory that loses power at any write or sync, or fails there, and what may be on it
// afterwards.
#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "oneprobe/detail/io/page_file.hpp"

namespace failing {

using file_bytes = std::vector<std::byte>;

/// What a disk holds, what was written since the last sync, and what the system shows of both: the
/// last outlives a process, but no loss of power.
struct disk {
  static constexpr std::size_t sector_bytes = 512;

  struct write {
    std::uint64_t begin;
    file_bytes bytes;
  };
  file_bytes durable;
  file_bytes cached;
  std::vector<write> unsynced{};
  std::uint64_t reads = 0;
  std::uint64_t operations = 0;            // writes and syncs
  std::uint64_t power_until = UINT64_MAX;  // this operation is the last, and fails
  // This operation fails, and others do not. What a sync should have brought to the disk never gets
  // there, and is shown all the same.
  std::uint64_t failing_operation = UINT64_MAX;
  int error = EIO;  // what it answers then

  explicit disk(file_bytes bytes) : durable(std::move(bytes)), cached(durable) {}
  bool has_power() const noexcept { return operations < power_until; }
};

class file final : public oneprobe::page_file {
 public:
  explicit file(std::shared_ptr<disk> on) : disk_(std::move(on)) {}

  int read(std::uint64_t begin, std::span<std::byte> out) const noexcept override {
    ++disk_->reads;
    const file_bytes& now = disk_->cached;
    if (begin > now.size() || out.size() > now.size() - begin) return EIO;
    if (!out.empty()) std::memcpy(out.data(), now.data() + begin, out.size());
    return 0;
  }
  int write(std::uint64_t begin, std::span<const std::byte> bytes) noexcept override {
    if (!disk_->has_power()) return disk_->error;
    file_bytes& now = disk_->cached;
    if (begin > now.size() || bytes.size() > now.size() - begin) return EFBIG;
    if (++disk_->operations == disk_->failing_operation) return disk_->error;
    // Some of the write on which power fails may be on the disk: it is the last of the unsynced.
    disk_->unsynced.push_back({begin, {bytes.begin(), bytes.end()}});
    if (!bytes.empty()) std::memcpy(now.data() + begin, bytes.data(), bytes.size());
    return disk_->has_power() ? 0 : disk_->error;
  }
  int sync() noexcept override {
    if (!disk_->has_power()) return disk_->error;
    ++disk_->operations;
    if (!disk_->has_power()) return disk_->error;
    if (disk_->operations == disk_->failing_operation) {
      disk_->unsynced.clear();
      return disk_->error;
    }
    for (const disk::write& each : disk_->unsynced)
      std::memcpy(disk_->durable.data() + each.begin, each.bytes.data(), each.bytes.size());
    disk_->unsynced.clear();
    return 0;
  }
  std::uint64_t size() const noexcept override { return disk_->cached.size(); }
  const std::string& name() const noexcept override { return name_; }

 private:
  std::shared_ptr<disk> disk_;
  std::string name_ = "'the disk'";
};

/// What of the unsynced writes got to the disk.
enum class survival { nothing, everything, first_half, last_only, some_sectors, torn_anywhere };
inline constexpr survival all_survivals[] = {survival::nothing,      survival::everything,
                                             survival::first_half,   survival::last_only,
                                             survival::some_sectors, survival::torn_anywhere};

inline file_bytes after_power_loss(const disk& before, survival how, std::uint64_t seed) {
  file_bytes bytes = before.durable;
  std::mt19937_64 random(seed);
  const auto keep = [&](const disk::write& from, std::size_t begin, std::size_t end) {
    std::memcpy(bytes.data() + from.begin + begin, from.bytes.data() + begin, end - begin);
  };
  const std::size_t writes = before.unsynced.size();
  for (std::size_t i = 0; i < writes; ++i) {
    const disk::write& each = before.unsynced[i];
    const std::size_t size = each.bytes.size();
    switch (how) {
      case survival::nothing:
        break;
      case survival::everything:
        keep(each, 0, size);
        break;
      case survival::first_half:
        keep(each, 0, i + 1 == writes ? size / 2 / disk::sector_bytes * disk::sector_bytes : size);
        break;
      case survival::last_only:
        if (i + 1 == writes) keep(each, 0, size);
        break;
      case survival::some_sectors:
        for (std::size_t at = 0; at < size; at += disk::sector_bytes)
          if (random() % 2 == 0) keep(each, at, std::min(size, at + disk::sector_bytes));
        break;
      case survival::torn_anywhere:
        keep(each, 0, i + 1 == writes ? random() % (size + 1) : size);
        break;
    }
  }
  return bytes;
}

}  // namespace failing
