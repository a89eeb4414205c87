// Records as text: a key and a value on a line, with a tab between them, or both in hexadecimal.
//
// A text that is shorter than its field is filled with zero bytes, which are left out when it is
// printed: a text that ends with a zero byte cannot be told from one without, and needs --hex.
// Whatever does not fit is a usage_error that says which line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "arguments.hpp"
#include "oneprobe/page_store/plan.hpp"

namespace oneprobe::cli {

inline constexpr option hex_digits{
    "--hex", "", "keys and values are typed, read and printed as hexadecimal digits, in full"};

enum class text_form { plain, hex };

inline text_form read_text_form(const arguments& in) {
  return in.is_set(hex_digits) ? text_form::hex : text_form::plain;
}

/// Where a text stands, for messages.
struct text_place {
  std::string_view file{};
  std::uint64_t line = 0;  // from 1; 0: it was typed as an argument
};

/// Between texts and the bytes of a store.
class record_text {
 public:
  record_text(const page_store_plan& plan, text_form form)
      : key_(plan.key_bytes), value_(plan.value_bytes), form_(form) {}

  /// The bytes are valid until the next call.
  std::span<const std::byte> key_of(std::string_view text, text_place whence = {}) {
    return filled(text, key_, "key", whence);
  }
  std::span<const std::byte> value_of(std::string_view text, text_place whence = {}) {
    return filled(text, value_, "value", whence);
  }
  std::string text_of(std::span<const std::byte> bytes) const;

  struct fields {
    std::string_view key;
    std::string_view value;
  };
  /// A line at its tab. A store without values has lines without one.
  fields split(std::string_view line, text_place whence = {}) const;

 private:
  std::span<const std::byte> filled(std::string_view text, std::vector<std::byte>& into,
                                    std::string_view what, text_place whence) const;

  std::vector<std::byte> key_;
  std::vector<std::byte> value_;
  text_form form_;
};

/// Two digits for each byte.
std::string hexadecimal_text(std::span<const std::byte> bytes);
/// The bytes without the zeros at their end, if they can stand in JSON as they are.
bool is_printable(std::span<const std::byte> bytes);

}  // namespace oneprobe::cli
