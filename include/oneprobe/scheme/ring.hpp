// Many walks at once, so that memory is asked before it is needed.
//
// A rolling ring: the oldest walk takes its step, and a new one starts in its place by asking for
// its first bucket. By the time a walk is the oldest, what it reads has arrived. There is no batch
// to fill and drain in between, which makes it up to twice as fast as chunks.
//
//   roll(walk, count, [&](std::size_t i) { return walk.start(hashes[i]); },
//        [&](std::size_t i, const auto& ended) { ... });
//
// A walk that says `in_order` ends in the order in which it was started, and leaves exactly what
// the scalar loop leaves; half way through the ring it may look ahead. Others take one step per
// round and end when they end.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "oneprobe/scheme/walk.hpp"

namespace oneprobe {

/// How many walks are under way. Enough for the latency of memory over the work of one step; a
/// power of two.
inline constexpr std::size_t default_ring_width = 32;

/// Runs `count` walks: `source(i)` starts number i, `sink(i, state)` receives it when it has ended.
/// `source` is called once for each number, in order, up to `Width` numbers ahead of the sink.
template <std::size_t Width = default_ring_width, class Walk, class Source, class Sink>
constexpr void roll(Walk& walk, std::size_t count, Source&& source, Sink&& sink) {
  static_assert(Width >= 2 && (Width & (Width - 1)) == 0, "a power of two, so that % is a mask");
  struct entry {
    decltype(source(std::size_t{})) state;
    std::size_t number;
  };
  const std::size_t filled = std::min(Width, count);
  if (filled == 0) return;

  std::array<entry, Width> ring;
  const auto begin = [&](entry& place, std::size_t number) {
    place.state = source(number);
    place.number = number;
    walk.prefetch(place.state);
  };
  for (std::size_t i = 0; i < filled; ++i) begin(ring[i], i);

  if constexpr (Walk::in_order) {
    for (std::size_t i = 0; i < count; ++i) {
      // Near the end this looks again at walks that are over: a wasted hint.
      walk.look_ahead(ring[std::min(i + Width / 2, count - 1) % Width].state);
      entry& oldest = ring[i % Width];
      finish_walk(walk, oldest.state);
      sink(i, oldest.state);
      if (i + Width < count) begin(oldest, i + Width);
    }
  } else {
    std::size_t started = filled;
    std::size_t running = filled;
    for (std::size_t turn = 0; running > 0; turn = turn + 1 == filled ? 0 : turn + 1) {
      entry& oldest = ring[turn];
      if (oldest.state.end != walk_end::open) continue;
      walk.step(oldest.state);
      if (oldest.state.end == walk_end::open) {
        walk.prefetch(oldest.state);
        continue;
      }
      sink(oldest.number, oldest.state);
      if (started < count)
        begin(oldest, started++);
      else
        --running;
    }
  }
}

}  // namespace oneprobe
