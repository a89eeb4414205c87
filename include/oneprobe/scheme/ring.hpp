// Many walks at once, so that memory is asked before it is needed.
//
// A rolling ring: the oldest walk takes its step, and another one asks for its first bucket. By the
// time a walk is the oldest, what it reads has arrived. There is no batch of requests to fill and
// drain in between, which makes it up to twice as fast as chunks. Only what needs no memory,
// hashing keys, is done for a whole ring of walks at once: compilers turn that into vector
// instructions, and requests need not wait for it.
//
//   roll(walk, count, [&](std::size_t i) { return hash(keys[i]); },
//        [&](key_hash hash) { return walk.start(hash); },
//        [&](std::size_t i, const auto& ended) { ... });
//
// The source gives what the ring holds of a walk before its first step; the less that is, the
// better. From it a walk is started twice: to ask for its first bucket, and to take its step.
//
// Ways to drive it. *In order*, the oldest walk runs to its end when its turn comes, and half
// way through the ring it may look ahead: walks end as they were started, and leave exactly what
// the scalar loop leaves. *In rounds*, every walk takes one step per round, everything it reads has
// been asked for, and walks end when they end. `roll` takes rounds where that leaves the same
// result: for lookups, and for placing where no two levels share a bucket, since then each level
// still sees its arrivals in their order. Walks that have a single step take it and are done.
// *Looks* are rounds of lookups, or of placements, in stores that answer without a jump.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <type_traits>

#include "oneprobe/core/simd.hpp"
#include "oneprobe/scheme/walk.hpp"

namespace oneprobe::inline v0_1 {

/// How many walks are under way. Enough for the latency of memory over the work of one step; a
/// power of two.
inline constexpr std::size_t default_ring_width = 32;

namespace detail {

/// Starts walk `number` in `place` and asks for its first bucket. The state is made where it will
/// be: a copy of one that was just written in pieces waits for all of them to reach the cache.
template <class Walk, class State, class Source>
constexpr void begin_walk(const Walk& walk, State& place, std::size_t number, Source& source) {
  if constexpr (std::is_trivially_destructible_v<State>)
    ::new (static_cast<void*>(&place)) State(source(number));
  else
    place = source(number);
  walk.prefetch(place);
}

/// Calls `visit(i, held)` for i = 0, 1, ... until it says no, and `prefetch(held)` `Width` numbers
/// ahead of it; `source(i)` gives what is held of number i, up to twice as far ahead. Half way in
/// between `prefetch_rest(held)` is called. Returns how many were visited.
template <std::size_t Width, class Source, class Prefetch, class PrefetchRest, class Visit>
constexpr std::size_t visit_ahead(std::size_t count, Source& source, Prefetch prefetch,
                                  PrefetchRest prefetch_rest, Visit visit) {
  using held = decltype(source(std::size_t{}));
  constexpr std::size_t half = Width / 2;
  std::array<std::array<held, Width>, 2> rings;
  const auto fill = [&](std::array<held, Width>& ring, std::size_t first) {
    const std::size_t some = std::min(Width, count - first);
    if (some == Width)  // a number of rounds that the compiler knows
      for (std::size_t i = 0; i < Width; ++i) ring[i] = source(first + i);
    else
      for (std::size_t i = 0; i < some; ++i) ring[i] = source(first + i);
    return some;
  };
  std::size_t some = fill(rings[0], 0);
  for (std::size_t i = 0; i < some; ++i) prefetch(rings[0][i]);
  for (std::size_t i = 0; i < std::min(some, half); ++i) prefetch_rest(rings[0][i]);
  for (std::size_t first = 0, turn = 0; some != 0; turn ^= 1) {
    const std::array<held, Width>& now = rings[turn];
    std::array<held, Width>& next = rings[turn ^ 1];
    const std::size_t following = fill(next, first + some);
    if constexpr (requires { source.ask_for(first, Width); })
      if (first + some + 2 * Width <= count) source.ask_for(first + some + Width, Width);
    for (std::size_t i = 0; i < some; ++i) {
      if (!visit(first + i, now[i])) return first + i;
      if (i < following) prefetch(next[i]);
      if (i < half ? i + half < some : i - half < following)
        prefetch_rest(i < half ? now[i + half] : next[i - half]);
    }
    first += some;
    some = following;
  }
  return count;
}
/// Where a bucket is in one place.
struct no_rest {
  template <class Held>
  constexpr void operator()(const Held&) const noexcept {}
};

/// Walks that have taken a step and are still open, in the order in which they took it.
template <class State, std::size_t Most>
class waiting_walks {
 public:
  constexpr bool empty() const noexcept { return count_ == 0; }
  constexpr bool full() const noexcept { return count_ == Most; }
  constexpr std::size_t room() const noexcept { return Most - count_; }

