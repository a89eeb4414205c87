// How Redis keeps a stored_filter: in RDB files, in the AOF, in its digest, and how it lets go of
// one.
#pragma once

#include "redis_api.hpp"

namespace oneprobe::redis {

/// Nine characters, as Redis wants them.
inline constexpr const char* type_name = "oneprobe1";
inline constexpr int type_version = 1;

/// Null if Redis does not take it.
data_type* create_type(context* ctx);

}  // namespace oneprobe::redis
