#include "oneprobe/detail/io/bytes.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

using namespace oneprobe;

namespace {

TEST(bytes, numbers_are_little_endian) {
  std::array<std::byte, 15> bytes{};
  byte_writer out(bytes);
  out.put(std::uint8_t{0x01});
  out.put(std::uint16_t{0x0302});
  out.put(std::uint32_t{0x07060504});
  out.put(std::uint64_t{0x0f0e0d0c0b0a0908});
  EXPECT_FALSE(out.failed());
  EXPECT_EQ(out.written(), bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) EXPECT_EQ(std::to_integer<int>(bytes[i]), i + 1);
}

TEST(bytes, what_is_written_is_read) {
  std::array<std::byte, 64> bytes{};
  byte_writer out(bytes);
  out.put(std::uint8_t{200});
  out.put(std::uint16_t{60'000});
  out.put(std::uint32_t{4'000'000'000});
  out.put(std::numeric_limits<std::uint64_t>::max() - 1);
  out.put(-0.1);
  out.put(std::span<const std::byte>(std::array{std::byte{7}, std::byte{8}}));
  out.fill();
  EXPECT_FALSE(out.failed());

  byte_reader in(bytes);
  EXPECT_EQ(in.take<std::uint8_t>(), 200);
  EXPECT_EQ(in.take<std::uint16_t>(), 60'000);
  EXPECT_EQ(in.take<std::uint32_t>(), 4'000'000'000);
  EXPECT_EQ(in.take<std::uint64_t>(), std::numeric_limits<std::uint64_t>::max() - 1);
  EXPECT_EQ(in.take<double>(), -0.1);
  EXPECT_EQ(in.take(2)[1], std::byte{8});
  EXPECT_EQ(in.left(), 64U - 25U);
  EXPECT_TRUE(in.only_zeros_left());
  EXPECT_FALSE(in.failed());
}

TEST(bytes, a_reader_never_goes_past_the_end) {
  const std::array<std::byte, 3> bytes{std::byte{1}, std::byte{2}, std::byte{3}};
  byte_reader in(bytes);
  EXPECT_EQ(in.take<std::uint32_t>(), 0U);
  EXPECT_TRUE(in.failed());
  EXPECT_EQ(in.take<std::uint8_t>(), 0U) << "a reader that failed gives nothing more";

  byte_reader spans(bytes);
  EXPECT_EQ(spans.take(3).size(), 3U);
  EXPECT_FALSE(spans.failed());
  EXPECT_TRUE(spans.take(std::numeric_limits<std::size_t>::max()).empty());
  EXPECT_TRUE(spans.failed());
}

TEST(bytes, a_writer_never_goes_past_the_end) {
  std::array<std::byte, 8> bytes{};
  byte_writer out(std::span<std::byte>(bytes).first(5));
  out.put(std::uint32_t{1});
  out.put(std::uint16_t{0xffff});
  EXPECT_TRUE(out.failed());
  EXPECT_EQ(out.written(), 4U);
  EXPECT_EQ(bytes[4], std::byte{0});
  EXPECT_EQ(bytes[5], std::byte{0});
}

TEST(bytes, a_byte_that_is_not_zero_is_seen_wherever_it_is) {
  for (std::size_t at = 0; at < 9; ++at) {
    std::array<std::byte, 9> bytes{};
    bytes[at] = std::byte{1};
    EXPECT_FALSE(byte_reader(bytes).only_zeros_left()) << at;
  }
  EXPECT_TRUE(byte_reader(std::span<const std::byte>()).only_zeros_left());
}

}  // namespace
