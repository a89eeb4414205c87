// The value behind a key: a filter that grows, or the part of one that has arrived so far.
//
//   made = stored_filter::make(asked, limit)        a new one, or why not
//   filter.add(item), filter.may_contain(item)      what clients call
//   filter.head(), filter.copy_payload(...)         its bytes: dump.hpp says how they are laid out
//
// A filter that came from RedisBloom has old parts beside its own, which only answer
// (old_parts.hpp), and none of its own before an item needs one.
//
// A filter that clients load chunk by chunk is `arriving` until its last byte is there and
// verified; it answers no query before. One that is damaged answers nothing any more.
//
// The history is a number that every element which was new changes: h' = (h ^ hash) * odd. Copies
// with one history were told of the same elements in the same order.
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
#include "old_parts.hpp"
#include "oneprobe/detail/placement/schemes.hpp"
#include "oneprobe/filter/balanced.hpp"
#include "oneprobe/filter/blocked.hpp"
#include "oneprobe/filter/fingerprint.hpp"
#include "oneprobe/filter/growing.hpp"
#include "oneprobe/filter/standard.hpp"
#include "part_limit.hpp"
#include "part_record.hpp"
#include "reservation.hpp"
#include "stored_part.hpp"

namespace oneprobe::redis {

enum class add_outcome {
  added,
  present,     // or it may be
  full,        // a filter of fixed size has all its elements
  needs_part,  // nothing was done: grow() comes first
};

/// A value, or the sentence that says why there is none.
enum class refusal { no_plan, no_memory };
struct not_made {
  refusal why;
  std::string sentence;
};

/// What DEBUG says of a part.
struct part_facts {
  std::uint64_t bytes = 0;
  std::uint32_t hashes = 1;  // bits that an element sets; a fingerprint is one
  std::uint64_t capacity = 0;
  std::uint64_t size = 0;
  double error = 0;
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
                                                                     part_limit limit,
                                                                     part_source source);
  /// The same as it was made elsewhere.
  static std::variant<std::unique_ptr<stored_filter>, not_made> make(const part_record& first,
                                                                     part_limit limit);
  explicit stored_filter(damage what) noexcept : damage_(what) {}
  /// One that arrives by chunks. If it is complete, finish() comes next.
  explicit stored_filter(arriving_filter arriving)
      : settings_(arriving.facts().settings),
        history_(arriving.facts().history),
        source_(arriving.facts().source),
        arriving_(std::make_unique<arriving_filter>(std::move(arriving))) {}

  /// One that was RedisBloom's.
  explicit stored_filter(old_parts old);

  stored_filter(const stored_filter&) = delete;
  stored_filter& operator=(const stored_filter&) = delete;

  /// The same bytes again. Throws std::bad_alloc.
  std::unique_ptr<stored_filter> duplicate() const;

  /// Whether it can be asked.
  bool whole() const noexcept { return filter_.has_value() || old_ != nullptr; }
  damage damaged() const noexcept { return damage_; }
  /// Lets go of everything. The first damage is the one that is reported.
  void spoil(damage what) noexcept {
    filter_.reset();
    old_.reset();
    arriving_.reset();
    if (damage_ == damage::none) damage_ = what;
  }

  /// REQUIRES of all the following: whole.
  /// Never more elements in a part than it was planned for.
  add_outcome add(std::string_view item);
  /// Adds as RedisBloom does, to the old parts, where its commands are followed; growth() says why
  /// there is no further one. REQUIRES: has_only_old_parts(), and add() has not kept it.
  add_outcome add_to_old(std::string_view item);
  /// One more part, for elements that need one. If there is none, nothing is changed: `no_plan`
  /// where it would break the stated error or the limit.
  growth_state grow(part_limit limit, part_source source);
  /// Whether the next part is the first one of ours, beside old ones. Before there is one, commands
  /// that are followed are those of RedisBloom: ours tell of the part first.
  bool has_only_old_parts() const noexcept { return old_ != nullptr && !filter_; }
  /// The same by a part that was planned elsewhere. REQUIRES: is_continued_by(next).
  growth_state grow(const part_record& next, part_limit limit);
  /// Whether the record is of the part that comes next to a copy of this filter.
  bool is_continued_by(const part_record& next) const;
  /// Of the newest part. REQUIRES: it is still empty.
  part_record newest_part() const;
  bool may_contain(std::string_view item) const;

  /// Which side plans the parts to come, where commands are followed.
  part_source source() const noexcept { return source_; }
  std::uint64_t history() const { return has_only_old_parts() ? old_->first_history() : history_; }
  /// Whether so many elements came that copies should be told of the history again; now they were.
  bool check_is_due() const noexcept { return unchecked_ >= elements_between_checks; }
  void is_checked() noexcept { unchecked_ = 0; }

  const growth_settings& settings() const noexcept { return settings_; }
  std::uint64_t size() const;      // elements
  std::uint64_t capacity() const;  // elements planned for, in all parts
  std::size_t parts() const;
  std::vector<part_facts> facts_of_parts() const;  // the oldest first
  /// Of the parts of our own; none if there are only old ones.
  std::optional<std::uint64_t> seed() const;
  std::optional<filter_kind> kind() const;
  /// Null if there are none.
  const old_parts* old() const noexcept { return old_.get(); }
  /// Reads everything.
  filter_stats stats() const;
  /// What grow() came to the last time.
  growth_state growth() const noexcept { return growth_; }
  /// Of a negative query, which asks every part; an old one for a bit at a time.
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
  static constexpr std::uint32_t elements_between_checks = 128;

  stored_filter(const filter_facts& facts, any_growing filter)
      : settings_(facts.settings),
        history_(facts.history),
        source_(facts.source),
        filter_(std::move(filter)) {}

  filter_facts facts() const { return {settings_, history(), source_}; }

  add_outcome add_to_own(std::string_view item);
  add_outcome add_beside_old(std::string_view item);
  /// Of the parts of our own; 0 if there are none.
  template <class Use>
  auto of_own(Use use) const -> decltype(use(std::get<0>(std::declval<const any_growing&>()))) {
    if (!filter_) return {};
    return std::visit(use, *filter_);
  }

  std::optional<std::string> finish_own(std::span<counted_memory> memory);
  growth_state begin_own(const growing_plan& whole, const filter_plan& part, std::uint64_t seed,
                         part_limit limit);
  growth_state grow_by(const filter_plan& next, part_limit limit);
  /// Of the first part beside old ones.
  reservation asked_of_own() const;
  /// None if there is no plan for it.
  std::optional<filter_plan> plan_of_next_part(part_source source) const;

  growth_settings settings_{};
  std::uint64_t history_ = 0;
  part_source source_ = part_source::records;
  damage damage_ = damage::none;
  std::uint32_t unchecked_ = 0;
  std::optional<any_growing> filter_{};
  std::unique_ptr<old_parts> old_{};
  std::unique_ptr<arriving_filter> arriving_{};
  growth_state growth_ = growth_state::as_planned;
  /// Of a full filter that could not grow, since planning takes long: empty if there is none.
  std::optional<std::unique_ptr<filter_plan>> next_plan_{};
};

}  // namespace oneprobe::redis
