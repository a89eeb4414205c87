#include "redisbloom.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

#include "oneprobe/detail/io/bytes.hpp"

namespace oneprobe::redis {
namespace {

constexpr std::string_view name = "RedisBloom's header";
constexpr std::size_t header_bytes = 20;
constexpr std::size_t link_bytes = 53;
constexpr std::size_t links_at = 8;

constexpr double ln2 = 0.693147180559945;  // as RedisBloom has them
constexpr double ln2_squared = 0.480453013918201;
constexpr double halving = 0.5;                 // of the error, for each link and before the first
constexpr std::uint32_t most_item_bits = 1100;  // for the least error that a number can have
constexpr std::uint64_t most_counted = std::uint64_t{1} << 62;

/// A word of the item, little-endian wherever it begins.
template <class Word>
Word word_at(const char* text) noexcept {
  Word word = 0;
  std::memcpy(&word, text, sizeof word);
  if constexpr (std::endian::native == std::endian::big) {
    Word swapped = 0;
    for (std::size_t i = 0; i < sizeof word; ++i)
      swapped = static_cast<Word>(swapped << 8 | (word >> (8 * i) & 0xff));
    word = swapped;
  }
  return word;
}

/// The bytes behind the last whole word.
template <class Word>
Word rest_of(std::string_view rest) noexcept {
  Word word = 0;
  for (std::size_t i = 0; i < rest.size(); ++i)
    word |= static_cast<Word>(static_cast<unsigned char>(rest[i])) << (8 * i);
  return word;
}

/// So many bits are in whole bytes, or in whole words of 64.
constexpr bool holds_exactly(std::uint64_t bytes, std::uint64_t bits) noexcept {
  return bytes == bits / 8 + (bits % 8 != 0) || bytes == (bits / 64 + (bits % 64 != 0)) * 8;
}

/// A link for so many elements, or none.
std::optional<old_link> plan_link(double elements, double error, std::uint32_t options) {
  old_link link;
  link.error = error;
  if (!(error > 0 && error < 1) || !(elements >= 1)) return std::nullopt;
  link.bits_per_element = std::abs(std::log(error)) / ln2_squared;
  link.item_bits = static_cast<std::uint32_t>(std::ceil(ln2 * link.bits_per_element));
  const double wanted = elements * link.bits_per_element;
  if (!(wanted < static_cast<double>(filter_plan::most_bits))) return std::nullopt;
  link.elements = static_cast<std::uint64_t>(elements);
  std::uint64_t bits = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(wanted));
  if ((options & old_chain::not_rounded) == 0) {
    if (wanted < 1) return std::nullopt;
    link.log2_bits = static_cast<std::uint32_t>(std::logb(wanted)) + 1;
    bits = std::uint64_t{1} << link.log2_bits;
    const auto more = static_cast<std::uint64_t>(static_cast<double>(bits) - wanted);
    link.elements += static_cast<std::uint64_t>(static_cast<double>(more) / link.bits_per_element);
  }
  link.bytes = (bits / 64 + (bits % 64 != 0)) * 8;
  link.bits = 8 * link.bytes;
  return link;
}

}  // namespace

std::optional<old_chain> new_chain(const reservation& asked) {
  old_chain chain;
  chain.options = old_chain::hashes_of_64_bits | old_chain::not_rounded;
  double error = std::min(asked.error, reservation::largest_error);
  // Older versions took larger ones as they were: other bits, and another item is the one that
  // comes when it is full.
  if (asked.growth.scale == scaling::fixed && error != asked.error) return std::nullopt;
  if (asked.growth.scale == scaling::fixed)
    chain.options |= old_chain::does_not_scale;
  else
    error *= halving;
  chain.expansion = asked.growth.expansion;
  const auto link = plan_link(static_cast<double>(asked.capacity), error, chain.options);
  if (!link) return std::nullopt;
  chain.links.push_back(*link);
  return chain;
}

std::optional<old_link> next_link(const old_chain& chain) {
  if ((chain.options & old_chain::elements_are_bits) != 0) return std::nullopt;
  if (chain.links.size() == old_chain::most_links) return std::nullopt;
  const old_link& newest = chain.links.back();
  return plan_link(static_cast<double>(newest.elements) * chain.expansion, newest.error * halving,
                   chain.options);
}

growth_settings old_chain::settings() const noexcept {
  // Without an expansion it cannot grow either.
  if ((options & does_not_scale) != 0 || expansion == 0)
    return {.scale = scaling::fixed, .expansion = 0};
  return {.scale = scaling::grows,
          .expansion = std::min(expansion, growth_settings::most_expansion)};
}

