// Buckets that keep the smallest fingerprints they were ever given: the store of the fingerprint
// filter. detail/planning/fingerprint_bucket_shape.hpp draws the line.
//
//   const fingerprint_bucket_frame frame(shape);
//   fingerprint_buckets<> buckets(memory, frame);
//   placing walk(scheme, buckets, admission(shape.bucket_capacity));
//   auto ended = walk_to_end(walk, walk.start(probe, {.fingerprint = probe.fingerprint}));
//
// A full bucket keeps its h smallest fingerprints and passes on the largest, the newcomer or one it
// held (put_result::refused, put_result::exchanged), and marks that it has. What it holds then
// depends only on the set of fingerprints that came, not on their order, and a lookup goes on past
// it only if it is marked and the fingerprint is above the largest kept. One that is there already
// is `present`, and changes nothing.
//
// A bucket that is marked and empty is *saturated*: it had to pass on an element that had no place
// left to go. It has forgotten what it held, and any element may be beyond it.
//
// A view of memory that belongs to the filter; zeroed memory is empty buckets. For one thread that
// changes it, or any number that look. Whatever the memory holds, nothing outside a bucket is read
// or written: it may be a stranger's.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "oneprobe/detail/base/prefetch.hpp"
#include "oneprobe/detail/base/word_access.hpp"
#include "oneprobe/detail/filter/remainder_lanes.hpp"
#include "oneprobe/detail/placement/concepts.hpp"
#include "oneprobe/detail/planning/fingerprint_bucket_shape.hpp"
#include "oneprobe/detail/simd/isa.hpp"

namespace oneprobe::inline v0_1 {

/// Where what is in a bucket of some shape.
struct fingerprint_bucket_layout {
  static constexpr unsigned words = fingerprint_bucket_shape::bits / word_bits;
  static constexpr unsigned most_header_words =
      fingerprint_bucket_shape::most_header_bits / word_bits;

  unsigned capacity;             // h
  unsigned remainder_bits;       // f
  unsigned header_bits;          // Q + h; the mark is the bit after them
  int quotients;                 // Q
  unsigned first_remainder;      // its first bit
  unsigned header_words;         // that have bits of the header
  unsigned window_byte;          // eight bytes that end with the mark
  unsigned window_shift;         // by which the mark becomes their top
  std::uint64_t remainder_mask;  // f ones
  std::array<std::uint64_t, most_header_words> header_of{};  // the header's bits in each word

  /// REQUIRES: shape.fits().
  explicit constexpr fingerprint_bucket_layout(const fingerprint_bucket_shape& shape) noexcept
      : capacity(shape.bucket_capacity),
        remainder_bits(shape.remainder_bits),
        header_bits(shape.header_bits()),
        quotients(static_cast<int>(shape.quotients())),
        first_remainder(header_bits + 1),
        header_words((header_bits + word_bits - 1) / word_bits),
        window_byte(header_bits / 8 < 7 ? 0 : header_bits / 8 - 7),
        window_shift(8 * window_byte + word_bits - 1 - header_bits),
        remainder_mask((std::uint64_t{1} << remainder_bits) - 1) {
    for (unsigned i = 0; i < most_header_words; ++i) {
      const unsigned begin = i * word_bits;
      header_of[i] = header_bits <= begin ? 0
                     : header_bits >= begin + word_bits
                         ? ~std::uint64_t{0}
                         : ~(~std::uint64_t{0} << (header_bits - begin));
    }
  }
};

/// What all buckets of a filter have in common, worked out once.
struct fingerprint_bucket_frame : fingerprint_bucket_layout {
  detail::lane_tables lanes;  // for the widths that fit them

