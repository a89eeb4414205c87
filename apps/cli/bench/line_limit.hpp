// The time of one random cache line: what no lookup that reads memory can beat.
//
// A key is hashed, the hash chooses a line of an array as large as the filters, and one word of it
// is read. "One by one" is a plain loop, in which the processor overlaps as much as it can by
// itself; "bulk" is a rolling ring: the oldest line is read, and the line of a new key is asked for
// in its place. Hashing and reading the keys are included, as they are for the filters.
#pragma once

#include <memory>

#include "bench/contender.hpp"

namespace oneprobe::cli {

std::unique_ptr<contender> make_line_limit(std::uint64_t bytes, const seeded_hash& hash);

}  // namespace oneprobe::cli