std::uint64_t old_chain::bytes() const noexcept {
  return std::accumulate(links.begin(), links.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const old_link& link) { return sum + link.bytes; });
}

std::optional<std::string> find_fault(const old_link& link) {
  if (!(link.error > 0 && link.error < 1)) return "the error of a link must be above 0 and below 1";
  const double usual = std::abs(std::log(link.error)) / ln2_squared;
  if (!(std::abs(link.bits_per_element - usual) <= 1e-9 * usual))
    return "the bits per element of a link must be those of its error";
  if (link.item_bits == 0 || link.item_bits > most_item_bits ||
      link.item_bits != std::ceil(ln2 * link.bits_per_element))
    return "the bits of an item must be those of the error";
  if (link.bytes == 0 || link.bytes > filter_plan::most_bits / 8)
    return "a link has too many bytes or none";
  if (link.elements == 0 || link.elements > most_counted)
    return "a link is planned for too many elements or for none";
  const std::uint64_t room = 8 * link.bytes;
  const double wanted = static_cast<double>(link.elements) * link.bits_per_element;
  if (link.log2_bits > 0) {
    const std::uint64_t bits = link.log2_bits <= 63 ? link.modulus() : 0;
    if (bits == 0 || !holds_exactly(link.bytes, bits))
      return "the bytes of a link must be those of its bits";
    if (link.bits != 0 && (link.bits > room || link.bits < bits))
      return "the bits of a link must fit its bytes";
    // Rounded up to a power of two, and planned for as many elements more as that has room for.
    const auto all = static_cast<double>(bits);
    if (!(wanted <= all * (1 + 1e-9) && wanted >= all / 2 * (1 - 1e-9)))
      return "the bits of a link must be those of its elements";
  } else {
    if (link.bits == 0 || !holds_exactly(link.bytes, link.bits))
      return "the bits of a link must fit its bytes";
    const std::uint64_t least = wanted < static_cast<double>(link.bits) + 1
                                    ? std::max<std::uint64_t>(1, static_cast<std::uint64_t>(wanted))
                                    : link.bits + 1;
    if (link.bits < least || link.bits - least >= 64)
      return "the bits of a link must be those of its elements";
  }
  if (link.items > link.elements) return "a link has more items than it is planned for";
  return std::nullopt;
}

std::optional<std::string> find_fault(const old_chain& chain) {
  if (chain.links.empty() || chain.links.size() > old_chain::most_links)
    return "there must be 1 to " + std::to_string(old_chain::most_links) + " links; found " +
           std::to_string(chain.links.size());
  if ((chain.options & ~old_chain::all_options) != 0)
    return "options must be 0 to 15; found " + std::to_string(chain.options);
  if (chain.options != 0 && (chain.options & old_chain::hashes_of_64_bits) == 0)
    return "hashes of 32 bits come without options";
  std::uint64_t items = 0;
  std::uint64_t bytes = 0;
  std::uint64_t elements = 0;
  const bool rounded = (chain.options & old_chain::not_rounded) == 0;
  for (const old_link& link : chain.links) {
    if (auto fault = find_fault(link)) return fault;
    // The oldest have no options, and any number of bits.
    if (chain.options != 0 && (link.log2_bits > 0) != rounded)
      return "the options must be those by which the links were made";
    items += link.items;
    bytes += link.bytes;
    elements += link.elements;
    if (std::max({items, bytes, elements}) > most_counted)
      return "the links are too large together";
  }
  if (items != chain.items) return "the items must be those of all links";
  return std::nullopt;
}

bool is_redisbloom_header(std::span<const std::byte> bytes) noexcept {
  if (bytes.size() < header_bytes + link_bytes) return false;
  const auto links = byte_reader(bytes.subspan(links_at)).take<std::uint32_t>();
  return (bytes.size() - header_bytes) / link_bytes == links &&
         (bytes.size() - header_bytes) % link_bytes == 0;
}

