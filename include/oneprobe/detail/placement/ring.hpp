// Many walks at once, so that memory is asked before it is needed.
//
// A rolling ring: the oldest walk takes its step, and another one asks for its first bucket. By the
// time a walk is the oldest, what it reads has arrived. There is no batch of requests to fill and
// drain in between, which makes it up to twice as fast as chunks. Only what needs no memory is done
// for a whole ring of walks at once, because vector instructions do it for several together:
// hashing keys, and what walks can work out of elements before they see a bucket.
//
//   roll(walk, count, [&](std::size_t i) { return hash(keys[i]); },
//        [&](key_hash hash) { return walk.start(hash); },
//        [&](std::size_t i, const auto& ended) { ... });
//
// The source gives what the ring holds of a walk before its first step; the less that is, the
// better. From it a walk is started to ask for its first bucket, and again to take its step. A
// source is a function of the number, or fills a span from a number on, as a hash_feed does.
// Behind the last key, `start` also sees what is not a key's: it must not read what that points to.
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
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "oneprobe/detail/base/at_end.hpp"
#include "oneprobe/detail/placement/walk.hpp"
#include "oneprobe/detail/simd/isa.hpp"

namespace oneprobe::inline v0_1 {

/// How many walks a ring has, a power of two. In order one ring is under way, otherwise two: enough
/// for the latency of memory over the work of one step.
inline constexpr std::size_t default_ring_width = 32;

namespace detail {

/// A source that gives several at once.
template <class Source>
concept filling_source = requires(const Source& source,
                                  std::span<typename Source::value_type> some) {
  source.fill(std::size_t{}, some);
};

/// What a source gives.
template <class Source>
struct held_from {
  using type = std::invoke_result_t<Source&, std::size_t>;
};
template <filling_source Source>
struct held_from<Source> {
  using type = typename Source::value_type;
};
template <class Source>
using held_type = typename held_from<std::remove_cvref_t<Source>>::type;

/// Fills `ring` with what the source gives from number `first` on, of `count` that there are. Says
/// how many.
template <class Source, class Held, std::size_t Width>
constexpr std::size_t fill_ring(Source& source, std::array<Held, Width>& ring, std::size_t first,
                                std::size_t count) {
  const std::size_t some = std::min(Width, count - first);
  if constexpr (filling_source<std::remove_cvref_t<Source>>) {
    if (some != 0) source.fill(first, std::span(ring).first(some));
  } else {
    if (some == Width)  // a number of rounds that the compiler knows
      for (std::size_t i = 0; i < Width; ++i) ring[i] = source(first + i);
    else
      for (std::size_t i = 0; i < some; ++i) ring[i] = source(first + i);
    if constexpr (requires { source.ask_for(first, Width); })
      if (first + 2 * Width <= count) source.ask_for(first + Width, Width);
  }
  return some;
}

/// What a source gives, one after the other.
template <std::size_t Width, class Source>
class one_by_one {
 public:
  constexpr one_by_one(Source& source, std::size_t first, std::size_t count) noexcept
      : source_(source), next_(first), count_(count) {}

  /// REQUIRES: there is one more.
  constexpr held_type<Source> operator()() {
    if (place_ == kept_) {
      kept_ = fill_ring(source_, ring_, next_, count_);
      next_ += kept_;
      place_ = 0;
    }
    return ring_[place_++];
  }

