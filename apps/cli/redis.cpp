#include "redis.hpp"

#include <CLI/CLI.hpp>

#include "redis/commands.hpp"

namespace oneprobe::cli {

void add_redis(CLI::App& app) {
  CLI::App* redis = app.add_subcommand("redis", "a filter over a Redis Cluster: build, query");
  redis->require_subcommand(1);
  describe(
      *redis, "one filter in shards over a Redis server or a Redis Cluster",
      "The servers must have loaded our module, oneprobe.so. A key belongs to one shard by its "
      "hash; every shard is a filter under a key of its own, and the keys are spread evenly "
      "over the slots of the cluster.",
      "build keys.txt --nodes 10.0.0.1:6379,10.0.0.2:6379 --name seen --shards 12");
  for (const command* each : {&redis_build_command, &redis_query_command})
    add_command(*redis, *each);
}

}  // namespace oneprobe::cli
