#include "oneprobe/universal_hash.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "chi_squared.hpp"
#include "derivation.hpp"
#include "key_sets.hpp"

namespace oneprobe {
namespace {

using statistics::comparisons;

constexpr std::uint64_t seeds[] = {0, 1, 2, 20081, 0x8000'0000'0000'0000};
constexpr std::size_t families = 4;

// The comparisons of this file: all families, on all integer keys, alone and in pairs.
constexpr std::size_t family_share =
    std::size(seeds) * std::size(key_sets::integer_sets) * (statistics::parts + statistics::pairs);
constexpr std::size_t all_comparisons = families * family_share;

// ---- Every function of a small family, one after the other ----

/// Calls visit(digits) with every array of `Count` digits below `base`.
template <std::size_t Count, class Visit>
void for_all_digits(std::uint64_t base, Visit&& visit) {
  std::array<std::uint64_t, Count> digits{};
  for (;;) {
    visit(digits);
    std::size_t i = 0;
    while (i < Count && ++digits[i] == base) digits[i++] = 0;
    if (i == Count) return;
  }
}

/// How often any keys have the same values, over all functions: for each set of `Keys` distinct
/// keys the count of every combination of values.
template <std::size_t Keys>
class joint_counts {
 public:
  using key_tuple = std::array<std::uint64_t, Keys>;

  joint_counts(std::uint64_t first_key, std::uint64_t last_key, std::uint64_t values)
      : values_(values) {
    std::size_t combinations = 1;
    for (std::size_t i = 0; i < Keys; ++i) combinations *= values;
    add_tuples({}, 0, first_key, last_key);
    counts_.assign(tuples_.size(), std::vector<std::uint64_t>(combinations));
  }

  template <class Function>
  void include(Function&& value_of) {
    ++functions_;
    for (std::size_t t = 0; t < tuples_.size(); ++t) {
      std::uint64_t place = 0;
      for (const std::uint64_t key : tuples_[t]) place = place * values_ + value_of(key);
      ++counts_[t].at(place);
    }
  }

  /// Equation (7.2.10): every combination of values equally often, exactly.
  void expect_independent() const {
    ASSERT_GT(functions_, 0u);
    for (std::size_t t = 0; t < tuples_.size(); ++t)
      for (const std::uint64_t count : counts_[t])
        ASSERT_EQ(count * counts_[t].size(), functions_) << "keys " << name(tuples_[t]);
  }
  bool independent() const {
    return std::all_of(counts_.begin(), counts_.end(), [&](const auto& counts) {
      return std::all_of(counts.begin(), counts.end(),
                         [&](std::uint64_t count) { return count * counts.size() == functions_; });
    });
  }

 private:
  void add_tuples(key_tuple chosen, std::size_t size, std::uint64_t next, std::uint64_t last) {
    if (size == Keys) {
      tuples_.push_back(chosen);
      return;
    }
    for (; next <= last; ++next) {
      chosen[size] = next;
      add_tuples(chosen, size + 1, next + 1, last);
    }
  }
  static std::string name(const key_tuple& keys) {
    std::string result;
    for (const std::uint64_t key : keys) result += std::to_string(key) + " ";
    return result;
  }

  std::uint64_t values_;
  std::uint64_t functions_ = 0;
  std::vector<key_tuple> tuples_;
  std::vector<std::vector<std::uint64_t>> counts_;
};

/// The largest probability with which two keys of first ... last collide, over all functions.
class collisions {
 public:
  collisions(std::uint64_t first, std::uint64_t last) : first_(first), last_(last) {}

  template <class Function>
  void include(Function&& value_of) {
    ++functions_;
    for (std::uint64_t x = first_; x <= last_; ++x)
      for (std::uint64_t y = x + 1; y <= last_; ++y)
        counts_[{x, y}] += value_of(x) == value_of(y) ? 1u : 0u;
  }
  double probability(std::uint64_t x, std::uint64_t y) const {
    return static_cast<double>(counts_.at({x, y})) / static_cast<double>(functions_);
  }
  template <class Visit>
  void for_all(Visit&& visit) const {
    for (const auto& [pair, count] : counts_)
      visit(pair.first, pair.second, static_cast<double>(count) / static_cast<double>(functions_));
  }
  double worst() const {
    double result = 0;
    for_all([&](std::uint64_t, std::uint64_t, double p) { result = std::max(result, p); });
    return result;
  }

 private:
  std::uint64_t first_, last_;
  std::uint64_t functions_ = 0;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> counts_;
};

// ---- Matrices ----

TEST(matrix_hash, multiplies_as_in_the_example_of_the_lecture) {
  // LEC, Section 7.2.3, u = 32 and n = 8; the first row and the first coordinate are the highest
  // bits here: (1, 1, 0, 0, 1) becomes (0, 1, 1).
  const unsigned rows[] = {0b01101, 0b10000, 0b11011};
  matrix_hash<5, 3>::words columns{};
  for (unsigned bit = 0; bit < 5; ++bit)
    for (const unsigned row : rows) columns[bit] = 2 * columns[bit] + (row >> bit & 1);
  EXPECT_EQ((matrix_hash<5, 3>(columns).value(0b11001)), 0b011u);
}

TEST(matrix_hash, two_keys_other_than_zero_are_independent_theorem_7_2_1) {
  // u = 7 and n = 4, as in erratum 2.6: all 64 matrices. Equality in (7.2.8) and (7.2.9).
  joint_counts<1> one(1, 7, 4);
  joint_counts<2> two(1, 7, 4);
  joint_counts<3> three(1, 7, 4);
  collisions pairs(1, 7);
  for_all_digits<3>(4, [&](const auto& columns) {
    const matrix_hash<3, 2> hash(columns);
    const auto value = [&](std::uint64_t key) { return hash.value(key); };
    one.include(value);
    two.include(value);
    three.include(value);
    pairs.include(value);
  });
  one.expect_independent();
  two.expect_independent();
  EXPECT_FALSE(three.independent());  // 1, 2 and 3 = 1 ^ 2
  pairs.for_all([](std::uint64_t, std::uint64_t, double p) { EXPECT_EQ(p, 0.25); });
}

TEST(matrix_hash, zero_is_rightly_left_out_of_the_theorem) {
  joint_counts<1> one(0, 0, 4);
  for_all_digits<3>(4, [&](const auto& columns) {
    one.include([&](std::uint64_t key) { return matrix_hash<3, 2>(columns).value(key); });
  });
  EXPECT_FALSE(one.independent());
}

TEST(matrix_hash, is_linear) {
  const matrix_hash<> hash(20081);
  for (std::uint64_t i = 0; i < 100; ++i) {
    const std::uint64_t x = mix_bits(i), y = mix_bits(i + 1000);
    EXPECT_EQ(hash.value(x ^ y), hash.value(x) ^ hash.value(y));
  }
}

// ---- (a x + b) mod p mod n ----

TEST(affine_hash, two_keys_collide_with_at_most_one_in_n) {
  for (const std::uint64_t n : {2u, 3u, 4u, 8u, 10u, 13u}) {
    collisions pairs(0, 12);
    for_all_digits<2>(13, [&](const auto& digits) {
      if (digits[1] == 0) return;
      const affine_hash<13, 12> hash({digits});
      pairs.include([&](std::uint64_t key) { return hash.bin(key, n); });
    });
    EXPECT_LE(pairs.worst(), 1 / static_cast<double>(n)) << n;
  }
}

TEST(affine_hash, bins_are_about_equally_likely) {
  // Exactly: the bin's share of the remainders, ceil or floor of p / n, over p (erratum 2.6).
  std::array<std::array<std::uint64_t, 4>, 13> counts{};
  for_all_digits<2>(13, [&](const auto& digits) {
    if (digits[1] == 0) return;
    const affine_hash<13, 12> hash({digits});
    for (std::uint64_t key = 0; key < 13; ++key) ++counts[key][hash.bin(key, 4)];
  });
  for (const auto& of_key : counts)
    EXPECT_EQ(of_key, (std::array<std::uint64_t, 4>{4 * 12, 3 * 12, 3 * 12, 3 * 12}));
}

TEST(affine_hash, is_universal_but_not_pairwise_independent) {
  joint_counts<2> two(0, 6, 7);
  for_all_digits<2>(7, [&](const auto& digits) {
    if (digits[1] == 0) return;
    const affine_hash<7, 6> hash({digits});
    two.include([&](std::uint64_t key) { return hash.value(key); });
  });
  EXPECT_FALSE(two.independent());  // erratum 2.7
}

TEST(affine_hash, keys_beyond_the_prime_keep_the_promise) {
  constexpr std::uint64_t prime = 5, largest = 9;
  for (const std::uint64_t n : {2u, 3u, 4u, 5u}) {
    collisions pairs(0, largest);
    for_all_digits<4>(prime, [&](const auto& digits) {
      if (digits[1] == 0 || digits[3] == 0) return;
      const affine_hash<prime, largest> hash(
          affine_hash<prime, largest>::words{{{digits[0], digits[1]}, {digits[2], digits[3]}}});
      pairs.include([&](std::uint64_t key) { return hash.bin(key, n); });
    });
    const double bins = static_cast<double>(n);
    const double excess = bins / (4.0 * prime * prime);  // n / (4 p^2)
    pairs.for_all([&](std::uint64_t x, std::uint64_t y, double p) {
      const bool same_line = x / prime == y / prime;
      EXPECT_LE(p, 1 / bins + (same_line ? 0 : excess) + 1e-15) << x << " " << y << " " << n;
    });
  }
}

TEST(affine_hash, never_draws_a_zero_factor) {
  // With three as prime a zero would come up in one of three draws.
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const affine_hash<3, 2> hash(seed);
    EXPECT_NE(hash.value(0), hash.value(1));
  }
}

// ---- Polynomials ----

TEST(polynomial_hash, two_coefficients_make_two_keys_independent) {
  joint_counts<2> two(0, 6, 7);
  joint_counts<3> three(0, 6, 7);
  for_all_digits<2>(7, [&](const auto& coefficients) {
    const polynomial_hash<2, 7, 6> hash({coefficients});
    two.include([&](std::uint64_t key) { return hash.value(key); });
    three.include([&](std::uint64_t key) { return hash.value(key); });
  });
  two.expect_independent();
  EXPECT_FALSE(three.independent());
}

TEST(polynomial_hash, four_coefficients_make_four_keys_independent) {
  joint_counts<4> four(0, 4, 5);
  for_all_digits<4>(5, [&](const auto& coefficients) {
    const polynomial_hash<4, 5, 4> hash({coefficients});
    four.include([&](std::uint64_t key) { return hash.value(key); });
  });
  four.expect_independent();
}

TEST(polynomial_hash, keys_beyond_the_prime_are_independent_as_well) {
  joint_counts<3> three(0, 5, 3);
  for_all_digits<6>(3, [&](const auto& c) {
    const polynomial_hash<3, 3, 5> hash(
        polynomial_hash<3, 3, 5>::words{{{c[0], c[1], c[2]}, {c[3], c[4], c[5]}}});
    three.include([&](std::uint64_t key) { return hash.value(key); });
  });
  three.expect_independent();
}

TEST(polynomial_hash, has_as_many_polynomials_as_the_keys_need) {
  static_assert(polynomial_hash<2>::polynomials == 9);  // 2^64 is 8 (2^61 - 1) + 8
  static_assert(polynomial_hash<2, 7, 6>::polynomials == 1);
  static_assert(polynomial_hash<2, 7, 7>::polynomials == 2);
  // Without polynomials of their own these would all have one value.
  std::set<std::uint64_t> values;
  const polynomial_hash<2> hash(20081);
  for (std::uint64_t i = 0; i < 9; ++i) values.insert(hash.value(5 + i * mersenne_prime_61));
  EXPECT_EQ(values.size(), 9u);
}

RC_GTEST_PROP(polynomial_hash, arithmetic_modulo_the_mersenne_prime_is_exact,
              (std::uint64_t x, std::uint64_t y, std::uint64_t z)) {
  __extension__ using wide = unsigned __int128;
  constexpr std::uint64_t p = mersenne_prime_61;
  const std::uint64_t near = *rc::gen::inRange<std::uint64_t>(1, 5);
  for (const auto& [a, b, c] :
       {std::array{x % p, y % p, z % p},
        std::array{mix_bits(x) % p, mix_bits(y) % p, mix_bits(z) % p},
        std::array{p - near, p - near, p - near}, std::array{p - near, p - 1, std::uint64_t{0}}})
    RC_ASSERT(detail::multiply_add_modulo<p>(a, b, c) ==
              static_cast<std::uint64_t>((static_cast<wide>(a) * b + c) % p));
}

TEST(polynomial_hash, the_value_is_the_highest_bits_of_the_hash) {
  for (std::uint64_t i = 0; i < 1000; ++i) {
    const std::uint64_t value = mix_bits(i) % mersenne_prime_61;
    EXPECT_EQ(detail::spread_61(value).value >> 3, value);
  }
}

TEST(polynomial_hash, every_result_of_reduce_has_its_share_of_the_values) {
  // The least value that leads to result j or beyond, by bisection.
  const auto first_value = [](std::uint64_t j, std::uint64_t n) {
    std::uint64_t low = 0, high = mersenne_prime_61;
    while (low < high) {
      const std::uint64_t middle = low + (high - low) / 2;
      if (reduce(detail::spread_61(middle).value, n) < j)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  };
  for (const std::uint64_t n : {3u, 1000u, 65537u, 1u << 31})
    for (std::uint64_t i = 0; i < 100; ++i) {
      const std::uint64_t j = mix_bits(i) % n;
      const std::uint64_t values = first_value(j + 1, n) - first_value(j, n);
      // |values / p - 1/n| <= 2^-60, times p n: twice n.
      const std::uint64_t share = values * n;
      EXPECT_LE(std::max(share, mersenne_prime_61) - std::min(share, mersenne_prime_61), 2 * n);
    }
}

// ---- Tabulation ----

TEST(tabulation_hash, three_keys_are_independent_and_four_are_not) {
  // Two characters of one bit, values of one bit: 16 functions.
  joint_counts<3> three(0, 3, 2);
  joint_counts<4> four(0, 3, 2);
  for_all_digits<4>(2, [&](const auto& w) {
    const tabulation_hash<2, 1, 1> hash(
        tabulation_hash<2, 1, 1>::words{{{w[0], w[1]}, {w[2], w[3]}}});
    three.include([&](std::uint64_t key) { return hash.value(key); });
    four.include([&](std::uint64_t key) { return hash.value(key); });
  });
  three.expect_independent();
  EXPECT_FALSE(four.independent());
}

TEST(tabulation_hash, three_keys_of_larger_characters_are_independent) {
  // Two characters of two bits, values of one bit: 256 functions; three characters: 64 functions.
  joint_counts<3> wide(0, 15, 2);
  for_all_digits<8>(2, [&](const auto& w) {
    const tabulation_hash<2, 2, 1> hash(
        tabulation_hash<2, 2, 1>::words{{{w[0], w[1], w[2], w[3]}, {w[4], w[5], w[6], w[7]}}});
    wide.include([&](std::uint64_t key) { return hash.value(key); });
  });
  wide.expect_independent();

  joint_counts<3> more(0, 7, 4);
  for_all_digits<6>(4, [&](const auto& w) {
    const tabulation_hash<3, 1, 2> hash(
        tabulation_hash<3, 1, 2>::words{{{w[0], w[1]}, {w[2], w[3]}, {w[4], w[5]}}});
    more.include([&](std::uint64_t key) { return hash.value(key); });
  });
  more.expect_independent();
}

// ---- All of them ----

template <class Family>
class universal_family : public testing::Test {};
using all_families =
    testing::Types<matrix_hash<>, affine_hash<>, polynomial_hash<4>, tabulation_hash<>>;

class family_names {
 public:
  template <class Family>
  static std::string GetName(int i) {
    const char* const names[] = {"matrix", "affine", "polynomial", "tabulation"};
    return names[i];
  }
};
TYPED_TEST_SUITE(universal_family, all_families, family_names);

TYPED_TEST(universal_family, is_a_hash_policy_of_integers) {
  static_assert(hash_policy<TypeParam, int>);
  static_assert(hash_policy<TypeParam, std::uint64_t>);
  static_assert(hash_policy<TypeParam, std::byte>);
  static_assert(!hash_policy<TypeParam, double>);
  static_assert(!hash_policy<TypeParam, std::string>);
  EXPECT_EQ(TypeParam()(5), TypeParam(0)(5));
  EXPECT_EQ(TypeParam(1)(-1), TypeParam(1)(std::int64_t{-1}));
  EXPECT_NE(TypeParam(1)(5), TypeParam(2)(5));
  EXPECT_NE(TypeParam(1)(0), TypeParam(2)(0));  // zero is no exception
}

TYPED_TEST(universal_family, draws_its_words_from_any_source) {
  EXPECT_NE(TypeParam(random_seed)(5), TypeParam(random_seed)(5));
  seed_words words(20081);
  EXPECT_EQ(TypeParam(words)(5), TypeParam(20081)(5));
  std::uint64_t calls = 0;
  const TypeParam hash([&] { return mix_bits(++calls); });
  EXPECT_GE(calls * 8, sizeof hash);
}

/// Calls report(p_value, what) for each part alone and for every pair.
template <class Report>
void compare(const key_sets::hashed& set, Report&& report) {
  const auto parts = statistics::parts_of(set.hashes, statistics::library_derivation{});
  statistics::compare_singles(set.name, parts, report);
  statistics::compare_pairs(set.name, parts, report);
}

TYPED_TEST(universal_family, leaves_no_structure_of_the_keys_in_what_is_derived) {
  comparisons compared(family_share, all_comparisons);
  for (const std::uint64_t seed : seeds)
    for (const key_sets::hashed& set : key_sets::hashed_integers(TypeParam(seed)))
      compare(set, [&](double p, const std::string& what) {
        compared.add(p, "seed " + std::to_string(seed) + ", " + what);
      });
}

TEST(universal, keys_that_are_not_mixed_first_would_be_noticed) {
  // Sequential keys on a line: points in a row, far too even.
  const affine_hash<> line(20081);
  const key_sets::hashed set = key_sets::hash_all(
      "sequential", [&](std::uint64_t i) { return detail::spread_61(line.value(i)); });
  double smallest = 1;
  compare(set, [&](double p, const std::string&) { smallest = std::min(smallest, p); });
  EXPECT_LT(smallest, statistics::false_alarm_rate / static_cast<double>(all_comparisons));
}

TEST(universal, drawn_values_fill_their_range_and_stay_in_it) {
  std::set<std::uint64_t> matrix, line, polynomial, tabulation;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    matrix.insert(matrix_hash<3, 2>(seed).value(5));
    line.insert(affine_hash<5, 9>(seed).bin(7, 4));
    polynomial.insert(polynomial_hash<3, 5, 9>(seed).value(7));
    tabulation.insert(tabulation_hash<2, 2, 2>(seed).value(9));
  }
  EXPECT_EQ(matrix, (std::set<std::uint64_t>{0, 1, 2, 3}));
  EXPECT_EQ(line, (std::set<std::uint64_t>{0, 1, 2, 3}));
  EXPECT_EQ(polynomial, (std::set<std::uint64_t>{0, 1, 2, 3, 4}));
  EXPECT_EQ(tabulation, (std::set<std::uint64_t>{0, 1, 2, 3}));
}

TEST(universal, words_out_of_range_are_refused) {
  EXPECT_THROW((polynomial_hash<2, 7, 6>(polynomial_hash<2, 7, 6>::words{{{0, 7}}})),
               std::invalid_argument);
  EXPECT_THROW((affine_hash<7, 6>(affine_hash<7, 6>::words{{{0, 0}}})), std::invalid_argument);
  EXPECT_THROW((affine_hash<7, 6>(affine_hash<7, 6>::words{{{7, 1}}})), std::invalid_argument);
  EXPECT_THROW((matrix_hash<2, 2>({1, 4})), std::invalid_argument);
  EXPECT_THROW((tabulation_hash<1, 1, 2>(tabulation_hash<1, 1, 2>::words{{{3, 4}}})),
               std::invalid_argument);
}

TEST(universal, primes_are_prime) {
  static_assert(detail::is_supported_prime(2) && detail::is_supported_prime(31));
  static_assert(detail::is_supported_prime(4294967291));  // the largest below 2^32
  static_assert(!detail::is_supported_prime(0) && !detail::is_supported_prime(1));
  static_assert(!detail::is_supported_prime(33) && !detail::is_supported_prime(4294967293));
}

// See derive.values_are_pinned on when they may change.
TEST(universal, values_are_pinned) {
  EXPECT_EQ(matrix_hash<>(20081)(42).value, 0x10d6'13d7'fac6'b4d7);
  EXPECT_EQ(affine_hash<>(20081)(42).value, 0xc056'5c3e'4159'59bc);
  EXPECT_EQ(polynomial_hash<4>(20081)(42).value, 0xecf0'9fc0'3e1b'6222);
  EXPECT_EQ(tabulation_hash<>(20081)(42).value, 0xf379'eeaf'9618'1932);
  EXPECT_EQ(polynomial_hash<4>(20081).value(42), 0x1030'86f8'53c2'cbbe);
}

}  // namespace
}  // namespace oneprobe
