// The first placements of each scheme, pinned. Files and tables that were built by one version are
// read by the next: if this test goes red, where elements are looked for has changed, and every
// stored table and filter with it. Do not renew the file without a new format version.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include "oneprobe/detail/placement/load_counters.hpp"
#include "stream.hpp"
#include "support/tests_dir.hpp"

using namespace oneprobe;

namespace {

constexpr std::uint64_t keys = 100'000;
constexpr std::uint64_t shown = 24;

/// Mixes everything about all placements into one number.
std::uint64_t digest(const std::vector<placed_element>& placements) {
  std::uint64_t sum = 0;
  for (const placed_element& each : placements) {
    sum = mix_bits(sum + each.bucket + golden_ratio_64);
    sum = mix_bits(sum + (std::uint64_t{each.level} << 32) + each.accesses);
    sum = mix_bits(sum + (each.end == walk_end::placed ? 1 : 2));
  }
  return sum;
}

std::string first_placements() {
  std::ostringstream text;
  text << "# scheme, rule: bucket/level/accesses (x: overflow) of " << shown / 2
       << " keys from 0 and from " << 12'000 + shown / 2 << " on, "
       << "digest of " << keys << "\n";
  with_parity_schemes([&](const char* name, const auto& scheme) {
    for (const auto& [rule_name, rule] : parity_rules()) {
      load_counters<std::uint8_t> counters(scheme.buckets());
      const auto placements =
          place_stream(scheme, counters, rule, keys, driver::one_by_one,
                       [](std::uint64_t) { return load_counters<std::uint8_t>::item{}; });
      text << name << ", " << rule_name << ":";
      // From the middle of the stream, where buckets are full and choices matter.
      for (std::uint64_t i = 0; i < shown; ++i) {
        const placed_element& each = placements[i < shown / 2 ? i : 12'000 + i];
        text << ' ' << each.bucket << '/' << each.level << '/' << each.accesses
             << (each.end == walk_end::placed ? "" : "x");
      }
      text << " digest " << std::hex << digest(placements) << std::dec << "\n";
    }
  });
  return text.str();
}

TEST(golden, placements_are_those_of_every_version_before) {
  const std::string path = tests_dir() + "/golden/first_placements.txt";
  if (std::getenv("ONEPROBE_WRITE_GOLDEN") != nullptr) std::ofstream(path) << first_placements();
  std::ifstream file(path);
  std::ostringstream expected;
  expected << file.rdbuf();
  ASSERT_FALSE(expected.str().empty()) << "no file " << path;
  EXPECT_EQ(first_placements(), expected.str());
}

}  // namespace
