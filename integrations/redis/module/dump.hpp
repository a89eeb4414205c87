// A stored filter as bytes: for RDB files, DUMP, the rewritten AOF and SCANDUMP
// (docs/formats/redis.md).
//
//   head     64   magic, version, settings, history, checksum
//            ..   where there are parts of RedisBloom: what they are (old_parts.hpp)
//            ..   preamble and parameters of a growing filter's file (docs/formats/parts.md)
//            320  preamble and parameters of part 1, then of part 2, ...
//   payload  ..   the bits of RedisBloom's parts, the oldest first
//            ..   the cells and overflow list of part 1, then of part 2, ...
//
// But for RedisBloom's parts these are the bytes of a growing filter's file with all that describes
// before all that is filled, so that a reader knows every length before the first byte of it comes.
// What is read is taken to be hostile: no length is trusted, memory for a part is asked for as its
// bytes come, never more than twice as much as came, and every checksum and every rule of the file
// format is held.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "old_parts.hpp"
#include "oneprobe/files.hpp"
#include "oneprobe/filter/file.hpp"
#include "oneprobe/filter/growing.hpp"
#include "oneprobe/filter/parts_file.hpp"
#include "reservation.hpp"
#include "stored_part.hpp"

namespace oneprobe::redis {

inline constexpr std::uint64_t chunk_bytes = std::uint64_t{16} << 20;
inline constexpr std::size_t dump_start_bytes = 64;

/// What a filter is beside what its growing filter's file says.
struct filter_facts {
  growth_settings settings{};
  std::uint64_t history = 0;  // of what was added: stored_filter says how it is made
  part_source source = part_source::records;
};

/// The facts as the first 64 bytes, and the section of old parts, which may be empty; `file_bytes`
/// is the length of the file that the rest makes.
std::vector<std::byte> encode_start(const filter_facts& facts, std::uint64_t file_bytes,
                                    std::span<const std::byte> old_section = {});

/// Head of a whole filter. `filter` is a growing_filter of any kind.
template <class Growing>
std::vector<std::byte> head_of(const Growing& filter, const filter_facts& facts,
                               std::span<const std::byte> old_section) {
  const detail::parts_bytes file(filter);
  std::uint64_t file_bytes = 0;
  for (const std::span<const std::byte> span : file.spans()) file_bytes += span.size();
  std::vector<std::byte> head = encode_start(facts, file_bytes, old_section);
  // Two spans for the whole, then three for each part, of which the last is its payload.
  const auto spans = file.spans();
  for (std::size_t i = 0; i < spans.size(); ++i)
    if (i < 2 || (i - 2) % 3 != 2) head.insert(head.end(), spans[i].begin(), spans[i].end());
  return head;
}

/// Why a copy of a filter is none any more. It answers with an error, until it is deleted, and is
/// saved as what it is. The values are written to files.
enum class damage : std::uint32_t {
  none = 0,
  no_memory = 1,    // there was none for all of it
  bad_bytes = 2,    // what came of it was not what was sent
  out_of_step = 3,  // what was to be done did not fit what is there
};
inline constexpr std::uint32_t most_damage = 3;

const char* words_of(damage what) noexcept;

/// Such a filter in 64 bytes, and back. None if the bytes do not begin as these do.
std::vector<std::byte> encode_damage(damage what);
std::optional<loaded<damage>> decode_damage(std::span<const std::byte> bytes);

/// A filter of which the head is there and verified, and some of the payload.
class arriving_filter {
 public:
  static loaded<arriving_filter> begin(std::span<const std::byte> head);
  /// The same for what RedisBloom begins with.
  static loaded<arriving_filter> begin_redisbloom(std::span<const std::byte> header);

  const filter_facts& facts() const noexcept { return facts_; }
  const growing_progress& progress() const noexcept { return progress_; }
  std::span<const std::byte> head() const noexcept { return head_; }
  /// Null if there are none.
  const old_section* old() const noexcept { return old_ ? &*old_ : nullptr; }
  std::span<const file_facts> parts() const noexcept { return parts_; }
  std::uint64_t payload_bytes() const noexcept { return payload_bytes_; }
  std::uint64_t received() const noexcept { return received_; }
  bool complete() const noexcept { return received_ == payload_bytes_; }
  std::uint64_t largest_part_bytes() const noexcept;

  /// The next bytes of the payload. Throws std::bad_alloc. REQUIRES: no more than are missing.
  void append(std::span<const std::byte> bytes);
  /// Of what was received. REQUIRES: it was.
  void copy_payload(std::uint64_t begin, std::span<std::byte> out) const;
  arriving_filter duplicate() const;

  /// Whether all parts together are those that the head was made of. REQUIRES: complete.
  std::optional<std::string> find_fault() const;
  /// The memory of each part, the old ones first, handed over. REQUIRES: complete.
  std::vector<counted_memory> take_memory() noexcept { return std::move(memory_); }
  std::size_t counted_bytes() const;

 private:
  std::optional<load_failure> read_parts(std::span<const std::byte> bytes,
                                         std::uint64_t file_bytes);
  std::span<const counted_memory> old_memory() const;

  std::vector<std::byte> head_{};
  filter_facts facts_{};
  growing_progress progress_{};
  std::uint64_t payload_checksum_ = 0;  // of heads and payloads of all parts but the old ones
  std::optional<old_section> old_{};
  std::vector<file_facts> parts_{};
  std::vector<std::uint64_t>
      part_bytes_{};                      // of the payload, for the old ones, then for the others
  std::vector<counted_memory> memory_{};  // of the parts that have begun to come
  std::uint64_t payload_bytes_ = 0;
  std::uint64_t received_ = 0;
};

}  // namespace oneprobe::redis
