// A user has included xxhash.h already, to have it inline.
#define XXH_INLINE_ALL
#include <xxhash.h>

// Before anything of ours, and this line keeps the two apart when includes are sorted.
#include <gtest/gtest.h>

#include "include_order.hpp"
#include "oneprobe/hash.hpp"

#ifndef XXH_INLINE_ALL
#error "the user's macro is gone"
#endif

TEST(seeded_hash, is_the_same_after_xxhash_was_included_inline) {
  EXPECT_EQ(oneprobe::seeded_hash(5)("a key").value, hash_of_a_key(5));
  EXPECT_EQ(XXH3_64bits("a key", 5), XXH3_64bits_withSeed("a key", 5, 0));
}
