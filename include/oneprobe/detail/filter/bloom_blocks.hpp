// Blocks that are small Bloom filters. They know when they are full and which elements they turned
// away. They are the store of the balanced filter.
//
//   block   | Bloom bits                              | load counter | tracking bits |
//           | word 0 | word 1 |      ...       | word 7, or word 3                    |
//
//   const block_frame frame(plan);
//   bloom_blocks<512> blocks(memory, frame);
//   placing walk(scheme, blocks, admission(frame.state.threshold));
//   auto ended = walk_to_end(walk, walk.start(hash, {.pattern = pattern_bits(hash), ...}));
//
// What a block's load is depends on its rule: with lookup_rule::popcount the Bloom bits that are
// set, with all others the elements it took. A filter never fails to take an element, so a block
// that refuses one raises its note at once: the element is going to be found further on.
//
// The counter of a block with a flag has a second set of values, beyond the largest load, for the
// loads at which it can refuse: the same load, and it has refused.
//
// A view of memory that belongs to the filter; zeroed memory is empty blocks. With atomic_words
// threads may put and look together, under the popcount rule.
#pragma once

#include <algorithm>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "oneprobe/detail/base/prefetch.hpp"
#include "oneprobe/detail/base/word_access.hpp"
#include "oneprobe/detail/filter/block_bits.hpp"
#include "oneprobe/detail/placement/concepts.hpp"
#include "oneprobe/detail/simd/isa.hpp"
#include "oneprobe/filter/block_rules.hpp"
#include "oneprobe/filter/plan.hpp"

namespace oneprobe::inline v0_1 {

/// What all blocks of a filter have in common, worked out once.
struct block_frame {
  block_shape shape;
  block_state state;
  unsigned tracking_bits;      // w, 0 where a block does not track
  unsigned counter_shift;      // where the counter begins in the last word
  std::uint64_t counter_mask;  // its bits there
  std::uint32_t largest_load;  // that a counter shows

  /// REQUIRES: a plan without a fault.
  explicit block_frame(const filter_plan& plan) noexcept
      : shape{.bits_set = plan.bits_set, .bloom_bits = plan.bloom_bits()},
        state(plan.state),
        tracking_bits(state.tracks() ? state.tracking_bits : 0),
        counter_shift(word_bits - tracking_bits - state.counter_bits()),
        counter_mask(state.counts_elements()
                         ? ~std::uint64_t{0} >> (word_bits - state.counter_bits()) << counter_shift
                         : 0),
        largest_load(state.largest_load()) {}

  /// The tracking bit of an element, in the last word. `mark` are 16 bits of its hash.
  /// REQUIRES: the blocks track.
  std::uint64_t tracking_bit(std::uint16_t mark) const noexcept {
    return std::uint64_t{1} << tracking_place(mark);
  }
  std::uint32_t tracking_place(std::uint16_t mark) const noexcept {
    const std::uint32_t number = (std::uint32_t{mark} * tracking_bits) >> 16;
    return word_bits - tracking_bits + number;
  }
};

/// What a block's own bits say.
struct block_reading {
  std::uint32_t load = 0;
  std::uint32_t tracking_ones = 0;  // tracking bits that are set
  bool flagged = false;             // it has refused an element
};

/// What a loop over blocks knows of them when it is compiled, so that what is for others is left
/// out: nothing,
struct any_blocks {
  using bits_set = any_bits_set;
  static constexpr bool knows_popcount = false;
  static constexpr block_state known(const block_state& state) noexcept { return state; }
};
/// or that they refuse by their set bits, and how many of these an element has.
template <class BitsSet>
struct popcount_blocks {
  using bits_set = BitsSet;
  static constexpr bool knows_popcount = true;
  static constexpr block_state known(block_state state) noexcept {
    state.rule = lookup_rule::popcount;
    state.admit_probability = 0;
    return state;
  }
};

template <unsigned BlockBits, isa Level = isa::plain, class Words = plain_words,
          class Known = any_blocks>
class bloom_blocks {
  using bits = block_bits<BlockBits, block_layout::independent, Level, Words>;

 public:
  static constexpr isa level = Level;
  static constexpr bool is_view = true;
  static constexpr bool knows_popcount = Known::knows_popcount;

  /// An element on its way, and what the blocks it visited said to it.
  struct item {
    std::uint64_t pattern = 0;  // its Bloom bits follow from this
    std::uint16_t mark = 0;     // and its tracking bit from this
    bool was_noted = true;      // every block that refused it would have sent a query for it on
  };

