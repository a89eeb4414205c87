// Texts of numpy as UTF-8. No Python in here.
//
//   array    | S  t  r  a  ß  e  0  0 | k  e  y  0  0  0  0  0 |    U8: eight characters of 32 bits
//   UTF-8      S  t  r  a c3 9f  e      k  e  y                     without the zeros behind them
//
// Most text is ASCII, and then its UTF-8 is a byte of each character. Those are taken without
// looking where a text ends: texts lie one after the other, and so the characters of several are
// made bytes together. Only where one of them is not ASCII, texts are encoded one by one.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "narrow.hpp"
#include "oneprobe/detail/base/word_access.hpp"

namespace oneprobe::python {

/// numpy fills keys up with zeros, and takes them off again.
inline std::string_view without_padding(const char* bytes, std::size_t size) noexcept {
  for (; size >= word_bytes; size -= word_bytes) {
    const std::uint64_t last =
        plain_words::load(reinterpret_cast<const std::byte*>(bytes + size - word_bytes));
    if (last != 0) return {bytes, size - static_cast<unsigned>(std::countl_zero(last)) / 8};
  }
  while (size != 0 && bytes[size - 1] == 0) --size;
  return {bytes, size};
}

/// The texts of an array, which must outlive it: each has room for so many characters.
class texts {
 public:
  texts(const char* first, std::size_t count, std::size_t characters)
      : first_(first),
        count_(count),
        characters_(characters),
        together_(
            std::max<std::size_t>(1, narrowed_together / std::max<std::size_t>(1, characters))),
        bytes_(std::make_unique_for_overwrite<char[]>(
            std::max(narrowed_together, most_utf8_bytes * characters))) {}

  /// Calls `use(i, utf8)` for `count` texts from `first` on; the bytes are valid until it returns.
  template <class Use>
  void for_each(std::size_t first, std::size_t count, Use use) {
    for (std::size_t done = 0; done < count; done += together_) {
      const std::size_t from = first + done;
      const std::size_t some = std::min(together_, count - done);
      const bool ascii = narrow(from, some);
      // One call for both ways: what is inlined here may be long.
      for (std::size_t i = 0; i < some; ++i)
        use(from + i, ascii ? without_padding(bytes_.get() + i * characters_, characters_)
                            : encoded(from + i));
    }
  }

  /// Whether all texts that were used so far are Unicode. Halves of surrogate pairs and numbers
  /// above the last character are not, and have been encoded as if they were characters.
  bool are_unicode() const noexcept { return are_unicode_; }

 private:
  static constexpr std::size_t most_utf8_bytes = 4;
  /// At least one text, and up to so many characters, are narrowed before one is used. By then the
  /// bytes are in the cache, and can be read in other pieces than they were written in.
  static constexpr std::size_t narrowed_together = 256;
  /// Memory is asked so far ahead. Processors do so themselves, but stop where a page ends, and a
  /// page has few texts.
  static constexpr std::size_t ahead_bytes = 2048;

  static bool is_ascii(std::uint32_t bits) noexcept { return bits < 0x80; }
  const char* text(std::size_t i) const noexcept {
    return first_ + i * characters_ * character_bytes;
  }
  static std::uint32_t character(const char* from) noexcept {
    std::uint32_t point = 0;
    std::memcpy(&point, from, sizeof point);
    return point;
  }

  /// Puts the bytes of some texts next to each other. False, and they mean nothing, if there is a
  /// character that is not ASCII.
  bool narrow(std::size_t first, std::size_t count) noexcept {
    const std::size_t characters = count * characters_;
    const std::size_t blocks = characters / narrowed_at_once;
    const char* const from = text(first);
    const auto left = static_cast<std::size_t>(text(count_) - from);
    const bool more = left >= characters * character_bytes + ahead_bytes;
    std::uint32_t seen = narrow_blocks(from, blocks, more ? ahead_bytes : 0, bytes_.get());
    for (std::size_t i = blocks * narrowed_at_once; i < characters; ++i) {
      const std::uint32_t point = character(from + i * character_bytes);
      seen |= point;
      bytes_[i] = static_cast<char>(point);
    }
    return is_ascii(seen);
  }

  [[gnu::noinline]] std::string_view encoded(std::size_t i) noexcept {
    // Between others that are not, it may be ASCII.
    if (narrow(i, 1)) return without_padding(bytes_.get(), characters_);
    const char* end = text(i + 1);
    while (end != text(i) && character(end - character_bytes) == 0) end -= character_bytes;
    char* out = bytes_.get();
    const auto put = [&](std::uint32_t bits) { *out++ = static_cast<char>(bits); };
    for (const char* at = text(i); at != end; at += character_bytes) {
      const std::uint32_t point = character(at);
      if (is_ascii(point)) {
        put(point);
        continue;
      }
      const unsigned further = point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
      put((further == 1 ? 0xc0u : further == 2 ? 0xe0u : 0xf0u) | point >> 6 * further);
      for (unsigned left = further; left-- > 0;) put(0x80u | (point >> 6 * left & 0x3f));
      if ((point >= 0xd800 && point < 0xe000) || point > 0x10ffff) are_unicode_ = false;
    }
    return {bytes_.get(), static_cast<std::size_t>(out - bytes_.get())};
  }

  const char* first_;
  std::size_t count_;
  std::size_t characters_;
  std::size_t together_;
  std::unique_ptr<char[]> bytes_;
  bool are_unicode_ = true;
};

}  // namespace oneprobe::python
