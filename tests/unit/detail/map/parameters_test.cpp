#include "oneprobe/detail/map/parameters.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "oneprobe/detail/io/bytes.hpp"
#include "oneprobe/detail/io/preamble.hpp"

using namespace oneprobe;

namespace {

/// Every field has a value of its own.
table_parameters unlike_any_other() {
  return {.plan = {.elements = 1001,
                   .bucket_capacity = 7,
                   .scheme = scheme_kind::d_left,
                   .choices = 3,
                   .levels = 3,
                   .level_buckets = {72, 71, 71},
                   .overflow_reserve = 5,
                   .overflow_buckets = 144,
                   .workload = table_workload::fill_only,
                   .predicted = {1.5, 1.25, 1.125, 0.5, 0.25, 0.125, 0.0625}},
          .counts = {.size = 66, .overflow = 6, .levels = {30, 20, 10}},
          .shape = {.key_bytes = 12,
                    .value_bytes = 9,
                    .slot_bytes = 24,
                    .slot_alignment = 4,
                    .order = byte_order::big_endian},
          .schema = 0x0102030405060708,
          .hash = file_hash::own,
          .seed = 0x1112131415161718,
          .state = table_file_state::open};
}

preamble head_for(const table_parameters& parameters, std::span<const std::byte> section) {
  return {.kind = static_cast<std::uint16_t>(table_kind::set),
          .parameter_bytes = section.size(),
          .payload_bytes = parameters.plan.memory(parameters.shape.slot_bytes).total(),
          .parameter_checksum = checksum_of(section)};
}

// docs/formats/table.md. Red: files of other programs cannot be read any more.
TEST(table_parameters, are_where_the_description_says) {
  const auto section = encode(unlike_any_other());
  struct field {
    std::size_t at;
    std::size_t bytes;
    std::uint64_t value;
  };
  const std::vector<field> fields{{0, 4, 1},
                                  {4, 4, 0},
                                  {8, 8, 0x1112131415161718},
                                  {16, 8, 0x0102030405060708},
                                  {24, 4, 1},
                                  {28, 1, 2},
                                  {29, 1, 1},
                                  {30, 1, 4},
                                  {31, 1, 0},
                                  {32, 4, 12},
                                  {36, 4, 9},
                                  {40, 4, 24},
                                  {44, 4, 4},
                                  {48, 4, 7},
                                  {52, 4, 3},
                                  {56, 4, 3},
                                  {60, 4, 0},
                                  {64, 8, 1001},
                                  {72, 8, 72},
                                  {80, 8, 71},
                                  {88, 8, 71},
                                  {96, 8, 0},
                                  {136, 8, 144},
                                  {144, 8, 5},
                                  {152, 8, std::bit_cast<std::uint64_t>(1.5)},
                                  {160, 8, std::bit_cast<std::uint64_t>(1.25)},
                                  {168, 8, std::bit_cast<std::uint64_t>(1.125)},
                                  {176, 8, std::bit_cast<std::uint64_t>(0.5)},
                                  {184, 8, std::bit_cast<std::uint64_t>(0.25)},
                                  {192, 8, std::bit_cast<std::uint64_t>(0.125)},
                                  {200, 8, std::bit_cast<std::uint64_t>(0.0625)},
                                  {208, 8, 66},
                                  {216, 8, 6},
                                  {224, 8, 30},
                                  {232, 8, 20},
                                  {240, 8, 10},
                                  {248, 8, 0},
                                  {288, 8, 0},
                                  {440, 8, 0}};
  for (const auto& [at, bytes, value] : fields) {
    std::uint64_t found = 0;
    for (std::size_t i = bytes; i-- > 0;)
      found = found << 8 | std::to_integer<std::uint64_t>(section[at + i]);
    EXPECT_EQ(found, value) << "at " << at;
  }
  EXPECT_EQ(preamble_bytes + section.size(), 512u) << "what a disk writes as a whole";
}

TEST(table_parameters, are_read_as_they_were_written) {
  const table_parameters written = unlike_any_other();
  const auto section = encode(written);
  const auto read = decode_table_parameters(section, head_for(written, section), "'x'");
  ASSERT_TRUE(read) << read.failure().sentence;
  EXPECT_EQ(encode(*read), section);
  EXPECT_EQ(read->counts, written.counts);
  EXPECT_EQ(read->shape, written.shape);
  EXPECT_EQ(read->plan.level_buckets, written.plan.level_buckets);
  EXPECT_EQ(read->plan.predicted, written.plan.predicted);
  EXPECT_EQ(read->plan.workload, table_workload::fill_only);
  EXPECT_EQ(read->state, table_file_state::open);
}

TEST(table_parameters, of_other_files_are_refused_before_they_are_read) {
  const table_parameters written = unlike_any_other();
  const auto section = encode(written);
  preamble head = head_for(written, section);
  const auto refused = [&](std::span<const std::byte> bytes) {
    const auto read = decode_table_parameters(bytes, head, "'x'");
    EXPECT_FALSE(read);
    return read ? load_error::io : read.failure().error;
  };
  head.kind = 5;
  EXPECT_EQ(refused(section), load_error::wrong_kind);
  head.kind = 130;
  EXPECT_EQ(refused(section), load_error::wrong_kind);
  head = head_for(written, section);
  head.parameter_bytes = 512;
  EXPECT_EQ(refused(section), load_error::inconsistent_parameters);
  EXPECT_EQ(refused(std::span(section).first(3)), load_error::inconsistent_parameters);
  head = head_for(written, section);
  ++head.parameter_checksum;
  EXPECT_EQ(refused(section), load_error::checksum_mismatch);
  head = head_for(written, section);
  head.payload_bytes += 64;
  EXPECT_EQ(refused(section), load_error::inconsistent_parameters);
}

}  // namespace
