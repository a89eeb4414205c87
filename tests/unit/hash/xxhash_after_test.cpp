// A user includes xxhash.h after us.
#include "oneprobe/hash.hpp"

// This line keeps the two apart when includes are sorted.
#include <gtest/gtest.h>
#include <xxhash.h>

#include "include_order.hpp"

#ifdef XXH_INLINE_ALL
#error "our macro has leaked"
#endif

std::uint64_t hash_of_a_key(std::uint64_t seed) {
  return oneprobe::seeded_hash(seed)("a key").value;
}

TEST(seeded_hash, lets_the_user_include_xxhash_afterwards) {
  EXPECT_EQ(XXH3_64bits_withSeed("a key", 5, oneprobe::mix_bits(5 + oneprobe::golden_ratio_64)),
            hash_of_a_key(5));
}
