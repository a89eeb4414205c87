// A Bloom filter in k parts, one bit of an element in each. It behaves as the standard filter, errs
// a little more often when it is small, and never spends two bits of an element on one position.
//
//   partitioned_filter seen(1'000'000, 1e-3);
//   seen.insert("a key");
//   if (seen.may_contain("a key")) ...
//   partitioned_filter planned(plan);           // a plan of your own, or of plan/filter.hpp
//   seen.stats().current_fpr;
//
// k from 1 to 64, up to 2^40 bits, a multiple of k. Bulk calls hash and fetch ahead. Threads: const
// functions may run together; anything else alone. filter/basic_filter.hpp has the whole interface.
#pragma once

#include "oneprobe/detail/filter/cells.hpp"
#include "oneprobe/filter/basic_filter.hpp"

namespace oneprobe::inline v0_1 {

/// The engine of partitioned filters: a filter_engine and a mergeable_engine.
class partitioned_engine
    : public detail::bit_cells_engine<filter_kind::partitioned, detail::cells_in_parts> {
 public:
  using bit_cells_engine::bit_cells_engine;
};

/// A partitioned filter with a hash of your own.
template <class Hash>
using basic_partitioned_filter = basic_filter<partitioned_engine, Hash>;
using partitioned_filter = basic_partitioned_filter<seeded_hash>;

}  // namespace oneprobe::inline v0_1
