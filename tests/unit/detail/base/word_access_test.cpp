#include "oneprobe/detail/base/word_access.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace oneprobe {
namespace {

template <class Words>
class words_of_a_filter : public ::testing::Test {};
using policies = ::testing::Types<plain_words, atomic_words>;
TYPED_TEST_SUITE(words_of_a_filter, policies);

TYPED_TEST(words_of_a_filter, bit_i_is_bit_i_modulo_8_of_byte_i_over_8) {
  for (unsigned i = 0; i < word_bits; ++i) {
    alignas(8) std::array<std::byte, word_bytes> bytes{};
    EXPECT_EQ(TypeParam::set_bits(bytes.data(), std::uint64_t{1} << i), 0u);
    for (unsigned byte = 0; byte < word_bytes; ++byte)
      EXPECT_EQ(std::to_integer<unsigned>(bytes[byte]), byte == i / 8 ? 1u << (i % 8) : 0u);
    EXPECT_EQ(TypeParam::load(bytes.data()), std::uint64_t{1} << i);
  }
}

TYPED_TEST(words_of_a_filter, setting_bits_returns_the_word_as_it_was_and_keeps_the_others) {
  alignas(8) std::array<std::byte, word_bytes> bytes{};
  TypeParam::set_bits(bytes.data(), 0b0101);
  EXPECT_EQ(TypeParam::set_bits(bytes.data(), 0b0110), 0b0101u);
  EXPECT_EQ(TypeParam::load(bytes.data()), 0b0111u);
  EXPECT_EQ(TypeParam::set_bits(bytes.data(), 0b0110), 0b0111u);
  EXPECT_EQ(TypeParam::load(bytes.data()), 0b0111u);
}

TEST(plain_words, a_stored_word_begins_with_its_lowest_byte) {
  std::array<std::byte, word_bytes> bytes{};
  plain_words::store(bytes.data(), 0x0807'0605'0403'0201);
  for (unsigned i = 0; i < word_bytes; ++i) EXPECT_EQ(std::to_integer<unsigned>(bytes[i]), i + 1);
}

}  // namespace
}  // namespace oneprobe
