// RESERVE, ADD, MADD and INSERT: what makes filters and fills them.
//
// Whatever draws a seed is replicated with it, so that replicas and the AOF get the same bytes:
// RESERVE with a SEED at its end, and a command that made a filter in passing as an OP.INSERT that
// says all that was assumed. What changed nothing is not replicated.
#include <cstdio>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "commands.hpp"
#include "opened_key.hpp"
#include "part_limit.hpp"

namespace oneprobe::redis {
namespace {

/// Arguments for a replica: those that came and some of our own.
class argument_list {
 public:
  explicit argument_list(context* ctx) : ctx_(ctx) {}
  ~argument_list() {
    for (string* each : ours_) FreeString(ctx_, each);
  }
  argument_list(const argument_list&) = delete;
  argument_list& operator=(const argument_list&) = delete;

  argument_list& add(arguments sent) {
    all_.insert(all_.end(), sent.begin(), sent.end());
    return *this;
  }
  argument_list& add(const std::string& text) {
    ours_.push_back(CreateString(ctx_, text.data(), text.size()));
    all_.push_back(ours_.back());
    return *this;
  }
  void replicate_as(const char* command) {
    Replicate(ctx_, command, "v", all_.data(), all_.size());
  }

 private:
  context* ctx_;
  std::vector<string*> ours_{};
  std::vector<string*> all_{};
};

int reply_with_refusal(context* ctx, const not_made& refused, dialect words) {
  std::string text = refused.why == refusal::no_memory ? "ERR Insufficient memory to create filter"
                                                       : "ERR could not create filter";
  if (words == dialect::op) text += ": " + refused.sentence;
  return ReplyWithError(ctx, text.c_str());
}

/// The filter of a key, made if there is none and it may be; null if something was replied.
stored_filter* find_or_make(context* ctx, opened_key& key, const insertion& wanted, dialect words,
                            bool& made) {
  made = false;
  if (key.content() == opened_key::holds::nothing && wanted.creates) {
    auto result = stored_filter::make(wanted.asked, part_limit(ctx));
    if (const auto* refused = std::get_if<not_made>(&result)) {
      reply_with_refusal(ctx, *refused, words);
      return nullptr;
    }
    made = true;
    return &key.put(std::get<0>(std::move(result)));
  }
  if (const char* why_not = obstacle(key)) {
    ReplyWithError(ctx, why_not);
    return nullptr;
  }
  return &key.filter();
}

int reply_with(context* ctx, add_outcome outcome) {
  switch (outcome) {
    case add_outcome::added:
      return ReplyWithBool(ctx, 1);
    case add_outcome::present:
      return ReplyWithBool(ctx, 0);
    case add_outcome::full:
      return ReplyWithError(ctx, "ERR non scaling filter is full");
    case add_outcome::no_growth:
      break;
  }
  return ReplyWithError(ctx, "ERR problem inserting into filter");
}

bool is_kept(add_outcome outcome) {
  return outcome == add_outcome::added || outcome == add_outcome::present;
}

/// What became of some items.
struct adding {
  std::size_t kept = 0;  // of the first ones; the next was refused
  bool changed = false;
};

/// Adds items until one cannot be kept, and replies.
adding add_all(context* ctx, stored_filter& filter, arguments items) {
  adding done;
  long replied = 0;
  ReplyWithArray(ctx, postponed_length);
  for (const string* item : items) {
    const add_outcome outcome = filter.add(text_of(item), part_limit(ctx));
    reply_with(ctx, outcome);
    ++replied;
    done.changed = done.changed || outcome == add_outcome::added;
    if (!is_kept(outcome)) break;
    ++done.kept;
  }
  ReplySetArrayLength(ctx, replied);
  return done;
}

std::string in_full(double number) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", number);
  return text;
}

/// How a filter that was made in passing is told to replicas.
void replicate_creation(context* ctx, string* name, const insertion& wanted,
                        const stored_filter& filter, arguments items) {
  const reservation& asked = wanted.asked;
  argument_list list(ctx);
  list.add(arguments(&name, 1));
  list.add("CAPACITY").add(std::to_string(asked.capacity));
  list.add("ERROR").add(in_full(asked.error));
  list.add("EXPANSION").add(std::to_string(asked.growth.expansion));
  list.add("KIND").add(std::string(name_of(filter.kind())));
  if (asked.bits_per_element) list.add("BITS").add(in_full(*asked.bits_per_element));
  if (asked.growth.accesses != 0) list.add("ACCESSES").add(in_full(asked.growth.accesses));
  list.add("SEED").add(std::to_string(filter.seed()));
  list.add("ITEMS").add(items).replicate_as("OP.INSERT");
}

void tell_of_change(context* ctx, const opened_key& key) {
  ReplicateVerbatim(ctx);
  key.notify("op.add");
}

/// Replicas get the items that were kept: they have no limit of their own, and what was refused
/// here would grow the filter there.
void tell(context* ctx, const opened_key& key, string* name, const insertion& wanted, bool made,
          const adding& done) {
  const arguments kept = wanted.items.first(done.kept);
  if (made) {
    replicate_creation(ctx, name, wanted, key.filter(), kept);
    key.notify("op.reserve");
    if (done.changed) key.notify("op.add");
  } else if (done.changed && kept.size() == wanted.items.size()) {
    tell_of_change(ctx, key);
  } else if (done.changed) {
    argument_list(ctx).add(arguments(&name, 1)).add(kept).replicate_as("OP.MADD");
    key.notify("op.add");
  }
}

int insert_all(context* ctx, string* name, const insertion& wanted, dialect words) {
  opened_key key(ctx, name, read_write);
  bool made = false;
  stored_filter* filter = find_or_make(ctx, key, wanted, words, made);
  if (filter == nullptr) return ok;
  tell(ctx, key, name, wanted, made, add_all(ctx, *filter, wanted.items));
  return ok;
}

}  // namespace

