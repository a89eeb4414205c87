// RESERVE, ADD, MADD and INSERT: what makes filters and fills them.
//
// Replicas and the AOF get what became of a command. Each new part comes before the elements that
// go to it, as it was planned (part_record.hpp), then the elements that were kept; what changed
// nothing is not sent. From time to time they get the history, and find out by it whether they have
// missed something (following.hpp).
#include <array>
#include <charconv>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <variant>

#include "commands.hpp"
#include "following.hpp"
#include "opened_key.hpp"
#include "part_limit.hpp"
#include "part_record.hpp"

namespace oneprobe::redis {
namespace {

int refuse_to_make(context* ctx, opened_key& key, string* name, const not_made& refused,
                   dialect words) {
  const bool no_memory = refused.why == refusal::no_memory;
  std::string text = no_memory ? "ERR Insufficient memory to create filter" : words::not_created;
  if (words == dialect::op || !no_memory) text += ": " + refused.sentence;
  return refuse(ctx, key, name, no_memory ? damage::no_memory : damage::out_of_step, text.c_str());
}

void tell_of_part(context* ctx, string* name, const stored_filter& filter) {
  const auto record = encode(filter.newest_part());
  Replicate(ctx, "OP.REPLAY", "scb", name, "PART", reinterpret_cast<const char*>(record.data()),
            record.size());
}

/// A server that gets no parts plans them.
part_source source_of_parts(context* ctx) {
  return follows(ctx) ? part_source::nobody : part_source::records;
}

/// A filter that there was none of. Null if something was replied.
stored_filter* make(context* ctx, opened_key& key, string* name, const reservation& asked,
                    dialect words) {
  auto result = stored_filter::make(asked, part_limit(ctx), source_of_parts(ctx));
  if (const auto* refused = std::get_if<not_made>(&result)) {
    refuse_to_make(ctx, key, name, *refused, words);
    return nullptr;
  }
  stored_filter& made = key.put(std::get<0>(std::move(result)));
  state().reads_ours = true;  // where it is followed, an older version of us asked for it
  tell_of_part(ctx, name, made);
  key.notify("op.reserve");
  return &made;
}

/// The same as RedisBloom made it, whose command is followed.
stored_filter* make_as_redisbloom(context* ctx, opened_key& key, string* name,
                                  const reservation& asked) {
  std::optional<old_chain> chain = new_chain(asked);
  if (!chain) {
    refuse(ctx, key, name, damage::out_of_step, words::not_created);
    return nullptr;
  }
  std::vector<counted_memory> bits;
  bits.emplace_back(chain->links.front().bytes, counted_memory::contents::zeros);
  stored_filter& made =
      key.put(std::make_unique<stored_filter>(old_parts(*std::move(chain), std::move(bits))));
  key.notify("op.reserve");
  return &made;
}

/// By a command that adds to it. Our own AOF has that only behind what says how it was made.
stored_filter* make_in_passing(context* ctx, opened_key& key, string* name,
                               const reservation& asked) {
  stored_filter* made = make_as_redisbloom(ctx, key, name, asked);
  if (made == nullptr) return nullptr;
  std::array<char, 32> error{};  // has room for every number, and a zero at the end
  std::to_chars(error.data(), error.data() + error.size() - 1, asked.error);
  const std::string capacity = std::to_string(asked.capacity);
  const std::string expansion = std::to_string(asked.growth.expansion);
  Replicate(ctx, "BF.RESERVE", "scccc", name, error.data(), capacity.c_str(), "EXPANSION",
            expansion.c_str());
  return made;
}

/// A follower of ours gets filters as parts, never by a command that asks for one, and
/// before anything is added to them.
bool is_of_redisbloom(context* ctx, dialect words) { return words == dialect::bf && follows(ctx); }

/// Whether a filter that RedisBloom made without being asked is known well enough. Its defaults are
/// options of that server: with others ours grows otherwise, and has all items; but one of fixed
/// size would be full at another of them.
bool is_known(const insertion& wanted) {
  return wanted.is_exact || wanted.asked.growth.scale == scaling::grows;
}

/// The filter of a key, made if there is none and it may be; null if something was replied.
stored_filter* find_or_make(context* ctx, opened_key& key, string* name, const insertion& wanted,
                            dialect words) {
  try {
    if (key.content() == opened_key::holds::nothing && wanted.creates) {
      // The sender of the commands has told of the filter before. An older version sends a seed.
      if (wanted.asked.seed || !follows(ctx)) return make(ctx, key, name, wanted.asked, words);
      if (is_of_redisbloom(ctx, words) && !state().reads_ours && is_known(wanted))
        return make_in_passing(ctx, key, name, wanted.asked);
    }
    if (const char* why_not = obstacle(key)) {
      refuse(ctx, key, name, damage::out_of_step, why_not);
      return nullptr;
    }
    return &key.filter();
  } catch (const std::bad_alloc&) {
    refuse(ctx, key, name, damage::no_memory, words::no_memory);
    return nullptr;
  }
}

/// One more part, if there can be one.
bool grow(context* ctx, string* name, stored_filter& filter) {
  const part_source source = source_of_parts(ctx);
  if (source == part_source::nobody && filter.source() == part_source::records) return false;
  const growth_state before = filter.growth();
  const growth_state growth = filter.grow(part_limit(ctx), source);
  if (growth == growth_state::as_planned) return true;
  if (growth != before) {
    const std::string_view shown = text_of(name).substr(0, 64);
    Log(ctx, "warning", "oneprobe: '%.*s' is full and cannot grow, so that items are refused: %s",
        static_cast<int>(shown.size()), shown.data(),
        growth == growth_state::no_memory ? "there is not so much memory"
                                          : "its error or MAX-BYTES forbid it");
  }
  return false;
}

bool is_kept(add_outcome outcome) {
  return outcome == add_outcome::added || outcome == add_outcome::present;
}

/// Adds an item. Where that needs a further part, before_part() is called when there is one.
template <class BeforePart>
add_outcome add_one(context* ctx, string* name, stored_filter& filter, const string* item,
                    BeforePart before_part) {
  const add_outcome outcome = filter.add(text_of(item));
  if (is_kept(outcome)) [[likely]]
    return outcome;
  // What RedisBloom refused is refused, too: it sends also that.
  if (filter.has_only_old_parts() && follows(ctx)) return filter.add_to_old(text_of(item));
  if (outcome != add_outcome::needs_part) return outcome;
  if (!grow(ctx, name, filter)) return outcome;
  before_part();
  tell_of_part(ctx, name, filter);
  return filter.add(text_of(item));
}

int reply_with(context* ctx, add_outcome outcome) {
  switch (outcome) {
    case add_outcome::added:
      return ReplyWithBool(ctx, 1);
    case add_outcome::present:
      return ReplyWithBool(ctx, 0);
    case add_outcome::full:
      return ReplyWithError(ctx, "ERR non scaling filter is full");
    case add_outcome::needs_part:
      break;
  }
  return ReplyWithError(ctx, words::no_growth);
}

/// A follower has to keep what was kept where its commands come from.
void miss_unless_kept(context* ctx, opened_key& key, string* name, add_outcome outcome) {
  if (is_kept(outcome)) return;
  if (outcome == add_outcome::full && key.filter().has_only_old_parts()) return;  // there as well
  const bool no_memory =
      outcome == add_outcome::needs_part && key.filter().growth() == growth_state::no_memory;
  miss(ctx, key, name, no_memory ? damage::no_memory : damage::out_of_step);
}

/// After a change that replicas have been told of.
void tell_history_if_due(context* ctx, string* name, stored_filter& filter) {
  if (!filter.check_is_due()) [[likely]]
    return;
  filter.is_checked();
  if (!follows(ctx))
    Replicate(ctx, "OP.REPLAY", "scl", name, "CHECK", static_cast<long long>(filter.history()));
}

/// Adds items until one cannot be kept, replies, and tells replicas.
void add_all(context* ctx, opened_key& key, string* name, arguments items) {
  stored_filter& filter = key.filter();
  std::size_t told = 0;  // of the first ones
  std::size_t kept = 0;
  bool changed = false;  // by those that were not told yet
  bool changed_at_all = false;
  const auto tell = [&] {
    if (changed) {
      if (told == 0 && kept == items.size())
        ReplicateVerbatim(ctx);
      else
        Replicate(ctx, "OP.MADD", "sv", name, items.data() + told, kept - told);
    }
    told = kept;
    changed = false;
  };
  add_outcome outcome = add_outcome::present;
  ReplyWithArray(ctx, postponed_length);
  for (const string* item : items) {
    outcome = add_one(ctx, name, filter, item, tell);
    reply_with(ctx, outcome);
    if (!is_kept(outcome)) break;
    ++kept;
    changed = changed || outcome == add_outcome::added;
    changed_at_all = changed_at_all || changed;
  }
  ReplySetArrayLength(ctx, static_cast<long>(kept) + (is_kept(outcome) ? 0 : 1));
  tell();
  tell_history_if_due(ctx, name, filter);
  if (changed_at_all) key.notify("op.add");
  miss_unless_kept(ctx, key, name, outcome);
}

/// What a filter is made with where its command does not say. Commands that are followed are of
/// other servers, with settings of their own, and those of older versions leave out what was usual
/// to them.
reservation usual_reservation(context* ctx) { return follows(ctx) ? reservation{} : state().usual; }

int refuse(context* ctx, string** argv, int argc, const mistake& wrong) {
  return refuse(ctx, argv, argc, damage::bad_bytes, wrong.text ? wrong.text->c_str() : nullptr);
}

}  // namespace

template <dialect Words>
int reserve(context* ctx, string** argv, int argc) {
  const auto read =
      read_reserve(arguments(argv, static_cast<std::size_t>(argc)), Words, usual_reservation(ctx));
  if (const auto* wrong = std::get_if<mistake>(&read)) return refuse(ctx, argv, argc, *wrong);
  const auto& asked = std::get<reservation>(read);
  opened_key key(ctx, argv[1], read_write);
  if (key.content() == opened_key::holds::another_type)
    return ReplyWithError(ctx, words::wrong_type);
  if (key.content() == opened_key::holds::filter)
    return refuse(ctx, key, argv[1], damage::out_of_step, words::item_exists);
  if (is_of_redisbloom(ctx, Words)) {
    if (make_as_redisbloom(ctx, key, argv[1], asked) == nullptr) return ok;
    ReplicateVerbatim(ctx);
  } else if (make(ctx, key, argv[1], asked, Words) == nullptr) {
    return ok;
  }
  return ReplyWithSimpleString(ctx, "OK");
}
template int reserve<dialect::op>(context*, string**, int);
template int reserve<dialect::bf>(context*, string**, int);

/// Nothing in here throws: it is what has to be fast, and a guard around it is one more call.
template <dialect Words>
int add(context* ctx, string** argv, int argc) {
  if (argc != 3) return refuse(ctx, argv, argc, damage::bad_bytes, nullptr);
  string* const name = argv[1];
  opened_key key(ctx, name, read_write);
  if (obstacle(key) != nullptr &&
      find_or_make(ctx, key, name, {.asked = usual_reservation(ctx)}, Words) == nullptr)
    return ok;
  stored_filter& filter = key.filter();
  const add_outcome outcome = add_one(ctx, name, filter, argv[2], [] {});
  if (outcome != add_outcome::added) {
    miss_unless_kept(ctx, key, name, outcome);
    return reply_with(ctx, outcome);
  }
  ReplicateVerbatim(ctx);
  tell_history_if_due(ctx, name, filter);
  key.notify("op.add");
  return ReplyWithBool(ctx, 1);
}
template int add<dialect::op>(context*, string**, int);
template int add<dialect::bf>(context*, string**, int);

template <dialect Words>
int add_many(context* ctx, string** argv, int argc) {
  if (argc < 3) return refuse(ctx, argv, argc, damage::bad_bytes, nullptr);
  opened_key key(ctx, argv[1], read_write);
  if (obstacle(key) != nullptr &&
      find_or_make(ctx, key, argv[1], {.asked = usual_reservation(ctx)}, Words) == nullptr)
    return ok;
  add_all(ctx, key, argv[1], arguments(argv + 2, static_cast<std::size_t>(argc) - 2));
  return ok;
}
template int add_many<dialect::op>(context*, string**, int);
template int add_many<dialect::bf>(context*, string**, int);

template <dialect Words>
int insert(context* ctx, string** argv, int argc) {
  const auto read =
      read_insert(arguments(argv, static_cast<std::size_t>(argc)), Words, usual_reservation(ctx));
  if (const auto* wrong = std::get_if<mistake>(&read)) return refuse(ctx, argv, argc, *wrong);
  const auto& wanted = std::get<insertion>(read);
  opened_key key(ctx, argv[1], read_write);
  if (find_or_make(ctx, key, argv[1], wanted, Words) != nullptr)
    add_all(ctx, key, argv[1], wanted.items);
  return ok;
}
template int insert<dialect::op>(context*, string**, int);
template int insert<dialect::bf>(context*, string**, int);

}  // namespace oneprobe::redis
