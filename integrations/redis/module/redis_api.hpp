// The part of the Redis module interface that this module uses. Debian packages no header of it, so
// what is needed is declared here: names without the prefix RedisModule_, in a namespace of their
// own, resolved by name when the module is loaded.
//
//   if (!redis::resolve(ctx)) return redis::failed;      // first, in RedisModule_OnLoad
//   redis::ReplyWithLongLong(ctx, 1);
//
// Redis calls modules on its one main thread, but for `free`, which may run on another.
#pragma once

#include <cstddef>
#include <cstdint>

namespace oneprobe::redis {

// What Redis hands out and only Redis looks into.
struct context;
struct key;
struct string;
struct io;
struct digest;
struct data_type;
struct command;

inline constexpr int ok = 0;
inline constexpr int failed = 1;
inline constexpr int api_version = 1;
inline constexpr int key_type_empty = 0;
inline constexpr int read_only = 1;
inline constexpr int read_write = 1 | 2;
inline constexpr long postponed_length = -1;
inline constexpr int handle_io_errors = 1 << 0;     // a module option
inline constexpr int notify_module = 1 << 13;       // a class of keyspace events
inline constexpr int context_replica = 1 << 3;      // this server follows a primary
inline constexpr int context_replicated = 1 << 12;  // a command from the primary or the AOF
inline constexpr int context_loading = 1 << 13;     // an RDB or AOF file is being read
inline constexpr int context_resp3 = 1 << 22;       // the client speaks RESP3

using command_function = int (*)(context*, string**, int);

/// The callbacks of a data type, in the order in which Redis reads them. A null one is not there.
struct type_methods {
  static constexpr std::uint64_t known_version = 4;

  std::uint64_t version = known_version;
  void* (*rdb_load)(io*, int version) = nullptr;
  void (*rdb_save)(io*, void* value) = nullptr;
  void (*aof_rewrite)(io*, string* key, void* value) = nullptr;
  std::size_t (*mem_usage)(const void* value) = nullptr;
  void (*digest_value)(digest*, void* value) = nullptr;
  void (*free)(void* value) = nullptr;
  int (*aux_load)(io*, int version, int when) = nullptr;
  void (*aux_save)(io*, int when) = nullptr;
  int aux_save_triggers = 0;
  std::size_t (*free_effort)(string* key, const void* value) = nullptr;
  void (*unlink)(string* key, const void* value) = nullptr;
  void* (*copy)(string* from, string* to, const void* value) = nullptr;
  void* defrag = nullptr;
  void* mem_usage_with_options = nullptr;
  void* free_effort_with_options = nullptr;
  void* unlink_with_options = nullptr;
  void* copy_with_options = nullptr;
};

// What SetCommandInfo gets: `COMMAND INFO`, cluster clients and access lists read it.
struct key_spec {
  static constexpr std::uint64_t read_only = 1 << 0;
  static constexpr std::uint64_t read_write = 1 << 1;
  static constexpr std::uint64_t access = 1 << 4;
  static constexpr std::uint64_t update = 1 << 5;
  static constexpr std::uint64_t insert = 1 << 6;
  static constexpr int search_by_index = 2;
  static constexpr int find_in_range = 2;

  const char* notes;
  std::uint64_t flags;
  int begin_search;
  struct by_index {
    int position;
  };
  struct by_keyword {
    const char* keyword;
    int start_from;
  };
  union {
    by_index index;
    by_keyword keyword;
  } begin;
  int find_keys;
  struct in_range {
    int last_key;
    int step;
    int limit;
  };
  struct counted {
    int number_index;
    int first_key;
    int step;
  };
  union {
    in_range range;
    counted number;
  } find;
};

struct argument_description {
  static constexpr int text = 0;
  static constexpr int whole = 1;
  static constexpr int real = 2;
  static constexpr int key = 3;
  static constexpr int pure_token = 6;
  static constexpr int one_of = 7;
  static constexpr int optional = 1 << 0;
  static constexpr int multiple = 1 << 1;

