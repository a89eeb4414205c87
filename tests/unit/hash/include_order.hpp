// What files that include xxhash.h before us compare their hashes with.
#pragma once

#include <cstdint>

/// The hash of "a key", computed where only our header included xxhash.h.
std::uint64_t hash_of_a_key(std::uint64_t seed);