  /// REQUIRES: not full.
  constexpr void add(std::size_t number, const State& state) {
    entries_[count_++] = {state, number};
  }
  /// One step for all; those that are open still wait on. Not inlined, but compiled for the same
  /// level: the loop over first steps needs the registers.
  template <class Walk, class Sink>
  constexpr void step_all(Walk& walk, Sink& sink) {
    if (std::is_constant_evaluated()) return step_each(*this, walk, sink);
    compiled_for<level_of<Walk>(), step_each<Walk, Sink>, waiting_walks&, Walk&, Sink&>::call(
        *this, walk, sink);
  }

 private:
  template <class Walk, class Sink>
  static constexpr void step_each(waiting_walks& walks, Walk& walk, Sink& sink) {
    const std::size_t waited = walks.count_;
    walks.count_ = 0;
    for (std::size_t i = 0; i < waited; ++i) {
      entry& oldest = walks.entries_[i];
      walk.step(oldest.state);
      if (oldest.state.end == walk_end::open) {
        walk.prefetch_next(oldest.state);
        if (walks.count_ != i) walks.entries_[walks.count_] = oldest;
        ++walks.count_;
      } else {
        sink(oldest.number, oldest.state);
      }
    }
  }

  struct entry {
    State state;
    std::size_t number;
  };
  std::array<entry, Most> entries_;
  std::size_t count_ = 0;
};

/// Walks that their first bucket sends on: what the ring held of them, until a few have come
/// together, and from then on the walks themselves.
template <class Held, class State, std::size_t Most>
class walks_beyond {
 public:
  /// So many come together. How many have, the caller keeps, in a register.
  static constexpr std::size_t together = Most / 4;

  /// REQUIRES: place < together.
  constexpr void put(std::size_t place, std::size_t number, const Held& held) noexcept {
    held_[place] = held;
    numbers_[place] = number;
  }
  /// Sends on the first so many: their next buckets are asked for, and visited when others have
  /// come behind them. Not inlined, but compiled for the same level: the loop over first buckets
  /// needs the registers.
  template <class Walk, class Start, class Sink>
  constexpr void send_on(std::size_t count, Walk& walk, Start& start, Sink& sink) {
    compiled_for<level_of<Walk>(), send_all<Walk, Start, Sink>, walks_beyond&, std::size_t, Walk&,
                 Start&, Sink&>::call(*this, count, walk, start, sink);
  }
  template <class Walk, class Sink>
  constexpr void finish(Walk& walk, Sink& sink) {
    while (!waiting_.empty()) waiting_.step_all(walk, sink);
  }

 private:
  template <class Walk, class Start, class Sink>
  static constexpr void send_all(walks_beyond& walks, std::size_t count, Walk& walk, Start& start,
                                 Sink& sink) {
    while (walks.waiting_.room() < count) walks.waiting_.step_all(walk, sink);
    for (std::size_t i = 0; i < count; ++i) {
      auto left = start(walks.held_[i]);
      walk.leave(left);
      if (left.end == walk_end::open) {
        walk.prefetch_next(left);
        walks.waiting_.add(walks.numbers_[i], left);
      } else {
        sink(walks.numbers_[i], left);
      }
    }
  }

  std::array<Held, together> held_;
  std::array<std::size_t, together> numbers_;
  waiting_walks<State, Most> waiting_;
};

/// Where a source throws, walks that have taken a step end all the same if they must: one that has
/// put its element carries another's, which would be lost with it.
template <class Walk, class State, std::size_t Most, class Sink>
class finishing_walks {
 public:
  constexpr finishing_walks(waiting_walks<State, Most>& left, Walk& walk, Sink& sink) noexcept
      : left_(left), walk_(walk), sink_(sink) {}
  finishing_walks(const finishing_walks&) = delete;
  finishing_walks& operator=(const finishing_walks&) = delete;
  constexpr ~finishing_walks() {
    if constexpr (requires { requires Walk::must_finish; })
      while (!left_.empty()) left_.step_all(walk_, sink_);
  }

