// Some keys of an input with their hashes, made ahead on a thread of its own: what building and
// querying a filter both work on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "filter/key_lines.hpp"
#include "oneprobe/hash.hpp"
#include "oneprobe/key_hash.hpp"

namespace oneprobe::cli {

class hashed_keys {
 public:
  /// Reads and hashes the next keys; false at the end.
  bool read(key_lines& lines, const seeded_hash& hash) {
    if (!lines.next(text_)) return false;
    bytes_read_ = lines.bytes();
    hashes_.clear();
    ends_.clear();
    empty_keys_ = 0;
    keys_with_carriage_return_ = 0;
    std::uint32_t end = 0;
    for_each_key(text_.view(), lines.separator(), [&](std::string_view key) {
      hashes_.push_back(hash(key));
      end += static_cast<std::uint32_t>(key.size()) + 1;
      ends_.push_back(end);
      if (key.empty())
        ++empty_keys_;
      else if (key.back() == '\r')
        ++keys_with_carriage_return_;
    });
    return true;
  }

  std::span<const key_hash> hashes() const noexcept { return hashes_; }
  /// Keys first, first + 1, ..., last - 1 as they stand in the input, separators included.
  std::string_view lines(std::size_t first, std::size_t last) const noexcept {
    // After the last line of an input there may be no separator: substr() stops at the end.
    const std::size_t begin = first == 0 ? 0 : ends_[first - 1];
    const std::size_t end = last == 0 ? 0 : ends_[last - 1];
    return text_.view().substr(begin, end - begin);
  }
  /// Bytes of the input up to the end of these keys.
  std::uint64_t bytes_read() const noexcept { return bytes_read_; }
  std::uint64_t empty_keys() const noexcept { return empty_keys_; }
  std::uint64_t keys_with_carriage_return() const noexcept { return keys_with_carriage_return_; }

 private:
  key_text text_{};
  std::vector<key_hash> hashes_{};
  std::vector<std::uint32_t> ends_{};
  std::uint64_t bytes_read_ = 0;
  std::uint64_t empty_keys_ = 0;
  std::uint64_t keys_with_carriage_return_ = 0;
};

}  // namespace oneprobe::cli
