#include "oneprobe/detail/io/preamble.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>

using namespace oneprobe;

namespace {

using raw = std::array<std::byte, preamble_bytes>;

preamble sample() {
  return {.kind = 3,
          .parameter_bytes = 256,
          .payload_bytes = 1024,
          .parameter_checksum = 0x0123456789abcdef,
          .payload_checksum = 0xfedcba9876543210};
}

/// A preamble whose checksum fits whatever is in it.
raw resealed(raw bytes) {
  byte_writer out(std::span<std::byte>(bytes).last(8));
  out.put(checksum_of(std::span<const std::byte>(bytes).first(56)));
  return bytes;
}

load_error error_of(std::span<const std::byte> head, std::uint64_t file_bytes) {
  const loaded<preamble> read = decode_preamble(head, file_bytes, "'x'");
  EXPECT_FALSE(read);
  if (read) return load_error::io;
  EXPECT_TRUE(read.failure().sentence.starts_with("'x' ")) << read.failure().sentence;
  EXPECT_NE(read.failure().sentence.find(name_of(read.failure().error)), std::string::npos)
      << read.failure().sentence;
  return read.failure().error;
}

TEST(preamble, comes_back_as_it_was) {
  const raw bytes = encode(sample());
  const loaded<preamble> read = decode_preamble(bytes, sample().file_bytes(), "'x'");
  ASSERT_TRUE(read) << read.failure().sentence;
  EXPECT_EQ(*read, sample());
}

TEST(preamble, has_its_fields_where_the_format_says) {
  const raw bytes = encode(sample());
  byte_reader in(bytes);
  EXPECT_EQ(in.take<std::uint64_t>(), 0x1a0a0d50454e4f89U);
  EXPECT_EQ(in.take<std::uint16_t>(), 1U);
  EXPECT_EQ(in.take<std::uint16_t>(), 3U);
  EXPECT_EQ(in.take<std::uint32_t>(), 0U);
  EXPECT_EQ(in.take<std::uint64_t>(), 256U);
  EXPECT_EQ(in.take<std::uint64_t>(), 1024U);
  EXPECT_EQ(in.take<std::uint64_t>(), 0x0123456789abcdefU);
  EXPECT_EQ(in.take<std::uint64_t>(), 0xfedcba9876543210U);
  EXPECT_EQ(in.take<std::uint64_t>(), 0U);
  EXPECT_EQ(in.take<std::uint64_t>(), checksum_of(std::span(bytes).first(56)));
}

TEST(preamble, with_any_bit_flipped_is_refused) {
  const raw whole = encode(sample());
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    raw bytes = whole;
    bytes[bit / 8] ^= static_cast<std::byte>(1U << bit % 8);
    EXPECT_EQ(error_of(bytes, sample().file_bytes()),
              bit < 64 ? load_error::not_oneprobe_file : load_error::checksum_mismatch)
        << "bit " << bit;
  }
}

TEST(preamble, of_a_short_file_is_truncated_or_not_ours) {
  const raw whole = encode(sample());
  EXPECT_EQ(error_of({}, 0), load_error::not_oneprobe_file);
  for (std::size_t size = 1; size < whole.size(); ++size)
    EXPECT_EQ(error_of(std::span(whole).first(size), size), load_error::truncated) << size;
  const std::array<std::byte, 3> other{std::byte{'a'}, std::byte{'b'}, std::byte{'c'}};
  EXPECT_EQ(error_of(other, 3), load_error::not_oneprobe_file);
}

TEST(preamble, tells_a_later_version_from_damage) {
  preamble later = sample();
  later.version = format_version + 1;
  EXPECT_EQ(error_of(encode(later), later.file_bytes()), load_error::newer_format);
  later.version = 0;
  EXPECT_EQ(error_of(encode(later), later.file_bytes()), load_error::inconsistent_parameters);
}

TEST(preamble, has_zeros_where_nothing_is_said) {
  for (const std::size_t at : {12U, 15U, 48U, 55U}) {
    raw bytes = encode(sample());
    bytes[at] = std::byte{1};
    EXPECT_EQ(error_of(resealed(bytes), sample().file_bytes()), load_error::inconsistent_parameters)
        << at;
  }
}

TEST(preamble, agrees_with_the_length_of_the_file) {
  const raw bytes = encode(sample());
  const std::uint64_t whole = sample().file_bytes();
  EXPECT_EQ(error_of(bytes, whole - 1), load_error::truncated);
  EXPECT_EQ(error_of(bytes, whole + 1), load_error::trailing_bytes);
  EXPECT_EQ(error_of(bytes, 64), load_error::truncated);
  EXPECT_EQ(error_of(bytes, std::numeric_limits<std::uint64_t>::max()), load_error::trailing_bytes);
}

// Lengths whose sum wraps around to the length of the file are the classic way past such checks.
TEST(preamble, with_lengths_that_wrap_around_is_truncated) {
  preamble hostile = sample();
  hostile.parameter_bytes = 256;
  hostile.payload_bytes = std::uint64_t{0} - 256;  // 64 + 256 + this = 64
  EXPECT_EQ(error_of(encode(hostile), 64), load_error::truncated);
  EXPECT_EQ(error_of(encode(hostile), 1344), load_error::truncated);
  hostile.parameter_bytes = std::uint64_t{0} - 64;
  hostile.payload_bytes = 64;
  EXPECT_EQ(error_of(encode(hostile), 64), load_error::truncated);
  EXPECT_EQ(error_of(encode(hostile), 128), load_error::truncated);
}

RC_GTEST_PROP(preamble, with_any_content_is_refused_or_fits_the_file, ()) {
  preamble any;
  any.version = *rc::gen::inRange<std::uint16_t>(0, 3);
  any.kind = *rc::gen::arbitrary<std::uint16_t>();
  const auto length = [] {
    return *rc::gen::oneOf(rc::gen::arbitrary<std::uint64_t>(),
                           rc::gen::map(rc::gen::inRange<std::uint64_t>(0, 100),
                                        [](std::uint64_t lines) { return 64 * lines; }));
  };
  any.parameter_bytes = length();
  any.payload_bytes = length();
  const std::uint64_t file_bytes = 64 * *rc::gen::inRange<std::uint64_t>(1, 100);
  const loaded<preamble> read = decode_preamble(encode(any), file_bytes, "'x'");
  if (!read) return;
  RC_ASSERT(*read == any);
  RC_ASSERT(read->parameter_bytes < file_bytes);
  RC_ASSERT(read->payload_bytes < file_bytes);
  RC_ASSERT(read->file_bytes() == file_bytes);
}

}  // namespace
