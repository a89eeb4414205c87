#include "oneprobe/detail/filter/block_bits.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/model/bloom.hpp"

namespace oneprobe {
namespace {

using enum block_layout;

constexpr std::uint64_t seeds[] = {1, 2, 3, 5, 8};

/// Patterns that are as good as random, each seed its own.
class pattern_source {
 public:
  explicit pattern_source(std::uint64_t seed) : state_(mix_bits(seed)) {}
  std::uint64_t operator()() { return mix_bits(state_ += golden_ratio_64); }

 private:
  std::uint64_t state_;
};

template <unsigned BlockBits>
struct alignas(64) block {
  std::array<std::byte, BlockBits / 8> bytes{};

  bool operator[](std::uint32_t bit) const {
    return (std::to_integer<unsigned>(bytes[bit / 8]) >> (bit % 8) & 1) != 0;
  }
  void flip(std::uint32_t bit) { bytes[bit / 8] ^= static_cast<std::byte>(1u << (bit % 8)); }
  unsigned ones() const {
    unsigned sum = 0;
    for (std::uint32_t i = 0; i < BlockBits; ++i) sum += (*this)[i] ? 1u : 0u;
    return sum;
  }
  friend bool operator==(const block&, const block&) = default;
};

/// One kernel under test.
template <unsigned BlockBits, block_layout Layout, isa Level, class Words>
struct kernel {
  static constexpr unsigned bits = BlockBits;
  static constexpr block_layout layout = Layout;
  static constexpr isa level = Level;
  using type = block_bits<BlockBits, Layout, Level, Words>;

