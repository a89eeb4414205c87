// The false positives of real filters against the models once more: larger filters, other seeds,
// and 10^8 questions to each plan at most.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "filter_agreement.hpp"
#include "filter_points.hpp"

namespace {

using namespace filters;

constexpr std::uint64_t elements = 400'000;
constexpr unsigned filters_of_each = 32;

void compare(const filter_plan& plan, std::uint64_t seed) {
  const double fpr = model_fpr(plan);
  constexpr double wanted = 2e4, most = 1e8;
  const auto queries =
      static_cast<std::uint64_t>(std::clamp(wanted / fpr, 1e6, most)) / filters_of_each;
  const observed seen = observe(plan, filters_of_each, queries, seed);
  expect_agreement(name_of_plan(plan), seen, fpr);
  expect_stated(name_of_plan(plan), seen, fpr, plan.kind == filter_kind::balanced ? 0.01 : 0.002);
}

void compare_plain(filter_kind kind, std::uint64_t seed,
                   block_layout layout = block_layout::independent) {
  for (const int bits : measured_bits) {
    compare(plain_plan(kind, elements, bits, 512, layout), seed);
    seed += filters_of_each;
  }
}

TEST(filter_error_long, of_the_standard_filter_is_as_predicted) {
  compare_plain(filter_kind::standard, 21'000);
}
TEST(filter_error_long, of_the_partitioned_filter_is_as_predicted) {
  compare_plain(filter_kind::partitioned, 22'000);
}
TEST(filter_error_long, of_the_counting_filter_is_as_predicted) {
  compare_plain(filter_kind::counting, 23'000);
}
TEST(filter_error_long, of_the_blocked_filter_is_as_predicted) {
  compare_plain(filter_kind::blocked, 24'000);
}
TEST(filter_error_long, of_the_blocked_filter_with_lanes_is_as_predicted) {
  compare_plain(filter_kind::blocked, 25'000, block_layout::lanes);
}
TEST(filter_error_long, of_the_balanced_filter_is_as_predicted) {
  std::uint64_t seed = 26'000;
  for (const int bits : measured_bits) {
    compare(
        planned({.elements = elements, .bits_per_element = bits, .kind = filter_kind::balanced}),
        seed);
    seed += filters_of_each;
  }
}

}  // namespace
