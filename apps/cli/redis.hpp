// `oneprobe redis build|query`: one filter in shards over a Redis Cluster. `oneprobe redis import`:
// filters of RedisBloom.
#pragma once

namespace CLI {
class App;
}

namespace oneprobe::cli {

void add_redis(CLI::App& app);

}  // namespace oneprobe::cli
