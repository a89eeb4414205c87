// Kinds of keys that a filter meets.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/key_hash.hpp"

namespace conformance {

/// What a packet belongs to: a key of several members, without padding.
struct flow {
  std::uint32_t source_address;
  std::uint32_t destination_address;
  std::uint16_t source_port;
  std::uint16_t destination_port;
  std::uint32_t protocol;
};

inline std::uint64_t random_key(std::uint64_t number) {
  return oneprobe::mix_bits(number * oneprobe::golden_ratio_64);
}

/// Memory that spans of bytes point into: key i is i % 40 + 1 bytes, different from all others.
class byte_keys {
 public:
  explicit byte_keys(std::uint64_t count) {
    storage_.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      std::string text = std::to_string(i);
      text.resize(text.size() + i % 40, static_cast<char>(i));
      storage_.push_back(std::move(text));
    }
    for (const std::string& text : storage_) keys_.push_back(std::as_bytes(std::span(text)));
  }
  const std::vector<std::span<const std::byte>>& keys() const { return keys_; }

 private:
  std::vector<std::string> storage_;
  std::vector<std::span<const std::byte>> keys_;
};

template <class Key, class Make>
std::vector<Key> make_keys(std::uint64_t count, Make make) {
  std::vector<Key> keys;
  keys.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) keys.push_back(make(i));
  return keys;
}

/// Calls `use(name, keys)` with `count` different keys of every kind.
template <class Use>
void for_each_kind_of_key(std::uint64_t count, Use use) {
  using std::uint64_t;
  use("sequential", make_keys<uint64_t>(count, [](uint64_t i) { return i; }));
  use("stride 2^12", make_keys<uint64_t>(count, [](uint64_t i) { return i << 12; }));
  use("stride 2^40", make_keys<uint64_t>(count, [](uint64_t i) { return i << 40; }));
  use("random", make_keys<uint64_t>(count, random_key));
  use("negative int", make_keys<int>(count, [](uint64_t i) { return -1 - static_cast<int>(i); }));
  use("text", make_keys<std::string>(
                  count, [](uint64_t i) { return "https://example.com/" + std::to_string(i); }));
  use("bytes", byte_keys(count).keys());
  use("structs", make_keys<flow>(count, [](uint64_t i) {
        return flow{.source_address = static_cast<std::uint32_t>(i >> 4),
                    .destination_address = 0x0a00'0001,
                    .source_port = static_cast<std::uint16_t>(i & 15),
                    .destination_port = 443,
                    .protocol = 6};
      }));
  use("hashes", make_keys<oneprobe::key_hash>(
                    count, [](uint64_t i) { return oneprobe::key_hash{random_key(i + 1)}; }));
}

}  // namespace conformance
