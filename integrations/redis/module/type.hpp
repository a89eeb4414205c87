// How Redis keeps a stored_filter: in RDB files, in the AOF, in its digest, and how it lets go of
// one.
#pragma once

#include "redis_api.hpp"

namespace oneprobe::redis {

/// Nine characters, as Redis wants them.
inline constexpr const char* type_name = "oneprobe1";
inline constexpr int type_version = 1;

/// What RedisBloom calls its own, so that its files are read here and its replicas can move here. A
/// key that was read so keeps this type: saved it has a version that RedisBloom does not know, and
/// the bytes that ours have.
inline constexpr const char* redisbloom_type_name = "MBbloom--";
inline constexpr int redisbloom_type_version = 512;

/// Null if Redis does not take it.
data_type* create_type(context* ctx);
/// Null if RedisBloom is there.
data_type* create_redisbloom_type(context* ctx);

}  // namespace oneprobe::redis
