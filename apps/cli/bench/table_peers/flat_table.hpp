// A peer with the interface of std::unordered_map as a contender.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "bench/table_loops.hpp"
#include "bench/table_peers/counted_allocator.hpp"
#include "bench/table_peers/peers.hpp"

namespace oneprobe::cli::peers {

using counted_pairs = counted_allocator<std::pair<const std::uint64_t, std::uint64_t>>;

template <class Map>
class flat_table {
 public:
  flat_table(std::uint64_t elements, plain_hash hash) : map_(0, hash) { map_.reserve(elements); }

  bool insert(std::uint64_t key, std::uint64_t value) { return map_.emplace(key, value).second; }
  bool find(std::uint64_t key, std::uint64_t& value) {
    const auto found = map_.find(key);
    if (found == map_.end()) return false;
    value = found->second;
    return true;
  }
  bool erase(std::uint64_t key) { return map_.erase(key) != 0; }

  std::uint64_t size() const { return map_.size(); }
  double load_factor() const { return static_cast<double>(map_.load_factor()); }
  std::uint64_t memory_bytes() const { return held_bytes; }

 private:
  Map map_;
};

template <class Map>
void add_flat(table_list& list, const table_contest_size& size, table_kind kind, std::string name,
              std::string version) {
  using table = flat_table<Map>;
  table_facts facts{.name = std::move(name),
                    .kind = kind,
                    .elements = size.elements,
                    .version = std::move(version)};
  list.push_back(std::make_unique<looped_table<table>>(std::move(facts), [size] {
    return std::make_unique<table>(size.elements, plain_hash{size.hash});
  }));
}

}  // namespace oneprobe::cli::peers
