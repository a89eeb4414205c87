// How often this program asked for memory: every form of operator new is counted (allocations.cpp).
#pragma once

#include <cstdint>

namespace conformance {

std::uint64_t allocations_so_far() noexcept;

}  // namespace conformance
