// The module as Redis sees it: its name, its options, its data type and its commands.
//
//   loadmodule /path/to/oneprobe.so [MAX-BYTES n] [bf-error-rate e] ...     (settings.hpp)
#include "commands.hpp"
#include "redis_api.hpp"
#include "settings.hpp"
#include "type.hpp"

namespace oneprobe::redis {

module_state& state() {
  static module_state only;
  return only;
}

namespace {

constexpr int module_version = 1;

}  // namespace

int on_load(context* ctx, arguments sent) {
  if (!resolve(ctx)) return failed;
  if (IsModuleNameBusy("oneprobe") != 0) return failed;
  SetModuleAttribs(ctx, "oneprobe", module_version, api_version);
  SetModuleOptions(ctx, handle_io_errors);
  if (!read_options(ctx, sent)) return failed;
  register_settings(ctx);
  state().type = create_type(ctx);
  if (state().type == nullptr) return failed;
  state().redisbloom_type = create_redisbloom_type(ctx);
  SubscribeToServerEvent(ctx, loading_event, [](context*, server_event, std::uint64_t part, void*) {
    if (part <= last_loading_start) state().reads_ours = false;
    state().loads_aof = part == aof_loading_start;
  });
  if (!create_commands(ctx)) return failed;
  return load_settings(ctx) ? ok : failed;
}

}  // namespace oneprobe::redis
