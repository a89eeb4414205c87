#include "bench/table_peers/plugin.hpp"

#include <algorithm>
#include <array>

#include "bench/table_peers/peers.hpp"

namespace oneprobe::cli {
namespace {

struct peer {
  table_kind kind;
  const char* name;
  const char* package;  // Debian's
  peers::absence (*add)(table_list& list, const table_contest_size& size);
};

constexpr std::array<peer, 6> all_peers{{
    {table_kind::boost, "boost::unordered_flat_map", "libboost1.81-dev", peers::add_boost},
    {table_kind::absl, "absl::flat_hash_map", "libabsl-dev", peers::add_absl},
    {table_kind::libcuckoo, "libcuckoo", "libcuckoo-dev", peers::add_libcuckoo},
    {table_kind::tbb, "tbb::concurrent_hash_map", "libtbb-dev", peers::add_tbb},
    {table_kind::standard, "std::unordered_map", "", peers::add_standard},
    {table_kind::rte, "rte_hash", "libdpdk-dev", peers::add_rte},
}};

}  // namespace
}  // namespace oneprobe::cli

extern "C" void oneprobe_add_table_peers(const oneprobe::cli::table_contest_size& size,
                                         const std::vector<oneprobe::cli::table_kind>& kinds,
                                         oneprobe::cli::table_peers& found) {
  using namespace oneprobe::cli;
  for (const peer& each : all_peers) {
    if (std::find(kinds.begin(), kinds.end(), each.kind) == kinds.end()) continue;
    const peers::absence why = each.add(found.list, size);
    if (!why.empty()) found.absent.push_back({each.kind, each.name, each.package, why});
  }
}
