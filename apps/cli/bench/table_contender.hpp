// What takes part in a benchmark of tables: ours or a peer's, all from 64-bit keys to 64-bit
// values.
//
// Every call works on a whole span of keys, so that being virtual costs nothing; the loops inside
// are the same for all (table_loops.hpp). Each key is hashed inside the measured time, with
// the same hash for all. The value of a key is known, so that every answer can be checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/latency_watch.hpp"
#include "oneprobe/hash.hpp"

namespace oneprobe::cli {

using table_keys = std::span<const std::uint64_t>;

constexpr std::uint64_t value_of(std::uint64_t key) noexcept { return ~key; }

/// Which tables belong together; --kind chooses by it.
enum class table_kind : std::uint8_t { ours, boost, absl, libcuckoo, tbb, standard, rte };

/// What distinguishes several figures when tables are compared.
enum class table_role : std::uint8_t {
  ordinary,  // made for the elements that were asked for
  second,    // ours with smaller buckets
  full,      // a peer at the load where its insertions are slow
};

struct table_facts {
  std::string name;
  table_kind kind = table_kind::ours;
  table_role role = table_role::ordinary;
  std::uint64_t elements = 0;  // that it is filled with
  std::string version{};       // of a peer
};

/// Work counted in software, by `explain` over samples of keys.
struct table_costs {
  double hit_accesses = 0;  // buckets, those of the overflow included
  double miss_accesses = 0;
  double hit_lines = 0;  // read
  double miss_lines = 0;
  double hit_unread_lines = 0;  // asked for ahead, and then not read
  double miss_unread_lines = 0;
  std::uint64_t most_accesses = 0;  // of any lookup in the samples
  std::uint64_t bound = 0;          // what it must not exceed
};

class table_contender {
 public:
  table_contender() = default;
  table_contender(const table_contender&) = delete;
  table_contender& operator=(const table_contender&) = delete;
  virtual ~table_contender() = default;

  virtual const table_facts& facts() const = 0;

  /// An empty table with room reserved; and its end, with all its memory.
  virtual void build() = 0;
  virtual void drop() = 0;

  /// The numbers of the keys that were refused are added to `refused`.
  virtual void insert(table_keys keys, std::vector<std::size_t>& refused) = 0;
  /// The same with the time of each, refused or not: the caller waits for that as well.
  virtual void insert_watched(table_keys keys, latency_watch& watch,
                              std::vector<std::size_t>& refused) = 0;
  /// One leaves, one comes, in turn; the insertions are watched. Returns how many left.
  virtual std::uint64_t churn(table_keys leaving, table_keys coming, latency_watch& watch,
                              std::vector<std::size_t>& refused) = 0;
  /// How many were there.
  virtual std::uint64_t erase(table_keys keys) = 0;

  /// How many keys are there with the value they must have.
  virtual std::uint64_t count_right(table_keys keys) = 0;
  /// The same, where each key is known only when the value before it has arrived.
  virtual std::uint64_t count_right_chained(table_keys keys) = 0;
  /// How many keys are there.
  virtual std::uint64_t count_present(table_keys keys) = 0;
  /// The same by the table's own function for many keys, so many at a time, or as many as it can
  /// take. None: there is no such function.
  virtual std::optional<std::uint64_t> count_right_bulk(table_keys, std::size_t) { return {}; }
  virtual std::optional<std::uint64_t> count_present_bulk(table_keys, std::size_t) { return {}; }

  virtual std::uint64_t size() const = 0;
  /// Elements over slots; where there are chains, over buckets.
  virtual double load_factor() const = 0;
  virtual std::uint64_t memory_bytes() const = 0;

  /// The costs of these keys, of which the first are there and the others are not.
  virtual std::optional<table_costs> count_costs(table_keys, table_keys) const { return {}; }
  /// Buckets that an insertion visits, the mean over a filling with these keys, of which at most so
  /// many are counted. The table is built for it and dropped.
  virtual std::optional<double> count_insert_accesses(table_keys, std::size_t) { return {}; }
  virtual std::optional<double> overflow_fraction() const { return {}; }
  /// What the model says of it under churn.
  virtual std::optional<double> predicted_overflow_fraction() const { return {}; }
};

using table_list = std::vector<std::unique_ptr<table_contender>>;

/// What all of them are built for.
struct table_contest_size {
  std::uint64_t elements = 2'000'000;
  seeded_hash hash{};
};

}  // namespace oneprobe::cli