  /// REQUIRES: shape.fits().
  explicit fingerprint_bucket_frame(const fingerprint_bucket_shape& shape) noexcept
      : fingerprint_bucket_layout(shape), lanes(first_remainder, remainder_bits, capacity) {}
};

/// What a loop over buckets knows of their shape when it is compiled: nothing,
struct any_bucket_shape {
  static constexpr const fingerprint_bucket_layout& of(
      const fingerprint_bucket_frame& frame) noexcept {
    return frame;
  }
};
/// or all of it.
template <std::uint32_t Capacity, std::uint32_t RemainderBits>
struct known_bucket_shape {
  static constexpr fingerprint_bucket_shape shape{.bucket_capacity = Capacity,
                                                  .remainder_bits = RemainderBits};
  static constexpr fingerprint_bucket_layout layout{shape};
  static constexpr const fingerprint_bucket_layout& of(const fingerprint_bucket_frame&) noexcept {
    return layout;
  }
};

/// What a bucket's own bits say.
struct fingerprint_bucket_reading {
  std::uint32_t count = 0;
  bool passed_on = false;
  std::uint64_t largest = 0;  // of those kept, where it has passed one on

  constexpr bool saturated() const noexcept { return passed_on && count == 0; }
};

/// How a bucket is searched: by the run of the quotient, or by the remainders that are equal, where
/// one instruction compares all of them.
enum class remainder_search : std::uint8_t {
  by_run,     // any width
  bytes,      // 8 bits
  words,      // 16 bits
  by_tables,  // others, spread into lanes first
};

template <isa Level = isa::plain, remainder_search Search = remainder_search::by_run,
          class Shape = any_bucket_shape>
class fingerprint_buckets {
 public:
  using known_shape = Shape;
  static constexpr isa level = Level;
  static constexpr std::size_t bytes = fingerprint_bucket_shape::bits / 8;

  using key = std::uint64_t;   // a fingerprint
  using slot = std::uint32_t;  // the place of a remainder

  /// An element on its way, and what the buckets it visited said to it.
  struct item {
    std::uint64_t fingerprint = 0;
    /// As far as it is known, a lookup before would have come to where it ends.
    bool could_be_found = true;

    constexpr void rename(const fingerprint_probe& probe) noexcept {
      fingerprint = probe.fingerprint;
    }
  };

  fingerprint_buckets(std::byte* memory, const fingerprint_bucket_frame& frame) noexcept
      : memory_(memory), frame_(&frame) {}
  /// Only to look at.
  static const fingerprint_buckets reading(const std::byte* memory,
                                           const fingerprint_bucket_frame& frame) noexcept {
    return fingerprint_buckets(const_cast<std::byte*>(memory), frame);
  }

  /// The limit is the frame's capacity, whatever the admission rule says.
  put_result try_put(position at, item& element, std::uint32_t) noexcept;
  fingerprint_probe probe_of(const item& element) const noexcept {
    return {.fingerprint = element.fingerprint};
  }

  std::optional<std::uint32_t> load(position at) const noexcept {
    return count(bucket_at(at.bucket));
  }
  void prefetch(position at) const noexcept { prefetch_line_ahead(bucket_at(at.bucket)); }

  found_slot<slot> find(position at, key fingerprint) const noexcept {
    const std::byte* const bucket = bucket_at(at.bucket);
    if constexpr (Search == remainder_search::by_run) {
      const auto quotient = static_cast<unsigned>(fingerprint >> layout().remainder_bits);
      const place found = place_in_run(bucket, scan(bucket, quotient).run_begin, fingerprint);
      return {.found = found.taken, .slot = found.slot};
    } else {
      return among_equal(bucket, fingerprint, compare(bucket, fingerprint).equal);
    }
  }
  bool may_be_beyond(position at, const fingerprint_probe& probe) const noexcept {
    const std::byte* const bucket = bucket_at(at.bucket);
    const std::uint64_t window = window_of(bucket);
    // One test of both: whether a bucket is marked cannot be predicted.
    return ((window >> (word_bits - 1)) &
            static_cast<std::uint64_t>(static_cast<std::int64_t>(probe.fingerprint) >
                                       largest(bucket, window))) != 0;
  }

  bucket_look look(position at, key fingerprint, const fingerprint_probe& probe) const noexcept {
    const std::uint64_t found = find(at, fingerprint).found;
    const std::uint64_t beyond = may_be_beyond(at, probe) ? 1 : 0;
    return {.found = found, .beyond = beyond & ~found};
  }