 private:
  Source& source_;
  std::size_t next_;
  std::size_t count_;
  std::size_t kept_ = 0;
  std::size_t place_ = 0;
  std::array<held_type<Source>, Width> ring_;
};

/// Starts a walk in `place` and asks for its first bucket. The state is made where it will be: a
/// copy of one that was just written in pieces waits for all of them to reach the cache.
template <class Walk, class State, class Start, class Held>
constexpr void begin_walk(const Walk& walk, State& place, Start& start, const Held& held) {
  if constexpr (std::is_trivially_destructible_v<State>)
    ::new (static_cast<void*>(&place)) State(start(held));
  else
    place = start(held);
  walk.prefetch(place);
}

/// Calls `visit(i, i % Width, held)` for i = 0, 1, ..., and `prefetch(held)` two rings of `Width`
/// ahead of it; `source` gives what is held of each, up to three rings ahead. Half way in between,
/// one ring ahead, `prefetch_rest(held)` is called. Before every `Width` visits `prepare(ring)` is
/// called with what is held of them, and after them `turn(first, ring)`; if that says no, this
/// ends. Returns how many were visited.
template <std::size_t Width, class Source, class Prefetch, class PrefetchRest, class Prepare,
          class Visit, class Turn>
constexpr std::size_t visit_ahead(std::size_t count, Source& source, Prefetch prefetch,
                                  PrefetchRest prefetch_rest, Prepare prepare, Visit visit,
                                  Turn turn) {
  using held = held_type<Source>;
  struct part {
    std::array<held, Width> ring{};
    std::size_t size = 0;
  };
  std::array<part, 3> parts{};
  std::size_t taken = 0;
  const auto fill = [&](part& empty) {
    empty.size = fill_ring(source, empty.ring, taken, count);
    taken += empty.size;
  };
  for (part& soon : std::span(parts).template first<2>()) {
    fill(soon);
    for (std::size_t i = 0; i < soon.size; ++i) prefetch(soon.ring[i]);
  }
  for (std::size_t i = 0; i < parts[0].size; ++i) prefetch_rest(parts[0].ring[i]);
  std::size_t first = 0;
  for (std::size_t turns = 0;; ++turns) {
    const part& now = parts[turns % 3];
    const part& next = parts[(turns + 1) % 3];
    part& later = parts[(turns + 2) % 3];
    if (now.size == 0) break;
    fill(later);
    prepare(std::span<const held>(now.ring.data(), now.size));
    for (std::size_t i = 0; i < now.size; ++i) {
      visit(first + i, i, now.ring[i]);
      prefetch(later.ring[i]);  // behind the last something else: a wasted hint
      if (i < next.size) prefetch_rest(next.ring[i]);
    }
    const bool goes_on = turn(first, std::span<const held>(now.ring.data(), now.size));
    first += now.size;
    if (!goes_on) break;
  }
  return first;
}
/// For callers with nothing to do between two turns of the ring.
struct no_turn {
  template <class Ring>
  constexpr bool operator()(std::size_t, const Ring&) const noexcept {
    return true;
  }
};
/// For callers that compute nothing from a whole ring.
struct no_preparation {
  template <class Ring>
  constexpr void operator()(const Ring&) const noexcept {}
};
/// Where a bucket is in one place.
struct no_rest {
  template <class Held>
  constexpr void operator()(const Held&) const noexcept {}
};

/// Walks that work something out of many elements at once, before their buckets are read.
template <class Walk>
concept preparing_walk = !std::is_void_v<typename Walk::prepared>;

/// What they have worked out of a ring; of others nothing.
template <class Walk, std::size_t Most>
struct preparation {
  template <class StartAt>
  constexpr void make(const Walk&, std::size_t, StartAt) noexcept {}
  template <class State>
  constexpr auto look(const Walk& walk, const State& state, std::size_t) const {
    return walk.look(state);
  }
  template <class State>
  constexpr auto step(const Walk& walk, const State& state, std::size_t) const {
    return walk.step(state);
  }
};
template <preparing_walk Walk, std::size_t Most>
struct preparation<Walk, Most> {
  static_assert(Most % 8 == 0 && Most <= 64, "walks prepare by eights, up to 64 at once");

  template <class StartAt>
  constexpr void make(const Walk& walk, std::size_t count, StartAt start_at) {
    walk.prepare(count, start_at, elements.data());
  }
  template <class State>
  constexpr auto look(const Walk& walk, const State& state, std::size_t i) const {
    return walk.look(state, elements[i]);
  }
  template <class State>
  constexpr auto step(const Walk& walk, const State& state, std::size_t i) const {
    return walk.step(state, elements[i]);
  }

