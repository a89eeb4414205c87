// EXISTS, MEXISTS, CARD, INFO and DEBUG: what only reads.
#include <array>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "commands.hpp"
#include "opened_key.hpp"

namespace oneprobe::redis {
namespace {

/// A missing key, and one that holds something else, contain nothing.
bool asks_a_filter(const opened_key& key) { return key.content() == opened_key::holds::filter; }

/// A filter that is not whole answers nothing.
bool cannot_answer(const opened_key& key) { return asks_a_filter(key) && !key.filter().whole(); }

bool may_contain(const opened_key& key, const string* item) {
  return asks_a_filter(key) && key.filter().may_contain(text_of(item));
}

/// A field that BF.INFO has: its name in the reply and as an argument.
struct field {
  const char* name;
  std::string_view asked_as;
  void (*reply)(context*, const stored_filter&);
};

void reply_whole(context* ctx, std::uint64_t number) {
  ReplyWithLongLong(ctx, static_cast<long long>(number));
}

constexpr std::array<field, 5> fields{{
    {"Capacity", "CAPACITY",
     [](context* ctx, const stored_filter& filter) { reply_whole(ctx, filter.capacity()); }},
    {"Size", "SIZE",
     [](context* ctx, const stored_filter& filter) { reply_whole(ctx, filter.payload_bytes()); }},
    {"Number of filters", "FILTERS",
     [](context* ctx, const stored_filter& filter) { reply_whole(ctx, filter.parts()); }},
    {"Number of items inserted", "ITEMS",
     [](context* ctx, const stored_filter& filter) { reply_whole(ctx, filter.size()); }},
    {"Expansion rate", "EXPANSION",
     [](context* ctx, const stored_filter& filter) {
       if (filter.settings().scale == scaling::fixed)
         ReplyWithNull(ctx);
       else
         reply_whole(ctx, filter.settings().expansion);
     }},
}};

void reply_name(context* ctx, const char* name) { ReplyWithSimpleString(ctx, name); }
void reply_text(context* ctx, std::string_view text) {
  ReplyWithStringBuffer(ctx, text.data(), text.size());
}

void reply_all(context* ctx, const stored_filter& filter) {
  for (const field& each : fields) {
    reply_name(ctx, each.name);
    each.reply(ctx, filter);
  }
}

constexpr std::string_view name_of_growth(growth_state growth) {
  switch (growth) {
    case growth_state::as_planned:
      return "as planned";
    case growth_state::no_memory:
      return "no memory";
    case growth_state::no_plan:
      break;
  }
  return "no plan";
}

/// What the library knows of a filter beyond what BF.INFO asks for.
void reply_own(context* ctx, const stored_filter& filter, const filter_stats& stats) {
  const auto text = [&](const char* name, std::string_view value) {
    reply_name(ctx, name);
    reply_text(ctx, value);
  };
  const auto number = [&](const char* name, double value) {
    reply_name(ctx, name);
    ReplyWithDouble(ctx, value);
  };
  const auto whole = [&](const char* name, std::uint64_t value) {
    reply_name(ctx, name);
    reply_whole(ctx, value);
  };
  text("Kind", filter.kind() ? name_of(*filter.kind()) : "none yet");
  number("Stated error", filter.stated_error());
  number("Predicted error", filter.predicted_error());
  number("Current error", stats.current_fpr);
  number("Accesses", filter.predicted_accesses());
  number("Bits per element", stats.bits_per_element);
  whole("Overflow", stats.counts.overflow);
  whole("Forced", stats.counts.forced);
  whole("Memory", filter.counted_bytes());
  text("Condition", name_of(stats.condition));
  text("Growth", name_of_growth(filter.growth()));
  if (const auto seed = filter.seed()) {
    std::array<char, 20> digits{};  // of the largest
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), *seed).ptr;
    text("Seed", {digits.data(), end});
  } else {
    text("Seed", "none yet");
  }
  if (const old_parts* old = filter.old()) {
    whole("Old parts", old->chain().links.size());
    whole("Old items", old->chain().items);
    number("Old error", old->error());
  }
}
constexpr long own_fields = 12;
constexpr long old_fields = 3;

