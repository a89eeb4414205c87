// Small page stores for tests: records of 8 + 8 bytes, and what is in them.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/temporary_folder.hpp"
#include "oneprobe/page_store/builder.hpp"
#include "oneprobe/page_store/page_store.hpp"

namespace store_files {

using number_bytes = std::array<std::byte, 8>;
using contents = std::map<std::uint64_t, std::uint64_t>;

inline number_bytes bytes_of_number(std::uint64_t number) {
  number_bytes bytes;
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}
inline std::uint64_t number_of(std::span<const std::byte> bytes) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof number);
  return number;
}

/// A store that overflows, misleads and runs out of log soon.
inline oneprobe::page_store_plan crowded_plan() {
  oneprobe::page_store_plan plan = oneprobe::default_page_store_plan(100, 8, 8, 512);
  plan.level_pages = {2, 1, 1, 1};
  plan.overflow_pages = 1;
  plan.summary = oneprobe::plan_interpolation(100, 4, 5);
  plan.log_bytes = 8192;
  return plan;
}

/// The file of an empty store.
inline std::vector<std::byte> empty_store(const oneprobe::page_store_plan& plan,
                                          std::uint64_t seed = 1) {
  const temporary_folder folder;
  const std::string path = folder.file("empty.store");
  auto builder = oneprobe::page_store_builder::create(path, plan, seed);
  EXPECT_TRUE(builder) << builder.failure().sentence;
  const auto failure = builder->finish();
  EXPECT_FALSE(failure) << failure->sentence;
  return bytes_of_file(path);
}

inline oneprobe::put_outcome put(oneprobe::page_store& store, std::uint64_t key,
                                 std::uint64_t value,
                                 oneprobe::acknowledge when = oneprobe::acknowledge::at_once) {
  return store.put(bytes_of_number(key), bytes_of_number(value), when);
}
inline oneprobe::removal erase(oneprobe::page_store& store, std::uint64_t key,
                               oneprobe::acknowledge when = oneprobe::acknowledge::at_once) {
  return store.erase(bytes_of_number(key), when);
}
inline std::optional<std::uint64_t> get(const oneprobe::page_store& store, std::uint64_t key) {
  number_bytes value{};
  if (store.get(bytes_of_number(key), value) != oneprobe::get_outcome::found) return std::nullopt;
  return number_of(value);
}
/// All records, each once.
inline contents contents_of(const oneprobe::page_store& store) {
  contents all;
  const auto failure =
      store.for_each([&](std::span<const std::byte> key, std::span<const std::byte> value) {
        EXPECT_TRUE(all.emplace(number_of(key), number_of(value)).second)
            << number_of(key) << " is there twice";
      });
  EXPECT_FALSE(failure) << failure->sentence;
  EXPECT_EQ(all.size(), store.size());
  return all;
}

}  // namespace store_files
