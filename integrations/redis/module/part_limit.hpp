// How large a part of a filter may be.
#pragma once

#include <cstdint>
#include <limits>

#include "commands.hpp"
#include "redis_api.hpp"

namespace oneprobe::redis {

/// A primary refuses what is too large; a server that follows it, or reads its files, has to
/// follow. Redis takes a while to say which of these it is, so that it is asked only when a part is
/// to be made.
class part_limit {
 public:
  explicit part_limit(context* ctx) noexcept : ctx_(ctx) {}

  std::uint64_t bytes() const { return bytes_unless(context_replicated | context_loading); }
  /// For bytes that Redis hands over to be read, where it does not say where they come from: what a
  /// replica is given is taken to be from its primary.
  std::uint64_t bytes_to_read() const { return bytes_unless(context_replica | context_loading); }

 private:
  std::uint64_t bytes_unless(int flags) const {
    return (GetContextFlags(ctx_) & flags) != 0 ? std::numeric_limits<std::uint64_t>::max()
                                                : state().byte_limit;
  }

  context* ctx_;
};

}  // namespace oneprobe::redis