  const char* name = nullptr;
  int type = text;
  int key_spec_index = 0;
  const char* token = nullptr;
  const char* summary = nullptr;
  const char* since = nullptr;
  int flags = 0;
  const char* deprecated_since = nullptr;
  argument_description* sub_arguments = nullptr;  // ended as those of a command, by an empty one
  const char* shown = nullptr;  // 7.2 and later read it, 7.0 steps over it; null: the name
};

struct history_entry {
  const char* since;
  const char* changes;
};

struct command_info_version {
  int version;
  std::size_t history_entry_bytes;
  std::size_t key_spec_bytes;
  std::size_t argument_bytes;
};

struct command_info {
  const command_info_version* version;
  const char* summary;
  const char* complexity;
  const char* since;
  history_entry* history;
  const char* tips;
  int arity;
  key_spec* key_specs;  // ended by one that is all zeros
  argument_description* arguments;
};

/// `CONFIG GET` and `CONFIG SET` of one setting. A fault becomes the text of the error.
using show_setting = string* (*)(const char* name, void* data);
using take_setting = int (*)(const char* name, string* value, void* data, string** fault);
using apply_settings = int (*)(context*, void* data, string** fault);
inline constexpr unsigned unprefixed_setting = 1 << 9;  // else its name begins with the module's

struct server_event {
  std::uint64_t id;
  std::uint64_t data_version;
};
inline constexpr server_event loading_event{3, 1};
inline constexpr std::uint64_t aof_loading_start = 1;
inline constexpr std::uint64_t last_loading_start = 2;  // of RDB, of AOF, of a primary's keys
using event_function = void (*)(context*, server_event, std::uint64_t part, void* data);

// One list for declaring the functions, defining them and resolving them.
// One row for each, which clang-format would fold into a stair.
// clang-format off
#define ONEPROBE_REDIS_FUNCTIONS(each)                                                            \
  each(int, SetModuleAttribs, (context*, const char* name, int version, int api))                 \
  each(int, IsModuleNameBusy, (const char* name))                                                 \
  each(void, SetModuleOptions, (context*, int options))                                           \
  each(int, CreateCommand, (context*, const char* name, command_function, const char* flags,      \
                            int first_key, int last_key, int step))                               \
  each(command*, GetCommand, (context*, const char* name))                                        \
  each(int, SetCommandInfo, (command*, const command_info*))                                      \
  each(data_type*, CreateDataType, (context*, const char* name, int version, type_methods*))      \
  each(int, GetContextFlags, (context*))                                                          \
  each(int, SubscribeToServerEvent, (context*, server_event, event_function))                     \
  each(int, WrongArity, (context*))                                                               \
  each(void, Log, (context*, const char* level, const char* format, ...))                         \
  each(void*, TryAlloc, (std::size_t bytes))                                                      \
  each(void, Free, (void*))                                                                       \
  each(std::size_t, MallocSize, (void*))                                                          \
  each(key*, OpenKey, (context*, string* name, int mode))                                         \
  each(void, CloseKey, (key*))                                                                    \
  each(int, KeyType, (key*))                                                                      \
  each(int, DeleteKey, (key*))                                                                    \
  each(data_type*, ModuleTypeGetType, (key*))                                                     \
  each(void*, ModuleTypeGetValue, (key*))                                                         \
  each(int, ModuleTypeSetValue, (key*, data_type*, void* value))                                  \
  each(string*, CreateString, (context*, const char* text, std::size_t length))                   \
  each(void, FreeString, (context*, string*))                                                     \
  each(const char*, StringPtrLen, (const string*, std::size_t* length))                           \
  each(int, StringToLongLong, (const string*, long long* number))                                 \
  each(int, StringToDouble, (const string*, double* number))                                      \
  each(int, ReplyWithError, (context*, const char* text))                                         \
  each(int, ReplyWithSimpleString, (context*, const char* text))                                  \
  each(int, ReplyWithStringBuffer, (context*, const char* text, std::size_t length))              \
  each(int, ReplyWithLongLong, (context*, long long))                                             \
  each(int, ReplyWithDouble, (context*, double))                                                  \
  each(int, ReplyWithBool, (context*, int))                                                       \
  each(int, ReplyWithNull, (context*))                                                            \
  each(int, ReplyWithArray, (context*, long length))                                              \
  each(int, ReplyWithMap, (context*, long length))                                                \
  each(void, ReplySetArrayLength, (context*, long length))                                        \
  each(int, Replicate, (context*, const char* name, const char* format, ...))                     \
  each(int, ReplicateVerbatim, (context*))                                                        \
  each(int, NotifyKeyspaceEvent, (context*, int kind, const char* event, string* key_name))       \
  each(void, SaveUnsigned, (io*, std::uint64_t))                                                  \
  each(std::uint64_t, LoadUnsigned, (io*))                                                        \
  each(double, LoadDouble, (io*))                                                                 \
  each(void, SaveStringBuffer, (io*, const char* text, std::size_t length))                       \
  each(char*, LoadStringBuffer, (io*, std::size_t* length))                                       \
  each(int, IsIOError, (io*))                                                                     \
  each(void, LogIOError, (io*, const char* level, const char* format, ...))                       \
  each(context*, GetContextFromIO, (io*))                                                         \
  each(void, EmitAOF, (io*, const char* name, const char* format, ...))                           \
  each(void, DigestAddStringBuffer, (digest*, const char* text, std::size_t length))              \
  each(void, DigestEndSequence, (digest*))
// clang-format on

// What only newer servers have: null where it is missing. Redis 7.0 has settings, 7.2 categories of
// commands, 7.4 categories of a module's own, and 8 settings without the module's name before them;
// the last function is not called, and shows that it has these.
// clang-format off
#define ONEPROBE_REDIS_NEWER_FUNCTIONS(each)                                                      \
  each(int, RegisterStringConfig, (context*, const char* name, const char* usual, unsigned flags, \
                                   show_setting, take_setting, apply_settings, void* data))       \
  each(int, LoadConfigs, (context*))                                                              \
  each(int, SetCommandACLCategories, (command*, const char* categories))                          \
  each(int, AddACLCategory, (context*, const char* name))                                         \
  each(int, LoadDefaultConfigs, (context*))
// clang-format on

#define ONEPROBE_REDIS_DECLARE(result, name, parameters) extern result(*name) parameters;
ONEPROBE_REDIS_FUNCTIONS(ONEPROBE_REDIS_DECLARE)
ONEPROBE_REDIS_NEWER_FUNCTIONS(ONEPROBE_REDIS_DECLARE)
#undef ONEPROBE_REDIS_DECLARE

/// Finds all of them; false if this Redis lacks one of the first list, which is then in its log if
/// it can be told.
bool resolve(context* ctx);

}  // namespace oneprobe::redis
