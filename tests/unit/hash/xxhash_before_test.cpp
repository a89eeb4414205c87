// A user has included xxhash.h already, to link with the library.
#include <xxhash.h>

// Before anything of ours, and this line keeps the two apart when includes are sorted.
#include <gtest/gtest.h>

#include "include_order.hpp"
#include "oneprobe/hash.hpp"

namespace {

// A type that the user declared keeps its meaning.
struct user_of_xxhash {
  XXH64_hash_t hash = 5;
};

}  // namespace

TEST(seeded_hash, is_the_same_after_xxhash_was_included_to_be_linked) {
  EXPECT_EQ(oneprobe::seeded_hash(user_of_xxhash().hash)("a key").value, hash_of_a_key(5));
}
