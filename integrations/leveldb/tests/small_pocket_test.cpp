#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <oneprobe_leveldb/small_pocket.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace oneprobe;
using namespace oneprobe::leveldb_integration;

using generator = std::mt19937_64;

std::vector<std::uint64_t> ascending_hashes(generator& random, std::size_t count) {
  std::vector<std::uint64_t> hashes(count);
  std::ranges::generate(hashes, std::ref(random));
  std::ranges::sort(hashes);
  return hashes;
}

std::string pocket_of(const std::vector<std::uint64_t>& hashes, double bits_per_key) {
  std::string bytes;
  append_pocket(hashes, pocket_budget(bits_per_key), bytes);
  return bytes;
}

TEST(small_pocket, contains_what_was_put_in_whatever_the_number_and_the_bits) {
  generator random(1);
  for (const std::size_t keys : {1u, 2u, 3u, 4u, 7u, 16u, 34u, 40u, 63u, 64u, 65u, 257u, 3000u}) {
    for (double bits = 8; bits <= 40; bits += 0.25) {
      const auto hashes = ascending_hashes(random, keys);
      const std::string bytes = pocket_of(hashes, bits);
      EXPECT_EQ(bytes.size(),
                1 + static_cast<std::size_t>(std::ceil(static_cast<double>(keys) * bits / 8)));
      for (const std::uint64_t hash : hashes)
        ASSERT_TRUE(pocket_may_contain(bytes, {hash})) << keys << " keys, " << bits << " bits";
    }
  }
}

TEST(small_pocket, contains_equal_fingerprints_and_the_first_and_the_last) {
  const std::uint64_t top = ~std::uint64_t{0};
  const std::vector<std::uint64_t> hashes{0, 1, 2, top - 2, top - 1, top};
  const std::string bytes = pocket_of(hashes, 10);
  for (const std::uint64_t hash : hashes) EXPECT_TRUE(pocket_may_contain(bytes, {hash}));
  EXPECT_FALSE(pocket_may_contain(bytes, {top / 2}));
}

TEST(small_pocket, finds_every_one_of_a_word) {
  generator random(3);
  for (int i = 0; i < 2000; ++i) {
    // From sparse to all ones.
    std::uint64_t word = random();
    if (i % 4 == 1) word &= random() & random();
    if (i % 4 == 2) word |= random() | random();
    if (i == 3) word = ~std::uint64_t{0};
    const std::uint64_t counted = leveldb_integration::detail::ones_up_to_bytes(word);
    unsigned rank = 0;
    for (unsigned bit = 0; bit < 64; ++bit) {
      if ((word >> bit & 1) == 0) continue;
      ASSERT_EQ(leveldb_integration::detail::select_one(word, counted, rank++), bit) << word;
    }
    ASSERT_EQ(leveldb_integration::detail::all_ones(counted), rank);
  }
}

TEST(small_pocket, has_the_largest_universe_that_the_bits_allow) {
  for (std::uint64_t keys = 1; keys < 100; ++keys) {
    for (double bits = 8; bits <= 40; bits += 0.25) {
      const pocket_budget budget(bits);
      const small_pocket_shape shape = pocket_shape_of(keys, budget);
      const std::uint64_t room = 8 * budget.payload_bytes(keys);
      ASSERT_EQ(shape.header_bits() + keys * shape.remainder_bits, room);
      for (std::uint64_t f = 0; keys * (1 + f) < room; ++f)
        ASSERT_GE(shape.fingerprints(), (room - keys * (1 + f)) << f)
            << keys << " keys, " << bits << " bits, " << f;
    }
  }
}

// The largest shape must not wrap.
TEST(small_pocket, has_a_universe_below_two_to_the_64_for_the_most_keys) {
  const small_pocket_shape shape = pocket_shape_of(most_pocket_keys, pocket_budget(40));
  EXPECT_LT(std::log2(static_cast<double>(shape.quotients)) + shape.remainder_bits, 64);
}

