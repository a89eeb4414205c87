// A hundred million operations against a std::unordered_map, call by call.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "oneprobe/map/bounded_map.hpp"
#include "unit/map/operations.hpp"

using namespace oneprobe;

namespace {

using number = std::uint64_t;

/// Operations, by the state that the tables were in after them.
struct tally {
  std::uint64_t all = 0;
  std::uint64_t at_rated_load = 0;  // 0.98 of the planned elements there, or more
  std::uint64_t after_full = 0;     // since it said full, more than the planned elements there

  void expect_mostly_loaded() const {
    EXPECT_GE(at_rated_load, all / 3);
    EXPECT_GE(after_full, all / 10);
  }
};

/// Fills to a share of the planned elements and works there: up to 1 every key that is inserted
/// stays, with 3 the table is full.
template <class Map, class KeyOf>
void work_at(double share, std::uint64_t elements, std::uint64_t operations, KeyOf key_of,
             tally& count) {
  checked_map<Map> checked(Map(elements, seeded_hash(elements)));
  const auto most = static_cast<std::uint64_t>(share * static_cast<double>(elements));
  const workload work{
      .operations = operations, .keys = 2 * most, .seed = elements, .most_elements = most};
  std::uint64_t refused_before = 0;
  bool was_full = false;
  random_operations(checked, work, key_of, [&] {
    const std::uint64_t refused = checked.refused();
    was_full = (was_full || refused > refused_before) && checked.size() > elements;
    refused_before = refused;
    ++count.all;
    count.at_rated_load += 100 * checked.size() >= 98 * elements ? 1u : 0u;
    count.after_full += was_full ? 1u : 0u;
  });
  if (share > 2) {
    EXPECT_GT(checked.refused(), operations / 100);
    EXPECT_GT(checked.gave_way(), operations / 1000);
  }
  if (share <= 1) {
    EXPECT_EQ(checked.refused(), 0u);
  }
  Map larger(2 * elements, seeded_hash(elements + 1));
  checked.copy_into(larger);
}

TEST(bounded_map_at_length, agrees_with_its_twin) {
  const auto itself = [](std::uint64_t i) { return i * 0x9e37'79b9; };
  using map = bounded_map<number, number>;
  tally count;
  for (const std::uint64_t elements : {1'000u, 10'000u, 100'000u, 1'000'000u}) {
    SCOPED_TRACE(elements);
    work_at<map>(0.5, elements, 5'000'000, itself, count);
    work_at<map>(1.0, elements, 12'000'000, itself, count);
    work_at<map>(3.0, elements, 5'000'000, itself, count);
  }
  count.expect_mostly_loaded();
}

TEST(bounded_map_at_length, agrees_with_its_twin_on_text) {
  const auto text = [](std::uint64_t i) { return "the key with number " + std::to_string(i); };
  using map = bounded_map<std::string, std::string>;
  tally count;
  work_at<map>(1.0, 1'000, 4'000'000, text, count);
  work_at<map>(1.0, 100'000, 4'000'000, text, count);
  work_at<map>(3.0, 10'000, 4'000'000, text, count);
  count.expect_mostly_loaded();
}

}  // namespace