 private:
  waiting_walks<State, Most>& left_;
  Walk& walk_;
  Sink& sink_;
};

}  // namespace detail

/// Runs `count` walks in order: `source(i)` starts number i, `sink(i, state)` receives it when it
/// has ended, i = 0, 1, ... Each `source` is called once, up to `Width` numbers ahead of the sink.
template <std::size_t Width = default_ring_width, class Walk, class Source, class Sink>
constexpr void roll_in_order(Walk& walk, std::size_t count, Source&& source, Sink&& sink) {
  static_assert(Width >= 2 && (Width & (Width - 1)) == 0, "a power of two, so that % is a mask");
  std::array<decltype(source(std::size_t{})), Width> ring;
  const std::size_t filled = std::min(Width, count);
  for (std::size_t i = 0; i < filled; ++i) detail::begin_walk(walk, ring[i], i, source);
  for (std::size_t i = 0; i < count; ++i) {
    // Near the end this looks at the last walk again and again: a wasted hint.
    walk.look_ahead(ring[std::min(i + Width / 2, count - 1) % Width]);
    auto& oldest = ring[i % Width];
    finish_walk(walk, oldest);
    sink(i, oldest);
    if (i + Width < count) detail::begin_walk(walk, oldest, i + Width, source);
  }
}

/// Runs `count` walks in rounds; the sink receives them as they end. The ring holds walks before
/// their first step, with which most end; the others wait until they are as many as the ring is
/// wide, and then take their next step one after the other. So at most `Width` have taken a step
/// and are open.
template <std::size_t Width = default_ring_width, class Walk, class Source, class Start, class Sink>
constexpr void roll_in_rounds(Walk& walk, std::size_t count, Source&& source, Start&& start,
                              Sink&& sink) {
  using state = decltype(start(source(std::size_t{})));
  detail::waiting_walks<state, Width> waiting;
  const detail::finishing_walks<Walk, state, Width, std::remove_reference_t<Sink>> ends_them(
      waiting, walk, sink);
  const auto prefetch_rest = [&](const auto& held) {
    if constexpr (requires { requires Walk::has_rest; }) walk.prefetch_rest(start(held));
  };
  detail::visit_ahead<Width>(
      count, source, [&](const auto& held) { walk.prefetch(start(held)); }, prefetch_rest,
      [&](std::size_t i, const auto& held) {
        state oldest = start(held);
        walk.step(oldest);
        if (oldest.end == walk_end::open) {
          walk.prefetch_next(oldest);
          waiting.add(i, oldest);
        } else {
          sink(i, oldest);
        }
        while (waiting.full()) waiting.step_all(walk, sink);
        return true;
      });
  while (!waiting.empty()) waiting.step_all(walk, sink);
}

/// Nothing keeps a walk from its first step.
struct always_open {
  constexpr bool operator()() const noexcept { return true; }
};

/// So many walks of roll_looks may have been sent on and be open.
template <std::size_t Width = default_ring_width>
inline constexpr std::size_t most_open_looks = Width + Width / 4;

/// Looks for `count` elements, or places them, in rounds. `answer(i, found)` is told at once what
/// the first bucket says, for walks that go on to be corrected by `sink(i, state)` when they end.
/// Which walks go on cannot be predicted, so nothing here jumps on it: they are collected, and
/// taken further a few at a time. `gate` is asked at first and whenever some were taken further,
/// since only these may overflow; once it says no, what is open ends, and the number of walks that
/// were run is returned.
template <std::size_t Width = default_ring_width, class Walk, class Source, class Start,
          class Answer, class Sink, class Gate = always_open>
constexpr std::size_t roll_looks(Walk& walk, std::size_t count, Source&& source, Start&& start,
                                 Answer&& answer, Sink&& sink, Gate gate = {}) {
  using held = decltype(source(std::size_t{}));
  using walks_beyond = detail::walks_beyond<held, decltype(start(source(std::size_t{}))), Width>;
  static_assert(most_open_looks<Width> == Width + walks_beyond::together);
  walks_beyond beyond;
  std::size_t left = 0;
  bool goes_on = gate();
  const std::size_t run = detail::visit_ahead<Width>(
      count, source, [&](const held& one) { walk.prefetch(start(one)); }, detail::no_rest(),
      [&](std::size_t i, const held& one) {
        if (!goes_on) return false;
        const bucket_look said = walk.look(start(one));
        answer(i, said.found != 0);
        beyond.put(left, i, one);  // in any case: then there is nothing to jump over
        left += said.beyond;
        if (left == walks_beyond::together) {
          beyond.send_on(left, walk, start, sink);
          left = 0;
          goes_on = gate();
        }
        return true;
      });
  beyond.send_on(left, walk, start, sink);
  beyond.finish(walk, sink);
  return run;
}

/// Runs `count` walks that end with their first step, as they were started. There is nothing to
/// come back to: `step` returns what the sink receives.
template <std::size_t Width = default_ring_width, class Walk, class Source, class Start, class Sink>
constexpr void roll_single_steps(Walk& walk, std::size_t count, Source&& source, Start&& start,
                                 Sink&& sink) {
  detail::visit_ahead<Width>(
      count, source, [&](const auto& held) { walk.prefetch(start(held)); }, detail::no_rest(),
      [&](std::size_t i, const auto& held) {
        sink(i, walk.step(start(held)));
        return true;
      });
}

/// Whichever of the ways is the fastest that leaves what the scalar loop leaves.
template <std::size_t Width = default_ring_width, class Walk, class Source, class Start, class Sink>
constexpr void roll(Walk& walk, std::size_t count, Source&& source, Start&& start, Sink&& sink) {
  if constexpr (requires { Walk::single_step; })
    roll_single_steps<Width>(walk, count, source, start, sink);
  else if constexpr (Walk::may_overtake)
    roll_in_rounds<Width>(walk, count, source, start, sink);
  else
    roll_in_order<Width>(
        walk, count, [&](std::size_t i) { return start(source(i)); }, sink);
}

}  // namespace oneprobe::inline v0_1
