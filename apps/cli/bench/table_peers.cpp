#include "bench/table_peers.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>

#include "bench/table_peers/plugin.hpp"

namespace oneprobe::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* plugin_name = "oneprobe_table_peers.so";

struct opened {
  decltype(&oneprobe_add_table_peers) add = nullptr;
  std::string why;  // not
};

opened open_plugin() {
  std::error_code failed;
  const fs::path tool = fs::read_symlink("/proc/self/exe", failed);
  const fs::path plugin = tool.parent_path() / plugin_name;
  if (failed || !fs::exists(plugin, failed))
    return {nullptr, std::string(plugin_name) + " is not beside the tool"};
  void* const library = dlopen(plugin.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {nullptr, dlerror()};
  void* const found = dlsym(library, "oneprobe_add_table_peers");
  if (found == nullptr) return {nullptr, std::string(plugin_name) + " is not of this tool"};
  return {reinterpret_cast<decltype(&oneprobe_add_table_peers)>(found), {}};
}

}  // namespace

table_peers load_table_peers(const table_contest_size& size, const std::vector<table_kind>& kinds) {
  table_peers found;
  if (std::all_of(kinds.begin(), kinds.end(), [](auto each) { return each == table_kind::ours; }))
    return found;
  const opened plugin = open_plugin();
  if (plugin.add != nullptr)
    plugin.add(size, kinds, found);
  else
    found.absent.push_back({table_kind::standard, "all peers", "", plugin.why});
  return found;
}

}  // namespace oneprobe::cli
