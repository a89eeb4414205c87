// The module as Redis sees it: its name, its options, its data type and its commands.
//
//   loadmodule /path/to/oneprobe.so [MAX-BYTES n]
#include <array>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>

#include <unistd.h>

#include "commands.hpp"
#include "following.hpp"
#include "opened_key.hpp"
#include "redis_api.hpp"
#include "type.hpp"

namespace oneprobe::redis {

module_state& state() {
  static module_state only;
  return only;
}

namespace {

constexpr int module_version = 1;

/// Memory that nobody has is a reply, too. Nothing is replied before the last that can fail is
/// done.
template <command_function Command>
int guarded(context* ctx, string** argv, int argc) {
  try {
    return Command(ctx, argv, argc);
  } catch (const std::bad_alloc&) {
    return refuse(ctx, argv, argc, damage::no_memory, words::no_memory);
  }
}

/// One row for each command: BF.* has the same names.
struct command_row {
  const char* name;
  command_function op;
  command_function bf;
  const char* flags;
  int arity;
  std::uint64_t key_flags;
  const char* summary;
  const char* complexity;
};

constexpr const char* writes = "write deny-oom";
constexpr const char* writes_fast = "write deny-oom fast";
constexpr const char* reads = "readonly";
constexpr const char* reads_fast = "readonly fast";
constexpr std::uint64_t fills_key = key_spec::read_write | key_spec::insert;
constexpr std::uint64_t asks_key = key_spec::read_only | key_spec::access;

constexpr command_row replaying{"REPLAY",
                                guarded<replay>,
                                nullptr,
                                "write deny-oom",
                                4,
                                fills_key,
                                "What replicas and the AOF are told beside the commands of clients",
                                "O(1)"};

constexpr std::array<command_row, 10> commands{{
    {"RESERVE", guarded<reserve<dialect::op>>, guarded<reserve<dialect::bf>>, writes, -4, fills_key,
     "Makes an empty filter", "O(1), and the time to zero its memory"},
    {"ADD", add<dialect::op>, add<dialect::bf>, writes_fast, 3, fills_key,
     "Adds an item to a filter", "O(N), where N is the number of parts"},
    {"MADD", guarded<add_many<dialect::op>>, guarded<add_many<dialect::bf>>, writes_fast, -3,
     fills_key, "Adds items to a filter",
     "O(M * N), where M is the number of items and N of parts"},
    {"INSERT", guarded<insert<dialect::op>>, guarded<insert<dialect::bf>>, writes, -4, fills_key,
     "Adds items to a filter, which is made first if it is not there",
     "O(M * N), where M is the number of items and N of parts"},
    {"EXISTS", exists, exists, reads_fast, 3, asks_key, "Whether an item may be in a filter",
     "O(N), where N is the number of parts"},
    {"MEXISTS", guarded<exist_many>, guarded<exist_many>, reads_fast, -3, asks_key,
     "Whether items may be in a filter", "O(M * N), where M is the number of items and N of parts"},
    {"CARD", guarded<cardinality>, guarded<cardinality>, reads_fast, 2, asks_key,
     "How many items a filter has", "O(N), where N is the number of parts"},
    {"INFO", guarded<info<dialect::op>>, guarded<info<dialect::bf>>, reads, -2, asks_key,
     "What a filter is", "O(N), where N is the number of parts; OP.INFO reads all of the filter"},
    {"SCANDUMP", guarded<scan_dump>, guarded<scan_dump>, reads, 3, asks_key,
     "A piece of a filter's bytes",
     "O(N), where N is the size of the piece, for the first one of the filter"},
    {"LOADCHUNK", guarded<load_chunk>, guarded<load_chunk>, writes, 4, fills_key,
     "Loads a piece of a filter's bytes",
     "O(N), where N is the size of the piece, for the last one of the filter"},
}};

bool describe(context* ctx, const char* name, const command_row& row) {
  command* created = GetCommand(ctx, name);
  if (created == nullptr) return false;
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
  info.since = "1.0.0";
  info.arity = row.arity;
  info.key_specs = keys.data();
  return SetCommandInfo(created, &info) == ok;
}

bool create(context* ctx, const std::string& name, command_function function,
            const command_row& row) {
  return CreateCommand(ctx, name.c_str(), function, row.flags, 1, 1, 1) == ok &&
         describe(ctx, name.c_str(), row);
}

bool create_commands(context* ctx) {
  for (const command_row& row : commands)
    if (!create(ctx, std::string("OP.") + row.name, row.op, row)) return false;
  if (!create(ctx, "OP.REPLAY", replaying.op, replaying)) return false;
  // Redis 8 and RedisBloom have these names already: whoever was first keeps them.
  for (const command_row& row : commands)
    if (!create(ctx, std::string("BF.") + row.name, row.bf, row))
      Log(ctx, "notice", "oneprobe: BF.%s is taken, and is left as it is; OP.%s is here", row.name,
          row.name);
  return true;
}

/// Half of the machine's memory, unless told otherwise.
std::uint64_t usual_byte_limit() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page_bytes = ::sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page_bytes <= 0) return std::uint64_t{1} << 32;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page_bytes) / 2;
}

bool read_options(context* ctx, arguments sent) {
  state().byte_limit = usual_byte_limit();
  if (sent.empty()) return true;
  long long limit = 0;
  if (sent.size() == 2 && text_of(sent[0]) == "MAX-BYTES" &&
      StringToLongLong(sent[1], &limit) == ok && limit > 0) {
    state().byte_limit = static_cast<std::uint64_t>(limit);
    return true;
  }
  Log(ctx, "warning", "oneprobe: the only option is MAX-BYTES with a number above 0");
  return false;
}

}  // namespace

int on_load(context* ctx, arguments sent) {
  if (!resolve(ctx)) return failed;
  if (IsModuleNameBusy("oneprobe") != 0) return failed;
  SetModuleAttribs(ctx, "oneprobe", module_version, api_version);
  SetModuleOptions(ctx, handle_io_errors);
  if (!read_options(ctx, sent)) return failed;
  state().type = create_type(ctx);
  if (state().type == nullptr) return failed;
  return create_commands(ctx) ? ok : failed;
}

}  // namespace oneprobe::redis