  std::array<typename Walk::prepared, Most> elements;
};

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
  template <class Walk, class Sink>
  constexpr void finish(Walk& walk, Sink& sink) {
    while (!empty()) step_all(walk, sink);
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

/// Calls `use(i)` for every bit i that is set, from the lowest up.
template <class Use>
constexpr void for_each_bit(std::uint64_t bits, Use use) {
  for (; bits != 0; bits &= bits - 1) use(static_cast<std::size_t>(std::countr_zero(bits)));
}

/// Walks that a bucket has sent on. They look at their next buckets together, so that nothing has
/// to jump on what a single one finds there.
template <class State, std::size_t Width>
class walks_sent_on {
  static constexpr std::size_t most = 2 * Width;
  static_assert(most <= 64, "what they find are bits of one word");

 public:
  /// Walks that have not ended.
  std::size_t open() const noexcept { return waiting_ + overflowed_; }

  /// Takes in those of a ring whose bits are set: their next buckets are asked for, and looked at
  /// when others have come behind them. Not inlined, but compiled for the same level: the loop over
  /// first buckets needs the registers.
  template <class Held, class Walk, class Start, class Sink>
  void take(std::uint64_t which, std::size_t first, std::span<const Held> ring, Walk& walk,
            Start& start, Sink& sink) {
    compiled_for<level_of<Walk>(), take_each<Held, Walk, Start, Sink>, walks_sent_on&,
                 std::uint64_t, std::size_t, std::span<const Held>, Walk&, Start&,
                 Sink&>::call(*this, which, first, ring, walk, start, sink);
  }
  template <class Walk, class Sink>
  void finish(Walk& walk, Sink& sink) {
    while (open() != 0) look_all(walk, sink);
  }

 private:
  struct entry {
    State state;
    std::size_t number;
  };

  template <class Held, class Walk, class Start, class Sink>
  static void take_each(walks_sent_on& walks, std::uint64_t which, std::size_t first,
                        std::span<const Held> ring, Walk& walk, Start& start, Sink& sink) {
    const auto more = static_cast<std::size_t>(std::popcount(which));
    // Before they come: those that wait have been asked for a while ago.
    while (walks.waiting_ >= Width || walks.open() + more > most) walks.look_all(walk, sink);
    for_each_bit(which, [&](std::size_t i) {
      walks.send_on({start(walk, ring[i]), first + i}, walk, sink);
    });
  }
  /// Goes on from the bucket that a walk has looked at. REQUIRES: fewer than `most` are open.
  template <class Walk, class Sink>
  void send_on(const entry& one, Walk& walk, Sink& sink) {
    State left = one.state;
    walk.leave(left);
    if (left.end == walk_end::open) {
      walk.prefetch_next(left);
      entries_[waiting_++] = {left, one.number};
    } else {
      if constexpr (requires { sink.ask_for(left); }) sink.ask_for(left);
      beyond_all_[overflowed_++] = {left, one.number};
    }
  }
  template <class Walk, class Sink>
  void look_all(Walk& walk, Sink& sink) {
    compiled_for<level_of<Walk>(), look_each<Walk, Sink>, walks_sent_on&, Walk&, Sink&>::call(
        *this, walk, sink);
  }
  template <class Walk, class Sink>
  static void look_each(walks_sent_on& walks, Walk& walk, Sink& sink) {
    for (std::size_t i = 0; i < walks.overflowed_; ++i)
      sink(walks.beyond_all_[i].number, walks.beyond_all_[i].state);
    walks.overflowed_ = 0;
    preparation<std::remove_const_t<Walk>, most> ready;
    ready.make(walk, walks.waiting_,
               [&](std::size_t i) -> const State& { return walks.entries_[i].state; });
    std::uint64_t found = 0, beyond = 0;
    for (std::size_t i = 0; i < walks.waiting_; ++i) {
      const bucket_look said = ready.look(walk, walks.entries_[i].state, i);
      found |= said.found << i;
      beyond |= said.beyond << i;
    }
    for_each_bit(found, [&](std::size_t i) {
      walks.entries_[i].state.end = walk_end::present;
      sink(walks.entries_[i].number, walks.entries_[i].state);
    });
    walks.waiting_ = 0;
    for_each_bit(beyond, [&](std::size_t i) { walks.send_on(walks.entries_[i], walk, sink); });
  }

  std::array<entry, most> entries_;
  std::array<entry, most> beyond_all_;  // for the overflow
  std::size_t waiting_ = 0;
  std::size_t overflowed_ = 0;
};

}  // namespace detail

/// Runs walks number first, first + 1, ..., count - 1 in order: `start(held)` starts one,
/// `sink(i, state)` receives it when it has ended.
template <std::size_t Width = default_ring_width, class Walk, class Source, class Start, class Sink>
constexpr void roll_in_order(Walk& walk, std::size_t count, Source&& source, Start&& start,
                             Sink&& sink, std::size_t first = 0) {
  static_assert(Width >= 2 && (Width & (Width - 1)) == 0, "a power of two, so that % is a mask");
  using held = detail::held_type<Source>;
  std::array<std::invoke_result_t<Start&, const held&>, Width> ring;
  detail::one_by_one<Width, std::remove_reference_t<Source>> next(source, first, count);
  const std::size_t filled = std::min(count, first + Width);
  for (std::size_t i = first; i < filled; ++i)
    detail::begin_walk(walk, ring[i % Width], start, next());
  for (std::size_t i = first; i < count; ++i) {
    // Near the end this looks at the last walk again and again: a wasted hint.
    walk.look_ahead(ring[std::min(i + Width / 2, count - 1) % Width]);
    auto& oldest = ring[i % Width];
    finish_walk(walk, oldest);
    sink(i, oldest);
    if (i + Width < count) detail::begin_walk(walk, oldest, start, next());
  }
}

/// Runs `count` walks in rounds; the sink receives them as they end. The ring holds walks before
/// their first step, with which most end; the others wait until they are as many as the ring is
/// wide, and then take their next step one after the other. So at most `Width` have taken a step
/// and are open.
template <std::size_t Width = default_ring_width, class Walk, class Source, class Start, class Sink>
constexpr void roll_in_rounds(Walk& walk, std::size_t count, Source&& source, Start&& start,
                              Sink&& sink) {
  using state = std::invoke_result_t<Start&, const detail::held_type<Source>&>;
  detail::waiting_walks<state, Width> waiting;
  // If the source throws, walks that have taken a step end all the same where they must: one that
  // has put its element carries another's, which would be lost with it.
  const at_end end_them([&] {
    if constexpr (requires { requires Walk::must_finish; }) waiting.finish(walk, sink);
  });
  const auto prefetch_rest = [&](const auto& held) {
    if constexpr (requires { requires Walk::has_rest; }) walk.prefetch_rest(start(held));
  };
  detail::visit_ahead<Width>(
      count, source, [&](const auto& held) { walk.prefetch(start(held)); }, prefetch_rest,
      detail::no_preparation(),
      [&](std::size_t i, std::size_t, const auto& held) {
        state oldest = start(held);
        walk.step(oldest);
        if (oldest.end == walk_end::open) {
          walk.prefetch_next(oldest);
          waiting.add(i, oldest);
        } else {
          sink(i, oldest);
        }
        while (waiting.full()) waiting.step_all(walk, sink);
      },
      detail::no_turn());
  waiting.finish(walk, sink);
}

/// A sink for roll_looks that asks for the overflow some time before it looks there.
template <class End, class AskFor>
struct asking_sink {
  End end;      // end(i, state)
  AskFor asks;  // asks(state)