  /// Of bytes that no filter made, too, something that a bucket can be.
  fingerprint_bucket_reading read(std::uint64_t number) const noexcept {
    const std::byte* const bucket = bucket_at(number);
    const std::uint64_t window = window_of(bucket);
    const bool passed_on = window >> (word_bits - 1) != 0;
    const std::int64_t last = passed_on ? largest(bucket, window) : 0;
    const std::int64_t fingerprints = std::int64_t{layout().header_bits - layout().capacity}
                                      << layout().remainder_bits;
    return {
        .count = std::min(count(bucket), layout().capacity),
        .passed_on = passed_on,
        .largest = static_cast<std::uint64_t>(std::clamp<std::int64_t>(last, 0, fingerprints - 1))};
  }
  /// Calls `visit` with every fingerprint of a bucket, ascending.
  template <class Visit>
  void for_each(std::uint64_t number, Visit visit) const {
    const std::byte* const bucket = bucket_at(number);
    unsigned found = 0;
    for (unsigned bit = 0; bit < layout().header_bits && found < layout().capacity; ++bit) {
      if (!header_bit(bucket, bit)) continue;
      if (bit - found >= layout().header_bits - layout().capacity) return;  // no quotient
      visit((std::uint64_t{bit - found} << layout().remainder_bits) | remainder(bucket, found));
      ++found;
    }
  }

  /// What two filters of one frame need to be united, besides putting the fingerprints of one into
  /// the other: the bucket has passed something on, here or there.
  void mark_passed_on(std::uint64_t number) noexcept { mark(bucket_at(number)); }
  void saturate(std::uint64_t number) noexcept {
    std::byte* const bucket = bucket_at(number);
    for (unsigned i = 0; i < fingerprint_bucket_layout::words; ++i)
      plain_words::store(bucket + i * word_bytes, 0);
    mark(bucket);
  }
  bool is_saturated(std::uint64_t number) const noexcept {
    const std::byte* const bucket = bucket_at(number);
    return is_marked(bucket) && count(bucket) == 0;
  }

 private:
  /// Where a fingerprint is in a bucket, or would be.
  struct place {
    unsigned bit = 0;   // of the header
    unsigned slot = 0;  // of its remainder
    bool taken = false;
  };
  using fingerprint_bucket_change = detail::fingerprint_bucket_change;

  const fingerprint_bucket_layout& layout() const noexcept { return Shape::of(*frame_); }
  std::byte* bucket_at(std::uint64_t number) const noexcept { return memory_ + number * bytes; }
  static std::uint64_t word(const std::byte* bucket, unsigned number) noexcept {
    return plain_words::load(bucket + number * word_bytes);
  }
  std::uint64_t header_word(const std::byte* bucket, unsigned number) const noexcept {
    return word(bucket, number) & layout().header_of[number];
  }
  static bool header_bit(const std::byte* bucket, unsigned bit) noexcept {
    return (word(bucket, bit / word_bits) >> (bit % word_bits) & 1) != 0;
  }
  static bool is_bit_set(const std::byte* bucket, unsigned bit) noexcept {
    return (std::to_integer<unsigned>(bucket[bit / 8]) >> (bit % 8) & 1) != 0;
  }
  bool is_marked(const std::byte* bucket) const noexcept {
    return is_bit_set(bucket, layout().header_bits);
  }
  void mark(std::byte* bucket) const noexcept {
    bucket[layout().header_bits / 8] |= static_cast<std::byte>(1u << (layout().header_bits % 8));
  }
  std::uint32_t count(const std::byte* bucket) const noexcept {
    unsigned ones = 0;
    for (unsigned i = 0; i < layout().header_words; ++i)
      ones += static_cast<unsigned>(std::popcount(header_word(bucket, i)));
    return ones;
  }

  /// REQUIRES: number < capacity.
  std::uint64_t remainder(const std::byte* bucket, unsigned number) const noexcept {
    const unsigned bit = layout().first_remainder + number * layout().remainder_bits;
    // The last eight bytes have the last ones: no read goes beyond the bucket.
    const unsigned byte = std::min<unsigned>(bit / 8, bytes - word_bytes);
    return plain_words::load(bucket + byte) >> (bit - 8 * byte) & layout().remainder_mask;
  }

