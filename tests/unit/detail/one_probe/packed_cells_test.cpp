// Packed cells against plain vectors, to the byte and to the last cell.
#include "oneprobe/detail/one_probe/packed_cells.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

using namespace oneprobe;

namespace {

TEST(packed_cells, three_cells_of_six_values_share_a_byte) {
  EXPECT_EQ(packed_cells({6}, 120'000).memory_bytes(), 40'000u);
  EXPECT_EQ(packed_cells({7}, 1'200'000).memory_bytes(), 450'000u);
  EXPECT_EQ(packed_cells({2}, 100).memory_bytes(), 13u);
  EXPECT_EQ(packed_cells({3}, 11).memory_bytes(), 3u);
  EXPECT_EQ(packed_cells({6}, 4).memory_bytes(), 2u);
}

TEST(packed_cells, hold_what_they_are_given_whatever_their_neighbours_hold) {
  for (std::uint32_t values = 2; values <= 9; ++values) {
    SCOPED_TRACE(values);
    constexpr std::uint64_t cells = 1'001;
    packed_cells packed({values}, cells);
    std::vector<std::uint32_t> twin(cells);
    std::mt19937_64 random(values);
    for (int i = 0; i < 20'000; ++i) {
      const std::uint64_t at = random() % cells;
      twin[at] = static_cast<std::uint32_t>(random() % values);
      packed.set(at, twin[at]);
      const std::uint64_t other = random() % cells;
      ASSERT_EQ(packed.get(other), twin[other]);
    }
    for (std::uint64_t at = 0; at < cells; ++at) ASSERT_EQ(packed.get(at), twin[at]);
  }
}

TEST(bit_fields, of_any_width_lie_side_by_side) {
  for (std::uint32_t width = 1; width <= 56; ++width) {
    SCOPED_TRACE(width);
    constexpr std::uint64_t fields = 67;
    bit_fields memory(fields * width);
    ASSERT_EQ(memory.memory_bytes(), (fields * width + 7) / 8);
    std::vector<std::uint64_t> twin(fields);
    std::mt19937_64 random(width);
    for (int i = 0; i < 2'000; ++i) {
      const std::uint64_t at = random() % fields;
      twin[at] = random() & ((std::uint64_t{1} << width) - 1);
      memory.write(at * width, width, twin[at]);
      const std::uint64_t other = random() % fields;
      ASSERT_EQ(memory.read(other * width, width), twin[other]);
    }
  }
}

TEST(bit_fields, are_cleared_in_pieces) {
  bit_fields memory(800);
  for (std::uint64_t bit = 0; bit < 800; ++bit) memory.write(bit, 1, 1);
  memory.clear_bytes(10, 5);
  memory.clear_bytes(99, 64);  // beyond the end
  for (std::uint64_t bit = 0; bit < 800; ++bit)
    ASSERT_EQ(memory.read(bit, 1), (bit / 8 >= 10 && bit / 8 < 15) || bit / 8 == 99 ? 0u : 1u);
  memory.clear();
  for (std::uint64_t bit = 0; bit < 800; ++bit) ASSERT_EQ(memory.read(bit, 1), 0u);
}

TEST(bucket_bits, have_one_bit_for_every_slot) {
  EXPECT_EQ(bucket_bits(60'000, 1).memory_bytes(), 7'500u);
  bucket_bits bits(100, 5);
  EXPECT_EQ(bits.memory_bytes(), 63u);
  bits.set(5 * 17 + 2);
  bits.set(5 * 17 + 4);
  EXPECT_EQ(bits.mask(17), 0b10100u);
  EXPECT_EQ(bits.mask(16), 0u);
  EXPECT_TRUE(bits.test(5 * 17 + 4));
  bits.reset(5 * 17 + 4);
  EXPECT_EQ(bits.mask(17), 0b00100u);
}

}  // namespace
