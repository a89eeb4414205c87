#include "bench/table_peers.hpp"

#include <algorithm>

#include "bench/plugin_file.hpp"
#include "bench/table_peers/plugin.hpp"

namespace oneprobe::cli {

table_peers load_table_peers(const table_contest_size& size, const std::vector<table_kind>& kinds) {
  table_peers found;
  if (std::all_of(kinds.begin(), kinds.end(), [](auto each) { return each == table_kind::ours; }))
    return found;
  const plugin_function plugin =
      find_plugin_function("oneprobe_table_peers.so", "oneprobe_add_table_peers");
  if (plugin.address != nullptr)
    reinterpret_cast<decltype(&oneprobe_add_table_peers)>(plugin.address)(size, kinds, found);
  else
    found.absent.push_back({table_kind::standard, "all peers", "", plugin.why});
  return found;
}

}  // namespace oneprobe::cli
