#include "bench/table_peers/flat_table.hpp"

#if defined(ONEPROBE_TABLE_PEER_TBB)

#include <oneapi/tbb/concurrent_hash_map.h>
#include <oneapi/tbb/version.h>

namespace oneprobe::cli::peers {
namespace {

struct tbb_hash_compare {
  plain_hash hasher{};
  std::size_t hash(std::uint64_t key) const noexcept { return hasher(key); }
  bool equal(std::uint64_t a, std::uint64_t b) const noexcept { return a == b; }
};

/// By the calls for many threads, which is what it is for: an accessor holds a lock.
class tbb_table {
 public:
  tbb_table(std::uint64_t elements, plain_hash hash) : map_(elements, tbb_hash_compare{hash}) {}

  bool insert(std::uint64_t key, std::uint64_t value) { return map_.emplace(key, value); }
  bool find(std::uint64_t key, std::uint64_t& value) {
    map::const_accessor found;
    if (!map_.find(found, key)) return false;
    value = found->second;
    return true;
  }
  bool erase(std::uint64_t key) { return map_.erase(key); }

  std::uint64_t size() const { return map_.size(); }
  double load_factor() const {
    return static_cast<double>(map_.size()) / static_cast<double>(map_.bucket_count());
  }
  std::uint64_t memory_bytes() const { return held_bytes; }

 private:
  using map =
      tbb::concurrent_hash_map<std::uint64_t, std::uint64_t, tbb_hash_compare, counted_pairs>;
  map map_;
};

}  // namespace

absence add_tbb(table_list& list, const table_contest_size& size) {
  table_facts facts{.name = "TBB concurrent map",
                    .kind = table_kind::tbb,
                    .elements = size.elements,
                    .version = TBB_VERSION_STRING};
  list.push_back(std::make_unique<looped_table<tbb_table>>(std::move(facts), [size] {
    return std::make_unique<tbb_table>(size.elements, plain_hash{size.hash});
  }));
  return {};
}

}  // namespace oneprobe::cli::peers

#else

namespace oneprobe::cli::peers {

absence add_tbb(table_list&, const table_contest_size&) { return not_compiled_in; }

}  // namespace oneprobe::cli::peers

#endif
