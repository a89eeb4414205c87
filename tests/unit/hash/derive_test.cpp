#include "oneprobe/detail/hash/derive.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <map>

#include "chi_squared.hpp"
#include "derivation.hpp"
#include "key_sets.hpp"

namespace oneprobe {
namespace {

using statistics::comparisons;

constexpr std::uint64_t seeds[] = {1, 2, 3, 20081, 0x8000'0000'0000'0000};
constexpr std::uint32_t ranges[] = {3, 10, 255, 257, 1000, 4099};

// The comparisons of this file, test by test.
constexpr std::size_t independence_share = std::size(seeds) * statistics::comparisons_per_set;
constexpr std::size_t reduce_share = std::size(seeds) * std::size(ranges);
constexpr std::size_t avalanche_share = 64 * 64;
constexpr std::size_t all_comparisons = independence_share + reduce_share + avalanche_share;

/// Hashes as good as random: SplitMix64's own output.
key_sets::hashed random_hashes(std::uint64_t seed) {
  return key_sets::hash_all("seed " + std::to_string(seed), [&](std::uint64_t i) {
    return key_hash{mix_bits(mix_bits(seed) + i * golden_ratio_64)};
  });
}

/// The smallest p-value of all comparisons.
template <class Derivation>
double smallest_p_value(const key_sets::hashed& set, const Derivation& derive) {
  double smallest = 1;
  statistics::compare_all(set, derive,
                          [&](double p, const std::string&) { smallest = std::min(smallest, p); });
  return smallest;
}

TEST(chi_squared, the_gamma_function_has_its_closed_forms) {
  for (const double x : {0.01, 0.3, 1.0, 2.5, 7.0, 40.0, 300.0}) {
    EXPECT_NEAR(statistics::regularised_gamma(1, x).upper, std::exp(-x), 1e-12 * std::exp(-x));
    EXPECT_NEAR(statistics::regularised_gamma(0.5, x).upper, std::erfc(std::sqrt(x)),
                1e-11 * std::erfc(std::sqrt(x)));
    // Whole a: fewer than a events of a Poisson process with mean x.
    double term = std::exp(-x), sum = 0;
    for (int i = 0; i < 112; ++i) {
      sum += term;
      term *= x / (i + 1);
    }
    EXPECT_NEAR(statistics::regularised_gamma(112, x).upper, sum, 1e-10 * sum);
  }
}

TEST(chi_squared, the_p_value_is_that_of_the_tables) {
  // The 95 % and 5 % points that every table prints.
  EXPECT_NEAR(statistics::chi_squared_p_value(3.841, 1), 0.1, 1e-4);
  EXPECT_NEAR(statistics::chi_squared_p_value(18.307, 10), 0.1, 1e-4);
  EXPECT_NEAR(statistics::chi_squared_p_value(3.940, 10), 0.1, 1e-4);
  EXPECT_NEAR(statistics::chi_squared_p_value(124.342, 100), 0.1, 1e-4);
}

TEST(wide_product, the_fast_form_is_the_portable_one) {
  const std::uint64_t corners[] = {
      0, 1, 2, 0xffff'ffff, 0x1'0000'0000, 0x8000'0000'0000'0000, ~std::uint64_t{0}};
  for (const std::uint64_t a : corners)
    for (const std::uint64_t b : corners) {
      const wide_product fast = multiply_wide(a, b), portable = detail::multiply_by_halves(a, b);
      EXPECT_EQ(fast.high, portable.high);
      EXPECT_EQ(fast.low, portable.low);
    }
}

RC_GTEST_PROP(wide_product, the_fast_form_is_the_portable_one_everywhere,
              (std::uint64_t a, std::uint64_t b)) {
  // RapidCheck draws small numbers; mixed ones fill all bits.
  for (const auto& [x, y] : {std::pair{a, b}, std::pair{mix_bits(a), mix_bits(b)}}) {
    const wide_product fast = multiply_wide(x, y), portable = detail::multiply_by_halves(x, y);
    RC_ASSERT(fast.high == portable.high);
    RC_ASSERT(fast.low == portable.low);
    RC_ASSERT(fast.low == x * y);
  }
}

TEST(wide_product, known_products_come_out) {
  constexpr wide_product square = multiply_wide(~std::uint64_t{0}, ~std::uint64_t{0});
  static_assert(square.high == ~std::uint64_t{0} - 1 && square.low == 1);
  constexpr wide_product shifted = multiply_wide(std::uint64_t{1} << 63, 6);
  static_assert(shifted.high == 3 && shifted.low == 0);
}

TEST(mix_bits, is_the_finalizer_of_splitmix64) {
  // The first outputs of the generator from seed 1234567, as its other implementations print them.
  const std::uint64_t published[] = {6457827717110365317u, 3203168211198807973u,
                                     9817491932198370423u, 4593380528125082431u,
                                     16408922859458223821u};
  std::uint64_t state = 1234567;
  for (const std::uint64_t expected : published)
    EXPECT_EQ(mix_bits(state += golden_ratio_64), expected);
}

TEST(mix_bits, every_input_bit_flips_every_output_bit_half_of_the_time) {
  constexpr std::uint32_t samples = 1 << 14;
  comparisons compared(avalanche_share, all_comparisons);
  for (unsigned in = 0; in < 64; ++in) {
    std::array<std::uint32_t, 64> flips{};
    for (std::uint64_t i = 0; i < samples; ++i) {
      const std::uint64_t x = mix_bits(i * golden_ratio_64 + in);
      const std::uint64_t changed = mix_bits(x) ^ mix_bits(x ^ std::uint64_t{1} << in);
      for (unsigned out = 0; out < 64; ++out)
        flips[out] += static_cast<std::uint32_t>(changed >> out & 1);
    }
    for (unsigned out = 0; out < 64; ++out)
      compared.add(statistics::fair_coin_p_value(flips[out], samples),
                   "bit " + std::to_string(in) + " to bit " + std::to_string(out));
  }
}

TEST(derive, streams_of_one_hash_are_independent) {
  comparisons compared(independence_share, all_comparisons);
  for (const std::uint64_t seed : seeds)
    statistics::compare_all(random_hashes(seed), statistics::library_derivation{},
                            [&](double p, const std::string& what) { compared.add(p, what); });
}

// The same comparisons, with derivations that are wrong: each must raise an alarm, or the test
// above could not fail.

constexpr double alarm = statistics::false_alarm_rate / static_cast<double>(all_comparisons);

TEST(derive, one_stream_for_all_candidates_would_be_noticed) {
  struct bad : statistics::library_derivation {
    static std::uint64_t candidate(key_hash hash, std::uint32_t) { return hash.value; }
  };
  EXPECT_LT(smallest_p_value(random_hashes(1), bad{}), alarm);
}

TEST(derive, candidates_a_fixed_step_apart_would_be_noticed) {
  struct bad : statistics::library_derivation {
    static std::uint64_t candidate(key_hash hash, std::uint32_t i) {
      return hash.value + i * golden_ratio_64;
    }
  };
  EXPECT_LT(smallest_p_value(random_hashes(1), bad{}), alarm);
}

TEST(derive, one_coin_for_all_levels_would_be_noticed) {
  struct bad : statistics::library_derivation {
    static std::uint64_t coin(key_hash hash, std::uint32_t) { return coin_bits(hash, 0); }
  };
  EXPECT_LT(smallest_p_value(random_hashes(1), bad{}), alarm);
}

TEST(derive, a_coin_from_the_bits_of_its_candidate_would_be_noticed) {
  struct bad : statistics::library_derivation {
    static std::uint64_t coin(key_hash hash, std::uint32_t level) {
      return candidate_bits(hash, level);
    }
  };
  EXPECT_LT(smallest_p_value(random_hashes(1), bad{}), alarm);
}

TEST(derive, a_fingerprint_of_the_hash_itself_would_be_noticed) {
  struct bad : statistics::library_derivation {
    static std::uint64_t fingerprint(key_hash hash) { return hash.value; }
  };
  EXPECT_LT(smallest_p_value(random_hashes(1), bad{}), alarm);
}

TEST(derive, a_flaw_in_one_key_of_thirty_two_would_be_noticed) {
  struct bad : statistics::library_derivation {
    static std::uint64_t candidate(key_hash hash, std::uint32_t i) {
      return candidate_bits(hash, hash.value % 32 == 7 ? 0 : i);
    }
  };
  EXPECT_LT(smallest_p_value(random_hashes(1), bad{}), alarm);
}

TEST(derive, three_streams_of_which_any_two_are_independent_would_be_noticed) {
  struct bad : statistics::library_derivation {
    static std::uint64_t candidate(key_hash hash, std::uint32_t i) {
      return i == 2 ? candidate_bits(hash, 0) ^ candidate_bits(hash, 1) : candidate_bits(hash, i);
    }
  };
  EXPECT_LT(smallest_p_value(random_hashes(1), bad{}), alarm);
}

TEST(derive, streams_that_are_too_even_would_be_noticed) {
  const key_sets::hashed even =
      key_sets::hash_all("even", [](std::uint64_t i) { return key_hash{i * golden_ratio_64}; });
  EXPECT_LT(smallest_p_value(even, statistics::library_derivation{}), alarm);
}

TEST(derive, no_two_streams_have_the_same_number) {
  std::map<std::uint64_t, int> seen;
  const key_hash hash{0x0123'4567'89ab'cdef};
  for (std::uint32_t i = 0; i < 64; ++i) {
    ++seen[candidate_bits(hash, i)];
    ++seen[coin_bits(hash, i)];
  }
  ++seen[fingerprint_bits(hash)];
  EXPECT_EQ(seen.size(), 2u * 64 + 1);
  EXPECT_EQ(candidate_bits(hash, 0), hash.value);
}

// Where every element of every stored filter and table lies hangs on these numbers. They may change
// only together with the version of every format that stores what they placed.
TEST(derive, values_are_pinned) {
  constexpr key_hash hash{0x0123'4567'89ab'cdef};
  static_assert(candidate_bits(hash, 0) == 0x0123'4567'89ab'cdef);
  EXPECT_EQ(candidate_bits(hash, 1), 0x157a'3807'a48f'aa9d);
  EXPECT_EQ(candidate_bits(hash, 63), 0x7820'abc1'8567'251a);
  EXPECT_EQ(coin_bits(hash, 0), 0x5f02'b53e'36ac'ba13);
  EXPECT_EQ(coin_bits(hash, 63), 0x6baa'adf7'132a'ebab);
  EXPECT_EQ(fingerprint_bits(hash), 0x1758'8716'e00d'3d10);
  EXPECT_EQ(reduce(hash.value, 1000), 4u);
}

TEST(reduce, is_uniform_also_where_n_is_no_power_of_two) {
  comparisons compared(reduce_share, all_comparisons);
  for (const std::uint64_t seed : seeds)
    for (const std::uint32_t n : ranges) {
      std::vector<std::uint32_t> counts(n);
      for (const key_hash hash : random_hashes(seed).hashes) ++counts[reduce(hash.value, n)];
      compared.add(statistics::uniformity_p_value(counts), "n = " + std::to_string(n));
    }
}

RC_GTEST_PROP(reduce, stays_in_range_and_keeps_the_order, (std::uint64_t a, std::uint64_t b)) {
  const std::uint64_t x = mix_bits(a), y = mix_bits(b);
  const std::uint64_t n = 1 + (mix_bits(a ^ ~b) >> *rc::gen::inRange(0, 64));
  RC_ASSERT(reduce(x, n) < n);
  RC_ASSERT(reduce(std::min(x, y), n) <= reduce(std::max(x, y), n));
  RC_ASSERT(reduce(0, n) == 0u);
  RC_ASSERT(reduce(~std::uint64_t{0}, n) == n - 1);
}

/// The least bits with result j: j 2^64 / n, rounded up.
std::uint64_t first_bits_of(std::uint64_t j, std::uint64_t n) {
  __extension__ using wide = unsigned __int128;
  return static_cast<std::uint64_t>(((static_cast<wide>(j) << 64) + n - 1) / n);
}

RC_GTEST_PROP(reduce, shares_differ_by_one_part_in_2_64, (std::uint64_t a, std::uint64_t b)) {
  const std::uint64_t n = 2 + (mix_bits(a) >> *rc::gen::inRange(0, 63));
  const std::uint64_t j = 1 + mix_bits(b) % (n - 1);
  const std::uint64_t first = first_bits_of(j, n);
  RC_ASSERT(reduce(first, n) == j);
  RC_ASSERT(reduce(first - 1, n) == j - 1);
  // So the number of bits with one result is 2^64 / n rounded down or up: relative bias n / 2^64.
  const std::uint64_t next = j == n - 1 ? 0 : first_bits_of(j + 1, n);  // 0 stands for 2^64
  const std::uint64_t rounded_down = (0 - n) / n + 1;                   // of 2^64 / n
  RC_ASSERT(next - first == rounded_down || next - first == rounded_down + 1);
}

}  // namespace
}  // namespace oneprobe
