// SCANDUMP and LOADCHUNK: a filter in pieces of at most 16 MiB.
//
// Iterator 1 goes with the head, 1 + n with a piece of the payload that ends at its n-th byte.
// Pieces are loaded in order. RedisBloom's are numbered in the same way: what begins with its
// header becomes a filter with old parts. A filter that was changed while it was being dumped is
// found out at the last of them, since its checksum is in the head.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "following.hpp"
#include "opened_key.hpp"
#include "part_limit.hpp"

namespace oneprobe::redis {
namespace {

constexpr const char* no_link = "ERR invalid offset - no link found";

int reply_piece(context* ctx, std::uint64_t iterator, std::span<const std::byte> bytes) {
  ReplyWithArray(ctx, 2);
  ReplyWithLongLong(ctx, static_cast<long long>(iterator));
  return ReplyWithStringBuffer(ctx, reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

std::span<const std::byte> bytes_of(const string* argument) {
  return std::as_bytes(std::span(text_of(argument)));
}

/// Ends what has arrived so far, here and on replicas, which never get what was refused. Where a
/// primary is followed the key stays: the caller says that it is damaged.
void give_up(context* ctx, opened_key& key, string* name) {
  if (follows(ctx)) return;
  key.erase();
  Replicate(ctx, "DEL", "s", name);
}

/// The last byte is there: the filter is one from now on, or it is given up.
const char* finish(context* ctx, opened_key& key, string* name) {
  try {
    const std::optional<std::string> fault = key.filter().finish();
    if (!fault) return nullptr;
    Log(ctx, "warning", "oneprobe: a filter that was loaded in chunks is refused: %s",
        fault->c_str());
  } catch (const std::bad_alloc&) {  // half of it has been taken out
    give_up(ctx, key, name);
    throw;
  }
  give_up(ctx, key, name);
  return words::bad_data;
}

/// Null, or the error to reply.
const char* load_head(context* ctx, opened_key& key, std::span<const std::byte> head) {
  if (key.content() == opened_key::holds::filter) return no_link;
  loaded<arriving_filter> begun = is_redisbloom_header(head)
                                      ? arriving_filter::begin_redisbloom(head)
                                      : arriving_filter::begin(head);
  if (!begun) {
    Log(ctx, "notice", "oneprobe: the head of a filter is refused: %s",
        begun.failure().sentence.c_str());
    return words::bad_data;
  }
  if (begun->largest_part_bytes() > part_limit(ctx).bytes())
    return "ERR Insufficient memory to create filter";
  if (!begun->parts().empty()) state().reads_ours = true;
  key.put(std::make_unique<stored_filter>(*std::move(begun)));
  return nullptr;
}

const char* load_payload(context* ctx, opened_key& key, string* name, std::uint64_t end,
                         std::span<const std::byte> bytes) {
  if (key.content() == opened_key::holds::nothing) return words::not_found;
  arriving_filter* arriving = key.filter().arriving();
  if (key.filter().damaged() != damage::none) return words_of(key.filter().damaged());
  if (end + 1 < bytes.size()) return words::bad_data;
  if (arriving == nullptr || end < bytes.size() || end - bytes.size() != arriving->received())
    return no_link;
  if (bytes.size() > arriving->payload_bytes() - arriving->received())
    return "ERR invalid chunk - Too big for current filter";
  arriving->append(bytes);
  return arriving->complete() ? finish(ctx, key, name) : nullptr;
}

}  // namespace

int scan_dump(context* ctx, string** argv, int argc) {
  if (argc != 3) return WrongArity(ctx);
  const opened_key key(ctx, argv[1], read_only);
  if (const char* why_not = obstacle(key)) return ReplyWithError(ctx, why_not);
  long long iterator = 0;
  if (StringToLongLong(argv[2], &iterator) != ok)
    return ReplyWithError(ctx, "Second argument must be numeric");
  const stored_filter& filter = key.filter();
  if (iterator == 0) return reply_piece(ctx, 1, filter.head());
  const std::uint64_t begin = static_cast<std::uint64_t>(iterator) - 1;
  if (iterator < 0 || begin >= filter.payload_bytes()) return reply_piece(ctx, 0, {});
  std::vector<std::byte> bytes(
      static_cast<std::size_t>(std::min(filter.payload_bytes() - begin, chunk_bytes)));
  filter.copy_payload(begin, bytes);
  return reply_piece(ctx, begin + bytes.size() + 1, bytes);
}

int load_chunk(context* ctx, string** argv, int argc) {
  if (argc != 4) return refuse(ctx, argv, argc, damage::bad_bytes, nullptr);
  long long iterator = 0;
  if (StringToLongLong(argv[2], &iterator) != ok)
    return refuse(ctx, argv, argc, damage::bad_bytes, "ERR Second argument must be numeric");
  opened_key key(ctx, argv[1], read_write);
  if (key.content() == opened_key::holds::another_type)
    return ReplyWithError(ctx, words::wrong_type);
  const char* fault = words::bad_data;
  damage what = damage::bad_bytes;
  try {
    if (iterator == 1)
      fault = load_head(ctx, key, bytes_of(argv[3]));
    else if (iterator > 1)
      fault = load_payload(ctx, key, argv[1], static_cast<std::uint64_t>(iterator) - 1,
                           bytes_of(argv[3]));
    else if (key.content() == opened_key::holds::nothing)
      fault = words::not_found;
  } catch (const std::bad_alloc&) {
    fault = "ERR Insufficient memory to create filter";
    what = damage::no_memory;
  }
  if (fault != nullptr) return refuse(ctx, key, argv[1], what, fault);
  ReplicateVerbatim(ctx);
  key.notify("op.loadchunk");
  return ReplyWithSimpleString(ctx, "OK");
}

}  // namespace oneprobe::redis
