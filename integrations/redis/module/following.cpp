#include "following.hpp"

#include <algorithm>
#include <memory>

#include "arguments.hpp"
#include "stored_filter.hpp"

namespace oneprobe::redis {

void miss(context* ctx, opened_key& key, string* name, damage what) noexcept {
  if (!follows(ctx)) return;
  const auto content = key.content();
  if (content == opened_key::holds::filter && key.filter().damaged() != damage::none) return;
  constexpr std::size_t most_shown = 64;
  const std::string_view shown = text_of(name).substr(0, most_shown);
  Log(ctx, "warning",
      "oneprobe: a command of the primary or the AOF cannot be followed; key '%.*s': %s; a filter "
      "of RedisBloom may be had by oneprobe redis import",
      static_cast<int>(shown.size()), shown.data(), words_of(what));
  if (content == opened_key::holds::another_type) return;  // which is not ours to change
  if (content == opened_key::holds::nothing) {
    key.put(std::make_unique<stored_filter>(what));
  } else {
    key.filter().spoil(what);
  }
  // What a replica tells reaches its own AOF only, which may have the filter from before.
  if ((GetContextFlags(ctx) & context_loading) == 0)
    Replicate(ctx, "OP.REPLAY", "scl", name, "DAMAGED", static_cast<long long>(what));
}

int refuse(context* ctx, opened_key& key, string* name, damage what, const char* text) noexcept {
  const bool is_said = key.content() == opened_key::holds::filter &&
                       key.filter().damaged() != damage::none && follows(ctx);
  miss(ctx, key, name, what);
  // Redis logs each error that a primary gets.
  return is_said ? ReplyWithNull(ctx) : ReplyWithError(ctx, text);
}

int refuse(context* ctx, string** argv, int argc, damage what, const char* text) noexcept {
  if (argc > 1 && follows(ctx)) {
    opened_key key(ctx, argv[1], read_write);
    miss(ctx, key, argv[1], what);
  }
  return text != nullptr ? ReplyWithError(ctx, text) : WrongArity(ctx);
}

}  // namespace oneprobe::redis