loaded<old_chain> decode_redisbloom_header(std::span<const std::byte> bytes) {
  if (!is_redisbloom_header(bytes))
    return load_failure{load_error::truncated, std::string(name) + " is truncated"};
  byte_reader in(bytes);
  old_chain read;
  read.items = in.take<std::uint64_t>();
  const auto links = in.take<std::uint32_t>();
  read.options = in.take<std::uint32_t>();
  read.set_expansion(in.take<std::uint32_t>());
  read.links.resize(links);  // which the bytes have
  for (old_link& link : read.links) {
    link.bytes = in.take<std::uint64_t>();
    link.bits = in.take<std::uint64_t>();
    link.items = in.take<std::uint64_t>();
    link.error = in.take<double>();
    link.bits_per_element = in.take<double>();
    link.item_bits = in.take<std::uint32_t>();
    link.elements = in.take<std::uint64_t>();
    link.log2_bits = in.take<std::uint8_t>();
  }
  if (const auto fault = find_fault(read)) return detail::inconsistent(name, *fault);
  return read;
}

std::uint64_t murmur64(std::string_view text, std::uint64_t seed) noexcept {
  constexpr std::uint64_t factor = 0xc6a4a7935bd1e995;
  constexpr int shift = 47;
  std::uint64_t hash = seed ^ (text.size() * factor);
  for (; text.size() >= 8; text.remove_prefix(8)) {
    std::uint64_t word = word_at<std::uint64_t>(text.data()) * factor;
    word ^= word >> shift;
    hash = (hash ^ (word * factor)) * factor;
  }
  if (!text.empty()) hash = (hash ^ rest_of<std::uint64_t>(text)) * factor;
  hash = (hash ^ (hash >> shift)) * factor;
  return hash ^ (hash >> shift);
}

std::uint32_t murmur32(std::string_view text, std::uint32_t seed) noexcept {
  constexpr std::uint32_t factor = 0x5bd1e995;
  std::uint32_t hash = seed ^ static_cast<std::uint32_t>(text.size());
  for (; text.size() >= 4; text.remove_prefix(4)) {
    std::uint32_t word = word_at<std::uint32_t>(text.data()) * factor;
    word ^= word >> 24;
    hash = (hash * factor) ^ (word * factor);
  }
  if (!text.empty()) hash = (hash ^ rest_of<std::uint32_t>(text)) * factor;
  hash = (hash ^ (hash >> 13)) * factor;
  return hash ^ (hash >> 15);
}

old_hash old_hash_of(const old_chain& chain, std::string_view item) noexcept {
  if ((chain.options & old_chain::hashes_of_64_bits) != 0) {
    const std::uint64_t first = murmur64(item, 0xc6a4a7935bd1e995);
    return {first, murmur64(item, first)};
  }
  const std::uint32_t first = murmur32(item, 0x9747b28c);
  return {first, murmur32(item, first)};
}

bool has_bits_of(const old_link& link, const std::byte* bits, old_hash item) noexcept {
  const std::uint64_t modulus = link.modulus();
  for (std::uint64_t i = 0; i < link.item_bits; ++i) {
    const std::uint64_t place = (item.a + i * item.b) % modulus;
    if ((bits[place / 8] & std::byte{1} << place % 8) == std::byte{0}) return false;
  }
  return true;
}

void set_bits_of(const old_link& link, std::byte* bits, old_hash item) noexcept {
  const std::uint64_t modulus = link.modulus();
  for (std::uint64_t i = 0; i < link.item_bits; ++i) {
    const std::uint64_t place = (item.a + i * item.b) % modulus;
    bits[place / 8] |= std::byte{1} << place % 8;
  }
}

double error_of(const old_chain& chain, const old_link& link, std::uint64_t bits_set) noexcept {
  const auto all = static_cast<double>(link.modulus());
  const double fill = std::min(1.0, static_cast<double>(bits_set) / all);
  if (fill == 1) return 1;
  const double usual = std::pow(fill, link.item_bits);
  // An item that has the step of another, forwards or backwards, and begins j steps from it, needs
  // only j bits of others.
  double error =
      usual + 2 * static_cast<double>(link.items) / (all * all) * (1 + fill) / (1 - fill);
  // Where no sum wraps around, or none notices, steps of which c lead around the filter make only c
  // places; phi(c) of all steps do.
  if (link.log2_bits > 0 || (chain.options & old_chain::hashes_of_64_bits) == 0) {
    constexpr std::uint64_t worth_adding = 64;
    for (std::uint64_t c = 1; c < std::min<std::uint64_t>(link.item_bits, worth_adding); ++c) {
      if (link.modulus() % c != 0) continue;
      std::uint64_t steps = 0;
      for (std::uint64_t i = 1; i <= c; ++i) steps += std::gcd(i, c) == 1;
      error += static_cast<double>(steps) / all * (std::pow(fill, static_cast<double>(c)) - usual);
    }
  }
  return std::min(1.0, error);
}

}  // namespace oneprobe::redis
