// What erasing answers, in filters and tables alike.
#pragma once

#include <cstdint>

namespace oneprobe {

enum class erase_outcome : std::uint8_t {
  erased,
  absent,  // it was surely not there; nothing was changed
};

}  // namespace oneprobe
