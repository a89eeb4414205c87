// Many walks at once, so that memory is asked before it is needed.
//
// A rolling ring: the oldest walk takes its step, and a new one starts in its place by asking for
// its first bucket. By the time a walk is the oldest, what it reads has arrived. There is no batch
// to fill and drain in between, which makes it up to twice as fast as chunks.
//
//   roll(walk, count, [&](std::size_t i) { return walk.start(hashes[i]); },
//        [&](std::size_t i, const auto& ended) { ... });
//
// Two ways to drive it. *In order*, the oldest walk runs to its end when its turn comes, and half
// way through the ring it may look ahead: walks end as they were started, and leave exactly what
// the scalar loop leaves. *In rounds*, every walk takes one step per round, everything it reads has
// been asked for, and walks end when they end. `roll` takes rounds where that leaves the same
// result: for lookups, and for placing where no two levels share a bucket, since then each level
// still sees its arrivals in their order.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "oneprobe/scheme/walk.hpp"

namespace oneprobe {

/// How many walks are under way. Enough for the latency of memory over the work of one step; a
/// power of two.
inline constexpr std::size_t default_ring_width = 32;

namespace detail {

template <class State>
struct ring_entry {
  State state;
  std::size_t number;
};

template <class Walk, class Entry, class Source>
constexpr void begin_walk(const Walk& walk, Entry& place, std::size_t number, Source& source) {
  place.state = source(number);
  place.number = number;
  walk.prefetch(place.state);
}

}  // namespace detail

/// Runs `count` walks in order: `source(i)` starts number i, `sink(i, state)` receives it when it
/// has ended, i = 0, 1, ... Each `source` is called once, up to `Width` numbers ahead of the sink.
template <std::size_t Width = default_ring_width, class Walk, class Source, class Sink>
constexpr void roll_in_order(Walk& walk, std::size_t count, Source&& source, Sink&& sink) {
  static_assert(Width >= 2 && (Width & (Width - 1)) == 0, "a power of two, so that % is a mask");
  std::array<detail::ring_entry<decltype(source(std::size_t{}))>, Width> ring;
  const std::size_t filled = std::min(Width, count);
  for (std::size_t i = 0; i < filled; ++i) detail::begin_walk(walk, ring[i], i, source);
  for (std::size_t i = 0; i < count; ++i) {
    // Near the end this looks at the last walk again and again: a wasted hint.
    walk.look_ahead(ring[std::min(i + Width / 2, count - 1) % Width].state);
    auto& oldest = ring[i % Width];
    finish_walk(walk, oldest.state);
    sink(i, oldest.state);
    if (i + Width < count) detail::begin_walk(walk, oldest, i + Width, source);
  }
}

/// Runs `count` walks in rounds; the sink receives them as they end.
template <std::size_t Width = default_ring_width, class Walk, class Source, class Sink>
constexpr void roll_in_rounds(Walk& walk, std::size_t count, Source&& source, Sink&& sink) {
  std::array<detail::ring_entry<decltype(source(std::size_t{}))>, Width> ring;
  const std::size_t filled = std::min(Width, count);
  for (std::size_t i = 0; i < filled; ++i) detail::begin_walk(walk, ring[i], i, source);
  std::size_t started = filled;
  std::size_t running = filled;
  for (std::size_t turn = 0; running > 0; turn = turn + 1 == filled ? 0 : turn + 1) {
    auto& oldest = ring[turn];
    if (oldest.state.end != walk_end::open) continue;  // nothing is left to start
    walk.step(oldest.state);
    if (oldest.state.end == walk_end::open) {
      walk.prefetch_next(oldest.state);
      continue;
    }
    sink(oldest.number, oldest.state);
    if (started < count)
      detail::begin_walk(walk, oldest, started++, source);
    else
      --running;
  }
}

/// Whichever of the two is faster and leaves what the scalar loop leaves.
template <std::size_t Width = default_ring_width, class Walk, class Source, class Sink>
constexpr void roll(Walk& walk, std::size_t count, Source&& source, Sink&& sink) {
  if constexpr (Walk::may_overtake)
    roll_in_rounds<Width>(walk, count, source, sink);
  else
    roll_in_order<Width>(walk, count, source, sink);
}

}  // namespace oneprobe
