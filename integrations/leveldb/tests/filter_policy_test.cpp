#include <gtest/gtest.h>
#include <leveldb/filter_policy.h>
#include <unistd.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <oneprobe_leveldb/filter_policy.hpp>
#include <oneprobe_leveldb/small_pocket.hpp>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "../counted_database.hpp"

namespace {

using namespace oneprobe::leveldb_integration;
using policy_pointer = std::unique_ptr<const leveldb::FilterPolicy>;

std::filesystem::path new_folder(const char* name) {
  const auto folder = std::filesystem::temp_directory_path() /
                      ("oneprobe_leveldb_" + std::to_string(getpid()) + "_" + name);
  std::filesystem::remove_all(folder);
  return folder;
}

std::string filter_of(const leveldb::FilterPolicy& policy, const std::vector<std::string>& keys) {
  const std::vector<leveldb::Slice> slices(keys.begin(), keys.end());
  std::string filter;
  policy.CreateFilter(slices.data(), static_cast<int>(slices.size()), &filter);
  return filter;
}

TEST(filter_policy, appends_and_counts_a_key_of_several_versions_once) {
  const policy_pointer policy = make_filter_policy(16);
  const std::string once = filter_of(*policy, {"a", "b", ""});
  EXPECT_EQ(once, filter_of(*policy, {"", "b", "a", "b", "b"}));
  EXPECT_EQ(once.size(), 1u + 3 * 2);
  std::string longer = "before";
  const leveldb::Slice key("a");
  policy->CreateFilter(&key, 1, &longer);
  EXPECT_EQ(longer.substr(0, 6), "before");
  EXPECT_TRUE(policy->KeyMayMatch("a", leveldb::Slice(longer.data() + 6, longer.size() - 6)));
}

// Goes red if keys come to be hashed differently: then the policy needs another name.
TEST(filter_policy, makes_these_bytes_of_these_keys) {
  const policy_pointer policy = make_filter_policy(10);
  EXPECT_STREQ(policy->Name(), "oneprobe.small_pocket.1");
  std::string text;
  for (const char byte : filter_of(*policy, {"one", "two", "three", "four"})) {
    char pair[3];
    std::snprintf(pair, sizeof pair, "%02x", static_cast<unsigned char>(byte));
    text += pair;
  }
  EXPECT_EQ(text, "281485c0f4f4");
}

TEST(filter_policy, answers_whatever_the_bytes_are) {
  const policy_pointer policy = make_filter_policy(16);
  std::mt19937_64 random(5);
  unsigned matched = 0;
  for (int i = 0; i < 200'000; ++i) {
    // Memory of exactly this size, so that a sanitizer or the allocator sees what is read beyond.
    std::vector<char> bytes(random() % 80);
    for (char& byte : bytes) byte = static_cast<char>(random());
    matched += policy->KeyMayMatch("a key", leveldb::Slice(bytes.data(), bytes.size())) ? 1u : 0u;
  }
  // Of random bytes hardly any are a filter.
  EXPECT_GT(matched, 195'000u);
}

TEST(filter_policy, refuses_bits_per_key_out_of_range) {
  EXPECT_THROW(static_cast<void>(make_filter_policy(7)), std::invalid_argument);
  EXPECT_THROW(static_cast<void>(make_filter_policy(41)), std::invalid_argument);
}

TEST(filter_policy, reads_a_third_of_the_blocks_in_vain_that_the_built_in_one_does) {
  constexpr database_shape shape{.records = 30'000};
  constexpr std::uint64_t gets = 400'000;
  const policy_pointer ours = make_filter_policy(16);
  const policy_pointer built_in(leveldb::NewBloomFilterPolicy(16));

  counted_database with_ours(new_folder("ours"), ours.get(), shape);
  for (std::uint64_t i = 0; i < shape.records; ++i) ASSERT_TRUE(with_ours.holds(i)) << i;
  const absent_gets our_gets = with_ours.ask_absent(gets);

  counted_database with_built_in(new_folder("built_in"), built_in.get(), shape);
  const absent_gets built_in_gets = with_built_in.ask_absent(gets);

  EXPECT_LE(3 * our_gets.wasted_reads, built_in_gets.wasted_reads);
  // The model is the same for all blocks: 16 bits leave f = 13 and Q = 2 n, whatever n is.
  const double expected = static_cast<double>(gets) * pocket_shape_of(34, pocket_budget(16)).fpr();
  EXPECT_NEAR(static_cast<double>(our_gets.wasted_reads), expected, 5 * std::sqrt(expected));
  EXPECT_LE(with_ours.table_bytes(), with_built_in.table_bytes());

  // Without a filter every get reads a block; what one policy wrote the other does not ask.
  with_built_in.reopen(ours.get());
  EXPECT_EQ(with_built_in.ask_absent(1000).wasted_reads, 1000u);
  // Filters of other bits per key are read.
  const policy_pointer other_bits = make_filter_policy(20);
  with_ours.reopen(other_bits.get());
  EXPECT_LT(with_ours.ask_absent(1000).wasted_reads, 10u);
  for (std::uint64_t i = 0; i < shape.records; i += 7) ASSERT_TRUE(with_ours.holds(i)) << i;
}

}  // namespace