  /// The mark on top, and below it the last 56 bits of the header at least.
  std::uint64_t window_of(const std::byte* bucket) const noexcept {
    return plain_words::load(bucket + layout().window_byte) << layout().window_shift;
  }
  /// The largest fingerprint of a full bucket: its quotient is the place of the last one in the
  /// header, less the ones before it. Below 0 if there is no such fingerprint.
  std::int64_t largest(const std::byte* bucket, std::uint64_t window) const noexcept {
    const std::uint64_t header_end = window << 1;
    const std::int64_t quotient =
        layout().quotients -
        (header_end != 0 ? std::countl_zero(header_end) : zeros_at_end(layout(), bucket));
    const std::uint64_t last_remainder =
        word(bucket, fingerprint_bucket_layout::words - 1) >> (word_bits - layout().remainder_bits);
    return quotient * (std::int64_t{1} << layout().remainder_bits) +
           static_cast<std::int64_t>(last_remainder);
  }
  /// Zeros after the last one of the header. Of full buckets nearly none has it before the window.
  [[gnu::noinline]] static int zeros_at_end(const fingerprint_bucket_layout& frame,
                                            const std::byte* bucket) noexcept {
    int last = -1;
    for (unsigned i = 0; i < frame.header_words; ++i) {
      const std::uint64_t ones = word(bucket, i) & frame.header_of[i];
      if (ones != 0) last = static_cast<int>(i * word_bits) + 63 - std::countl_zero(ones);
    }
    return static_cast<int>(frame.header_bits) - 1 - last;
  }

  /// What a look at the whole header gives.
  struct header_scan {
    unsigned run_begin = 0;  // the bit at which the ones of a quotient begin: after as many zeros
    unsigned ones = 0;       // of all quotients
  };
  /// Without a jump on what the header holds, which cannot be predicted.
  header_scan scan(const std::byte* bucket, unsigned quotient) const noexcept {
    const unsigned rank =
        quotient - 1;  // of the zero before; wraps for quotient 0, and is not used
    unsigned zeros = 0, before = 0, chosen = 0;
    for (unsigned i = 0; i < layout().header_words; ++i) {
      zeros += static_cast<unsigned>(std::popcount(~word(bucket, i) & layout().header_of[i]));
      const bool beyond = rank >= zeros;
      before = beyond ? zeros : before;
      chosen += beyond ? 1 : 0;
    }
    header_scan found;
    found.ones = layout().header_bits - zeros;
    if (quotient == 0) return found;
    // So few zeros are in no bucket that a filter made.
    if (chosen >= layout().header_words) return {layout().header_bits, found.ones};
    const std::uint64_t clear = ~word(bucket, chosen) & layout().header_of[chosen];
    found.run_begin = chosen * word_bits + detail::select_one<Level>(clear, rank - before) + 1;
    return found;
  }

  /// How all remainders compare with that of a fingerprint.
  detail::lane_order compare(const std::byte* bucket, key fingerprint) const noexcept {
    const std::uint64_t wanted = fingerprint & layout().remainder_mask;
    if constexpr (Search == remainder_search::bytes)
      return detail::compare_lanes<Level, 8>(bucket, wanted, layout().capacity);
    else if constexpr (Search == remainder_search::words)
      return detail::compare_lanes<Level, 16>(bucket, wanted, layout().capacity);
    else
      return detail::compare_lanes<Level>(bucket, wanted, frame_->lanes);
  }

