// The log of a page store: one entry for each change, in their order.
//
//   0   4  bytes of the entry, a multiple of 8
//   4   2  change: 1 insert, 2 assign, 3 erase, 4 session
//   6   2  form: 1 the page after the change, 2 its record, 3 nothing
//   8   4  slot
//   12  4  zero
//   16  8  page
//   24  8  hash of the key, which the summary goes by; of a session a number of its own
//   32     the page, or the record, and zeros up to a multiple of 8
//       8  checksum: XXH3 of all before it, with the checksum of the entry before for a seed
//
// The first change of a page after a checkpoint has the whole page, later ones their record: what
// is in the log makes every page whole that a torn write may have left. Checksums are a chain, from
// the checksum of the state that the log continues: what is left of an older log, or of a write
// that a crash has torn, is never taken for an entry. Each writer begins with a session, so that
// what it writes does not continue by chance what its predecessor lost.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <vector>

#include "oneprobe/detail/io/bytes.hpp"
#include "oneprobe/detail/io/checksum.hpp"
#include "oneprobe/page_store/plan.hpp"

namespace oneprobe::inline v0_1 {

enum class store_change : std::uint16_t { insert = 1, assign = 2, erase = 3, session = 4 };
enum class logged_form : std::uint16_t { page = 1, record = 2, nothing = 3 };

struct log_entry {
  store_change change = store_change::session;
  logged_form form = logged_form::nothing;
  std::uint32_t slot = 0;
  std::uint64_t page = 0;
  std::uint64_t hash = 0;
  std::span<const std::byte> content{};
};

namespace detail {

inline constexpr std::size_t log_head_bytes = 32;
inline constexpr std::size_t log_checksum_bytes = 8;
static_assert(log_head_bytes + log_checksum_bytes == page_store_plan::log_entry_bytes);

constexpr std::size_t log_entry_size(std::size_t content) noexcept {
  return log_head_bytes + (content + 7) / 8 * 8 + log_checksum_bytes;
}
inline std::uint64_t chained_checksum(std::span<const std::byte> bytes,
                                      std::uint64_t before) noexcept {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), before);
}

}  // namespace detail

/// Entries that are to be written, one after the other.
class log_writer {
 public:
  /// `chain` is the checksum of the entry, or of the state, before the first.
  explicit log_writer(std::uint64_t chain) noexcept : chain_(chain) {}

  void append(const log_entry& entry) {
    const std::size_t begin = bytes_.size();
    const std::size_t size = detail::log_entry_size(entry.content.size());
    bytes_.resize(begin + size);
    const auto all = std::span(bytes_).subspan(begin);
    byte_writer out(all);
    out.put(static_cast<std::uint32_t>(size));
    out.put(static_cast<std::uint16_t>(entry.change));
    out.put(static_cast<std::uint16_t>(entry.form));
    out.put(entry.slot);
    out.put(std::uint32_t{0});
    out.put(entry.page);
    out.put(entry.hash);
    out.put(entry.content);
    const std::size_t covered = size - detail::log_checksum_bytes;
    chain_ = detail::chained_checksum(all.first(covered), chain_);
    byte_writer(all.subspan(covered)).put(chain_);
  }
  std::span<const std::byte> bytes() const noexcept { return bytes_; }
  /// What was written is forgotten; the chain goes on.
  void clear() noexcept { bytes_.clear(); }

 private:
  std::vector<std::byte> bytes_;
  std::uint64_t chain_;
};

/// Reads entries until the first that is none.
class log_reader {
 public:
  explicit log_reader(std::uint64_t chain) noexcept : chain_(chain) {}

  /// How many bytes the next entry claims, of which these are the first; none if it is no entry.
  /// `most` is what is left of the log.
  static std::optional<std::size_t> claimed_bytes(std::span<const std::byte> head,
                                                  std::uint64_t most) noexcept {
    if (head.size() < sizeof(std::uint32_t)) return std::nullopt;
    const std::size_t size = byte_reader(head).take<std::uint32_t>();
    if (size < detail::log_entry_size(0) || size % 8 != 0 || size > most) return std::nullopt;
    return size;
  }
  /// The entry that is these bytes; none if it is no entry of this log.
  std::optional<log_entry> take(std::span<const std::byte> bytes) noexcept {
    const std::size_t covered = bytes.size() - detail::log_checksum_bytes;
    const auto found = byte_reader(bytes.subspan(covered)).take<std::uint64_t>();
    const std::uint64_t right = detail::chained_checksum(bytes.first(covered), chain_);
    if (found != right) return std::nullopt;
    chain_ = right;
    byte_reader in(bytes.first(covered));
    in.take<std::uint32_t>();
    log_entry entry;
    entry.change = static_cast<store_change>(in.take<std::uint16_t>());
    entry.form = static_cast<logged_form>(in.take<std::uint16_t>());
    entry.slot = in.take<std::uint32_t>();
    in.take<std::uint32_t>();
    entry.page = in.take<std::uint64_t>();
    entry.hash = in.take<std::uint64_t>();
    entry.content = in.take(in.left());
    return entry;
  }
  std::uint64_t chain() const noexcept { return chain_; }

 private:
  std::uint64_t chain_;
};

}  // namespace oneprobe::inline v0_1