  bloom_blocks(std::byte* memory, const block_frame& frame) noexcept
      : memory_(memory), frame_(frame) {}
  /// Only to look at.
  static const bloom_blocks reading(const std::byte* memory, const block_frame& frame) noexcept {
    return bloom_blocks(const_cast<std::byte*>(memory), frame);
  }

  /// An element whose bits are all set cannot be distinguished from one that is there already.
  put_result try_put(position at, item& element, std::uint32_t limit) noexcept {
    const bucket_look said = offer(at, element, limit);
    if (said.beyond != 0) {
      note_refused(at, element);
      return put_result::refused;
    }
    return said.found != 0 ? put_result::present : put_result::placed;
  }
  /// The same in two parts, for many elements at once: whether an element was there or is refused,
  /// with few jumps, and later the note for those that are.
  bucket_look offer(position at, const item& element, std::uint32_t limit) noexcept {
    return offer_bits(at, element.pattern, limit);
  }
  void note_refused(position at, item& element) noexcept {
    element.was_noted &= note_refusal(block_at(at.bucket), element.mark);
  }
  /// Before the first part the bits of all of them, where the kernel can.
  using prepared = typename prepared_by<bits>::type;
  template <class ItemAt, class Prepared>
  void prepare(std::size_t count, ItemAt&& item_at,
               Prepared* out) const requires std::same_as<Prepared, prepared> {
    prepare_patterns<bits>(
        count, [&](std::size_t i) { return item_at(i).pattern; }, shape(), out);
  }
  template <class Prepared>
  bucket_look offer(position at, const Prepared& element,
                    std::uint32_t limit) noexcept requires std::same_as<Prepared, prepared> {
    return offer_bits(at, element, limit);
  }
  /// Puts an element into a block that has refused it. The load stays: it says that the block is
  /// full.
  void force(position at, const item& element) noexcept {
    bits::set_all(block_at(at.bucket), element.pattern, shape());
  }

  block_state state() const noexcept { return Known::known(frame_.state); }
  std::optional<std::uint32_t> load(position at) const noexcept {
    return load_of(block_at(at.bucket));
  }
  void prefetch(position at) const noexcept { prefetch_line_ahead(block_at(at.bucket)); }

  bool all_set(position at, std::uint64_t pattern) const noexcept {
    return bits::all_set(block_at(at.bucket), pattern, shape());
  }
  /// A short look: whether the first of the bits are set, and whether these are all there are.
  bool first_set(position at, std::uint64_t pattern) const noexcept {
    if constexpr (looks_at_first)
      return bits::first_set(block_at(at.bucket), pattern, shape());
    else
      return all_set(at, pattern);
  }
  bool first_are_all() const noexcept {
    if constexpr (looks_at_first) return shape().bits_set <= bits::first_bits;
    return true;
  }
  /// Whether the block's tracking bits say that it may have refused an element with this mark.
  bool is_tracked(position at, std::uint16_t mark) const noexcept {
    return (Words::load(last_word(block_at(at.bucket))) >> frame_.tracking_place(mark) & 1) != 0;
  }
  std::uint32_t ones(std::uint64_t block) const noexcept {
    return bits::count_ones(block_at(block), frame_.shape.bloom_bits);
  }
  block_reading read(position at) const noexcept {
    const std::byte* const block = block_at(at.bucket);
    const std::uint64_t last = Words::load(last_word(block));
    const std::uint64_t tracking =
        frame_.tracking_bits == 0 ? 0 : last >> (word_bits - frame_.tracking_bits);
    return {.load = load_of(block),
            .tracking_ones = static_cast<std::uint32_t>(std::popcount(tracking)),
            .flagged = counter_of(last) > frame_.largest_load};
  }

  /// Takes in a block of another filter with the same frame: afterwards all bits that were set in
  /// either are set, and a query that either sent on is sent on.
  void unite(std::uint64_t block, const bloom_blocks& other) noexcept {
    std::byte* const mine = block_at(block);
    const std::byte* const theirs = other.block_at(block);
    for (unsigned i = 0; i + 1 < bits::words; ++i)
      Words::set_bits(mine + i * word_bytes, Words::load(theirs + i * word_bytes));
    const std::uint64_t last = Words::load(last_word(theirs));
    if constexpr (!Words::shared) {
      const std::uint64_t before = Words::load(last_word(mine));
      set_counter(mine, united_counters(counter_of(before), counter_of(last)));
    }
    Words::set_bits(last_word(mine), last & ~frame_.counter_mask);
  }

