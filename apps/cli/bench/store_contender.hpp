// What `oneprobe bench store` measures: ours and LevelDB behind one interface, on the same records.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "oneprobe/detail/hash/derive.hpp"
#include "oneprobe/detail/io/page_file.hpp"

namespace oneprobe::cli {

inline constexpr std::size_t bench_key_bytes = 16;
inline constexpr std::size_t bench_value_bytes = 100;

struct bench_record {
  std::array<std::byte, bench_key_bytes> key;
  std::array<std::byte, bench_value_bytes> value;
};

/// Record number i: random bytes, which no compression makes smaller, and no key twice.
inline bench_record make_record(std::uint64_t number, std::uint64_t seed) {
  bench_record made;
  const std::uint64_t first = mix_bits(mix_bits(seed) + number * golden_ratio_64);
  std::uint64_t word = first;
  std::memcpy(made.key.data(), &word, sizeof word);
  word = mix_bits(word);
  std::memcpy(made.key.data() + sizeof word, &word, sizeof word);
  for (std::size_t at = 0; at < bench_value_bytes; at += sizeof word) {
    word = mix_bits(word + golden_ratio_64);
    std::memcpy(made.value.data() + at, &word, std::min(sizeof word, bench_value_bytes - at));
  }
  return made;
}

/// What gets have read from the file system since the last call.
struct read_counts {
  std::uint64_t reads = 0;  // calls
  std::uint64_t pages = 0;  // of 4 KiB that they touched
};

class store_contender {
 public:
  store_contender() = default;
  store_contender(const store_contender&) = delete;
  store_contender& operator=(const store_contender&) = delete;
  virtual ~store_contender() = default;

  virtual std::string name() const = 0;
  /// Puts the records numbered 0 to `records` - 1 into a new store, and makes it as good as it
  /// gets. `tell` is called with the records so far. Empty, or what went wrong.
  virtual std::string build(std::uint64_t records, std::uint64_t seed,
                            void (*tell)(void* bar, std::uint64_t done), void* bar) = 0;
  /// Opens what was built to be read. Empty, or why that is impossible.
  virtual std::string open(page_reading reading) = 0;
  /// Whether the key is there; its value. REQUIRES: it is open.
  virtual bool get(const std::array<std::byte, bench_key_bytes>& key,
                   std::array<std::byte, bench_value_bytes>& value) = 0;
  virtual read_counts take_read_counts() = 0;
  virtual std::uint64_t disk_bytes() const = 0;
  /// 0: it does not say.
  virtual std::uint64_t memory_bytes() const = 0;
};

}  // namespace oneprobe::cli

/// Of the plug-in. None where LevelDB was not found when it was built.
extern "C" oneprobe::cli::store_contender* oneprobe_make_leveldb(const std::string& folder);
