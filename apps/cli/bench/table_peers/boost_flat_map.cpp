#include "bench/table_peers/flat_table.hpp"

#if defined(ONEPROBE_TABLE_PEER_BOOST)

#include <boost/unordered/unordered_flat_map.hpp>
#include <boost/version.hpp>

namespace oneprobe::cli::peers {

absence add_boost(table_list& list, const table_contest_size& size) {
  using map = boost::unordered_flat_map<std::uint64_t, std::uint64_t, plain_hash, std::equal_to<>,
                                        counted_pairs>;
  add_flat<map>(list, size, table_kind::boost, "boost flat map", BOOST_LIB_VERSION);
  return {};
}

}  // namespace oneprobe::cli::peers

#else

namespace oneprobe::cli::peers {

absence add_boost(table_list&, const table_contest_size&) { return not_compiled_in; }

}  // namespace oneprobe::cli::peers

#endif