  /// From the beginning of its quotient's run: how many of the run are smaller, and whether one is
  /// equal. Without lanes, runs of one or two, which most are, are compared without a jump.
  place place_in_run(const std::byte* bucket, unsigned run_begin, key fingerprint) const noexcept {
    const auto quotient = static_cast<unsigned>(fingerprint >> layout().remainder_bits);
    const std::uint64_t wanted = fingerprint & layout().remainder_mask;
    place at{.bit = run_begin, .slot = run_begin - quotient};
    const unsigned last = layout().capacity - 1;
    // Bounded for bytes that no filter made, so that all levels of instructions read them alike.
    const unsigned room = at.slot <= last ? last + 1 - at.slot : 0;
    const unsigned length =
        std::min({run_length(bucket, run_begin), layout().header_bits - run_begin, room});
    if constexpr (Search != remainder_search::by_run) {
      // Fewer than 64 lanes, and a run begins at one of them or right behind.
      const std::uint64_t run = ((std::uint64_t{1} << length) - 1) << (at.slot % word_bits);
      const detail::lane_order order = compare(bucket, fingerprint);
      const auto smaller_ones = static_cast<unsigned>(std::popcount(order.smaller & run));
      return {.bit = at.bit + smaller_ones,
              .slot = at.slot + smaller_ones,
              .taken = (order.equal & run) != 0};
    }
    const std::uint64_t first = remainder(bucket, std::min(at.slot, last));
    const std::uint64_t second = remainder(bucket, std::min(at.slot + 1, last));
    bool taken = (length > 0) & (first == wanted);
    taken |= (length > 1) & (second == wanted);
    unsigned smaller = static_cast<unsigned>((length > 0) & (first < wanted));
    smaller += static_cast<unsigned>((length > 1) & (second < wanted));
    for (unsigned i = 2; i < length; ++i) {
      const std::uint64_t found = remainder(bucket, at.slot + i);
      taken |= found == wanted;
      smaller += found < wanted ? 1 : 0;
    }
    at.bit += smaller;
    at.slot += smaller;
    at.taken = taken;
    return at;
  }
  /// Ones from a bit of the header on. A zero ends every run before the header ends.
  unsigned run_length(const std::byte* bucket, unsigned begin) const noexcept {
    // Eight bytes reach 57 bits far at least; all of a run but for one in millions.
    const std::uint64_t ones = plain_words::load(bucket + begin / 8) >> (begin % 8);
    const auto length = static_cast<unsigned>(std::countr_one(ones));
    return length < word_bits - 7 ? length : long_run(layout(), bucket, begin);
  }
  [[gnu::noinline]] static unsigned long_run(const fingerprint_bucket_layout& frame,
                                             const std::byte* bucket, unsigned begin) noexcept {
    unsigned end = begin;
    while (end < frame.header_bits && is_bit_set(bucket, end)) ++end;
    return end - begin;
  }
  /// Lane i has the fingerprint if its remainder is equal and its one lies at bit quotient + i of
  /// the header, with i others before it. Where a remainder is equal by chance there is seldom a
  /// one, and where there is one they are seldom as many.
  found_slot<slot> among_equal(const std::byte* bucket, key fingerprint,
                               std::uint64_t equal) const noexcept {
    const auto quotient = static_cast<unsigned>(fingerprint >> layout().remainder_bits);
    // Eight bytes reach 57 bits far at least: no bucket that is searched so has more lanes.
    std::uint64_t left = equal & plain_words::load(bucket + quotient / 8) >> (quotient % 8);
    for (; left != 0; left &= left - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(left));
      if (quotient + lane < layout().header_bits && ones_before(bucket, quotient + lane) == lane)
        return {.found = 1, .slot = lane};
    }
    return {};
  }
  /// Which word a bit is in cannot be predicted: this is written so that no compiler jumps on it.
  unsigned ones_before(const std::byte* bucket, unsigned bit) const noexcept {
    const unsigned in_second = bit - word_bits;
    const unsigned ones =
        detail::ones_below<Level>(word(bucket, 0), bit) +
        detail::ones_below<Level>(word(bucket, 1), in_second & ~(0u - (in_second >> 31)));
    return layout().header_words <= 2 ? ones : ones + ones_in_others(layout(), bucket, bit);
  }
  [[gnu::noinline]] static unsigned ones_in_others(const fingerprint_bucket_layout& frame,
                                                   const std::byte* bucket, unsigned bit) noexcept {
    unsigned ones = 0;
    for (unsigned i = 2; i < frame.header_words && bit > i * word_bits; ++i)
      ones += detail::ones_below<isa::plain>(word(bucket, i), bit - i * word_bits);
    return ones;
  }

  std::byte* memory_;
  const fingerprint_bucket_frame* frame_;
};

