// A hundred million operations against a std::unordered_map, call by call.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "oneprobe/table/bounded_map.hpp"
#include "unit/table/operations.hpp"

using namespace oneprobe;

namespace {

using number = std::uint64_t;

/// Fills to a share of the planned elements and works there: below it every key that is inserted
/// stays, above it the table is full.
template <class Map, class KeyOf>
void work_at(double share, std::uint64_t elements, std::uint64_t operations, KeyOf key_of) {
  checked_map<Map> checked(Map(elements, seeded_hash(elements)));
  // Of the keys that are drawn from, six in ten are there in the long run: inserted by six of
  // sixteen operations, erased by four.
  const auto keys = static_cast<std::uint64_t>(share * static_cast<double>(elements) / 0.6);
  random_operations(checked, operations, keys, elements, key_of);
  if (share > 2) {
    EXPECT_GT(checked.refused(), operations / 100);
  }
  if (share <= 1) {
    EXPECT_EQ(checked.refused(), 0u);
  }
}

TEST(bounded_map_at_length, agrees_with_its_twin) {
  const auto itself = [](std::uint64_t i) { return i * 0x9e37'79b9; };
  using map = bounded_map<number, number>;
  for (const std::uint64_t elements : {1'000u, 10'000u, 100'000u, 1'000'000u}) {
    SCOPED_TRACE(elements);
    work_at<map>(0.5, elements, 5'000'000, itself);
    work_at<map>(1.0, elements, 12'000'000, itself);
    work_at<map>(3.0, elements, 5'000'000, itself);
  }
}

TEST(bounded_map_at_length, agrees_with_its_twin_on_text) {
  const auto text = [](std::uint64_t i) { return "the key with number " + std::to_string(i); };
  using map = bounded_map<std::string, std::string>;
  work_at<map>(1.0, 1'000, 4'000'000, text);
  work_at<map>(1.0, 100'000, 4'000'000, text);
  work_at<map>(3.0, 10'000, 4'000'000, text);
}

}  // namespace