template <dialect Words>
int reserve(context* ctx, string** argv, int argc) {
  const arguments sent(argv, static_cast<std::size_t>(argc));
  const auto read = read_reserve(sent, Words);
  if (const auto* wrong = std::get_if<mistake>(&read)) return reply_to(ctx, *wrong);
  const auto& asked = std::get<reservation>(read);
  opened_key key(ctx, argv[1], read_write);
  if (key.content() == opened_key::holds::another_type)
    return ReplyWithError(ctx, words::wrong_type);
  if (key.content() == opened_key::holds::filter) return ReplyWithError(ctx, words::item_exists);
  auto result = stored_filter::make(asked, part_limit(ctx));
  if (const auto* refused = std::get_if<not_made>(&result))
    return reply_with_refusal(ctx, *refused, Words);
  const stored_filter& made = key.put(std::get<0>(std::move(result)));
  argument_list list(ctx);
  list.add(sent.subspan(1));
  if (!asked.seed) list.add("SEED").add(std::to_string(made.seed()));
  list.replicate_as("OP.RESERVE");
  key.notify("op.reserve");
  return ReplyWithSimpleString(ctx, "OK");
}
template int reserve<dialect::op>(context*, string**, int);
template int reserve<dialect::bf>(context*, string**, int);

template <dialect Words>
int add(context* ctx, string** argv, int argc) {
  if (argc != 3) return WrongArity(ctx);
  opened_key key(ctx, argv[1], read_write);
  if (obstacle(key) == nullptr) {
    const add_outcome outcome = key.filter().add(text_of(argv[2]), part_limit(ctx));
    if (outcome == add_outcome::added) tell_of_change(ctx, key);
    return reply_with(ctx, outcome);
  }
  insertion wanted;
  wanted.items = arguments(argv + 2, 1);
  bool made = false;
  stored_filter* filter = find_or_make(ctx, key, wanted, Words, made);
  if (filter == nullptr) return ok;
  const add_outcome outcome = filter->add(text_of(argv[2]), part_limit(ctx));
  tell(ctx, key, argv[1], wanted, made,
       {.kept = is_kept(outcome) ? 1u : 0u, .changed = outcome == add_outcome::added});
  return reply_with(ctx, outcome);
}
template int add<dialect::op>(context*, string**, int);
template int add<dialect::bf>(context*, string**, int);

template <dialect Words>
int add_many(context* ctx, string** argv, int argc) {
  if (argc < 3) return WrongArity(ctx);
  insertion wanted;
  wanted.items = arguments(argv + 2, static_cast<std::size_t>(argc) - 2);
  return insert_all(ctx, argv[1], wanted, Words);
}
template int add_many<dialect::op>(context*, string**, int);
template int add_many<dialect::bf>(context*, string**, int);

template <dialect Words>
int insert(context* ctx, string** argv, int argc) {
  const auto read = read_insert(arguments(argv, static_cast<std::size_t>(argc)), Words);
  if (const auto* wrong = std::get_if<mistake>(&read)) return reply_to(ctx, *wrong);
  return insert_all(ctx, argv[1], std::get<insertion>(read), Words);
}
template int insert<dialect::op>(context*, string**, int);
template int insert<dialect::bf>(context*, string**, int);

}  // namespace oneprobe::redis