template <isa Level, remainder_search Search, class Shape>
put_result fingerprint_buckets<Level, Search, Shape>::try_put(position at, item& element,
                                                              std::uint32_t) noexcept {
  std::byte* const bucket = bucket_at(at.bucket);
  const std::uint64_t window = window_of(bucket);
  const bool marked = window >> (word_bits - 1) != 0;
  const std::uint64_t fingerprint = element.fingerprint;
  const header_scan header =
      scan(bucket, static_cast<unsigned>(fingerprint >> layout().remainder_bits));
  const bool full = marked || header.ones >= layout().capacity;
  std::int64_t last = 0;
  if (full) {
    last = largest(bucket, window);
    if (last < 0) return put_result::present;  // saturated
    if (static_cast<std::int64_t>(fingerprint) > last) {
      element.could_be_found = element.could_be_found && marked;
      if (!marked) mark(bucket);
      return put_result::refused;
    }
  }
  const place found = place_in_run(bucket, header.run_begin, fingerprint);
  if (found.taken) return put_result::present;
  element.could_be_found = false;
  // In no bucket that a filter made.
  if (found.slot >= layout().capacity || found.bit >= layout().header_bits)
    return put_result::present;
  fingerprint_bucket_change change{
      .header_bit = found.bit,
      .header_end = layout().header_bits,
      .remainder_bit = layout().first_remainder + found.slot * layout().remainder_bits,
      .remainder_bits = layout().remainder_bits,
      .remainder = fingerprint & layout().remainder_mask};
  if (!full) {
    detail::put_remainder<Level>(bucket, change);
    return put_result::placed;
  }
  element.fingerprint = static_cast<std::uint64_t>(last);
  change.evicts = true;
  change.evicted_bit =
      static_cast<unsigned>(element.fingerprint >> layout().remainder_bits) + layout().capacity - 1;
  detail::put_remainder<Level>(bucket, change);
  return put_result::exchanged;
}

static_assert(placement_store<fingerprint_buckets<>> &&
              looking_store<fingerprint_buckets<>, fingerprint_probe>);

/// Calls `use` with the type of buckets that is the fastest with these instructions, as a
/// std::type_identity.
template <class Use>
decltype(auto) with_fastest_buckets([[maybe_unused]] isa level,
                                    [[maybe_unused]] const fingerprint_bucket_frame& frame,
                                    Use&& use) {
  using enum remainder_search;
  const auto call = [&]<isa Level, remainder_search Search>() -> decltype(auto) {
    return use(std::type_identity<fingerprint_buckets<Level, Search>>());
  };
#if ONEPROBE_HAS_SIMD
  if (level == isa::avx512) {
    if (frame.remainder_bits == 8) return call.template operator()<isa::avx512, bytes>();
    if (frame.remainder_bits == 16) return call.template operator()<isa::avx512, words>();
    if (frame.lanes.lane_bits != 0) return call.template operator()<isa::avx512, by_tables>();
    return call.template operator()<isa::avx512, by_run>();
  }
  if (level == isa::avx2) {
    if (frame.remainder_bits == 8) return call.template operator()<isa::avx2, bytes>();
    if (frame.remainder_bits == 16) return call.template operator()<isa::avx2, words>();
    return call.template operator()<isa::avx2, by_run>();
  }
#endif
  return call.template operator()<isa::plain, by_run>();
}
/// The same for queries, which gain a fifth where the shape is known. (Inserts lose: of known
/// numbers of words g++ 12 makes jumps.) These are the shapes that need no tables and that the
/// planner likes best.
template <class Use>
decltype(auto) with_fastest_search(isa level, const fingerprint_bucket_frame& frame, Use&& use) {
#if ONEPROBE_HAS_SIMD
  using enum remainder_search;
  using bytes_known = known_bucket_shape<47, 8>;
  using words_known = known_bucket_shape<27, 16>;
  const fingerprint_bucket_shape shape{.bucket_capacity = frame.capacity,
                                       .remainder_bits = frame.remainder_bits};
  const auto call = [&]<isa Level>() -> decltype(auto) {
    if (shape == bytes_known::shape)
      return use(std::type_identity<fingerprint_buckets<Level, bytes, bytes_known>>());
    return use(std::type_identity<fingerprint_buckets<Level, words, words_known>>());
  };
  if (shape == bytes_known::shape || shape == words_known::shape) {
    if (level == isa::avx512) return call.template operator()<isa::avx512>();
    if (level == isa::avx2) return call.template operator()<isa::avx2>();
  }
#endif
  return with_fastest_buckets(level, frame, use);
}

}  // namespace oneprobe::inline v0_1
