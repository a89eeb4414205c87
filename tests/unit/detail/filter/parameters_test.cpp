#include "oneprobe/detail/filter/parameters.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace oneprobe;

namespace {

using raw = std::array<std::byte, filter_parameters::bytes>;

filter_parameters standard_sample() {
  filter_parameters parameters{.counts = {.size = 90}, .seed = 20081};
  parameters.plan = {.kind = filter_kind::standard, .elements = 100, .bits_set = 7, .cells = 1000};
  parameters.plan.predicted = {.fpr = 0.01,
                               .insert_accesses = 7,
                               .hit_accesses = 7,
                               .miss_accesses = 2,
                               .overflow_fraction = 0};
  return parameters;
}

filter_parameters balanced_sample() {
  filter_parameters parameters{.counts = {.size = 90, .overflow = 2, .forced = 1, .dropped = 3},
                               .hash = file_hash::own,
                               .seed = 77};
  parameters.plan = {.kind = filter_kind::balanced,
                     .elements = 100,
                     .bits_set = 9,
                     .block_bits = 256,
                     .level_buckets = {4, 2, 1},
                     .levels = 3,
                     .scheme = scheme_kind::multilevel,
                     .choices = 3,
                     .state = {.rule = lookup_rule::tracking, .threshold = 20, .tracking_bits = 5},
                     .overflow_slots = 40,
                     .overflow_reserve = 30};
  return parameters;
}

filter_parameters fingerprint_sample() {
  filter_parameters parameters{.counts = {.size = 90, .overflow = 2, .forced = 1, .dropped = 3},
                               .hash = file_hash::own,
                               .seed = 77};
  parameters.plan = {.kind = filter_kind::fingerprint,
                     .elements = 100,
                     .level_buckets = {4, 2},
                     .levels = 2,
                     .choices = 2,
                     .fingerprint_bucket = {.bucket_capacity = 34, .remainder_bits = 12},
                     .overflow_slots = 40,
                     .overflow_reserve = 30};
  return parameters;
}

/// A preamble that fits the section, but for what the section itself says.
preamble head_for(const filter_parameters& parameters, std::span<const std::byte> section) {
  return {.kind = static_cast<std::uint16_t>(parameters.plan.kind),
          .parameter_bytes = section.size(),
          .payload_bytes = parameters.plan.memory().total(),
          .parameter_checksum = checksum_of(section)};
}

loaded<filter_parameters> reread(const filter_parameters& parameters) {
  const raw section = encode(parameters);
  return decode_filter_parameters(section, head_for(parameters, section), "'x'");
}

/// The sentence that a changed section gets; empty if it is accepted.
std::string complaint(const filter_parameters& parameters, std::span<const std::byte> section) {
  const auto read = decode_filter_parameters(section, head_for(parameters, section), "'x'");
  if (read) return "";
  EXPECT_NE(read.failure().sentence.find(name_of(read.failure().error)), std::string::npos);
  return read.failure().sentence;
}

TEST(filter_parameters, of_a_standard_filter_come_back) {
  const filter_parameters wrote = standard_sample();
  const auto read = reread(wrote);
  ASSERT_TRUE(read) << read.failure().sentence;
  EXPECT_TRUE(same_shape(read->plan, wrote.plan));
  EXPECT_EQ(read->plan.elements, 100U);
  EXPECT_EQ(read->plan.predicted, wrote.plan.predicted);
  EXPECT_EQ(read->counts, wrote.counts);
  EXPECT_EQ(read->hash, file_hash::seeded);
  EXPECT_EQ(read->seed, 20081U);
}

TEST(filter_parameters, of_a_balanced_filter_come_back) {
  const filter_parameters wrote = balanced_sample();
  const auto read = reread(wrote);
  ASSERT_TRUE(read) << read.failure().sentence;
  EXPECT_TRUE(same_shape(read->plan, wrote.plan));
  EXPECT_EQ(read->counts, wrote.counts);
  EXPECT_EQ(read->hash, file_hash::own);
  EXPECT_EQ(read->seed, 77U);
}

TEST(filter_parameters, of_a_fingerprint_filter_come_back) {
  const filter_parameters wrote = fingerprint_sample();
  const auto read = reread(wrote);
  ASSERT_TRUE(read) << read.failure().sentence;
  EXPECT_TRUE(same_shape(read->plan, wrote.plan));
  EXPECT_EQ(read->plan.fingerprint_bucket, wrote.plan.fingerprint_bucket);
  EXPECT_EQ(read->counts, wrote.counts);
  filter_parameters other = wrote;
  other.plan.bits_set = 9;
  other.plan.state.threshold = 12;
  EXPECT_EQ(encode(other), encode(wrote));
  EXPECT_TRUE(same_shape(other.plan, wrote.plan));
}

TEST(filter_parameters, of_a_fingerprint_filter_that_no_bucket_fits_are_refused_by_name) {
  const auto refused = [](std::string_view name, auto apply) {
    filter_parameters changed = fingerprint_sample();
    apply(changed.plan);
    const std::string sentence = complaint(changed, encode(changed));
    EXPECT_NE(sentence.find(std::string(name) + " must be"), std::string::npos) << sentence;
  };
  refused("bucket_capacity", [](filter_plan& p) { p.fingerprint_bucket.bucket_capacity = 0; });
  refused("bucket_capacity", [](filter_plan& p) { p.fingerprint_bucket.bucket_capacity = 40; });
  refused("bucket_capacity",
          [](filter_plan& p) { p.fingerprint_bucket.bucket_capacity = 0xffff'ffff; });
  refused("remainder_bits", [](filter_plan& p) { p.fingerprint_bucket.remainder_bits = 3; });
  refused("remainder_bits",
          [](filter_plan& p) { p.fingerprint_bucket.remainder_bits = 0xffff'ffff; });
  refused("block_bits", [](filter_plan& p) { p.block_bits = 256; });
  refused("scheme", [](filter_plan& p) { p.scheme = scheme_kind::d_left; });
  refused("choices", [](filter_plan& p) { p.choices = 1; });
  refused("overflow_reserve", [](filter_plan& p) { p.overflow_reserve = 40; });
}

// What means nothing for a kind must not make two files of one filter, nor stop a merge.
TEST(filter_parameters, do_not_depend_on_fields_without_a_meaning) {
  filter_parameters other = standard_sample();
  other.plan.block_bits = 256;
  other.plan.level_buckets[3] = 5;
  other.plan.overflow_slots = 0;
  other.plan.choices = 4;
  other.plan.state.threshold = 9;
  EXPECT_EQ(encode(other), encode(standard_sample()));
  const auto read = reread(other);
  ASSERT_TRUE(read) << read.failure().sentence;
  EXPECT_EQ(read->plan.block_bits, filter_plan().block_bits);
  EXPECT_EQ(read->plan.state, filter_plan().state);
}

TEST(filter_parameters, with_any_byte_changed_are_found_by_the_checksum) {
  const filter_parameters wrote = balanced_sample();
  const raw whole = encode(wrote);
  const preamble head = head_for(wrote, whole);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    raw bytes = whole;
    bytes[at] ^= std::byte{0x40};
    const auto read = decode_filter_parameters(bytes, head, "'x'");
    ASSERT_FALSE(read) << at;
    EXPECT_EQ(read.failure().error, load_error::checksum_mismatch) << at;
  }
}

TEST(filter_parameters, have_zeros_where_nothing_is_said) {
  const raw whole = encode(standard_sample());
  // A reserved byte; block bits, levels, layout, scheme, rule, choices, threshold, tracking bits,
  // admit probability, level blocks, the padding.
  for (const std::size_t at :
       {51U, 40U, 44U, 48U, 49U, 50U, 52U, 56U, 60U, 64U, 72U, 135U, 224U, 228U, 232U, 255U}) {
    raw bytes = whole;
    bytes[at] = std::byte{1};
    EXPECT_NE(complaint(standard_sample(), bytes).find("is not 0"), std::string::npos) << at;
  }
}

TEST(filter_parameters, of_a_later_version_are_named_so) {
  raw bytes = encode(standard_sample());
  bytes[0] = std::byte{2};
  EXPECT_NE(complaint(standard_sample(), bytes).find("newer format"), std::string::npos);
  bytes[0] = std::byte{0};
  EXPECT_NE(complaint(standard_sample(), bytes).find("inconsistent"), std::string::npos);
}

TEST(filter_parameters, of_another_length_are_refused) {
  const raw whole = encode(standard_sample());
  std::vector<std::byte> bytes(whole.begin(), whole.end());
  bytes.resize(320);
  EXPECT_NE(complaint(standard_sample(), bytes).find("320 bytes"), std::string::npos);
  bytes.resize(192);
  EXPECT_NE(complaint(standard_sample(), bytes).find("192 bytes"), std::string::npos);
  bytes.resize(0);
  EXPECT_NE(complaint(standard_sample(), bytes).find("0 bytes"), std::string::npos);
}

TEST(filter_parameters, that_no_filter_can_have_are_refused_by_name) {
  constexpr std::uint64_t giant = std::numeric_limits<std::uint64_t>::max();
  using change = std::function<void(filter_parameters&)>;
  const std::vector<std::pair<std::string, change>> changes = {
      {"elements", [](auto& p) { p.plan.elements = 0; }},
      {"elements", [](auto& p) { p.plan.elements = giant; }},
      {"level_buckets", [](auto& p) { p.plan.level_buckets[1] = giant; }},
      {"level_buckets", [](auto& p) { p.plan.level_buckets[0] = std::uint64_t{1} << 63; }},
      {"levels", [](auto& p) { p.plan.levels = 9; }},
      {"levels", [](auto& p) { p.plan.levels = 0; }},
      {"bits_set", [](auto& p) { p.plan.bits_set = 33; }},
      {"block_bits", [](auto& p) { p.plan.block_bits = 1024; }},
      {"layout", [](auto& p) { p.plan.layout = static_cast<block_layout>(7); }},
      {"scheme", [](auto& p) { p.plan.scheme = static_cast<scheme_kind>(200); }},
      {"rule", [](auto& p) { p.plan.state.rule = static_cast<lookup_rule>(77); }},
      {"choices", [](auto& p) { p.plan.choices = 2; }},
      {"threshold", [](auto& p) { p.plan.state.threshold = 5000; }},
      {"admit_probability",
       [](auto& p) { p.plan.state.admit_probability = std::numeric_limits<double>::quiet_NaN(); }},
      {"tracking_bits", [](auto& p) { p.plan.state.tracking_bits = 60; }},
      {"overflow_slots", [](auto& p) { p.plan.overflow_slots = giant; }},
      {"overflow_reserve", [](auto& p) { p.plan.overflow_reserve = 40; }},
      {"prediction", [](auto& p) { p.plan.predicted.fpr = -1; }},
      {"overflow", [](auto& p) { p.counts.overflow = 31; }},
      {"hash", [](auto& p) { p.hash = static_cast<file_hash>(2); }},
  };
  for (const auto& [name, apply] : changes) {
    filter_parameters changed = balanced_sample();
    apply(changed);
    const std::string sentence = complaint(changed, encode(changed));
    EXPECT_NE(sentence.find("inconsistent parameters: "), std::string::npos) << name;
    EXPECT_NE(sentence.find(name + " must be"), std::string::npos) << name << ": " << sentence;
    EXPECT_EQ(sentence.find('\n'), std::string::npos);
  }
}

TEST(filter_parameters, count_only_what_a_kind_can_count) {
  for (const auto count :
       {&filter_counts::overflow, &filter_counts::forced, &filter_counts::dropped}) {
    filter_parameters changed = standard_sample();
    changed.counts.*count = 1;
    EXPECT_NE(complaint(changed, encode(changed)).find("inconsistent"), std::string::npos);
  }
}

TEST(filter_parameters, fit_the_payload) {
  const filter_parameters wrote = balanced_sample();
  const raw section = encode(wrote);
  preamble head = head_for(wrote, section);
  head.payload_bytes += 64;
  const auto read = decode_filter_parameters(section, head, "'x'");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.failure().error, load_error::inconsistent_parameters);
}

TEST(filter_parameters, of_no_filter_are_of_the_wrong_kind) {
  const filter_parameters wrote = standard_sample();
  const raw section = encode(wrote);
  preamble head = head_for(wrote, section);
  for (const unsigned kind : {0U, 7U, 64U, 256U + 1U, 65535U}) {
    head.kind = static_cast<std::uint16_t>(kind);
    const auto read = decode_filter_parameters(section, head, "'x'");
    ASSERT_FALSE(read) << kind;
    EXPECT_EQ(read.failure().error, load_error::wrong_kind) << kind;
  }
}

}  // namespace