 private:
  static constexpr bool looks_at_first = requires { bits::first_bits; };
  static constexpr std::size_t last_word_at = (bits::words - 1) * word_bytes;

  /// A block of these always has bits of its own; the kernels leave out what is for others.
  block_shape shape() const noexcept {
#if defined(__GNUC__)
    if (frame_.shape.bloom_bits >= BlockBits) __builtin_unreachable();
#endif
    return Known::bits_set::known(frame_.shape);
  }
  std::byte* block_at(std::uint64_t block) const noexcept { return memory_ + block * bits::bytes; }
  static std::byte* last_word(std::byte* block) noexcept { return block + last_word_at; }
  static const std::byte* last_word(const std::byte* block) noexcept {
    return block + last_word_at;
  }

  std::uint32_t counter_of(std::uint64_t last) const noexcept {
    return static_cast<std::uint32_t>((last & frame_.counter_mask) >> frame_.counter_shift);
  }
  /// REQUIRES: the blocks have a counter, or it is 0.
  void set_counter(std::byte* block, std::uint32_t counter) noexcept {
    if constexpr (!Words::shared) {
      std::byte* const place = last_word(block);
      Words::store(place, (Words::load(place) & ~frame_.counter_mask) |
                              (std::uint64_t{counter} << frame_.counter_shift));
    }
  }
  std::uint32_t load_from(std::uint32_t counter) const noexcept {
    const std::uint32_t largest = frame_.largest_load;
    return counter <= largest ? counter : frame_.state.threshold + (counter - largest - 1);
  }
  std::uint32_t flagged_counter(std::uint32_t load) const noexcept {
    return frame_.largest_load + 1 + (load - frame_.state.threshold);
  }

  template <class Bits>
  bucket_look offer_bits(position at, const Bits& element, std::uint32_t limit) noexcept {
    std::byte* const block = block_at(at.bucket);
    const bits_outcome outcome =
        bits::put(block, element, shape(), [&] { return load_of(block) < limit; });
    if (state().counts_elements() && (outcome.was_set | outcome.refused) == 0) count_one(block);
    return {.found = outcome.was_set, .beyond = outcome.refused};
  }
  std::uint32_t load_of(const std::byte* block) const noexcept {
    if (!state().counts_elements()) return bits::count_ones(block, frame_.shape.bloom_bits);
    return load_from(counter_of(Words::load(last_word(block))));
  }

  /// One more in a block with room. A counter that a stranger's file holds may say anything; it
  /// never runs into its neighbours. REQUIRES: the blocks have a counter.
  void count_one(std::byte* block) noexcept {
    const std::uint32_t counter = counter_of(Words::load(last_word(block)));
    const bool flagged = counter > frame_.largest_load;
    const std::uint32_t load = std::min(load_from(counter) + 1, frame_.largest_load);
    set_counter(block, flagged ? flagged_counter(load) : load);
  }

  /// Says whether the note was there before. Without a note of its own a block shows by its load
  /// that it refuses.
  bool note_refusal(std::byte* block, std::uint16_t mark) noexcept {
    if (state().tracks()) {
      const std::uint64_t bit = frame_.tracking_bit(mark);
      return (Words::set_bits(last_word(block), bit) & bit) != 0;
    }
    if (!state().flags()) return true;
    const std::uint32_t counter = counter_of(Words::load(last_word(block)));
    if (counter > frame_.largest_load) return true;
    set_counter(block, flagged_counter(counter));
    return false;
  }

  /// Loads are added, as far as a counter goes. A block that was flagged was full, and still is.
  std::uint32_t united_counters(std::uint32_t a, std::uint32_t b) const noexcept {
    const std::uint32_t largest = frame_.largest_load;
    const std::uint32_t load = std::min(load_from(a) + load_from(b), largest);
    return a > largest || b > largest ? flagged_counter(load) : load;
  }

  std::byte* memory_;
  block_frame frame_;
};

static_assert(offering_store<bloom_blocks<512>> &&
              offering_store<bloom_blocks<512, isa::plain, atomic_words>>);

}  // namespace oneprobe::inline v0_1
