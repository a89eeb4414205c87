// What takes part in a benchmark of filters: ours, a peer, or the bare memory.
//
// Every call works on a whole span of keys, so that being virtual costs nothing. "One by one" is a
// loop over the function for one key, as most programs call it; "bulk" is the filter's own function
// for many. Both hash each key inside the measured time, with the same hash for all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/latency_watch.hpp"
#include "oneprobe/detail/planning/fingerprint_bucket_shape.hpp"
#include "oneprobe/hash.hpp"

namespace oneprobe::cli {

using key_span = std::span<const std::uint64_t>;

/// Which filters belong together; --kind chooses by it.
enum class contender_kind : std::uint8_t {
  memory,
  standard,
  partitioned,
  blocked,
  counting,
  balanced,
  fingerprint,
  boost,
};

struct contender_facts {
  std::string name;
  contender_kind kind = contender_kind::blocked;
  std::uint64_t memory_bytes = 0;
  std::optional<unsigned> bits_set{};  // k
  std::optional<double> fpr_model{};   // at the planned number of elements
  /// The buckets of a fingerprint filter.
  std::optional<fingerprint_bucket_shape> fingerprint_bucket{};
};

/// Work counted in software, per operation.
struct counted_costs {
  double miss_lines = 0;
  std::optional<double> insert_accesses{};
  double miss_accesses = 0;
  std::optional<double> hit_accesses{};
  std::optional<double> overflow_fraction{};
};

class contender {
 public:
  contender() = default;
  contender(const contender&) = delete;
  contender& operator=(const contender&) = delete;
  virtual ~contender() = default;

  virtual const contender_facts& facts() const = 0;
  /// The bytes that lookups read; all of it is touched before a measurement.
  virtual std::span<const std::byte> memory() const = 0;

  virtual void clear() = 0;
  virtual void insert_one_by_one(key_span keys) = 0;
  virtual void insert_bulk(key_span keys) = 0;
  /// One by one, each with its own time.
  virtual void insert_watched(key_span keys, latency_watch& watch) = 0;

  /// How many of the keys may be contained. For the bare memory: a number that depends on every
  /// line that was read.
  virtual std::uint64_t count_one_by_one(key_span keys) const = 0;
  virtual std::uint64_t count_bulk(key_span keys) const = 0;

  /// The costs of asking for these keys, of which the first were inserted and the others were not.
  virtual counted_costs count_costs(key_span inserted, key_span absent) const = 0;
  /// The error rate that the bits as they are let expect, if the filter knows it.
  virtual std::optional<double> current_fpr() const { return std::nullopt; }
};

/// insert_watched, for any filter.
template <class Filter>
void insert_each_watched(Filter& filter, key_span keys, latency_watch& watch) {
  watch.begin_part();
  for (const std::uint64_t key : keys) {
    const std::uint64_t begin = begin_ticks();
    filter.insert(key);
    watch.record(begin, end_ticks());
  }
}

using contender_list = std::vector<std::unique_ptr<contender>>;

/// What all of them are built for.
struct contest_size {
  std::uint64_t elements = 10'000'000;
  double bits_per_element = 16;
  seeded_hash hash{};
};

}  // namespace oneprobe::cli
