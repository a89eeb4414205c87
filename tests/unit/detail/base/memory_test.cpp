// What the system gives for each option of memory.
#include "oneprobe/memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "oneprobe/map/bounded_map.hpp"
#include "oneprobe/map/default_plan.hpp"

using namespace oneprobe;

namespace {

constexpr std::uint64_t large = 8 * huge_page_bytes + 64;

/// The part of the pages that are there.
double resident_fraction(std::span<const std::byte> memory) {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> there((memory.size() + page - 1) / page);
  if (::mincore(const_cast<std::byte*>(memory.data()), memory.size(), there.data()) != 0) return -1;
  const auto count = std::ranges::count_if(there, [](unsigned char one) { return one & 1; });
  return static_cast<double>(count) / static_cast<double>(there.size());
}

/// What the kernel notes about the mapping that an address is in: "rd wr ... hg".
std::string kernel_flags(const std::byte* address) {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    char dash = 0;
    if (words >> std::hex >> begin >> dash >> end && dash == '-')
      inside = begin <= wanted && wanted < end;
    else if (inside && line.starts_with("VmFlags:"))
      return line.substr(8) + " ";
  }
  return "";
}

TEST(line_memory, is_touched_at_once_if_asked) {
  EXPECT_LT(resident_fraction(line_memory(large).bytes()), 0.5);
  for (const page_kind pages : {page_kind::huge, page_kind::ordinary}) {
    const line_memory memory(large, {.pages = pages, .touch = page_touch::at_once});
    EXPECT_EQ(resident_fraction(memory.bytes()), 1);
    EXPECT_TRUE(std::ranges::all_of(memory.bytes(), [](std::byte b) { return b == std::byte{0}; }));
  }
}

TEST(line_memory, has_huge_pages_unless_told_otherwise) {
  const line_memory huge(large);
  if (kernel_flags(huge.data()).find(" hg ") == std::string::npos &&
      !std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled"))
    GTEST_SKIP() << "no huge pages here";
  EXPECT_NE(kernel_flags(huge.data()).find(" hg "), std::string::npos);
  const line_memory ordinary(large, {.pages = page_kind::ordinary});
  EXPECT_EQ(kernel_flags(ordinary.data()).find(" hg "), std::string::npos);
  EXPECT_NE(kernel_flags(ordinary.data()).find(" nh "), std::string::npos);
}

TEST(line_memory, that_is_small_takes_any_options) {
  for (const std::uint64_t bytes : {0u, 64u, 100'000u}) {
    const line_memory memory(bytes, {.pages = page_kind::ordinary, .touch = page_touch::at_once});
    EXPECT_EQ(memory.size(), bytes);
  }
}

TEST(line_memory, is_given_to_a_table_as_asked) {
  using map = bounded_map<std::uint64_t, std::uint64_t>;
  const table_plan plan = default_table_plan(500'000);
  map now(plan, {.touch = page_touch::at_once}, seeded_hash(1));
  EXPECT_EQ(resident_fraction(now.memory()), 1);
  EXPECT_LT(resident_fraction(map(plan, seeded_hash(1)).memory()), 0.5);
  now.insert(1, 2);
  EXPECT_TRUE(now.contains(1));
}

}  // namespace
