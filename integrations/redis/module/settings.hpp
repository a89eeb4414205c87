// What an operator sets: options behind the module's path, and the settings of `CONFIG` where the
// server has such of modules. They have the names that RedisBloom gives them, and its words.
//
//   loadmodule oneprobe.so MAX-BYTES 1000000 bf-error-rate 0.001
//   CONFIG SET oneprobe.bf-error-rate 0.01       Redis 7 and Valkey
//   CONFIG SET bf-error-rate 0.01                Redis 8
#pragma once

#include "arguments.hpp"
#include "redis_api.hpp"

namespace oneprobe::redis {

/// Each a name, in letters of any size, and a value. False if one is wrong: the log says why.
bool read_options(context* ctx, arguments sent);

/// With the options as what is usual; a server without settings of modules goes by the options.
/// What its configuration file says is taken by load_settings(), false if that is wrong.
void register_settings(context* ctx);
bool load_settings(context* ctx);

}  // namespace oneprobe::redis
