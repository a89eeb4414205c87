// Levels in which an element has another name.
#include "oneprobe/detail/filter/fingerprint_levels.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/detail/placement/walk.hpp"

namespace {

using namespace oneprobe;

constexpr std::uint64_t fingerprints = 1000;
fingerprint_levels three_levels() {
  static constexpr std::array<std::uint64_t, 3> sizes{50, 8, 2};
  return {sizes, fingerprints};
}
key_hash hash_of(std::uint64_t i) { return key_hash{mix_bits(i)}; }

TEST(fingerprint_levels, keep_each_candidate_in_its_level) {
  const fingerprint_levels scheme = three_levels();
  EXPECT_EQ(scheme.choices(), 3u);
  EXPECT_EQ(scheme.buckets(), 60u);
  for (std::uint64_t i = 0; i < 2000; ++i) {
    fingerprint_probe element = scheme.start(hash_of(i));
    position at = scheme.first(element);
    EXPECT_LT(at.bucket, 50u);
    EXPECT_LT(element.fingerprint, fingerprints);
    EXPECT_EQ(scheme.next(element, at).level, 1u);
    scheme.go_on(element, at);
    EXPECT_EQ(at.level, 1u);
    EXPECT_GE(at.bucket, 50u);
    EXPECT_LT(at.bucket, 58u);
    EXPECT_LT(element.fingerprint, fingerprints);
    scheme.go_on(element, at);
    EXPECT_GE(at.bucket, 58u);
    EXPECT_LT(at.bucket, 60u);
    EXPECT_EQ(element.bucket, at.bucket);
  }
}

TEST(fingerprint_levels, follow_from_bucket_and_fingerprint_alone) {
  const fingerprint_levels scheme = three_levels();
  std::vector<std::vector<std::pair<fingerprint_probe, key_hash>>> seen(50 * fingerprints);
  int shared = 0;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const fingerprint_probe element = scheme.start(hash_of(i));
    auto& others = seen[element.bucket * fingerprints + element.fingerprint];
    for (const auto& [other, hash] : others) {
      ++shared;
      EXPECT_EQ(scheme.next(element, {element.bucket, 0}), scheme.next(other, {other.bucket, 0}));
    }
    others.push_back({element, hash_of(i)});
  }
  EXPECT_GT(shared, 1000);  // 20,000 elements in 50,000 places
}

/// Chi-squared with so many classes, beyond which one of a thousand lies (Wilson and Hilferty).
double rare_chi_squared(double classes) {
  const double n = classes - 1, z = 3.09;
  return n * std::pow(1 - 2 / (9 * n) + z * std::sqrt(2 / (9 * n)), 3);
}

TEST(fingerprint_levels, spread_the_largest_of_a_level_evenly_over_the_next) {
  const fingerprint_levels scheme = three_levels();
  std::array<double, 8 * 10> counts{};
  for (std::uint64_t bucket = 0; bucket < 50; ++bucket)
    for (std::uint64_t largest = fingerprints * 9 / 10; largest < fingerprints; ++largest) {
      fingerprint_probe element{.fingerprint = largest, .bucket = bucket};
      position at = scheme.first(element);
      scheme.go_on(element, at);
      ++counts[(at.bucket - 50) * 10 + element.fingerprint / 100];
    }
  const double expected = 50 * 100 / static_cast<double>(counts.size());
  double chi = 0;
  for (const double count : counts) chi += (count - expected) * (count - expected) / expected;
  EXPECT_LT(chi, rare_chi_squared(static_cast<double>(counts.size())));
}

TEST(fingerprint_levels, are_candidates_in_the_walks_too) {
  const fingerprint_levels scheme = three_levels();
  fingerprint_probe element = scheme.start(hash_of(5));
  position at = scheme.first(element);
  std::vector<position> visited;
  for_each_candidate(scheme, element, [&](position candidate) { visited.push_back(candidate); });
  ASSERT_EQ(visited.size(), 3u);
  for (const position candidate : visited) {
    EXPECT_EQ(candidate, at);
    if (at.level < 2) scheme.go_on(element, at);
  }
}

TEST(fingerprint_levels, leave_different_things_of_different_elements) {
  const fingerprint_levels scheme = three_levels();
  std::set<std::uint64_t> left;
  for (std::uint64_t bucket = 0; bucket < 60; ++bucket)
    for (std::uint64_t fingerprint = 0; fingerprint < fingerprints; fingerprint += 9)
      left.insert(
          scheme.left_of({.fingerprint = fingerprint, .bucket = bucket}, {bucket, 0}).value);
  EXPECT_EQ(left.size(), 60u * 112u);
}

}  // namespace
