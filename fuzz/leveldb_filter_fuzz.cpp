// Any bytes as a filter of the LevelDB policy: an answer, and no read beyond them. Any hashes as
// keys of one: all of them are found, in the bytes that they may have.
//
// The first byte of an input chooses the bits per key, the next eight are a hash to ask for, the
// rest is both the filter and the hashes.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <oneprobe_leveldb/small_pocket.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "hostile_file.hpp"

namespace {

using namespace oneprobe::leveldb_integration;
using hostile_file::require;

void ask_any_bytes(const std::uint8_t* data, std::size_t size, std::uint64_t hash) {
  // A copy of its own, so that a sanitizer sees every read beyond it.
  const std::vector<char> bytes(data, data + size);
  const std::string_view filter(bytes.data(), bytes.size());
  const bool first = pocket_may_contain(filter, {hash});
  require(pocket_may_contain(filter, {hash}) == first, "two answers to one question");
  for (std::uint64_t i = 0; i < 16; ++i)
    static_cast<void>(pocket_may_contain(filter, {(i << 60) | (hash >> 4)}));
}

void build_from(const std::uint8_t* data, std::size_t size, double bits_per_key) {
  std::vector<std::uint64_t> hashes(size / 8);
  if (!hashes.empty()) std::memcpy(hashes.data(), data, 8 * hashes.size());
  std::ranges::sort(hashes);
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  const pocket_budget budget(bits_per_key);
  std::string filter;
  append_pocket(hashes, budget, filter);
  require(hashes.empty() || filter.size() == 1 + budget.payload_bytes(hashes.size()),
          "a filter of another size");
  for (const std::uint64_t hash : hashes)
    require(pocket_may_contain(filter, {hash}), "a key is denied");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 9) return 0;
  std::uint64_t hash = 0;
  std::memcpy(&hash, data + 1, 8);
  ask_any_bytes(data + 9, size - 9, hash);
  build_from(data + 9, size - 9, 8 + data[0] % 129 / 4.0);
  return 0;
}