// Of five seeds together, two-sided. The variance has two parts: that of the questions, and that of
// how many fingerprints are distinct, which is about Poisson with n (n - 1) / 2U.
TEST(small_pocket, errs_as_its_model_says) {
  constexpr double k = 4.3;  // two-sided 2e-5, over 24 comparisons below 1e-3 in all
  constexpr int questions = 256;
  for (const std::uint64_t keys : {1u, 5u, 17u, 34u, 40u, 300u}) {
    for (const double bits : {8.0, 10.0, 12.75, 14.0}) {
      const small_pocket_shape shape = pocket_shape_of(keys, pocket_budget(bits));
      const double fpr = shape.fpr();
      const auto universe = static_cast<double>(shape.fingerprints());
      const auto n = static_cast<double>(keys);
      // So many that chance is five percent of what is expected.
      const auto pockets = static_cast<std::uint64_t>(400 / fpr / questions);
      double wrong = 0;
      for (unsigned seed = 1; seed <= 5; ++seed) {
        generator random(seed);
        for (std::uint64_t i = 0; i < pockets / 5; ++i) {
          const std::string bytes = pocket_of(ascending_hashes(random, keys), bits);
          for (int asked = 0; asked < questions; ++asked)
            wrong += pocket_may_contain(bytes, {random()}) ? 1 : 0;
        }
      }
      const auto filled = static_cast<double>(pockets / 5 * 5);
      const double expected = filled * questions * fpr;
      const double distinct = n * (n - 1) / 2 / universe / universe / universe;
      const double sigma =
          std::sqrt(filled * (questions * fpr * (1 - fpr) + questions * questions * distinct));
      EXPECT_NEAR(wrong, expected, k * sigma) << keys << " keys, " << bits << " bits";
    }
  }
}

// Goes red if filters that were written before would be read differently: then the policy needs
// another name.
TEST(small_pocket, is_made_of_these_bytes) {
  // Two keys, 8 bits each: 16 bits, of which 2 n + 1 leave f = 5 and Q = 16 - 2 * 6 = 4; U = 128.
  // Fingerprints 37 and 101: quotients 1 and 3, remainders 5 and 5.
  // Header 0 10 0 10, six bits; remainders 10100 10100; low bits first.
  const std::vector<std::uint64_t> hashes{std::uint64_t{37} << 57, std::uint64_t{101} << 57};
  const std::string bytes = pocket_of(hashes, 8);
  ASSERT_EQ(bytes.size(), 3u);
  EXPECT_EQ(static_cast<unsigned char>(bytes[0]), 32);
  const unsigned payload = static_cast<unsigned char>(bytes[1]) |
                           static_cast<unsigned>(static_cast<unsigned char>(bytes[2])) << 8;
  EXPECT_EQ(payload, 0b00101'00101'010010u);
}

TEST(small_pocket, reads_bytes_made_by_hand) {
  // As above, with quotient 0 twice: header 110000, remainders 3 and 31.
  const unsigned payload = 0b11111'00011'000011u;
  const std::string bytes{'\x20', static_cast<char>(payload & 0xff),
                          static_cast<char>(payload >> 8)};
  for (std::uint64_t fingerprint = 0; fingerprint < 128; ++fingerprint)
    EXPECT_EQ(pocket_may_contain(bytes, {fingerprint << 57}), fingerprint == 3 || fingerprint == 31)
        << fingerprint;
}

TEST(small_pocket, may_contain_everything_where_bytes_are_no_filter) {
  generator random(7);
  const auto hashes = ascending_hashes(random, 34);
  const std::string good = pocket_of(hashes, 16);
  const auto contains_all = [&](const std::string& bytes) {
    generator asked(8);
    for (int i = 0; i < 200; ++i)
      if (!pocket_may_contain(bytes, {asked()})) return false;
    return true;
  };
  EXPECT_FALSE(contains_all(good));
  EXPECT_TRUE(contains_all({}));
  EXPECT_TRUE(contains_all(good.substr(0, 1)));  // nothing but the tag
  EXPECT_TRUE(contains_all(good.substr(0, good.size() - 1)));
  EXPECT_TRUE(contains_all(good + '\0'));
  for (const unsigned tag : {0u, 31u, 161u, 255u}) {
    std::string other = good;
    other[0] = static_cast<char>(tag);
    EXPECT_TRUE(contains_all(other)) << tag;
  }
  std::string ones = good;  // more ones in the header than keys
  ones[1] = ones[2] = ones[3] = static_cast<char>(0xff);
  EXPECT_TRUE(contains_all(ones));
  std::string zeros = good;
  zeros[1] = zeros[2] = zeros[3] = 0;
  EXPECT_TRUE(contains_all(zeros));
}

TEST(small_pocket, says_every_key_may_be_there_if_there_are_none) {
  EXPECT_EQ(pocket_of({}, 16), std::string(1, '\0'));
  EXPECT_TRUE(pocket_may_contain(pocket_of({}, 16), {42}));
}

TEST(small_pocket, refuses_bits_that_no_tag_can_say) {
  for (const double bits : {0.0, 7.99, 40.25, -16.0, std::nan("")}) {
    try {
      pocket_budget{bits};
      ADD_FAILURE() << bits;
    } catch (const std::invalid_argument& refusal) {
      EXPECT_NE(std::string(refusal.what()).find("bits_per_key must be 8 to 40; found"),
                std::string::npos);
    }
  }
}

}  // namespace
