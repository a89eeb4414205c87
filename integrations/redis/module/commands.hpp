// The commands as Redis calls them. Each is there once for OP.* and once for BF.*.
#pragma once

#include "arguments.hpp"
#include "redis_api.hpp"

namespace oneprobe::redis {

/// Set when the module is loaded.
struct module_state {
  data_type* type = nullptr;
  data_type* redisbloom_type = nullptr;  // null where RedisBloom itself has it
  std::uint64_t byte_limit = 0;          // a part of a filter may have so many
  /// Since files or a primary's keys were last read from their beginning: whether a part of ours
  /// was among it. RedisBloom has none, so that what follows is not its own.
  bool reads_ours = false;
  bool loads_aof = false;  // and not an RDB file, or a primary's keys
  reservation usual{};     // what a command is taken to say where it does not
};
module_state& state();

/// All that Redis is to know of the module, and its options.
int on_load(context* ctx, arguments sent);
/// False if one of OP.* cannot be made.
bool create_commands(context* ctx);

template <dialect Words>
int reserve(context* ctx, string** argv, int argc);
template <dialect Words>
int add(context* ctx, string** argv, int argc);
template <dialect Words>
int add_many(context* ctx, string** argv, int argc);
template <dialect Words>
int insert(context* ctx, string** argv, int argc);
int exists(context* ctx, string** argv, int argc);
int exist_many(context* ctx, string** argv, int argc);
int cardinality(context* ctx, string** argv, int argc);
template <dialect Words>
int info(context* ctx, string** argv, int argc);
int debug(context* ctx, string** argv, int argc);
int scan_dump(context* ctx, string** argv, int argc);
int load_chunk(context* ctx, string** argv, int argc);
int replay(context* ctx, string** argv, int argc);

}  // namespace oneprobe::redis
