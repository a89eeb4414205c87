// The Bloom filter as Bloom described it: k bits anywhere. No false negative; false positives as
// rare as planned, and at few bits per element no filter of bits does better. It costs a cache line
// for each bit read: about two for an absent key, k for a present one and for an insert.
//
//   standard_filter seen(1'000'000, 1e-3);
//   seen.insert("a key");
//   if (seen.may_contain("a key")) ...
//   standard_filter planned(plan);              // a plan of your own, or of plan/filter.hpp
//   seen.stats().current_fpr;
//
// k from 1 to 64, up to 2^40 bits. Bulk calls hash and fetch ahead. Threads: const functions may
// run together; anything else alone. filter/basic_filter.hpp has the whole interface.
#pragma once

#include "oneprobe/detail/filter/cells.hpp"
#include "oneprobe/filter/basic_filter.hpp"

namespace oneprobe::inline v0_1 {

/// The engine of standard filters: a filter_engine and a mergeable_engine.
class standard_engine
    : public detail::bit_cells_engine<filter_kind::standard, detail::cells_anywhere> {
 public:
  using bit_cells_engine::bit_cells_engine;
};

/// A standard filter with a hash of your own.
template <class Hash>
using basic_standard_filter = basic_filter<standard_engine, Hash>;
using standard_filter = basic_standard_filter<seeded_hash>;

}  // namespace oneprobe::inline v0_1
