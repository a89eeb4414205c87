#include "oneprobe/filter/blocked.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <vector>

#include "oneprobe/filter/concurrent.hpp"
#include "oneprobe/model/bloom.hpp"
#include "unit/filter/baseline_checks.hpp"
#include "unit/filter/vast_memory.hpp"

namespace oneprobe {
namespace {

using namespace testing;
using enum block_layout;

struct shape {
  std::uint32_t block_bits;
  block_layout layout;
  std::uint32_t bits_set;
};
constexpr shape shapes[] = {{512, independent, 1},  {512, independent, 8}, {512, independent, 11},
                            {512, independent, 32}, {256, independent, 6}, {256, independent, 17},
                            {512, lanes, 8},        {512, lanes, 16},      {256, lanes, 4},
                            {256, lanes, 8}};

filter_plan plan_of(const shape& s, std::uint64_t blocks) {
  return {.kind = filter_kind::blocked,
          .elements = 1000,
          .bits_set = s.bits_set,
          .block_bits = s.block_bits,
          .layout = s.layout,
          .level_buckets = {blocks}};
}

/// Every level that the processor has; the limit is lifted in the end.
class blocked_filter_at : public ::testing::TestWithParam<isa> {
 protected:
  void SetUp() override {
    if (GetParam() > simd_supported())
      GTEST_SKIP() << "this processor has no " << name_of(GetParam());
    limit_simd(GetParam());
  }
  void TearDown() override { limit_simd(most_simd); }
};
INSTANTIATE_TEST_SUITE_P(levels, blocked_filter_at,
                         ::testing::Values(isa::plain, isa::avx2, isa::avx512),
                         [](const auto& level) { return std::string(name_of(level.param)); });

TEST_P(blocked_filter_at, bulk_calls_do_what_single_calls_do) {
  for (const shape& s : shapes)
    expect_bulk_calls_do_what_single_calls_do<blocked_filter>(plan_of(s, 201));
}

TEST_P(blocked_filter_at, concurrent_bulk_calls_do_what_single_calls_do) {
  for (const shape& s : shapes)
    expect_bulk_calls_do_what_single_calls_do<concurrent_blocked_filter>(plan_of(s, 201));
}

/// Where an element's bits are, from the functions that the header names.
std::set<std::uint64_t> bits_of(const filter_plan& plan, key_hash hash) {
  std::set<std::uint64_t> bits;
  const std::uint64_t block = reduce(hash.value, plan.blocks());
  const block_shape in_block{plan.bits_set, plan.block_bits};
  const std::uint64_t pattern = pattern_bits(hash);
  for (unsigned j = 0; j < plan.bits_set; ++j) {
    const auto position =
        plan.block_bits == 512
            ? (plan.layout == lanes ? bit_position<512, lanes>(pattern, j, in_block)
                                    : bit_position<512, independent>(pattern, j, in_block))
            : (plan.layout == lanes ? bit_position<256, lanes>(pattern, j, in_block)
                                    : bit_position<256, independent>(pattern, j, in_block));
    bits.insert(block * plan.block_bits + position);
  }
  return bits;
}
bool bit_of(std::span<const std::byte> memory, std::uint64_t bit) {
  return (std::to_integer<unsigned>(memory[bit / 8]) >> (bit % 8) & 1) != 0;
}

TEST_P(blocked_filter_at, bits_lie_in_the_block_of_the_hash_where_the_pattern_says) {
  for (const shape& s : shapes) {
    const filter_plan plan = plan_of(s, 77);
    blocked_filter filter(plan, seeded_hash(1));
    const key_hash hash = seeded_hash(1)(std::uint64_t{42});
    filter.insert(hash);
    const std::set<std::uint64_t> wanted = bits_of(plan, hash);
    for (std::uint64_t i = 0; i < filter.memory().size() * 8; ++i)
      ASSERT_EQ(bit_of(filter.memory(), i), wanted.contains(i)) << "bit " << i;
  }
}

TEST_P(blocked_filter_at, the_stated_error_is_the_mean_of_the_blocks_errors) {
  for (const shape& s : shapes) {
    const filter_plan plan = plan_of(s, 51);  // for 256 bits, half of the last line is not a block
    const blocked_filter filter = filled<blocked_filter>(plan, 1, 1000);
    const std::uint32_t lane = s.layout == lanes ? s.block_bits / s.bits_set : s.block_bits;
    double expected = 0, all_ones = 0;
    for (std::uint64_t block = 0; block < 51; ++block) {
      double error = 1;
      for (std::uint32_t first = 0; first < s.block_bits; first += lane) {
        double ones = 0;
        for (std::uint32_t i = 0; i < lane; ++i)
          ones += bit_of(filter.memory(), block * s.block_bits + first + i) ? 1 : 0;
        error *= s.layout == lanes ? ones / lane : std::pow(ones / lane, s.bits_set);
        all_ones += ones;
      }
      expected += error / 51;
    }
    EXPECT_NEAR(filter.stats().current_fpr, expected, 1e-9 * expected);
    EXPECT_NEAR(filter.stats().fill_fraction, all_ones / (51.0 * s.block_bits), 1e-12);
  }
}

TEST(blocked_filter, levels_leave_the_same_bytes) {
  for (const shape& s : shapes) {
    limit_simd(isa::plain);
    const blocked_filter plain = filled<blocked_filter>(plan_of(s, 301), 1, 5000);
    const concurrent_blocked_filter concurrent =
        filled<concurrent_blocked_filter>(plan_of(s, 301), 1, 5000);
    for (const isa level : {isa::avx2, isa::avx512}) {
      limit_simd(level);
      expect_same_bytes(plain, filled<blocked_filter>(plan_of(s, 301), 1, 5000));
    }
    EXPECT_TRUE(std::ranges::equal(plain.memory(), concurrent.memory()));
    EXPECT_EQ(plain.counts(), concurrent.counts());
    EXPECT_EQ(plain.stats().current_fpr, concurrent.stats().current_fpr);
  }
}

TEST(blocked_filter, errs_as_often_as_it_says) {
  for (const std::uint64_t seed : filter_seeds)
    for (const shape& s : shapes)
      expect_measured_error_as_stated(
          filled<blocked_filter>(plan_of(s, 160'000 / s.block_bits), seed, 10'000), 100'000);
}

TEST(blocked_filter, its_error_is_the_models) {
  // The stated error is a mean over blocks; its standard deviation follows from that of the blocks,
  // and that from the errors of blocks by load. 25 comparisons at 4.5 sigma.
  constexpr double tolerance = 4.5;
  constexpr std::uint64_t blocks = 4096;
  for (const shape& s : {shape{512, independent, 6}, shape{512, independent, 11},
                         shape{256, independent, 6}, shape{512, lanes, 8}, shape{256, lanes, 8}}) {
    const std::uint64_t elements = blocks * s.block_bits / 12;  // 12 bits per element
    const double mean_load = static_cast<double>(elements) / static_cast<double>(blocks);
    const double expected =
        model::blocked_error_finite(elements, blocks, s.block_bits, s.bits_set, s.layout);
    double second_moment = 0, weight = std::exp(-mean_load);
    const std::vector<double> errors =
        model::block_errors(s.block_bits, s.bits_set, 4 * s.block_bits / 12, s.layout);
    for (std::size_t load = 0; load < errors.size(); ++load) {
      second_moment += weight * errors[load] * errors[load];
      weight *= mean_load / static_cast<double>(load + 1);
    }
    const double sigma = std::sqrt((second_moment - expected * expected) / blocks);
    for (const std::uint64_t seed : filter_seeds) {
      const blocked_filter filter = filled<blocked_filter>(plan_of(s, blocks), seed, elements);
      EXPECT_NEAR(filter.stats().current_fpr, expected, tolerance * sigma)
          << s.block_bits << ", k = " << s.bits_set;
    }
  }
}

TEST(blocked_filter, explains_a_query_by_its_one_line) {
  blocked_filter filter(plan_of({512, independent, 8}, 100), seeded_hash(1));
  EXPECT_EQ(filter.explain(std::uint64_t{1}),
            (lookup_path{.stopped = lookup_path::stop::ruled_out, .accesses = 1, .lines = 1}));
  filter.insert(std::uint64_t{1});
  EXPECT_EQ(filter.explain(std::uint64_t{1}),
            (lookup_path{.stopped = lookup_path::stop::matched, .accesses = 1, .lines = 1}));
}

TEST(blocked_filter, merging_unites) {
  expect_merge_unites<blocked_filter>(plan_of({512, independent, 7}, 150));
  expect_merge_unites<blocked_filter>(plan_of({512, lanes, 8}, 150));
  expect_merge_unites<concurrent_blocked_filter>(plan_of({512, independent, 7}, 150));
}
TEST(blocked_filter, is_a_value) {
  expect_value_semantics<blocked_filter>(plan_of({256, independent, 7}, 150));
  expect_value_semantics<concurrent_blocked_filter>(plan_of({512, lanes, 8}, 150));
}
TEST(blocked_filter, works_in_lent_memory) {
  expect_to_work_in_lent_memory<blocked_filter>(plan_of({512, independent, 7}, 150));
  expect_to_work_in_lent_memory<concurrent_blocked_filter>(plan_of({256, lanes, 8}, 151));
}

TEST(blocked_filter, refuses_plans_it_cannot_follow) {
  EXPECT_THROW(blocked_filter(plan_of({128, independent, 7}, 10)), std::invalid_argument);
  EXPECT_THROW(blocked_filter(plan_of({512, distinct, 7}, 10)), std::invalid_argument);
  EXPECT_THROW(blocked_filter(plan_of({512, lanes, 7}, 10)), std::invalid_argument);
  EXPECT_THROW(blocked_filter(plan_of({512, independent, 33}, 10)), std::invalid_argument);
  EXPECT_THROW(blocked_filter(plan_of({512, independent, 7}, 0)), std::invalid_argument);
}

TEST(blocked_filter, is_as_it_was_if_there_is_no_memory_for_a_copy) {
  const filter_plan vast = plan_of({512, independent, 9}, filter_plan::most_bits / 512);
  const vast_memory memory(vast.memory().total());
  SKIP_WITHOUT(memory);
  if (!system_refuses(vast.memory().total())) GTEST_SKIP() << "the system lends what it has not";
  const blocked_filter lent(vast, memory.bytes(), seeded_hash(1));
  blocked_filter filter = filled<blocked_filter>(plan_of({256, independent, 5}, 20), 1, 200);
  EXPECT_THROW(filter = lent, std::bad_alloc);
  EXPECT_EQ(filter.plan().block_bits, 256u);
  expect_same_bytes(filter, filled<blocked_filter>(plan_of({256, independent, 5}, 20), 1, 200));
  for (const std::uint64_t key : keys_from(0, 200)) EXPECT_TRUE(filter.may_contain(key));
}

TEST_P(blocked_filter_at, reaches_all_of_two_to_the_40_bits) {
  for (const shape& s : {shape{512, independent, 9}, shape{256, lanes, 8}}) {
    const filter_plan plan = plan_of(s, filter_plan::most_bits / s.block_bits);
    const vast_memory memory(plan.memory().total());
    SKIP_WITHOUT(memory);
    blocked_filter filter(plan, memory.bytes(), seeded_hash(1));
    const std::vector<std::uint64_t> keys = keys_from(0, 1000);
    EXPECT_EQ(filter.bulk_insert(keys), 1000u);
    std::uint64_t beyond = 0;
    for (const std::uint64_t key : keys) {
      for (const std::uint64_t bit : bits_of(plan, seeded_hash(1)(key))) {
        ASSERT_TRUE(bit_of(memory.bytes(), bit));
        beyond += bit / 8 > 0xffff'ffff ? 1 : 0;
      }
      ASSERT_TRUE(filter.may_contain(key));
      ASSERT_FALSE(filter.may_contain(absent_from + key));
    }
    EXPECT_GT(beyond, 7000u);  // 31 of 32 parts of the memory lie beyond 2^32 bytes
    std::uint64_t contained = 0;
    ask_all(filter, keys, contained);
    EXPECT_EQ(contained, 1000u);
  }
}

}  // namespace
}  // namespace oneprobe
