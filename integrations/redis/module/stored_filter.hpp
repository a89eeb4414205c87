// The value behind a key: a filter that grows, or the part of one that has arrived so far.
//
//   made = stored_filter::make(asked, limit)        a new one, or why not
//   filter.add(item), filter.may_contain(item)      what clients call
//   filter.head(), filter.copy_payload(...)         its bytes: dump.hpp says how they are laid out
//
// A filter that clients load chunk by chunk is `arriving` until its last byte is there and
// verified; nothing can be asked of it before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "dump.hpp"
#include "oneprobe/filter/balanced.hpp"
#include "oneprobe/filter/blocked.hpp"
#include "oneprobe/filter/fingerprint.hpp"
#include "oneprobe/filter/growing.hpp"
#include "oneprobe/filter/standard.hpp"
#include "oneprobe/scheme/schemes.hpp"
#include "part_limit.hpp"
#include "reservation.hpp"
#include "stored_part.hpp"

namespace oneprobe::redis {

enum class add_outcome {
  added,
  present,    // or it may be
  full,       // a filter of fixed size has all its elements
  no_growth,  // a further part would break the stated error or the memory limit
};

/// A value, or the sentence that says why there is none.
enum class refusal { no_plan, no_memory };
struct not_made {
  refusal why;
  std::string sentence;
};

class stored_filter {
 public:
  template <class Filter>
  using growing = growing_filter<stored_part<Filter>>;
  using any_growing =
      std::variant<growing<fingerprint_filter>, growing<standard_filter>, growing<blocked_filter>,
                   growing<basic_balanced_filter<multilevel, seeded_hash>>>;

  /// A part larger than the limit is refused before anything is allocated for it.
  static std::variant<std::unique_ptr<stored_filter>, not_made> make(const reservation& asked,
                                                                     part_limit limit);
  /// One that arrives by chunks. If it is complete, finish() comes next.
  explicit stored_filter(arriving_filter arriving)
      : settings_(arriving.settings()),
        arriving_(std::make_unique<arriving_filter>(std::move(arriving))) {}

  stored_filter(const stored_filter&) = delete;
  stored_filter& operator=(const stored_filter&) = delete;

  /// The same bytes again. Throws std::bad_alloc.
  std::unique_ptr<stored_filter> duplicate() const;

  /// REQUIRES of all the following: not arriving.
  add_outcome add(std::string_view item, part_limit limit);
  bool may_contain(std::string_view item) const;

  const growth_settings& settings() const noexcept { return settings_; }
  std::uint64_t size() const;      // elements
  std::uint64_t capacity() const;  // elements planned for, in all parts
  std::size_t parts() const;
  std::uint64_t seed() const;
  filter_kind kind() const;
  /// Reads everything.
  filter_stats stats() const;
  growth_state growth() const;
  /// Of a negative query, which asks every part.
  double predicted_accesses() const;
  /// The error planned for the parts that there are; at most the stated one.
  double predicted_error() const;
  double stated_error() const;

  /// Everything but the payload. Reads the payload for its checksum.
  std::vector<std::byte> head() const;
  std::uint64_t payload_bytes() const;
  /// Payload from `begin` on, as much as `out` holds. REQUIRES: it is there.
  void copy_payload(std::uint64_t begin, std::span<std::byte> out) const;

  /// Null if the filter is whole.
  arriving_filter* arriving() noexcept { return arriving_.get(); }
  const arriving_filter* arriving() const noexcept { return arriving_.get(); }
  /// The last byte has come: verifies all of them. A sentence if no filter has such bytes; then
  /// this object is of no more use.
  std::optional<std::string> finish();

  /// What Redis's allocator has given, and the objects beside it.
  std::size_t counted_bytes() const;

 private:
  stored_filter(growth_settings settings, any_growing filter)
      : settings_(settings), filter_(std::move(filter)) {}

  bool can_grow(part_limit limit);
  /// Of the part that would come next; more than any limit if there is no plan for it.
  std::uint64_t next_part_bytes() const;

  growth_settings settings_{};
  std::optional<any_growing> filter_{};
  std::unique_ptr<arriving_filter> arriving_{};
  std::optional<std::uint64_t> next_part_bytes_{};  // of a full filter, since planning takes long
};

}  // namespace oneprobe::redis
