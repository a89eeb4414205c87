// The commands as Redis learns of them: which clients may call them, on which keys, and what
// redis-cli shows while one types. BF.* has the names, arguments and categories of RedisBloom.
#include <array>
#include <cstdint>
#include <new>
#include <string>

#include "commands.hpp"
#include "following.hpp"
#include "opened_key.hpp"
#include "redis_api.hpp"

namespace oneprobe::redis {
namespace {

/// Missing memory is a reply, too. Nothing is replied before the last that can fail is done.
template <command_function Command>
int guarded(context* ctx, string** argv, int argc) {
  try {
    return Command(ctx, argv, argc);
  } catch (const std::bad_alloc&) {
    return refuse(ctx, argv, argc, damage::no_memory, words::no_memory);
  }
}

// ------------------------------------------------------------------------------------- arguments

using argument = argument_description;

constexpr argument value(const char* name, int type, int flags = 0) {
  return {.name = name, .type = type, .flags = flags};
}
constexpr argument option(const char* name, int type, const char* word) {
  return {.name = name, .type = type, .token = word, .flags = argument::optional};
}
constexpr argument word(const char* name, const char* text, int flags = 0) {
  return {.name = name, .type = argument::pure_token, .token = text, .flags = flags};
}
constexpr argument end{};

constexpr argument key_argument = value("key", argument::key);
constexpr argument expansion = option("expansion", argument::whole, "EXPANSION");
constexpr argument nonscaling = word("nonscaling", "NONSCALING", argument::optional);
constexpr argument items = value("item", argument::text, argument::multiple);

// Redis reads them, and takes them as not constant.
argument just_key[]{key_argument, end};
argument key_and_item[]{key_argument, value("item", argument::text), end};
argument key_and_items[]{key_argument, items, end};
argument key_and_iterator[]{key_argument, value("iterator", argument::whole), end};
argument key_and_chunk[]{key_argument, value("iterator", argument::whole),
                         value("data", argument::text), end};
argument fields[]{word("capacity", "CAPACITY"),   word("size", "SIZE"),
                  word("filters", "FILTERS"),     word("items", "ITEMS"),
                  word("expansion", "EXPANSION"), end};
argument key_and_field[]{key_argument,
                         {.name = "single_value",
                          .type = argument::one_of,
                          .flags = argument::optional,
                          .sub_arguments = fields},
                         end};
argument kinds[]{word("fingerprint", "FINGERPRINT"), word("standard", "STANDARD"),
                 word("blocked", "BLOCKED"), word("balanced", "BALANCED"), end};
constexpr argument own_kind{.name = "kind",
                            .type = argument::one_of,
                            .token = "KIND",
                            .flags = argument::optional,
                            .sub_arguments = kinds};
constexpr argument own_bits = option("bits", argument::real, "BITS");
constexpr argument own_accesses = option("accesses", argument::real, "ACCESSES");
constexpr argument own_seed = option("seed", argument::whole, "SEED");
argument bf_reservation[]{key_argument,
                          value("error_rate", argument::real),
                          value("capacity", argument::whole),
                          expansion,
                          nonscaling,
                          end};
argument op_reservation[]{key_argument,
                          value("error_rate", argument::real),
                          value("capacity", argument::whole),
                          expansion,
                          nonscaling,
                          own_kind,
                          own_bits,
                          own_accesses,
                          own_seed,
                          end};
argument bf_insertion[]{key_argument,
                        option("capacity", argument::whole, "CAPACITY"),
                        option("error", argument::real, "ERROR"),
                        expansion,
                        word("nocreate", "NOCREATE", argument::optional),
                        nonscaling,
                        word("items", "ITEMS"),
                        items,
                        end};
argument op_insertion[]{key_argument,
                        option("capacity", argument::whole, "CAPACITY"),
                        option("error", argument::real, "ERROR"),
                        expansion,
                        word("nocreate", "NOCREATE", argument::optional),
                        nonscaling,
                        own_kind,
                        own_bits,
                        own_accesses,
                        own_seed,
                        word("items", "ITEMS"),
                        items,
                        end};
argument part_check_or_damage[]{key_argument, value("what", argument::text),
                                value("value", argument::text), end};

// ------------------------------------------------------------------------------------- commands

/// One of OP.* or of BF.*: what it does and takes.
struct spoken {
  command_function call;
  argument* arguments;
};

struct command_row {
  const char* name;
  spoken op;
  spoken bf;
  const char* flags;
  const char* categories;  // of access lists
  int arity;
  std::uint64_t key_flags;
  const char* since;
  const char* summary;
  const char* complexity;
  const char* tips = nullptr;
};

constexpr const char* writes = "write deny-oom";
constexpr const char* writes_fast = "write deny-oom fast";
constexpr const char* reads = "readonly";
constexpr const char* reads_fast = "readonly fast";
constexpr std::uint64_t fills_key = key_spec::read_write | key_spec::insert;
constexpr std::uint64_t asks_key = key_spec::read_only | key_spec::access;
constexpr const char* not_to_be_cached = "dont_cache";
constexpr const char* first_version = "1.0.0";
constexpr const char* each_part = "O(N), where N is the number of parts";
constexpr const char* each_item_and_part =
    "O(M * N), where M is the number of items and N of parts";

const command_row replaying{"replay",
                            {guarded<replay>, part_check_or_damage},
                            {},
                            "write deny-oom",
                            "write",
                            4,
                            fills_key,
                            first_version,
                            "What replicas and the AOF get beside the commands of clients",
                            "O(1)"};

const std::array<command_row, 11> commands{{
    {"reserve",
     {guarded<reserve<dialect::op>>, op_reservation},
     {guarded<reserve<dialect::bf>>, bf_reservation},
     writes,
     "write fast",
     -4,
     fills_key,
     first_version,
     "Makes an empty filter",
     "O(1), and the time to zero its memory"},
    {"add",
     {add<dialect::op>, key_and_item},
     {add<dialect::bf>, key_and_item},
     writes_fast,
     "write",
     3,
     fills_key,
     first_version,
     "Adds an item to a filter, which is made first if it is not there",
     each_part},
    {"madd",
     {guarded<add_many<dialect::op>>, key_and_items},
     {guarded<add_many<dialect::bf>>, key_and_items},
     writes_fast,
     "write",
     -3,
     fills_key,
     first_version,
     "Adds items to a filter, which is made first if it is not there",
     each_item_and_part},
    {"insert",
     {guarded<insert<dialect::op>>, op_insertion},
     {guarded<insert<dialect::bf>>, bf_insertion},
     writes,
     "write",
     -4,
     fills_key,
     first_version,
     "Adds items to a filter, which is made as the options say if it is not there",
     each_item_and_part},
    {"exists",
     {exists, key_and_item},
     {exists, key_and_item},
     reads_fast,
     "read",
     3,
     asks_key,
     first_version,
     "Whether an item may be in a filter",
     each_part},
    {"mexists",
     {guarded<exist_many>, key_and_items},
     {guarded<exist_many>, key_and_items},
     reads_fast,
     "read",
     -3,
     asks_key,
     first_version,
     "Whether items may be in a filter",
     each_item_and_part},
    {"card",
     {guarded<cardinality>, just_key},
     {guarded<cardinality>, just_key},
     reads_fast,
     "read fast",
     2,
     asks_key,
     "2.4.4",
     "How many items a filter has",
     each_part},
    {"info",
     {guarded<info<dialect::op>>, key_and_field},
     {guarded<info<dialect::bf>>, key_and_field},
     reads,
     "read fast",
     -2,
     asks_key,
     first_version,
     "What a filter is",
     "O(N), where N is the number of parts; OP.INFO reads all of the filter",
     not_to_be_cached},
    {"debug",
     {guarded<debug>, just_key},
     {guarded<debug>, just_key},
     reads,
     "read",
     2,
     asks_key,
     first_version,
     "What the parts of a filter are",
     each_part,
     not_to_be_cached},
    {"scandump",
     {guarded<scan_dump>, key_and_iterator},
     {guarded<scan_dump>, key_and_iterator},
     reads,
     "read",
     3,
     asks_key,
     first_version,
     "A piece of a filter's bytes",
     "O(N), where N is the size of the piece, for the first one of the filter",
     not_to_be_cached},
    {"loadchunk",
     {guarded<load_chunk>, key_and_chunk},
     {guarded<load_chunk>, key_and_chunk},
     writes,
     "write",
     4,
     fills_key,
     first_version,
     "Loads a piece of a filter's bytes",
     "O(N), where N is the size of the piece, for the last one of the filter"},
}};

bool describe(command* created, const spoken& as, const command_row& row) {
  static constexpr command_info_version version{1, sizeof(history_entry), sizeof(key_spec),
                                                sizeof(argument_description)};
  std::array<key_spec, 2> keys{};
  keys[0].flags = row.key_flags;
  keys[0].begin_search = key_spec::search_by_index;
  keys[0].begin.index = {1};
  keys[0].find_keys = key_spec::find_in_range;
  keys[0].find.range = {0, 1, 0};
  command_info info{};
  info.version = &version;
  info.summary = row.summary;
  info.complexity = row.complexity;
  info.since = row.since;
  info.tips = row.tips;
  info.arity = row.arity;
  info.key_specs = keys.data();
  info.arguments = as.arguments;
  return SetCommandInfo(created, &info) == ok;
}

/// All of OP.* or of BF.*: what their names begin with, and the category of access lists that they
/// have in common, where there can be one.
struct family {
  const char* prefix;
  const char* category;
};

/// Servers before 7.4 know no categories but their own, and those before 7.2 none of a module's
/// commands.
family family_of(context* ctx, const char* prefix, const char* category) {
  const bool known = AddACLCategory != nullptr && AddACLCategory(ctx, category) == ok;
  return {prefix, known ? category : nullptr};
}

bool categorize(command* created, const command_row& row, const char* category) {
  if (SetCommandACLCategories == nullptr) return true;
  std::string categories = row.categories;
  if (category != nullptr) categories += std::string(" ") + category;
  return SetCommandACLCategories(created, categories.c_str()) == ok;
}

bool create(context* ctx, const family& of, const spoken& as, const command_row& row) {
  const std::string name = std::string(of.prefix) + row.name;
  if (CreateCommand(ctx, name.c_str(), as.call, row.flags, 1, 1, 1) != ok) return false;
  command* created = GetCommand(ctx, name.c_str());
  return created != nullptr && describe(created, as, row) && categorize(created, row, of.category);
}

}  // namespace

bool create_commands(context* ctx) {
  const family ours = family_of(ctx, "op.", "oneprobe");
  for (const command_row& row : commands)
    if (!create(ctx, ours, row.op, row)) return false;
  if (!create(ctx, {ours.prefix, nullptr}, replaying.op, replaying)) return false;
  // Redis 8 and RedisBloom have these names already: the first module keeps them.
  const family known = family_of(ctx, "bf.", "bloom");
  std::string taken;
  for (const command_row& row : commands)
    if (!create(ctx, known, row.bf, row)) taken += std::string(" ") + known.prefix + row.name;
  if (!taken.empty())
    Log(ctx, "notice", "oneprobe: these names are taken, and are left as they are:%s; OP.* is here",
        taken.c_str());
  return true;
}

}  // namespace oneprobe::redis
