// What erasing answers, in filters and tables alike.
#pragma once

#include <cstdint>

namespace oneprobe::inline v0_1 {

/// How an erasure ended.
enum class erase_outcome : std::uint8_t {
  erased,  // it was there and is no longer
  absent,  // it was surely not there; nothing was changed
};

}  // namespace oneprobe::inline v0_1
