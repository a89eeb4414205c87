// The time of one random cache line: what no lookup that reads memory can beat.
//
// A key is hashed, the hash chooses a line of an array as large as the filters, and one word of it
// is read. "One by one" is a plain loop, in which the processor overlaps as much as it can by
// itself; "bulk" asks for lines ahead. Hashing and reading the keys are included, as they are for
// the filters.
#pragma once

#include <memory>

#include "bench/contender.hpp"

namespace oneprobe::cli {

/// How bulk asks for lines.
enum class line_asking {
  first_cache,  // a rolling ring of 32 to the first cache, as is usual
  own_ring,  // by the ring of our filters and with their instructions: what they do, but for what
             // they do with a line
};
/// Their names as contenders.
inline constexpr const char* line_limit_name = "one random line";
inline constexpr const char* own_ring_limit_name = "one random line, our ring";

std::unique_ptr<contender> make_line_limit(std::uint64_t bytes, const seeded_hash& hash,
                                           line_asking how);

}  // namespace oneprobe::cli
