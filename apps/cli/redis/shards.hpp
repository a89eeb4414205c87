// How a filter is spread over keys of a cluster, and the options of both commands for it.
//
// Shard i of n lies under NAME{t}, where t is the smallest whole number whose slot is in the i-th
// n-th of all slots: the shards are spread evenly, whatever their number. The key NAME itself says
// how many there are.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arguments.hpp"
#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/hash.hpp"
#include "redis/cluster.hpp"

namespace oneprobe::cli {

inline constexpr unsigned most_shards = 1024;

struct shard_key {
  std::string name;
  unsigned slot;
};

/// The keys of all shards, in order. REQUIRES: 1 to most_shards.
std::vector<shard_key> shard_keys(std::string_view name, unsigned shards);

/// The shard of a key: from a hash of its own, since a shard's filter must see all bits of its hash
/// at random.
class shard_choice {
 public:
  explicit shard_choice(unsigned shards) : shards_(shards) {}
  unsigned operator()(std::string_view key) const noexcept {
    return static_cast<unsigned>(reduce(hash_(key).value, shards_));
  }

 private:
  seeded_hash hash_{0x6f6e6570726f6265};  // the same for every caller
  unsigned shards_;
};

/// What the key NAME holds.
std::string shard_note(unsigned shards);
/// The reverse; 0 for anything else.
unsigned shards_in_note(std::string_view note);

inline constexpr option nodes_option{
    "--nodes", "HOST:PORT,...", "one server, or some nodes of a cluster: the others are found"};
inline constexpr option name_option{"--name", "NAME", "the name of the filter; no braces"};
inline constexpr option timeout_option{"--timeout", "S",
                                       "seconds to wait for nodes that do not answer (default 60)"};

node_address read_node(const arguments& in, const option& what);
std::vector<node_address> read_nodes(const arguments& in);
std::string read_name(const arguments& in);
std::chrono::milliseconds read_timeout(const arguments& in);

/// Throws usage_error, naming the shard, if one of them holds no whole filter. A query of a missing
/// key says that the item is not there, which would be a wrong answer here.
void refuse_lost_shards(cluster& servers, std::span<const shard_key> keys);

/// What a shard says of itself.
struct shard_facts {
  double stated_error = 0;
  std::uint64_t capacity = 0;
  std::uint64_t items = 0;
};
/// In the order of `keys`. The server reads the whole of each filter for it. Throws system_failure.
std::vector<shard_facts> facts_of(cluster& servers, std::span<const shard_key> keys);

/// Throws if a reply is an error; `doing` says what was tried.
void refuse_error(const redis_reply& reply, std::string_view doing);

}  // namespace oneprobe::cli
