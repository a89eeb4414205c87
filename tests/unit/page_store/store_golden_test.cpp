// Files of format version 1, which every later version must read.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/tests_dir.hpp"
#include "unit/page_store/failing_file.hpp"
#include "unit/page_store/store_files.hpp"

using namespace oneprobe;
using namespace store_files;

namespace {

const std::string golden_folder = tests_dir() + "/golden/stores/";

page_store opened(const std::string& name) {
  auto store = page_store::open(std::make_unique<failing::file>(std::make_shared<failing::disk>(
                                    bytes_of_file(golden_folder + name))),
                                file_access::update);
  EXPECT_TRUE(store) << store.failure().sentence;
  return std::move(store).value();
}

}  // namespace

TEST(page_store_golden, a_built_store_has_these_bytes) {
  const temporary_folder folder;
  const std::string path = folder.file("built.store");
  auto builder = page_store_builder::create(path, crowded_plan(), 2005);
  ASSERT_TRUE(builder) << builder.failure().sentence;
  for (std::uint64_t key = 0; key < 60; ++key)
    builder->put(bytes_of_number(key), bytes_of_number(key * key));
  ASSERT_FALSE(builder->finish());
  // Red: the format, the hash or where records go has changed. Old files must still be read.
  EXPECT_EQ(bytes_of_file(path), bytes_of_file(golden_folder + "built.store"));
}

TEST(page_store_golden, a_built_store_is_read) {
  const page_store store = opened("built.store");
  contents expected;
  for (std::uint64_t key = 0; key < 60; ++key) expected[key] = key * key;
  EXPECT_EQ(contents_of(store), expected);
  EXPECT_EQ(store.stats().recovery, store_recovery::snapshot);
  EXPECT_EQ(store.verify(), std::nullopt);
}

/// The same, after key 1 was erased, key 2 became 5 and key 100 came, by a writer that was killed.
TEST(page_store_golden, a_log_is_read) {
  page_store store = opened("logged.store");
  contents expected;
  for (std::uint64_t key = 0; key < 60; ++key) expected[key] = key * key;
  expected.erase(1);
  expected[2] = 5;
  expected[100] = 7;
  EXPECT_EQ(contents_of(store), expected);
  EXPECT_EQ(store.stats().replayed, 4u);  // and the session
  EXPECT_EQ(store.verify(), std::nullopt);
  EXPECT_EQ(put(store, 101, 8), put_outcome::inserted);
}
