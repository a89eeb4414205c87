// Parts of a filter that came from RedisBloom: they stay as they were there, and only answer. What
// is added goes to parts of our own beside them.
//
// But where commands of RedisBloom are followed, those of a primary that has it or of its AOF, they
// go on as they would have there, bit by bit: what it took and what it refused is known only so.
//
//   old_parts old(chain, std::move(bits));
//   old.may_contain("item")
//   old.error_to_spend(), old.elements_of_next_part()     what our first part is planned for
//
// The error. Nothing sets a bit of an old part any more, so its error is known from those that are
// set, and stays. Parts of ours may spend what it leaves of the error that RedisBloom was told; at
// least a 64th of that, since a chain of many links leaves next to nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oneprobe/files.hpp"
#include "redisbloom.hpp"
#include "stored_part.hpp"

namespace oneprobe::redis {

/// The old parts of a filter as a section of its head (docs/formats/redis.md): their descriptions,
/// and the checksum of all their bits, if it is known.
struct old_section {
  static constexpr std::size_t fixed_bytes = 40;
  static constexpr std::size_t link_bytes = 56;
  static constexpr std::size_t checksum_bytes = 8;

  old_chain chain{};
  bool is_verified = false;    // by its writer: the checksum is there
  std::uint64_t checksum = 0;  // of the bits of all links

  static constexpr std::size_t bytes_for(std::size_t links) noexcept {
    return fixed_bytes + links * link_bytes + checksum_bytes;
  }
  std::size_t bytes() const noexcept { return bytes_for(chain.links.size()); }
};

std::vector<std::byte> encode(const old_section& section);
/// The section that `bytes` begin with.
loaded<old_section> decode_old_section(std::span<const std::byte> bytes, std::string_view name);

std::uint64_t checksum_of_all(std::span<const counted_memory> bits) noexcept;

class old_parts {
 public:
  /// REQUIRES: a chain without a fault, and as many bytes for each link as it says.
  old_parts(old_chain chain, std::vector<counted_memory> bits);

  old_parts duplicate() const;

  bool may_contain(std::string_view item) const noexcept;
  /// Adds an item as RedisBloom does. Throws std::bad_alloc. REQUIRES: no part may contain it.
  enum class outcome { added, full, no_link };
  outcome add(std::string_view item);

  const old_chain& chain() const noexcept { return chain_; }
  std::span<const counted_memory> bits() const noexcept { return bits_; }
  std::vector<std::byte> section() const {
    return encode(old_section{chain_, true, measured().checksum});
  }
  /// What the history of a filter with these parts begins with: other bits, another history.
  std::uint64_t first_history() const;

  std::uint64_t capacity() const noexcept;
  /// Items that the newest part would still have taken.
  std::uint64_t room() const noexcept;
  double error() const noexcept { return measured().error; }
  /// Bits that a query for an absent item reads on average, each a cache line of its own.
  double accesses() const noexcept { return measured().accesses; }
  /// Of all parts of ours together.
  double error_to_spend() const noexcept;
  /// The part that comes next, the first one of ours: as large as the room that is left, or, where
  /// that is less than half of the newest old part, as the one that would have been next there. 0
  /// if there is to be none.
  std::uint64_t elements_of_next_part() const noexcept;

  std::size_t counted_bytes() const noexcept;

 private:
  /// What all bits have to be read for.
  struct measures {
    std::uint64_t checksum = 0;
    double error = 0;
    double accesses = 0;
  };

  old_parts() = default;
  const measures& measured() const noexcept;

  old_chain chain_{};
  std::vector<counted_memory> bits_{};
  mutable std::optional<measures> measured_{};  // empty since an item was added
};

}  // namespace oneprobe::redis
