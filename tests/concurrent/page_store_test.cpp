// Lookups of a page store by several threads together.
#include "oneprobe/page_store/page_store.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "formats/temporary_folder.hpp"
#include "oneprobe/page_store/builder.hpp"

using namespace oneprobe;

namespace {

using number_bytes = std::array<std::byte, 8>;

number_bytes bytes_of_number(std::uint64_t number) {
  number_bytes bytes;
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

}  // namespace

TEST(page_store, is_read_by_threads_together) {
  const temporary_folder folder;
  const std::string path = folder.file("numbers.store");
  constexpr std::uint64_t elements = 5000;
  {
    auto builder = page_store_builder::create(path, default_page_store_plan(elements, 8, 8), 1);
    ASSERT_TRUE(builder) << builder.failure().sentence;
    for (std::uint64_t i = 0; i < elements; ++i)
      builder->put(bytes_of_number(mix_bits(i)), bytes_of_number(i));
    ASSERT_FALSE(builder->finish());
  }
  for (const page_reading reading : {page_reading::cached, page_reading::mapped}) {
    const auto store = page_store::open(path, {.reading = reading});
    ASSERT_TRUE(store) << store.failure().sentence;
    std::atomic<std::uint64_t> wrong = 0;
    std::atomic<std::uint64_t> reads = 0;
    std::vector<std::thread> readers;
    for (int thread = 0; thread < 4; ++thread)
      readers.emplace_back([&] {
        for (std::uint64_t i = 0; i < 2 * elements; ++i) {
          number_bytes value{};
          const get_outcome outcome = store->get(bytes_of_number(mix_bits(i)), value);
          const bool right = i < elements
                                 ? outcome == get_outcome::found && value == bytes_of_number(i)
                                 : outcome == get_outcome::absent;
          wrong += right ? 0u : 1u;
          reads += store->explain(bytes_of_number(mix_bits(i))).page_reads;
        }
      });
    for (std::thread& each : readers) each.join();
    EXPECT_EQ(wrong, 0u);
    // Each lookup once by get() and once by explain().
    EXPECT_EQ(store->page_reads(), 2 * reads);
  }
}
