// Many walks at once, so that memory is asked before it is needed.
//
// A rolling ring: the oldest walk takes its step, and a new one starts in its place by asking for
// its first bucket. By the time a walk is the oldest, what it reads has arrived. There is no batch
// to fill and drain in between, which makes it up to twice as fast as chunks.
//
//   roll(walk, count, [&](std::size_t i) { return walk.start(hashes[i]); },
//        [&](std::size_t i, const auto& ended) { ... });
//
// Ways to drive it. *In order*, the oldest walk runs to its end when its turn comes, and half
// way through the ring it may look ahead: walks end as they were started, and leave exactly what
// the scalar loop leaves. *In rounds*, every walk takes one step per round, everything it reads has
// been asked for, and walks end when they end. `roll` takes rounds where that leaves the same
// result: for lookups, and for placing where no two levels share a bucket, since then each level
// still sees its arrivals in their order. Walks that have a single step take it and are done.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <type_traits>

#include "oneprobe/core/simd.hpp"
#include "oneprobe/scheme/walk.hpp"

namespace oneprobe {

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

/// What is kept of a walk before its first step: its seed, or the walk itself where it has none.
template <class Walk, class State>
constexpr auto seed_of(const Walk& walk, const State& state) {
  if constexpr (requires { walk.seed_of(state); })
    return walk.seed_of(state);
  else
    return state;
}
template <class State, class Walk, class Seed>
constexpr State grown(const Walk& walk, const Seed& seed) {
  if constexpr (std::is_same_v<Seed, State>)
    return seed;
  else
    return walk.grow(seed);
}

/// Walks that have taken a step and are still open, in the order in which they took it.
template <class State, std::size_t Most>
class waiting_walks {
 public:
  constexpr bool empty() const noexcept { return count_ == 0; }
  constexpr bool full() const noexcept { return count_ == Most; }

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

/// Nothing keeps a walk from its first step.
struct always_open {
  constexpr bool operator()() const noexcept { return true; }
};

/// Runs `count` walks in rounds; the sink receives them as they end. The ring holds walks before
/// their first step, with which most end; the others wait until they are as many as the ring is
/// wide, and then take their next step one after the other. So at most `Width` have taken a step
/// and are open. Before each first step `gate` is asked; once it says no, what is open ends, and
/// the number of walks that were run is returned.
template <std::size_t Width = default_ring_width, class Walk, class Source, class Sink,
          class Gate = always_open>
constexpr std::size_t roll_in_rounds(Walk& walk, std::size_t count, Source&& source, Sink&& sink,
                                     Gate gate = {}) {
  static_assert(Width >= 2 && (Width & (Width - 1)) == 0, "a power of two, so that % is a mask");
  using state = decltype(source(std::size_t{}));
  using seed = decltype(detail::seed_of(walk, source(std::size_t{})));
  std::array<seed, Width> ring;
  detail::waiting_walks<state, Width> waiting;
  const auto begin = [&](std::size_t i) {
    const state started = source(i);
    ring[i % Width] = detail::seed_of(walk, started);
    walk.prefetch(started);
  };
  const std::size_t filled = std::min(Width, count);
  for (std::size_t i = 0; i < filled; ++i) begin(i);
  std::size_t i = 0;
  for (; i < count && gate(); ++i) {
    // Near the end this looks at the last walk again and again: a wasted hint.
    if constexpr (requires { requires Walk::has_rest; })
      walk.prefetch_rest(
          detail::grown<state>(walk, ring[std::min(i + Width / 2, count - 1) % Width]));
    state oldest = detail::grown<state>(walk, ring[i % Width]);
    walk.step(oldest);
    if (oldest.end == walk_end::open) {
      walk.prefetch_next(oldest);
      waiting.add(i, oldest);
    } else {
      sink(i, oldest);
    }
    if (i + Width < count) begin(i + Width);
    while (waiting.full()) waiting.step_all(walk, sink);
  }
  while (!waiting.empty()) waiting.step_all(walk, sink);
  return i;
}

/// Runs `count` walks that end with their first step, as they were started. There is nothing to
/// come back to: `step` returns what the sink receives, and the ring holds the bare states.
template <std::size_t Width = default_ring_width, class Walk, class Source, class Sink>
constexpr void roll_single_steps(Walk& walk, std::size_t count, Source&& source, Sink&& sink) {
  static_assert(Width >= 2 && (Width & (Width - 1)) == 0, "a power of two, so that % is a mask");
  std::array<decltype(source(std::size_t{})), Width> ring;
  const std::size_t filled = std::min(Width, count);
  for (std::size_t i = 0; i < filled; ++i) {
    ring[i] = source(i);
    walk.prefetch(ring[i]);
  }
  std::size_t i = 0;
  for (; i < count - filled; ++i) {
    auto& oldest = ring[i % Width];
    sink(i, walk.step(oldest));
    oldest = source(i + Width);
    walk.prefetch(oldest);
  }
  for (; i < count; ++i) sink(i, walk.step(ring[i % Width]));
}

/// Whichever of the ways is the fastest that leaves what the scalar loop leaves.
template <std::size_t Width = default_ring_width, class Walk, class Source, class Sink>
constexpr void roll(Walk& walk, std::size_t count, Source&& source, Sink&& sink) {
  if constexpr (requires { Walk::single_step; })
    roll_single_steps<Width>(walk, count, source, sink);
  else if constexpr (Walk::may_overtake)
    roll_in_rounds<Width>(walk, count, source, sink);
  else
    roll_in_order<Width>(walk, count, source, sink);
}

}  // namespace oneprobe
