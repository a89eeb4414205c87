#include "bench/table_peers/flat_table.hpp"

#if defined(ONEPROBE_TABLE_PEER_ABSL)

#include <absl/base/config.h>
#include <absl/container/flat_hash_map.h>

namespace oneprobe::cli::peers {

absence add_absl(table_list& list, const table_contest_size& size) {
  using map =
      absl::flat_hash_map<std::uint64_t, std::uint64_t, plain_hash, std::equal_to<>, counted_pairs>;
  add_flat<map>(list, size, table_kind::absl, "absl flat map",
                std::to_string(ABSL_LTS_RELEASE_VERSION));
  return {};
}

}  // namespace oneprobe::cli::peers

#else

namespace oneprobe::cli::peers {

absence add_absl(table_list&, const table_contest_size&) { return not_compiled_in; }

}  // namespace oneprobe::cli::peers

#endif
