// RedisBloom's hashes and layout, against values that were not computed here: those of SMHasher for
// the hashes, and the bits of a filter that RedisBloom made.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "../module/redisbloom.hpp"

namespace oneprobe::redis {
namespace {

/// SMHasher's check of a hash: keys of 0 to 255 bytes 0, 1, 2, ... with seeds 256 to 1, then all
/// hashes as one key with seed 0.
template <class Hash>
std::uint32_t verification(Hash hash) {
  using value = decltype(hash(std::string_view(), 0));
  std::string key;
  std::string hashes;
  for (unsigned i = 0; i < 256; ++i) {
    const value found = hash(std::string_view(key), 256 - i);
    for (std::size_t byte = 0; byte < sizeof found; ++byte)
      hashes += static_cast<char>(found >> (8 * byte) & 0xff);
    key += static_cast<char>(i);
  }
  return static_cast<std::uint32_t>(hash(std::string_view(hashes), 0));
}

TEST(redisbloom_hashes, are_those_that_others_verify) {
  EXPECT_EQ(
      verification([](std::string_view key, std::uint32_t seed) { return murmur32(key, seed); }),
      0x27864C1Eu);
  EXPECT_EQ(
      verification([](std::string_view key, std::uint64_t seed) { return murmur64(key, seed); }),
      0x1F0D3804u);
}

TEST(redisbloom_hashes, do_not_depend_on_where_an_item_begins) {
  const std::string text = "an item that begins anywhere";
  for (std::size_t begin = 0; begin < 9; ++begin) {
    const std::string moved = std::string(begin, '.') + text;
    const auto item = std::string_view(moved).substr(begin);
    EXPECT_EQ(murmur64(item, 7), murmur64(text, 7));
    EXPECT_EQ(murmur32(item, 7), murmur32(text, 7));
  }
}

/// A chain of one link as RedisBloom plans it.
old_chain chain_of(std::uint64_t elements, double error) {
  old_link link;
  link.elements = elements;
  link.error = error;
  link.bits_per_element = -std::log(error) / 0.480453013918201;
  link.item_bits = static_cast<std::uint32_t>(std::ceil(0.693147180559945 * link.bits_per_element));
  const auto wanted =
      static_cast<std::uint64_t>(static_cast<double>(elements) * link.bits_per_element);
  link.bytes = (std::max<std::uint64_t>(1, wanted) + 63) / 64 * 8;
  link.bits = 8 * link.bytes;
  return {.items = 0, .options = 5, .expansion = 2, .links = {link}};
}

TEST(redisbloom_chains, are_taken_as_it_plans_them) {
  for (const double error : {0.9, 0.25, 0.01, 1e-6, 1e-15, 1e-300})
    for (const std::uint64_t elements : {1u, 7u, 100u, 12'345u, 1u << 30}) {
      if (error < 1e-6 && elements > 100'000) continue;
      EXPECT_EQ(find_fault(chain_of(elements, error)), std::nullopt) << error << " " << elements;
    }
}

TEST(redisbloom_chains, that_nobody_made_are_refused) {
  const auto is_refused = [](auto change) {
    old_chain chain = chain_of(1000, 0.01);
    change(chain, chain.links.front());
    return find_fault(chain).has_value();
  };
  EXPECT_FALSE(is_refused([](old_chain&, old_link&) {}));
  EXPECT_TRUE(is_refused([](old_chain& chain, old_link&) { chain.links.clear(); }));
  EXPECT_TRUE(is_refused([](old_chain& chain, old_link&) { chain.options = 16; }));
  EXPECT_TRUE(is_refused([](old_chain& chain, old_link&) { chain.options = 1; }));
  EXPECT_TRUE(is_refused([](old_chain& chain, old_link&) { chain.options = 4; }));
  EXPECT_TRUE(is_refused([](old_chain& chain, old_link&) { chain.items = 1; }));
  EXPECT_TRUE(is_refused([](old_chain&, old_link& link) { link.error = 0; }));
  EXPECT_TRUE(is_refused([](old_chain&, old_link& link) { link.error = std::nan(""); }));
  EXPECT_TRUE(is_refused([](old_chain&, old_link& link) { link.bits_per_element = std::nan(""); }));
  EXPECT_TRUE(is_refused([](old_chain&, old_link& link) { link.item_bits += 1; }));
  EXPECT_TRUE(is_refused([](old_chain&, old_link& link) { link.item_bits = 0; }));
  EXPECT_TRUE(is_refused([](old_chain&, old_link& link) { link.bits -= 64; }));
  EXPECT_TRUE(is_refused([](old_chain&, old_link& link) { link.bytes += 1; }));
  EXPECT_TRUE(is_refused([](old_chain&, old_link& link) { link.bytes = 0; }));
  EXPECT_TRUE(is_refused([](old_chain&, old_link& link) { link.log2_bits = 13; }));
  EXPECT_TRUE(is_refused([](old_chain&, old_link& link) { link.log2_bits = 255; }));
  EXPECT_TRUE(is_refused([](old_chain&, old_link& link) { link.elements = 0; }));
  EXPECT_TRUE(
      is_refused([](old_chain& chain, old_link& link) { chain.items = link.items = 1001; }));
  EXPECT_TRUE(is_refused([](old_chain& chain, old_link& link) {
    constexpr auto most = std::numeric_limits<std::uint64_t>::max();
    link.items = most;
    chain.links.push_back(link);
    chain.items = most - 1;  // as the sum would come out
  }));
}

TEST(redisbloom_chains, have_no_more_elements_than_can_be_counted) {
  old_chain chain = chain_of(std::uint64_t{1} << 62, 1 - 0x1p-53);  // of a few bits
  EXPECT_EQ(find_fault(chain), std::nullopt);
  chain.links.insert(chain.links.end(), 3, chain.links.front());
  EXPECT_TRUE(find_fault(chain));
}

/// How many it has, and so when one of fixed size is full, depends on its version.
TEST(redisbloom_chains, of_fixed_size_are_not_known_for_large_errors) {
  const auto made = [](double error, scaling scale) {
    return new_chain({.error = error, .capacity = 100, .growth = {.scale = scale, .expansion = 2}})
        .has_value();
  };
  EXPECT_TRUE(made(0.25, scaling::fixed));
  EXPECT_FALSE(made(0.26, scaling::fixed));
  EXPECT_TRUE(made(0.26, scaling::grows));
}

TEST(redisbloom_chains, grow_as_they_did) {
  old_chain chain = chain_of(1000, 0.01);
  EXPECT_EQ(chain.settings(), (growth_settings{.scale = scaling::grows, .expansion = 2}));
  chain.options = 13;
  EXPECT_EQ(chain.settings(), (growth_settings{.scale = scaling::fixed, .expansion = 0}));
}

TEST(redisbloom_chains, that_go_on_here_are_taken_again) {
  for (const double error : {0.25, 0.01, 1e-6, 1e-12})
    for (const std::uint64_t capacity : {1u, 20u, 1'000u, 100'000u})
      for (const std::uint32_t expansion : {0u, 1u, 2u, 7u}) {
        const scaling scale = expansion == 0 ? scaling::fixed : scaling::grows;
        auto chain = new_chain({.error = error,
                                .capacity = capacity,
                                .growth = {.scale = scale, .expansion = expansion}});
        ASSERT_TRUE(chain);
        EXPECT_EQ(chain->links.front().elements, capacity);
        EXPECT_EQ(chain->links.front().error, scale == scaling::fixed ? error : error / 2);
        EXPECT_EQ(chain->settings().scale, scale);
        for (int links = 1; links < 6 && expansion > 0; ++links) {
          chain->items += chain->links.back().items = chain->links.back().elements;
          const auto next = next_link(*chain);
          ASSERT_TRUE(next);
          EXPECT_EQ(next->elements, chain->links.back().elements * expansion);
          EXPECT_EQ(next->error, chain->links.back().error / 2);
          chain->links.push_back(*next);
        }
        EXPECT_EQ(find_fault(*chain), std::nullopt) << error << " " << capacity << " " << expansion;
      }
}

/// What a link says of items that it has not is what is expected of it, within five deviations.
TEST(redisbloom_chains, err_as_expected) {
  for (const auto& [elements, error] : {std::pair{100u, 0.01}, {2'000u, 0.05}, {30'000u, 0.01}}) {
    old_chain chain = chain_of(elements, error);
    old_link& link = chain.links.front();
    std::vector<std::byte> bits(link.bytes);
    for (unsigned i = 0; i < elements; ++i) {
      const old_hash hash = old_hash_of(chain, "item " + std::to_string(i));
      for (std::uint64_t j = 0; j < link.item_bits; ++j) {
        const std::uint64_t place = (hash.a + j * hash.b) % link.modulus();
        bits[place / 8] |= std::byte{1} << place % 8;
      }
      ASSERT_TRUE(has_bits_of(link, bits.data(), hash));
    }
    link.items = elements;
    std::uint64_t set = 0;
    for (const std::byte each : bits)
      set += static_cast<unsigned>(std::popcount(std::to_integer<unsigned>(each)));
    constexpr unsigned asked = 1'000'000;
    unsigned wrong = 0;
    for (unsigned i = 0; i < asked; ++i)
      wrong += has_bits_of(link, bits.data(), old_hash_of(chain, "absent " + std::to_string(i)));
    const double expected = error_of(chain, link, set) * asked;
    // Of a filter of 100 the second-order terms are left out.
    EXPECT_NEAR(wrong, expected,
                5 * std::sqrt(expected) + (elements == 100 ? 0.1 : 0.01) * expected)
        << elements;
  }
}

}  // namespace
}  // namespace oneprobe::redis
