// Filters into which many threads insert at once, and which others query meanwhile. No thread ever
// waits for another: bits are set by atomic operations, and lookups are plain atomic loads.
//
//   concurrent_blocked_filter seen(1'000'000, 1e-3);
//   // any thread:
//   seen.insert(key);
//   if (seen.may_contain(key)) ...
//
// An insert that has returned is seen by every query that begins after it (in the sense of C++: the
// two threads have synchronised, or it is the same thread). Two threads that insert equal keys at
// the same time may both be told `added`. `insert`, `bulk_insert`, lookups and `counts` may run
// together; clear, merge, copies, moves and swap alone. The bytes are those of the plain filters.
#pragma once

#include "oneprobe/filter/balanced.hpp"
#include "oneprobe/filter/basic_filter.hpp"
#include "oneprobe/filter/blocked.hpp"

namespace oneprobe::inline v0_1 {

/// The engine of blocked filters that many threads fill: a filter_engine and a mergeable_engine.
class concurrent_blocked_engine : public basic_blocked_engine<atomic_words> {
 public:
  using basic_blocked_engine::basic_blocked_engine;
};

/// A blocked filter that many threads fill, with a hash of your own.
template <class Hash>
using basic_concurrent_blocked_filter = basic_filter<concurrent_blocked_engine, Hash>;
/// A blocked filter that many threads fill.
using concurrent_blocked_filter = basic_concurrent_blocked_filter<seeded_hash>;

/// Blocks refuse by popcount: a counter beside the bits could not be changed together with them.
/// Plans with another rule are refused. Schemes that fill candidates in order only: `single`,
/// `sequential`, `multilevel`.
template <class Scheme>
class concurrent_balanced_engine : public basic_balanced_engine<Scheme, atomic_words> {
 public:
  using basic_balanced_engine<Scheme, atomic_words>::basic_balanced_engine;
};

/// A balanced filter that many threads fill, with a scheme and a hash of your own.
template <class Scheme, class Hash>
using basic_concurrent_balanced_filter = basic_filter<concurrent_balanced_engine<Scheme>, Hash>;
/// A balanced filter that many threads fill.
using concurrent_balanced_filter = basic_concurrent_balanced_filter<multilevel, seeded_hash>;

}  // namespace oneprobe::inline v0_1
