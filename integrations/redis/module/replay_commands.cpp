// OP.REPLAY: what replicas and the AOF get beside the commands of clients.
//
//   OP.REPLAY key PART record       the next part of a filter, or the first one of a new filter
//   OP.REPLAY key CHECK history     what was added up to here; another history is a damaged filter
//   OP.REPLAY key DAMAGED what      the filter is damaged: from a replica to its own AOF, and in
//                                   a rewritten one
#include <memory>
#include <span>
#include <utility>
#include <variant>

#include "commands.hpp"
#include "following.hpp"
#include "opened_key.hpp"
#include "part_limit.hpp"
#include "part_record.hpp"

namespace oneprobe::redis {
namespace {

struct fault {
  damage what = damage::none;
  const char* text = nullptr;
};

/// The first part of a new filter.
fault begin(context* ctx, opened_key& key, const part_record& record) {
  if (key.content() == opened_key::holds::filter) return {damage::out_of_step, words::item_exists};
  // With old parts before it, which are not here, it has a history.
  if (record.elements != 0 || record.history != 0) return {damage::out_of_step, words::out_of_step};
  auto made = stored_filter::make(record, part_limit(ctx));
  if (const auto* refused = std::get_if<not_made>(&made))
    return {refused->why == refusal::no_memory ? damage::no_memory : damage::bad_bytes,
            words::not_created};
  key.put(std::get<0>(std::move(made)));
  return {};
}

fault load_part(context* ctx, opened_key& key, std::span<const std::byte> bytes) {
  const loaded<part_record> record = decode_part_record(bytes);
  if (!record) {
    Log(ctx, "warning", "oneprobe: %s", record.failure().sentence.c_str());
    return {damage::bad_bytes, words::bad_data};
  }
  const bool begins_beside_old_parts =
      key.content() == opened_key::holds::filter && key.filter().has_only_old_parts();
  if (record->parts == 0 && !begins_beside_old_parts) return begin(ctx, key, *record);
  if (const char* why_not = obstacle(key)) return {damage::out_of_step, why_not};
  if (!key.filter().is_continued_by(*record)) return {damage::out_of_step, words::out_of_step};
  if (key.filter().grow(*record, part_limit(ctx)) == growth_state::as_planned) return {};
  return {
      key.filter().growth() == growth_state::no_memory ? damage::no_memory : damage::out_of_step,
      words::no_growth};
}

fault check(opened_key& key, long long history) {
  if (const char* why_not = obstacle(key)) return {damage::out_of_step, why_not};
  if (key.filter().history() != static_cast<std::uint64_t>(history))
    return {damage::out_of_step, words::out_of_step};
  key.filter().is_checked();
  return {};
}

fault load_damage(context* ctx, opened_key& key, long long what) {
  if (what < 1 || what > most_damage) return {damage::bad_bytes, words::bad_data};
  if (key.content() == opened_key::holds::filter) {
    if (!follows(ctx)) return {damage::out_of_step, words::item_exists};
    key.filter().spoil(static_cast<damage>(what));
    return {};
  }
  key.put(std::make_unique<stored_filter>(static_cast<damage>(what)));
  return {};
}

fault replay(context* ctx, opened_key& key, string* word, string* value) {
  if (is_word(word, "PART")) return load_part(ctx, key, std::as_bytes(std::span(text_of(value))));
  long long number = 0;
  if (StringToLongLong(value, &number) != ok) return {damage::bad_bytes, words::bad_data};
  if (is_word(word, "CHECK")) return check(key, number);
  if (is_word(word, "DAMAGED")) return load_damage(ctx, key, number);
  return {damage::bad_bytes, "ERR syntax error"};
}

}  // namespace

int replay(context* ctx, string** argv, int argc) {
  state().reads_ours = true;
  if (argc != 4) return refuse(ctx, argv, argc, damage::bad_bytes, nullptr);
  opened_key key(ctx, argv[1], read_write);
  if (key.content() == opened_key::holds::another_type)
    return ReplyWithError(ctx, words::wrong_type);
  const bool was_there = key.content() == opened_key::holds::filter;
  if (const fault found = replay(ctx, key, argv[2], argv[3]); found.text != nullptr)
    return refuse(ctx, key, argv[1], found.what, found.text);
  ReplicateVerbatim(ctx);
  if (!was_there) key.notify("op.reserve");
  return ReplyWithSimpleString(ctx, "OK");
}

}  // namespace oneprobe::redis
