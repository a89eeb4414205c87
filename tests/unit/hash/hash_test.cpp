#include "oneprobe/hash.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <functional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "chi_squared.hpp"
#include "derivation.hpp"
#include "key_sets.hpp"

namespace oneprobe {
namespace {

using statistics::comparisons;

// Neighbouring seeds among them: they must be as good as far ones.
constexpr std::uint64_t seeds[] = {0, 1, 2, 20081, 0x8000'0000'0000'0000};

constexpr std::size_t seed_pairs = std::size(seeds) * (std::size(seeds) - 1) / 2;

// The comparisons of this file, test by test.
constexpr std::size_t derivation_share =
    std::size(seeds) * key_sets::all_sets * statistics::comparisons_per_set;
constexpr std::size_t seeds_share = seed_pairs * key_sets::all_sets;
constexpr std::size_t avalanche_share = std::size(seeds) * 64 * 64;
constexpr std::size_t all_comparisons = derivation_share + seeds_share + avalanche_share;
constexpr double alarm = statistics::false_alarm_rate / static_cast<double>(all_comparisons);

enum class small_enum : std::uint8_t { zero, seven = 7 };
enum plain_enum { minus_one = -1, one = 1 };
struct padded {
  std::uint32_t a;
  std::uint8_t b;
};
struct named {
  int number = 0;
  operator std::string_view() const { return "named"; }
};

// What can be hashed...
static_assert(hash_policy<seeded_hash, int>);
static_assert(hash_policy<seeded_hash, std::uint64_t>);
static_assert(hash_policy<seeded_hash, char>);
static_assert(hash_policy<seeded_hash, bool>);
static_assert(hash_policy<seeded_hash, std::byte>);
static_assert(hash_policy<seeded_hash, small_enum>);
static_assert(hash_policy<seeded_hash, std::string>);
static_assert(hash_policy<seeded_hash, std::string_view>);
static_assert(hash_policy<seeded_hash, const char*>);
static_assert(hash_policy<seeded_hash, char[4]>);
static_assert(hash_policy<seeded_hash, std::vector<std::byte>>);
static_assert(hash_policy<seeded_hash, std::span<std::byte>>);
static_assert(hash_policy<seeded_hash, std::array<std::uint32_t, 4>>);
static_assert(hash_policy<seeded_hash, key_sets::flow>);
// ... and what would be hashed wrongly, and is not: padding, floating point, addresses.
static_assert(!hash_policy<seeded_hash, padded>);
static_assert(!hash_policy<seeded_hash, double>);
static_assert(!hash_policy<seeded_hash, int*>);
static_assert(!hash_policy<seeded_hash, std::span<int>>);
static_assert(!hash_policy<seeded_hash, std::wstring_view>);
static_assert(!hash_policy<seeded_hash, std::vector<int>>);
static_assert(!hash_policy<std::hash<int>, int>);
static_assert(std::is_nothrow_copy_constructible_v<seeded_hash>);

key_hash hash_of_bytes(const seeded_hash& hash, const void* data, std::size_t size) {
  return hash(std::span(static_cast<const std::byte*>(data), size));
}

TEST(seeded_hash, gives_one_hash_to_one_key_whatever_its_type) {
  const seeded_hash hash(20081);
  EXPECT_EQ(hash(7), hash(std::uint64_t{7}));
  EXPECT_EQ(hash(7), hash(std::int8_t{7}));
  EXPECT_EQ(hash(7), hash(small_enum::seven));
  EXPECT_EQ(hash(true), hash(one));
  EXPECT_EQ(hash(-1), hash(std::int64_t{-1}));
  EXPECT_EQ(hash(-1), hash(minus_one));
  EXPECT_NE(hash(-1), hash(0xffff'ffffu));  // another number
  EXPECT_EQ(hash("abc"), hash(std::string("abc")));
  EXPECT_EQ(hash("abc"), hash(std::string_view("abcdef").substr(0, 3)));
  EXPECT_EQ(hash("abc"), hash_of_bytes(hash, "abc", 3));
  EXPECT_EQ(hash(named{}), hash("named"));
  EXPECT_EQ(hash(named{.number = 1}), hash("named"));
}

TEST(seeded_hash, hashes_a_struct_by_its_bytes) {
  const seeded_hash hash(20081);
  const key_sets::flow flow = key_sets::flow_number(4711);
  EXPECT_EQ(hash(flow), hash_of_bytes(hash, &flow, sizeof flow));
  for (const auto change : {+[](key_sets::flow& f) { ++f.source_address; },
                            +[](key_sets::flow& f) { ++f.destination_address; },
                            +[](key_sets::flow& f) { ++f.source_port; },
                            +[](key_sets::flow& f) { ++f.destination_port; },
                            +[](key_sets::flow& f) { ++f.protocol; }}) {
    key_sets::flow changed = flow;
    change(changed);
    EXPECT_NE(hash(changed), hash(flow));
  }
}

TEST(seeded_hash, knows_its_seed) {
  EXPECT_EQ(seeded_hash(20081).seed(), 20081u);
  EXPECT_EQ(seeded_hash(), seeded_hash(0));
  EXPECT_NE(seeded_hash(1), seeded_hash(2));
}

TEST(seeded_hash, takes_empty_keys_and_zeros_of_every_length_for_different_ones) {
  const seeded_hash hash(1);
  std::set<std::uint64_t> seen;
  const std::string zeros(600, '\0');  // past every length at which XXH3 changes its method
  for (std::size_t length = 0; length <= zeros.size(); ++length)
    seen.insert(hash(std::string_view(zeros).substr(0, length)).value);
  EXPECT_EQ(seen.size(), zeros.size() + 1);
}

TEST(seeded_hash, is_a_bijection_of_integers) {
  // Every step undone: the inverse of an odd factor by Newton's iteration, of x ^ (x >> s) by
  // repeating it.
  const auto unshift = [](std::uint64_t y, unsigned shift) {
    std::uint64_t x = y;
    for (unsigned done = shift; done < 64; done += shift) x = y ^ (x >> shift);
    return x;
  };
  const auto inverse = [](std::uint64_t odd) {
    std::uint64_t x = odd;
    for (int i = 0; i < 6; ++i) x *= 2 - odd * x;
    return x;
  };
  for (const std::uint64_t seed : seeds) {
    const seeded_hash hash(seed);
    const std::uint64_t secret = mix_bits(seed + golden_ratio_64);
    const std::uint64_t odd_secret = mix_bits(seed + 2 * golden_ratio_64) | 1;
    for (const key_sets::integer_set& set : key_sets::integer_sets)
      for (std::uint64_t i = 0; i < 1000; ++i) {
        std::uint64_t x = hash(set.key(i)).value;
        x = unshift(x, 31) * inverse(0x94d0'49bb'1331'11eb);
        x = unshift(x, 27) * inverse(0xbf58'476d'1ce4'e5b9);
        x = unshift(x, 30) * inverse(odd_secret) ^ secret;
        ASSERT_EQ(x, set.key(i));
      }
  }
}

// Where every element of every stored filter and table lies hangs on these numbers. They may change
// only together with the version of every format that stores what they placed; a new xxHash must
// not change them.
TEST(seeded_hash, values_are_pinned) {
  const seeded_hash zero, other(20081);
  const std::string longest(300, 'x');  // the method for long keys
  const std::tuple<key_hash, key_hash, std::uint64_t, std::uint64_t> pinned[] = {
      {zero(0), other(0), 0x2626'34f7'4de6'7c33, 0xdb66'1101'82ae'8449},
      {zero(1), other(1), 0xfd0f'a839'1ff2'a76e, 0xbf3f'0d01'2e90'40ff},
      {zero(-1), other(-1), 0x2fa4'eafb'd805'60ee, 0x790e'4b18'925a'5bb8},
      {zero(""), other(""), 0x1f11'ac0c'c476'87e2, 0x0b37'f4f7'd117'a641},
      {zero("a"), other("a"), 0x6007'411d'3592'751a, 0x0df2'4f59'e173'4508},
      {zero("key0"), other("key0"), 0xa3cd'47ba'7dcd'6365, 0x32c0'9365'c590'e351},
      {zero("192.168.0.1"), other("192.168.0.1"), 0x2f06'518f'ef08'07e4, 0xc959'c923'1387'a431},
      {zero("a key of more than sixteen bytes"), other("a key of more than sixteen bytes"),
       0x3963'5679'e07b'7d3f, 0x2058'517a'bdf2'eea0},
      {zero(longest.substr(0, 200)), other(longest.substr(0, 200)), 0x6b11'7ae7'a07b'3bd3,
       0x009d'd6c8'0254'8a91},
      {zero(longest), other(longest), 0x4ea8'1958'0a07'2ccb, 0x8b33'db81'700b'71a6},
      {zero(std::array<std::uint8_t, 13>{}), other(std::array<std::uint8_t, 13>{}),
       0xc04c'3071'b255'0727, 0xb175'1446'7786'e57e},
  };
  for (const auto& [of_zero, of_other, expected_zero, expected_other] : pinned) {
    EXPECT_EQ(of_zero.value, expected_zero);
    EXPECT_EQ(of_other.value, expected_other);
  }
}

class seeded_hash_with_seed : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(five, seeded_hash_with_seed, testing::ValuesIn(seeds));

TEST_P(seeded_hash_with_seed, leaves_no_structure_of_the_keys_in_what_is_derived) {
  comparisons compared(derivation_share / std::size(seeds), all_comparisons);
  for (const key_sets::hashed& set : key_sets::hashed_keys(seeded_hash(GetParam())))
    statistics::compare_all(set, statistics::library_derivation{},
                            [&](double p, const std::string& what) { compared.add(p, what); });
}

/// The smallest p-value of one set, by what the test above does.
double smallest_p_value(const key_sets::hashed& set) {
  double smallest = 1;
  statistics::compare_all(set, statistics::library_derivation{},
                          [&](double p, const std::string&) { smallest = std::min(smallest, p); });
  return smallest;
}

TEST(seeded_hash, unmixed_integers_would_be_noticed_in_every_set_but_the_random_one) {
  const auto unmixed = [](std::uint64_t key) { return key_hash{key}; };
  for (const key_sets::hashed& set : key_sets::hashed_integers(unmixed)) {
    if (set.name == "random")
      EXPECT_GT(smallest_p_value(set), alarm);
    else
      EXPECT_LT(smallest_p_value(set), alarm) << set.name;
  }
}

TEST(seeded_hash, a_product_without_the_mixer_would_be_noticed) {
  const auto multiplied = [](std::uint64_t key) {
    return key_hash{(key ^ mix_bits(1)) * (mix_bits(2) | 1)};
  };
  std::size_t noticed = 0;
  for (const key_sets::hashed& set : key_sets::hashed_integers(multiplied))
    noticed += smallest_p_value(set) < alarm ? 1u : 0u;
  EXPECT_GT(noticed, std::size(key_sets::integer_sets) / 2);
}

TEST(seeded_hash, different_seeds_are_independent) {
  comparisons compared(seeds_share, all_comparisons);
  constexpr std::uint32_t cells = 31;
  for (std::size_t a = 0; a < std::size(seeds); ++a)
    for (std::size_t b = a + 1; b < std::size(seeds); ++b) {
      const auto first = key_sets::hashed_keys(seeded_hash(seeds[a]));
      const auto second = key_sets::hashed_keys(seeded_hash(seeds[b]));
      for (std::size_t set = 0; set < first.size(); ++set) {
        const auto bits_of = [set](const std::vector<key_sets::hashed>& all) {
          return [&all, set](std::size_t i) { return all[set].hashes[i].value; };
        };
        compared.add(statistics::joint_p_value(
                         statistics::cells::high(key_sets::keys, cells, bits_of(first)),
                         statistics::cells::high(key_sets::keys, cells, bits_of(second))),
                     first[set].name + ", seeds " + std::to_string(seeds[a]) + ", " +
                         std::to_string(seeds[b]));
      }
    }
}

TEST(seeded_hash, every_bit_of_an_integer_flips_every_bit_of_its_hash_half_of_the_time) {
  constexpr std::uint32_t samples = 1 << 13;
  comparisons compared(avalanche_share, all_comparisons);
  for (const std::uint64_t seed : seeds) {
    const seeded_hash hash(seed);
    for (unsigned in = 0; in < 64; ++in) {
      std::array<std::uint32_t, 64> flips{};
      // Keys in a row, which is the hard case, but for the bit in question: it is 0, and no pair is
      // counted twice.
      const std::uint64_t flipped = std::uint64_t{1} << in;
      for (std::uint64_t i = 0; i < samples; ++i) {
        const std::uint64_t below = i & (flipped - 1);
        const std::uint64_t key = (i - below) * 2 + below;
        const std::uint64_t changed = hash(key).value ^ hash(key | flipped).value;
        for (unsigned out = 0; out < 64; ++out)
          flips[out] += static_cast<std::uint32_t>(changed >> out & 1);
      }
      for (unsigned out = 0; out < 64; ++out)
        compared.add(statistics::fair_coin_p_value(flips[out], samples),
                     "seed " + std::to_string(seed) + ", bit " + std::to_string(in) + " to bit " +
                         std::to_string(out));
    }
  }
}

/// Hashes of users.
struct returns_key {
  std::uint64_t operator()(std::uint64_t key) const noexcept { return key; }
};
struct avalanching {
  using is_avalanching = void;
  std::uint64_t operator()(std::uint64_t key) const noexcept { return mix_bits(key); }
};
struct avalanching_by_value : returns_key {
  using is_avalanching = std::true_type;
};
struct not_avalanching_by_value : returns_key {
  using is_avalanching = std::false_type;
};
struct avalanching_to_32_bits {
  using is_avalanching = void;
  std::uint32_t operator()(std::uint64_t key) const noexcept {
    return static_cast<std::uint32_t>(mix_bits(key));
  }
};
struct salted {
  std::uint64_t salt = 0;
  std::uint64_t operator()(std::uint64_t key) const { return key + salt; }
};

static_assert(hash_policy<remixed<std::hash<std::string>>, std::string>);
static_assert(hash_policy<remixed<returns_key>, std::uint64_t>);
static_assert(hash_policy<remixed<seeded_hash>, std::string>);
static_assert(!hash_policy<remixed<std::hash<std::string>>, std::vector<int>>);
static_assert(noexcept(remixed<returns_key>()(std::uint64_t{1})) &&
              !noexcept(remixed<salted>()(std::uint64_t{1})));
template <class Hash>
concept transparent = requires {
  typename Hash::is_transparent;
};
static_assert(transparent<remixed<seeded_hash>> && !transparent<remixed<std::hash<std::string>>>);

constexpr std::uint64_t answer = 42;

TEST(remixed, mixes_what_does_not_say_that_it_is_mixed) {
  EXPECT_EQ(remixed<returns_key>(5)(answer), seeded_hash(5)(answer));
  EXPECT_EQ(remixed<not_avalanching_by_value>(5)(answer), seeded_hash(5)(answer));
  EXPECT_EQ(remixed<avalanching_to_32_bits>(5)(answer),
            seeded_hash(5)(avalanching_to_32_bits()(answer)));
  EXPECT_NE(remixed<returns_key>(5)(answer), remixed<returns_key>(6)(answer));
  EXPECT_EQ(remixed<returns_key>()(answer), remixed<returns_key>(0)(answer));
  EXPECT_EQ(remixed<returns_key>(5).seed(), 5u);
}

TEST(remixed, passes_on_what_says_that_it_is_mixed) {
  EXPECT_EQ(remixed<avalanching>(5)(answer).value, mix_bits(answer));
  EXPECT_EQ(remixed<avalanching>(6)(answer).value, mix_bits(answer));
  EXPECT_EQ(remixed<avalanching_by_value>(5)(answer).value, 42u);
  EXPECT_EQ(remixed<seeded_hash>(5, seeded_hash(7))("text"), seeded_hash(7)("text"));
}

TEST(remixed, keeps_the_state_of_the_hash) {
  EXPECT_EQ(remixed<salted>(5, salted{.salt = 8})(answer), seeded_hash(5)(50));
}

TEST(remixed, takes_functions) {
  const auto length = [](const std::string& text) { return text.size(); };
  EXPECT_EQ(remixed(5, length)("four"), seeded_hash(5)(4));
}

TEST(random_seed, does_not_repeat_itself) {
  std::set<std::uint64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(random_seed());
  EXPECT_EQ(seen.size(), 1000u);  // one equal pair in 2^64 / 500000 runs
}

}  // namespace
}  // namespace oneprobe