  asking_sink(End ends, AskFor asks_for) : end(std::move(ends)), asks(std::move(asks_for)) {}

  template <class State>
  constexpr void operator()(std::size_t i, const State& ended) const {
    end(i, ended);
  }
  template <class State>
  constexpr void ask_for(const State& overflowed) const {
    asks(overflowed);
  }
};

/// Nothing keeps walks from their first step.
struct always_open {
  constexpr bool operator()(std::size_t) const noexcept { return true; }
};

/// Looks for `count` elements, or places them, in rounds. `start(walk, held)` starts a walk, which
/// may be a copy of the one that is given. `answer(i, found)` is called at once with what
/// the first bucket says. Walks that it sends on are corrected by `sink(i, state)` if they end with
/// a bucket that has the element (`present`) or with none (`overflowed`; `sink.ask_for(state)`, if
/// there is one, some time before). Which walks go on cannot be predicted, so nothing here jumps on
/// it: they are bits of a word, and are taken further when a ring has been visited. `gate(open)` is
/// asked before each ring, with the number of walks that may overflow then. If it says no, what is
/// open ends first; if it says no again, this ends. Returns how many walks were run.
template <std::size_t Width = default_ring_width, class Walk, class Source, class Start,
          class Answer, class Sink, class Gate = always_open>
std::size_t roll_looks(Walk& walk, std::size_t count, Source&& source, Start&& start,
                       Answer&& answer, Sink&& sink, Gate gate = {}) {
  using held = detail::held_type<Source>;
  if (!gate(Width)) return 0;
  detail::walks_sent_on<typename std::remove_cvref_t<Walk>::state, Width> sent_on;
  // Also if the source throws: what they were said to be is corrected when they end.
  const at_end end_them([&] { sent_on.finish(walk, sink); });
  std::uint64_t beyond = 0;
  // A copy, since no other code sees it: it may lie in registers.
  const auto scheme = walk.scheme();
  const std::remove_cvref_t<Walk> here = walk.over(scheme);
  detail::preparation<std::remove_cvref_t<Walk>, Width> ready;
  return detail::visit_ahead<Width>(
      count, source, [&](const held& one) { here.prefetch(start(here, one)); }, detail::no_rest(),
      [&](std::span<const held> ring) {
        ready.make(here, ring.size(), [&](std::size_t i) { return start(here, ring[i]); });
      },
      [&](std::size_t i, std::size_t place, const held& one) {
        const bucket_look said = ready.look(here, start(here, one), place);
        answer(i, said.found != 0);
        beyond |= said.beyond << place;
      },
      [&](std::size_t first, std::span<const held> ring) {
        if (beyond != 0) sent_on.take(std::exchange(beyond, 0), first, ring, walk, start, sink);
        if (gate(sent_on.open() + Width)) return true;
        sent_on.finish(walk, sink);
        return gate(Width);
      });
}

/// Runs `count` walks that end with their first step, as they were started. There is nothing to
/// come back to: `step` returns what the sink receives.
template <std::size_t Width = default_ring_width, class Walk, class Source, class Start, class Sink>
constexpr void roll_single_steps(Walk& walk, std::size_t count, Source&& source, Start&& start,
                                 Sink&& sink) {
  detail::preparation<std::remove_cvref_t<Walk>, Width> ready;
  detail::visit_ahead<Width>(
      count, source, [&](const auto& held) { walk.prefetch(start(held)); }, detail::no_rest(),
      [&](const auto& ring) {
        ready.make(walk, ring.size(), [&](std::size_t i) { return start(ring[i]); });
      },
      [&](std::size_t i, std::size_t place, const auto& held) {
        sink(i, ready.step(walk, start(held), place));
      },
      detail::no_turn());
}

/// Whichever of the ways is the fastest that leaves what the scalar loop leaves.
template <std::size_t Width = default_ring_width, class Walk, class Source, class Start, class Sink>
constexpr void roll(Walk& walk, std::size_t count, Source&& source, Start&& start, Sink&& sink) {
  if constexpr (requires { Walk::single_step; })
    roll_single_steps<Width>(walk, count, source, start, sink);
  else if constexpr (Walk::may_overtake)
    roll_in_rounds<Width>(walk, count, source, start, sink);
  else
    roll_in_order<Width>(walk, count, source, start, sink);
}

}  // namespace oneprobe::inline v0_1
