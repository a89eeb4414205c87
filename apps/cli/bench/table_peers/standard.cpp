#include <string>
#include <unordered_map>

#include "bench/table_peers/flat_table.hpp"

namespace oneprobe::cli::peers {

absence add_standard(table_list& list, const table_contest_size& size) {
  using map =
      std::unordered_map<std::uint64_t, std::uint64_t, plain_hash, std::equal_to<>, counted_pairs>;
#if defined(_GLIBCXX_RELEASE)
  const std::string version = "libstdc++ " + std::to_string(_GLIBCXX_RELEASE);
#else
  const std::string version;
#endif
  add_flat<map>(list, size, table_kind::standard, "std::unordered_map", version);
  return {};
}

}  // namespace oneprobe::cli::peers
