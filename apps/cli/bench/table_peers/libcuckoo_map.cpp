#include "bench/table_peers/flat_table.hpp"

#if defined(ONEPROBE_TABLE_PEER_LIBCUCKOO)

#include <bit>
#include <libcuckoo/cuckoohash_map.hh>
#include <optional>

namespace oneprobe::cli::peers {
namespace {

constexpr std::uint64_t slots_per_bucket = 4;  // its own choice
// A table of buckets of four with two choices is full, for practical purposes.
constexpr double full_load = 0.944;

/// By the calls for many threads, which is what it is for: its locks are taken.
class libcuckoo_table {
 public:
  libcuckoo_table(std::uint64_t elements, std::optional<std::size_t> fixed_hashpower,
                  plain_hash hash)
      : map_(fixed_hashpower ? slots_per_bucket << *fixed_hashpower : elements, hash) {
    if (fixed_hashpower) map_.maximum_hashpower(*fixed_hashpower);
  }

  bool insert(std::uint64_t key, std::uint64_t value) {
    try {
      return map_.insert(key, value);
    } catch (const libcuckoo::maximum_hashpower_exceeded&) {
      return false;
    }
  }
  bool find(std::uint64_t key, std::uint64_t& value) { return map_.find(key, value); }
  bool erase(std::uint64_t key) { return map_.erase(key); }

  std::uint64_t size() const { return map_.size(); }
  double load_factor() const { return map_.load_factor(); }
  std::uint64_t memory_bytes() const { return held_bytes; }

 private:
  libcuckoo::cuckoohash_map<std::uint64_t, std::uint64_t, plain_hash, std::equal_to<std::uint64_t>,
                            counted_pairs, slots_per_bucket>
      map_;
};

}  // namespace

absence add_libcuckoo(table_list& list, const table_contest_size& size) {
  const auto add = [&](table_facts facts, std::optional<std::size_t> fixed_hashpower) {
    const std::uint64_t elements = facts.elements;
    list.push_back(std::make_unique<looped_table<libcuckoo_table>>(
        std::move(facts), [elements, fixed_hashpower, hash = plain_hash{size.hash}] {
          return std::make_unique<libcuckoo_table>(elements, fixed_hashpower, hash);
        }));
  };
  add({.name = "libcuckoo", .kind = table_kind::libcuckoo, .elements = size.elements}, {});
  // The largest table that this many elements fill to that load.
  const std::uint64_t slots = power_of_two_within(static_cast<double>(size.elements) / full_load);
  add({.name = "libcuckoo at 0.944",
       .kind = table_kind::libcuckoo,
       .role = table_role::full,
       .elements = static_cast<std::uint64_t>(full_load * static_cast<double>(slots))},
      static_cast<std::size_t>(std::countr_zero(slots / slots_per_bucket)));
  return {};
}

}  // namespace oneprobe::cli::peers

#else

namespace oneprobe::cli::peers {

absence add_libcuckoo(table_list&, const table_contest_size&) { return not_compiled_in; }

}  // namespace oneprobe::cli::peers

#endif
