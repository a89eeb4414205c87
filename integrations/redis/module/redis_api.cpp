#include "redis_api.hpp"

#include <cstring>
#include <string>

namespace oneprobe::redis {

#define ONEPROBE_REDIS_DEFINE(result, name, parameters) result(*name) parameters = nullptr;
ONEPROBE_REDIS_FUNCTIONS(ONEPROBE_REDIS_DEFINE)
ONEPROBE_REDIS_NEWER_FUNCTIONS(ONEPROBE_REDIS_DEFINE)
#undef ONEPROBE_REDIS_DEFINE

namespace {

using get_api = int (*)(const char* name, void* where);

/// The first word of what OnLoad is given is the function that finds the others.
get_api finder_in(const context* ctx) {
  get_api find = nullptr;
  std::memcpy(&find, ctx, sizeof find);
  return find;
}

}  // namespace

bool resolve(context* ctx) {
  const get_api find = finder_in(ctx);
  const char* missing = nullptr;
  const auto found = [&](const char* name, void* where) {
    return find((std::string("RedisModule_") + name).c_str(), where) == ok;
  };
#define ONEPROBE_REDIS_RESOLVE(result, name, parameters) \
  if (!found(#name, &name)) missing = #name;
  ONEPROBE_REDIS_FUNCTIONS(ONEPROBE_REDIS_RESOLVE)
#undef ONEPROBE_REDIS_RESOLVE
#define ONEPROBE_REDIS_RESOLVE(result, name, parameters) found(#name, &name);
  ONEPROBE_REDIS_NEWER_FUNCTIONS(ONEPROBE_REDIS_RESOLVE)
#undef ONEPROBE_REDIS_RESOLVE
  if (missing != nullptr && Log != nullptr)
    Log(ctx, "warning", "oneprobe: this Redis has no RedisModule_%s; 7.0 or later is needed",
        missing);
  return missing == nullptr;
}

}  // namespace oneprobe::redis
