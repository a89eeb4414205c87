// Boost.Bloom as a peer, where its headers were named when this tool was built:
// cmake -DONEPROBE_PEER_BOOST_BLOOM=DIR.
#pragma once

#include <string>

#include "bench/contender.hpp"

namespace oneprobe::cli {

enum class peer_state { compiled_in, absent };

peer_state boost_bloom_state();
/// The compiler's flags for the peer beyond those of the tool; empty if there are none.
std::string boost_bloom_flags();
/// Filters of the same memory, with the same hash and on huge pages like ours. None if absent.
contender_list make_boost_bloom(const contest_size& size);

}  // namespace oneprobe::cli