  static std::vector<block_shape> shapes() {
    if constexpr (Layout == lanes)
      return {{BlockBits / 64, BlockBits}, {BlockBits / 32, BlockBits}};
    std::vector<block_shape> all;
    for (std::uint32_t k = 1; k <= 32; ++k)
      for (const std::uint32_t own : {0u, 1u, 9u, 43u}) all.push_back({k, BlockBits - own});
    return all;
  }
  static std::set<std::uint32_t> positions(std::uint64_t pattern, block_shape shape) {
    std::set<std::uint32_t> all;
    for (unsigned j = 0; j < shape.bits_set; ++j)
      all.insert(bit_position<BlockBits, Layout>(pattern, j, shape));
    return all;
  }
};

template <class Kernel>
class block_kernel : public ::testing::Test {
  void SetUp() override {
    if (Kernel::level > simd_supported())
      GTEST_SKIP() << "this processor has no " << name_of(Kernel::level);
  }
};
using kernels = ::testing::Types<
#if ONEPROBE_HAS_SIMD
    kernel<512, independent, isa::avx512, plain_words>,
    kernel<512, lanes, isa::avx512, plain_words>, kernel<512, independent, isa::avx2, plain_words>,
    kernel<256, independent, isa::avx2, plain_words>, kernel<512, lanes, isa::avx2, plain_words>,
    kernel<256, lanes, isa::avx2, plain_words>, kernel<512, independent, isa::avx2, atomic_words>,
    kernel<256, independent, isa::avx2, atomic_words>, kernel<512, lanes, isa::avx2, atomic_words>,
    kernel<256, lanes, isa::avx2, atomic_words>,
#endif
    kernel<512, independent, isa::plain, plain_words>,
    kernel<256, independent, isa::plain, plain_words>, kernel<512, lanes, isa::plain, plain_words>,
    kernel<256, lanes, isa::plain, plain_words>, kernel<512, independent, isa::plain, atomic_words>,
    kernel<256, independent, isa::plain, atomic_words>,
    kernel<512, lanes, isa::plain, atomic_words>, kernel<256, lanes, isa::plain, atomic_words>>;
TYPED_TEST_SUITE(block_kernel, kernels);

TYPED_TEST(block_kernel, sets_the_positions_of_the_pattern_and_no_other_bit) {
  pattern_source pattern(1);
  for (const block_shape shape : TypeParam::shapes()) {
    for (int trial = 0; trial < 20; ++trial) {
      const std::uint64_t element = pattern();
      const std::set<std::uint32_t> wanted = TypeParam::positions(element, shape);
      block<TypeParam::bits> bits;
      EXPECT_FALSE(TypeParam::type::set_all(bits.bytes.data(), element, shape));
      for (std::uint32_t i = 0; i < TypeParam::bits; ++i)
        ASSERT_EQ(bits[i], wanted.contains(i)) << "bit " << i << ", k = " << shape.bits_set;
      EXPECT_TRUE(TypeParam::type::set_all(bits.bytes.data(), element, shape));
    }
  }
}

TYPED_TEST(block_kernel, finds_an_element_unless_one_of_its_bits_is_missing) {
  pattern_source pattern(2);
  for (const block_shape shape : TypeParam::shapes()) {
    const std::uint64_t element = pattern();
    block<TypeParam::bits> bits;
    TypeParam::type::set_all(bits.bytes.data(), element, shape);
    EXPECT_TRUE(TypeParam::type::all_set(bits.bytes.data(), element, shape));
    for (const std::uint32_t at : TypeParam::positions(element, shape)) {
      bits.flip(at);
      EXPECT_FALSE(TypeParam::type::all_set(bits.bytes.data(), element, shape))
          << "bit " << at << ", k = " << shape.bits_set;
      bits.flip(at);
    }
  }
}

TYPED_TEST(block_kernel, answers_as_the_bits_say_while_a_block_fills) {
  pattern_source pattern(3);
  for (const block_shape shape : TypeParam::shapes()) {
    block<TypeParam::bits> bits;
    const auto said = [&](std::uint64_t element) {
      const auto positions = TypeParam::positions(element, shape);
      return std::ranges::all_of(positions, [&](std::uint32_t at) { return bits[at]; });
    };
    for (int i = 0; i < 60; ++i) {
      const std::uint64_t asked = pattern();
      EXPECT_EQ(TypeParam::type::all_set(bits.bytes.data(), asked, shape), said(asked));
      const std::uint64_t element = pattern();
      const bool before = said(element);
      EXPECT_EQ(TypeParam::type::set_all(bits.bytes.data(), element, shape), before);
      ASSERT_EQ(TypeParam::type::count_ones(bits.bytes.data(), shape.bloom_bits), bits.ones());
    }
  }
}

TYPED_TEST(block_kernel, leaves_the_blocks_own_bits_alone_and_does_not_count_them) {
  pattern_source pattern(4);
  for (const block_shape shape : TypeParam::shapes()) {
    block<TypeParam::bits> bits;
    for (std::uint32_t i = shape.bloom_bits; i < TypeParam::bits; i += 2) bits.flip(i);
    for (int i = 0; i < 30; ++i) TypeParam::type::set_all(bits.bytes.data(), pattern(), shape);
    unsigned ones = 0;
    for (std::uint32_t i = 0; i < shape.bloom_bits; ++i) ones += bits[i] ? 1u : 0u;
    EXPECT_EQ(TypeParam::type::count_ones(bits.bytes.data(), shape.bloom_bits), ones);
    for (std::uint32_t i = shape.bloom_bits; i < TypeParam::bits; ++i)
      EXPECT_EQ(bits[i], (i - shape.bloom_bits) % 2 == 0);
  }
}

TYPED_TEST(block_kernel, puts_an_element_where_there_is_room_and_else_changes_nothing) {
  if constexpr (TypeParam::layout == independent) {
    pattern_source pattern(5);
    for (const block_shape shape : TypeParam::shapes()) {
      block<TypeParam::bits> bits;
      for (int i = 0; i < 40; ++i) {
        const std::uint64_t element = pattern();
        const bool room = i % 3 != 0;
        const bool was_set = TypeParam::type::all_set(bits.bytes.data(), element, shape);
        block<TypeParam::bits> wanted = bits;
        if (room) TypeParam::type::set_all(wanted.bytes.data(), element, shape);
        const bits_outcome outcome =
            TypeParam::type::put(bits.bytes.data(), element, shape, [&] { return room; });
        EXPECT_EQ(outcome.was_set, was_set ? 1u : 0u);
        EXPECT_EQ(outcome.refused, was_set || room ? 0u : 1u);
        ASSERT_EQ(bits, wanted) << "k = " << shape.bits_set;
      }
    }
  }
}

TYPED_TEST(block_kernel, does_the_same_with_elements_that_were_prepared_together) {
  using bits = typename TypeParam::type;
  using prepared_type = typename prepared_by<bits>::type;
  if constexpr (!std::is_void_v<prepared_type>) {
    pattern_source pattern(13);
    for (const block_shape shape : TypeParam::shapes())
      for (const std::size_t count : {1u, 7u, 8u, 9u, 31u, 32u, 33u, 63u, 64u}) {
        std::vector<std::uint64_t> patterns(count);
        for (std::uint64_t& each : patterns) each = pattern();
        std::array<prepared_type, 64> prepared;
        prepare_patterns<bits>(
            count, [&](std::size_t i) { return patterns[i]; }, shape, prepared.data());
        block<TypeParam::bits> one_by_one, together;
        for (std::size_t i = 0; i < count; ++i) {
          // Some are there already, some find a block without room.
          const auto has_room = [&] { return i % 3 != 0; };
          if (i % 5 == 0) {
            ASSERT_EQ(bits::set_all(one_by_one.bytes.data(), patterns[i], shape),
                      bits::set_all(together.bytes.data(), prepared[i], shape));
          }
          const bits_outcome wanted =
              bits::put(one_by_one.bytes.data(), patterns[i], shape, has_room);
          const bits_outcome found = bits::put(together.bytes.data(), prepared[i], shape, has_room);
          ASSERT_EQ(wanted.was_set, found.was_set);
          ASSERT_EQ(wanted.refused, found.refused);
          ASSERT_EQ(one_by_one, together) << shape.bits_set << " of " << shape.bloom_bits;
        }
      }
  }
}

TEST(block_bits, every_number_of_bits_is_in_the_range_it_is_given) {
  for (std::uint32_t bits_set = 1; bits_set <= 32; ++bits_set)
    with_bits_set_range(bits_set,
                        [&]<std::uint32_t Least, std::uint32_t Most>(bits_set_range<Least, Most>) {
                          EXPECT_LE(Least, bits_set);
                          EXPECT_GE(Most, bits_set);
                        });
}

/// Computed outside the project from the description at the top of the header.
TEST(block_bits, positions_are_pinned_because_files_depend_on_them) {
  constexpr std::uint64_t pattern = 0x0123'4567'89ab'cdef;
  const auto expect = [](auto position, block_shape shape, std::vector<std::uint32_t> wanted) {
    for (unsigned j = 0; j < wanted.size(); ++j)
      EXPECT_EQ(position(pattern, j, shape), wanted[j]) << "position " << j;
  };
  expect(bit_position<512, independent>, {32, 512},
         {455, 197, 497, 299, 373, 224, 34, 257, 334, 162, 500, 390, 140, 40,  2,   364,
          260, 29,  200, 284, 391, 144, 97, 23,  81,  369, 213, 216, 281, 414, 307, 508});
  expect(bit_position<512, independent>, {10, 503},
         {447, 193, 488, 293, 367, 220, 34, 252, 329, 159});
  expect(bit_position<256, independent>, {8, 256}, {227, 98, 248, 149, 186, 112, 17, 128});
  expect(bit_position<512, lanes>, {8, 512}, {56, 88, 190, 229, 302, 348, 388, 480});
  expect(bit_position<512, lanes>, {16, 512},
         {28, 44, 95, 114, 151, 174, 194, 240, 276, 298, 351, 376, 392, 418, 448, 502});
  expect(bit_position<256, lanes>, {4, 256}, {56, 88, 190, 229});
  expect(bit_position<256, lanes>, {8, 256}, {28, 44, 95, 114, 151, 174, 194, 240});
}

TEST(block_bits, multipliers_are_the_draw_that_the_header_names) {
  constexpr std::uint64_t draw = 1'212'835;
  const auto drawn = [](std::uint64_t number) {
    return static_cast<std::uint32_t>(mix_bits(16 * draw + number) >> 32) | 1;
  };
  for (unsigned i = 0; i < detail::group_size; ++i)
    EXPECT_EQ(detail::odd_multipliers[i], drawn(i + 1));
  EXPECT_EQ(detail::second_group_multiplier, drawn(9));
}

/// The shortest (u, v) other than 0 with u a + v b = 0 modulo 2^32, by Gauss's reduction.
double shortest_dual_vector(std::uint32_t a, std::uint32_t b) {
  std::uint32_t inverse = a;
  for (int i = 0; i < 5; ++i) inverse *= 2 - a * inverse;
  std::pair<double, double> p{std::pow(2.0, 32), 0};
  std::pair<double, double> q{-static_cast<double>(static_cast<std::uint32_t>(b * inverse)), 1};
  const auto dot = [](auto x, auto y) { return x.first * y.first + x.second * y.second; };
  while (true) {
    if (dot(p, p) < dot(q, q)) std::swap(p, q);
    const double times = std::nearbyint(dot(p, q) / dot(q, q));
    if (times == 0) return std::sqrt(dot(q, q));
    p = {p.first - times * q.first, p.second - times * q.second};
  }
}

TEST(block_bits, no_two_positions_lie_on_few_lines) {
  std::vector<std::uint32_t> all;
  for (const std::uint32_t odd : detail::odd_multipliers) {
    all.push_back(odd);
    all.push_back(odd * detail::second_group_multiplier);
  }
  // The longest a shortest vector can be in a plane lattice of this determinant (Hermite).
  const double ideal = std::sqrt(std::pow(2.0, 32) * 2 / std::sqrt(3.0));
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_GT(shortest_dual_vector(all[i], all[j]) / ideal, 0.168) << i << ", " << j;
}

struct error_case {
  unsigned block_bits;
  unsigned bits_set;
  unsigned load;
  block_layout layout;
};

/// False positives in blocks of `load` elements, by seed: mean and its standard error, from the
/// blocks themselves, so that their differences are in it.
template <class Bits>
std::pair<double, double> measured_error(const error_case& c, std::uint64_t seed) {
  constexpr int blocks = 1500;
  constexpr int queries = 400;
  pattern_source pattern(seed);
  const block_shape shape{c.bits_set, Bits::words * word_bits};
  double sum = 0, squares = 0;
  for (int b = 0; b < blocks; ++b) {
    block<Bits::words * word_bits> bits;
    for (unsigned i = 0; i < c.load; ++i) Bits::set_all(bits.bytes.data(), pattern(), shape);
    int found = 0;
    for (int q = 0; q < queries; ++q)
      found += Bits::all_set(bits.bytes.data(), pattern(), shape) ? 1 : 0;
    const double fraction = static_cast<double>(found) / queries;
    sum += fraction;
    squares += fraction * fraction;
  }
  const double mean = sum / blocks;
  return {mean, std::sqrt((squares / blocks - mean * mean) / blocks)};
}

TEST(block_bits, errs_as_often_as_positions_drawn_at_random) {
  // 8 cases, 5 seeds: 40 comparisons. At 4.3 sigma each raises a false alarm with probability
  // 1.7e-5, all together with 7e-4.
  constexpr double tolerance = 4.3;
  for (const error_case& c : {error_case{512, 5, 60, independent},
                              {512, 8, 45, independent},
                              {512, 12, 40, independent},
                              {512, 20, 32, independent},
                              {256, 6, 26, independent},
                              {512, 8, 45, lanes},
                              {512, 16, 32, lanes},
                              {256, 8, 24, lanes}}) {
    const double expected = model::block_error(c.block_bits, c.bits_set, c.load, c.layout);
    for (const std::uint64_t seed : seeds) {
      const auto [mean, sigma] =
          c.layout == lanes
              ? (c.block_bits == 512 ? measured_error<block_bits<512, lanes>>(c, seed)
                                     : measured_error<block_bits<256, lanes>>(c, seed))
          : c.block_bits == 512 ? measured_error<block_bits<512, independent>>(c, seed)
                                : measured_error<block_bits<256, independent>>(c, seed);
      EXPECT_NEAR(mean, expected, tolerance * sigma)
          << c.block_bits << " bits, k = " << c.bits_set << ", " << name_of(c.layout) << ", seed "
          << seed;
    }
  }
}

}  // namespace
}  // namespace oneprobe
