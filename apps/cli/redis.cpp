#include "redis.hpp"

#include "group.hpp"
#include "redis/commands.hpp"

namespace oneprobe::cli {
namespace {

const command_group redis_group{
    .name = "redis",
    .summary = "a filter over a Redis Cluster: build, query, import",
    .text = "one filter in shards over a Redis server or a Redis Cluster; filters of RedisBloom",
    .more =
        "The servers must have loaded our module, oneprobe.so; import reads from one that has "
        "RedisBloom. A key belongs to one shard by its "
        "hash; every shard is a filter under a key of its own, and the keys are spread evenly "
        "over the slots of the cluster.",
    .example = "build keys.txt --nodes 10.0.0.1:6379,10.0.0.2:6379 --name seen --shards 12",
    .commands = {&redis_build_command, &redis_query_command, &redis_import_command},
};

}  // namespace

void add_redis(CLI::App& app) { add_group(app, redis_group); }

}  // namespace oneprobe::cli
