// What joins schemes and blocks for the balanced filter: how a query and an insert walk. For
// filter/balanced.hpp; there is nothing here to call.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <type_traits>

#include "oneprobe/detail/filter/bloom_blocks.hpp"
#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/detail/placement/admission.hpp"
#include "oneprobe/detail/placement/concepts.hpp"
#include "oneprobe/detail/placement/walk.hpp"
#include "oneprobe/filter/block_rules.hpp"
#include "oneprobe/filter/plan.hpp"
#include "oneprobe/key_hash.hpp"

namespace oneprobe::inline v0_1::detail {

/// The low bits, on which the candidates hardly depend: `reduce` takes the high ones.
constexpr std::uint16_t tracking_mark(key_hash hash) noexcept {
  return static_cast<std::uint16_t>(hash.value);
}

/// The blocks as a query sees them: a searchable_store that goes on by the lookup rule.
template <class Scheme, class Blocks>
class block_search {
 public:
  using key = std::uint64_t;  // the pattern of the element
  using slot = std::uint32_t;
  static constexpr isa level = Blocks::level;
  static constexpr bool is_view = true;

  block_search(const Scheme& scheme, const Blocks& blocks, admission rule) noexcept
      : scheme_(&scheme), blocks_(blocks), rule_(rule) {}

  void prefetch(position at) const noexcept { blocks_.prefetch(at); }
  std::optional<slot> find(position at, key pattern) const noexcept {
    if (blocks_.all_set(at, pattern)) return slot{0};
    return std::nullopt;
  }
  bucket_look look(position at, key pattern, key_hash hash) const noexcept {
    const std::uint64_t found = blocks_.all_set(at, pattern) ? 1 : 0;
    const std::uint64_t beyond = may_be_beyond(at, hash) ? 1 : 0;
    return {.found = found, .beyond = beyond & ~found};
  }
  /// What a query ends with in this block, `open` where it would go on or this cannot tell: a look
  /// without a call and with few registers, for the first block, where most queries end.
  walk_end look_once(position at, key pattern, key_hash hash) const noexcept {
    if (Scheme::choice == order::parallel || !blocks_.state().tracks()) return walk_end::open;
    if (blocks_.first_set(at, pattern))
      return blocks_.first_are_all() ? walk_end::present : walk_end::open;
    return may_be_beyond(at, hash) ? walk_end::open : walk_end::absent;
  }
  bool may_be_beyond(position at, key_hash hash) const noexcept {
    if constexpr (Scheme::choice == order::parallel) {
      // It may be in any candidate; but in the overflow only if all were full.
      return !is_last(*scheme_, at) || blocks_.load(at) >= blocks_.state().threshold;
    } else {
      if (blocks_.state().tracks()) return blocks_.is_tracked(at, tracking_mark(hash));
      return is_beyond_counter(*this, at, hash);
    }
  }

 private:
  // Not inlined: the rules with tracking bits are the fast ones, and their loop needs the
  // registers. By value: so no caller has to keep the search in memory.
  [[gnu::noinline]] static bool is_beyond_counter(block_search search, position at,
                                                  key_hash hash) noexcept {
    const block_reading found = search.blocks_.read(at);
    const block_state state = search.blocks_.state();
    const auto refused_by_coin = [&] {
      return found.load >= search.rule_.limit(*search.scheme_, hash, at.level);
    };
    switch (state.rule) {
      case lookup_rule::counter:
        return found.load >= state.threshold;
      case lookup_rule::coin:
        return refused_by_coin();
      case lookup_rule::flag:
        return found.flagged;
      case lookup_rule::coin_flag:
        return found.flagged && refused_by_coin();
      case lookup_rule::tracking:
      case lookup_rule::popcount:
        break;
    }
    return true;
  }

  const Scheme* scheme_;
  Blocks blocks_;
  admission rule_;
};

/// Whether a query may go on where an insert ends, so that the insert does not see what a query
/// before it would have answered. With tracking bits, or a replayed coin, a query goes on only
/// where the element is refused.
template <class Scheme>
constexpr bool must_ask_before(const block_state& state) noexcept {
  if (Scheme::choice == order::parallel) return true;
  return state.admit_probability > 0 &&
         (state.rule == lookup_rule::counter || state.rule == lookup_rule::flag);
}

/// Place, after `ask(hash)` was asked whether the element may be there.
template <class Placing, class Ask>
class asking_placing {
 public:
  static constexpr isa level = Placing::level;
  static constexpr bool may_overtake = false;  // what is asked depends on all before

  struct state : Placing::state {
    bool was_there = false;
  };

  asking_placing(Placing place, Ask ask) : place_(place), ask_(ask) {}

  state start(key_hash hash, typename Placing::item element) const {
    return {place_.start(hash, element), false};
  }
  void prefetch(const state& walk) const noexcept { place_.prefetch(walk); }
  void look_ahead(const state& walk) const noexcept { place_.look_ahead(walk); }
  void step(state& walk) {
    if (walk.accesses == 0) walk.was_there = ask_(walk.probe);
    place_.step(walk);
  }

 private:
  Placing place_;
  Ask ask_;
};

/// What a query for an absent key meets in a random block of a level.
struct level_chances {
  double match = 0;        // all its bits are set
  double beyond = 0;       // they are not, and it goes on
  double beyond_last = 0;  // the same where the block is the last candidate

  level_chances divided_by(double blocks) const noexcept {
    return {match / blocks, beyond / blocks, beyond_last / blocks};
  }
};

/// The chances in one block from what is in it.
class block_chances {
 public:
  block_chances(const block_frame& frame, order choice) noexcept : frame_(&frame), choice_(choice) {
    const auto all = static_cast<double>(frame.shape.bloom_bits);
    for (std::uint32_t ones = 0; ones <= frame.shape.bloom_bits; ++ones)
      match_[ones] = std::pow(ones / all, frame.shape.bits_set);
  }

  void add(level_chances& sum, std::uint32_t ones, const block_reading& found) const noexcept {
    const double missed = 1 - match_[ones];
    const double goes_on = goes_on_by_rule(found);
    const bool parallel = choice_ == order::parallel;
    const double full = found.load >= frame_->state.threshold ? 1 : 0;
    sum.match += match_[ones];
    sum.beyond += missed * (parallel ? 1 : goes_on);
    sum.beyond_last += missed * (parallel ? full : goes_on);
  }

 private:
  /// The rules of block_search, for a random element.
  double goes_on_by_rule(const block_reading& found) const noexcept {
    const block_state& state = frame_->state;
    const double refused_by_coin = found.load > state.threshold    ? 1
                                   : found.load == state.threshold ? 1 - state.admit_probability
                                                                   : 0;
    switch (state.rule) {
      case lookup_rule::counter:
        return found.load >= state.threshold ? 1 : 0;
      case lookup_rule::coin:
        return refused_by_coin;
      case lookup_rule::flag:
        return found.flagged ? 1 : 0;
      case lookup_rule::coin_flag:
        return found.flagged ? refused_by_coin : 0;
      case lookup_rule::tracking:
      case lookup_rule::popcount:
        break;
    }
    return static_cast<double>(found.tracking_ones) / frame_->tracking_bits;
  }

  static constexpr std::size_t most_block_bits = 512;
  const block_frame* frame_;
  order choice_;
  std::array<double, most_block_bits + 1> match_{};
};

}  // namespace oneprobe::inline v0_1::detail