int reply_one(context* ctx, const stored_filter& filter, const field& asked) {
  if ((GetContextFlags(ctx) & context_resp3) != 0) {
    ReplyWithMap(ctx, 1);
    reply_name(ctx, asked.name);
  } else {
    ReplyWithArray(ctx, 1);
  }
  asked.reply(ctx, filter);
  return ok;
}

}  // namespace

int exists(context* ctx, string** argv, int argc) {
  if (argc != 3) return WrongArity(ctx);
  bool answer = false;
  {
    const opened_key key(ctx, argv[1], read_only);
    if (cannot_answer(key)) return ReplyWithError(ctx, obstacle(key.filter()));
    answer = may_contain(key, argv[2]);
    // The key is closed while the filter's memory is still on its way: nothing needs it before the
    // reply does.
  }
  return ReplyWithBool(ctx, static_cast<int>(answer));
}

int exist_many(context* ctx, string** argv, int argc) {
  if (argc < 3) return WrongArity(ctx);
  const opened_key key(ctx, argv[1], read_only);
  if (cannot_answer(key)) return ReplyWithError(ctx, obstacle(key.filter()));
  ReplyWithArray(ctx, argc - 2);
  for (int i = 2; i < argc; ++i) ReplyWithBool(ctx, may_contain(key, argv[i]) ? 1 : 0);
  return ok;
}

int cardinality(context* ctx, string** argv, int argc) {
  if (argc != 2) return WrongArity(ctx);
  const opened_key key(ctx, argv[1], read_only);
  if (key.content() == opened_key::holds::nothing) return ReplyWithLongLong(ctx, 0);
  if (const char* why_not = obstacle(key)) return ReplyWithError(ctx, why_not);
  reply_whole(ctx, key.filter().size());
  return ok;
}

template <dialect Words>
int info(context* ctx, string** argv, int argc) {
  if (argc != 2 && argc != 3) return WrongArity(ctx);
  const opened_key key(ctx, argv[1], read_only);
  if (const char* why_not = obstacle(key)) return ReplyWithError(ctx, why_not);
  if (argc == 3) {
    for (const field& each : fields)
      if (is_word(argv[2], each.asked_as)) return reply_one(ctx, key.filter(), each);
    return ReplyWithError(ctx, "Invalid information value");
  }
  constexpr long shared_fields = fields.size();
  if constexpr (Words == dialect::op) {
    const filter_stats stats = key.filter().stats();  // what takes memory comes before the reply
    ReplyWithMap(ctx, shared_fields + own_fields + (key.filter().old() ? old_fields : 0));
    reply_all(ctx, key.filter());
    reply_own(ctx, key.filter(), stats);
  } else {
    ReplyWithMap(ctx, shared_fields);
    reply_all(ctx, key.filter());
  }
  return ok;
}
template int info<dialect::op>(context*, string**, int);
template int info<dialect::bf>(context*, string**, int);

int debug(context* ctx, string** argv, int argc) {
  if (argc != 2) return WrongArity(ctx);
  const opened_key key(ctx, argv[1], read_only);
  if (const char* why_not = obstacle(key)) return ReplyWithError(ctx, why_not);
  const std::vector<part_facts> parts = key.filter().facts_of_parts();
  ReplyWithArray(ctx, 1 + static_cast<long>(parts.size()));
  reply_text(ctx, "size:" + std::to_string(key.filter().size()));
  for (const part_facts& part : parts) {
    std::array<char, 256> text{};
    std::snprintf(text.data(), text.size(),
                  "bytes:%" PRIu64 " bits:%" PRIu64 " hashes:%" PRIu32
                  " hashwidth:64 capacity:%" PRIu64 " size:%" PRIu64 " ratio:%g",
                  part.bytes, 8 * part.bytes, part.hashes, part.capacity, part.size, part.error);
    reply_text(ctx, text.data());
  }
  return ok;
}

}  // namespace oneprobe::redis
