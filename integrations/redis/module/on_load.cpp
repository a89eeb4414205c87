// Where Redis begins.
#include <cstddef>

#include "commands.hpp"

extern "C" __attribute__((visibility("default"))) int RedisModule_OnLoad(
    oneprobe::redis::context* ctx, oneprobe::redis::string** argv, int argc) {
  return oneprobe::redis::on_load(ctx, {argv, static_cast<std::size_t>(argc)});
}
