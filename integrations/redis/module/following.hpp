// Commands that a primary sends, or that the AOF has, were done where they come from: what is not
// done here as well is missing here, and no client reads the error that is replied. So the key
// answers every command with an error from then on, until it is deleted; it is saved so, too, and
// the AOF of this server gets it. The log has a line for each key, not for each command.
//
//   return refuse(ctx, key, damage::no_memory, "ERR Insufficient memory");
#pragma once

#include "dump.hpp"
#include "opened_key.hpp"
#include "redis_api.hpp"

namespace oneprobe::redis {

/// Redis takes a while to say it.
inline bool follows(context* ctx) {
  return (GetContextFlags(ctx) & (context_replicated | context_loading)) != 0;
}

/// What was to be done to a key is not done: nothing happens to what a client sent. There must be
/// memory for a few words: a server that cannot even keep them ends.
void miss(context* ctx, opened_key& key, string* name, damage what) noexcept;

/// The same, and an error as the reply.
int refuse(context* ctx, opened_key& key, string* name, damage what, const char* text) noexcept;
/// The same for a command that has not opened its key, which is its first argument.
int refuse(context* ctx, string** argv, int argc, damage what, const char* text) noexcept;

}  // namespace oneprobe::redis
